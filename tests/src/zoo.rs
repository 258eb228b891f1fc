//! The rows of the suite under every strategy and layout.

use chrono_tz::America::New_York;
use sea_orm::{ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel, Schema};
use sharding_sea_orm::{
    EntityRules, HashBuckets, HashModulo, HashSplit, Lists, Modulo, Quarterly, Ranges,
    ShardingBuilder, ShardingConnection, SnowflakeDatabase, SnowflakeEpoch, SnowflakeHash,
    SnowflakeLayout, Weekly, composite, part, rule,
};

use crate::entity::{Event, place, whole};
use crate::world::{World, make_text_binary, sources};
use crate::{conversions, event_entity};

event_entity!(weekly, "event_weekly", [],);
event_entity!(quarterly, "event_quarterly", [],);
event_entity!(by_range, "event_by_range", [],);
event_entity!(by_letter, "event_by_letter", [],);
event_entity!(by_list, "event_by_list", [],);
event_entity!(bucketed, "event_bucketed", [],);
event_entity!(scattered, "event_scattered", [],);
event_entity!(paired, "event_paired", [],);
event_entity!(snowflake, "event_snowflake", [],);

conversions!(
    weekly, quarterly, by_range, by_letter, by_list, bucketed, scattered, paired, snowflake,
);

/// The tables, and those of them that are in two data sources.
pub const TABLES: [&str; 9] = [
    "event_weekly",
    "event_quarterly",
    "event_by_range",
    "event_by_letter",
    "event_by_list",
    "event_bucketed",
    "event_scattered",
    "event_paired",
    "event_snowflake",
];
/// The tables over two data sources.
pub const SPREAD: [&str; 3] = ["event_by_list", "event_scattered", "event_snowflake"];

/// A configuration with all of them.
pub fn builder(urls: &[String; 2]) -> ShardingBuilder {
    let weeks = Weekly::starting(2013, 1, 1).through(2013, 6, 30);
    let quarters = Quarterly::starting(2012, 4).through(2013, 2).zone(New_York);
    let ranges = Ranges::new()
        .less_than(100, "low")
        .less_than(250, "mid")
        .max_value("high");
    let letters = Ranges::new()
        .less_than("B", "x")
        .less_than("a ", "y")
        .max_value("z");
    let lists = Lists::new().values("a", ["a", "A", "Zebra"]).otherwise("b");
    let buckets = HashBuckets::new(64)
        .less_than(20, "0")
        .less_than(50, "1")
        .less_than(64, "0");
    sources(urls)
        .table(EntityRules::<weekly::Entity>::new().table(
            rule::<chrono::DateTime<chrono::Utc>, _>(weekly::Column::At, weeks),
        ))
        .table(EntityRules::<quarterly::Entity>::new().table(rule::<
            chrono::DateTime<chrono::Utc>,
            _,
        >(
            quarterly::Column::At, quarters
        )))
        .table(
            EntityRules::<by_range::Entity>::new()
                .table(rule::<i64, _>(by_range::Column::Id, ranges)),
        )
        .table(
            EntityRules::<by_letter::Entity>::new()
                .table(rule::<String, _>(by_letter::Column::Kind, letters)),
        )
        .table(
            EntityRules::<by_list::Entity>::new()
                .source(rule::<String, _>(by_list::Column::Kind, lists)),
        )
        .table(
            EntityRules::<bucketed::Entity>::new().table(rule::<sea_orm::prelude::Uuid, _>(
                bucketed::Column::Uid,
                buckets,
            )),
        )
        .table(
            EntityRules::<scattered::Entity>::new()
                .table(rule::<i64, _>(scattered::Column::Big, Modulo::new(3)))
                .tails("a", ["0", "2"])
                .tails("b", ["1"]),
        )
        .table(
            EntityRules::<paired::Entity>::new().table(composite::<(String, bool), _>(
                [
                    part::<String, _>(paired::Column::Kind),
                    part::<bool, _>(paired::Column::Flag),
                ],
                HashModulo::new(4),
            )),
        )
        .table(
            EntityRules::<snowflake::Entity>::new()
                .node(rule::<i64, _>(snowflake::Column::Id, by_hash())),
        )
}

/// Two epochs; ids hold a half of a millisecond each, so that the second one begins with id 200.
fn by_hash() -> SnowflakeHash {
    let tables = |first: u32| {
        let name = |n: u32| format!("event_snowflake_{n}");
        HashSplit::ranges()
            .less_than(0x8000, name(first))
            .max_value(name(first + 1))
    };
    let one = SnowflakeEpoch::new(HashSplit::whole(SnowflakeDatabase::new("a", tables(0))));
    let two = SnowflakeEpoch::new(HashSplit::modulo([
        SnowflakeDatabase::new("a", tables(2)),
        SnowflakeDatabase::new("b", tables(4)),
    ]));
    let begin = chrono::DateTime::from_timestamp_millis(100).unwrap();
    SnowflakeHash::new([one.time_less_than(begin), two]).layout(SnowflakeLayout::new(0, 1))
}

/// Tables of all shardings and of the unsharded entity, with the same rows in each.
pub async fn filled(world: &World, events: &[Event]) -> ShardingConnection {
    let db = builder(world.urls()).connect().await.unwrap();
    let schema = Schema::new(world.backend);
    db.execute(&schema.create_table_from_entity(whole::Entity))
        .await
        .unwrap();
    db.execute(&schema.create_table_from_entity(place::Entity))
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    if world.backend == DbBackend::MySql {
        for table in ["event_whole", "place"] {
            let sql =
                format!("ALTER TABLE {table} CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin");
            db.execute_unprepared(&sql).await.unwrap();
        }
        make_text_binary(&db).await;
    }
    macro_rules! insert {
        ($rows:expr; $($name:ident),+) => {
            $(
                for events in events.chunks($rows) {
                    let rows = events.iter().cloned();
                    let rows = rows.map(|event| $name::Model::from(event).into_active_model());
                    let insert = $name::Entity::insert_many(rows);
                    insert.exec_without_returning(&db).await.unwrap();
                }
            )+
        };
    }
    insert!(100; whole, weekly, quarterly, by_range, by_letter, bucketed, paired);
    // Rows of one statement are of one data source.
    insert!(1; by_list, scattered, snowflake);
    db
}
