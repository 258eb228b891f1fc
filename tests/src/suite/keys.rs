use sea_orm::prelude::{
    Date, DateTime, DateTimeUtc, Decimal, StringLen, TimeDate, TimeDateTime,
    TimeDateTimeWithTimeZone, Uuid,
};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseConnection, DbBackend,
    DeriveActiveEnum, EntityTrait, EnumIter, PaginatorTrait, QueryFilter, QueryOrder, Schema,
    Select, Set,
};
use sharding_sea_orm::{EntityRules, HashModulo, Lists, ShardingConnection, rule};

use crate::world::{World, binary, make_text_binary, sources};

/// An entity for keys of one type, with some values of it.
macro_rules! key_type {
    ($name:ident: $key:ty, $($attribute:meta)?; [$($value:expr),+ $(,)?]) => {
        mod $name {
            #![allow(unreachable_pub, reason = "entities are written so")]

            use sea_orm::entity::prelude::*;

            #[allow(unused_imports, reason = "one type is an enum")]
            use super::Colour;

            #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
            #[sea_orm(table_name = "keyed")]
            pub struct Model {
                #[sea_orm(primary_key, auto_increment = false)]
                pub id: i32,
                $(#[$attribute])?
                pub key: $key,
            }

            #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
            pub enum Relation {}

            impl ActiveModelBehavior for ActiveModel {}
        }

        /// Every value is found again in the one node that it leads to, and by lists.
        pub async fn $name(backend: DbBackend) {
            use self::$name::{ActiveModel, Column, Entity};

            let world = World::bare(backend).await;
            let by_key = rule::<$key, _>(Column::Key, HashModulo::new(3));
            let db = connect(&world, EntityRules::<Entity>::new().table(by_key)).await;
            // The oracle: one table of the other data source, on its plain connection.
            let whole = db.source("b").unwrap();
            create_whole(&whole, Entity).await;
            let values: Vec<$key> = vec![$($value),+];
            for (id, value) in (0..).zip(&values) {
                let row = || ActiveModel {
                    id: Set(id),
                    key: Set(value.clone()),
                };
                Entity::insert(row()).exec_without_returning(&db).await.unwrap();
                Entity::insert(row()).exec_without_returning(&whole).await.unwrap();
            }
            let same = async |query: Select<Entity>, about: &str| {
                let sorted = query.order_by_asc(Column::Id);
                let (rows, expected) = (sorted.clone().all(&db).await, sorted.all(&whole).await);
                match (rows, expected) {
                    (Ok(rows), Ok(expected)) => assert_eq!(rows, expected, "{about}"),
                    // PostgreSQL has no unsigned numbers, and SeaORM cannot read them back.
                    (Err(error), Err(expected)) => {
                        assert_eq!(error.to_string(), expected.to_string(), "{about}");
                    }
                    (rows, expected) => panic!("{about}: {rows:?}, not {expected:?}"),
                }
            };
            for value in &values {
                let about = format!("{value:?}");
                let equal = Entity::find().filter(Column::Key.eq(value.clone()));
                assert_eq!(db.explain(&equal).unwrap().nodes.len(), 1, "{about}");
                assert_eq!(equal.clone().count(&db).await.unwrap(), 1, "{about}");
                same(equal, &about).await;
                same(Entity::find().filter(Column::Key.ne(value.clone())), &about).await;
                same(Entity::find().filter(Column::Key.gte(value.clone())), &about).await;
                same(Entity::find().filter(Column::Key.lt(value.clone())), &about).await;
                let listed = [values[0].clone(), value.clone()];
                same(Entity::find().filter(Column::Key.is_in(listed.clone())), &about).await;
                same(Entity::find().filter(Column::Key.is_not_in(listed)), &about).await;
            }
            same(Entity::find().filter(Column::Key.is_in(values.clone())), "all").await;
            db.close().await.unwrap();
            world.end().await;
        }
    };
}

async fn create_whole<E: EntityTrait>(whole: &DatabaseConnection, entity: E) {
    let backend = whole.get_database_backend();
    let create = Schema::new(backend).create_table_from_entity(entity);
    whole.execute(&create).await.unwrap();
    if backend == DbBackend::MySql {
        whole.execute_unprepared(&binary("keyed")).await.unwrap();
    }
}

async fn connect<E: EntityTrait>(world: &World, rules: EntityRules<E>) -> ShardingConnection {
    let db = sources(world.urls()).table(rules).connect().await.unwrap();
    db.create_tables().await.unwrap();
    if world.backend == DbBackend::MySql {
        make_text_binary(&db).await;
    }
    db
}

key_type!(small: i16,; [i16::MIN, -1, 0, 1, i16::MAX]);
key_type!(wide: i64,; [i64::MIN, -1, 0, 1 << 53, (1 << 53) + 1, i64::MAX]);
key_type!(unsigned: u32,; [0, 1, u32::MAX]);
key_type!(boolean: bool,; [true, false]);
key_type!(
    text: String,;
    [String::new(), "a".into(), "A".into(), "a b".into(), "é".into(), "e".into(), "日本".into()]
);
key_type!(
    bytes: Vec<u8>, sea_orm(column_type = "VarBinary(StringLen::N(16))");
    [vec![], vec![0x7f], vec![0xff, 0, 1]]
);
key_type!(
    uuid: Uuid,;
    [Uuid::nil(), Uuid::from_u128(1), Uuid::from_u128(1 << 127), Uuid::from_u128(u128::MAX)]
);
key_type!(date: Date,; [day(1970, 1), day(2013, 60), day(9999, 365)]);
key_type!(date_time: DateTime,; [day(1970, 1).into(), day(2013, 60).into(), day(9999, 365).into()]);
key_type!(instant: DateTimeUtc,; [time("1970-01-02T00:00:00Z"), time("2013-03-09T05:00:00Z")]);
key_type!(time_date: TimeDate,; [other_day(1970, 1), other_day(2013, 60), other_day(9999, 365)]);
key_type!(
    time_date_time: TimeDateTime,;
    [other_day(1970, 1).midnight(), other_day(2013, 60).midnight()]
);
key_type!(
    time_instant: TimeDateTimeWithTimeZone,;
    [other_day(1970, 2).midnight().assume_utc(), other_day(2013, 60).midnight().assume_utc()]
);
key_type!(
    variant: Colour,; [Colour::Red, Colour::Green]
);

/// An enum that is kept as text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumIter, DeriveActiveEnum)]
#[sea_orm(rs_type = "String", db_type = "String(StringLen::N(5))")]
pub enum Colour {
    #[sea_orm(string_value = "red")]
    Red,
    #[sea_orm(string_value = "green")]
    Green,
}

fn day(year: i32, ordinal: u32) -> Date {
    Date::from_yo_opt(year, ordinal).unwrap()
}

fn time(text: &str) -> DateTimeUtc {
    text.parse().unwrap()
}

fn other_day(year: i32, ordinal: u16) -> TimeDate {
    TimeDate::from_ordinal_date(year, ordinal).unwrap()
}

/// Texts that differ in trailing spaces alone are one key and, save where the database pads, two
/// values: what is not equal to one may be the other.
pub async fn trailing_spaces(backend: DbBackend) {
    use self::text::{ActiveModel, Column, Entity};

    let world = World::bare(backend).await;
    let lists = Lists::new().values("eu", ["cz"]).values("us", ["us"]);
    let by_key = rule::<String, _>(Column::Key, lists);
    let db = connect(&world, EntityRules::<Entity>::new().table(by_key)).await;
    let whole = db.source("b").unwrap();
    create_whole(&whole, Entity).await;
    for (id, key) in (0..).zip(["cz", "cz ", "cz  ", "us"]) {
        let row = || ActiveModel {
            id: Set(id),
            key: Set(key.to_owned()),
        };
        row().insert(&db).await.unwrap();
        row().insert(&whole).await.unwrap();
    }
    for key in ["cz", "cz ", "us"] {
        let conditions = [
            Column::Key.eq(key),
            Column::Key.ne(key),
            Column::Key.eq(key).not(),
            Column::Key.is_in([key]),
            Column::Key.is_not_in([key, "us "]),
            Column::Key.lt(key),
            Column::Key.gte(key),
            Column::Key.not_between(key, key),
        ];
        for condition in conditions {
            let query = Entity::find()
                .filter(condition.clone())
                .order_by_asc(Column::Id);
            let rows = query.clone().all(&db).await.unwrap();
            let expected = query.all(&whole).await.unwrap();
            assert_eq!(rows, expected, "{condition:?}");
        }
    }
    db.close().await.unwrap();
    world.end().await;
}

mod amount {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "keyed")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i32,
        #[sea_orm(column_type = "Decimal(Some((10, 2)))")]
        pub key: Decimal,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

/// A number leads to one node however it is written; SQLite has no exact decimals.
pub async fn decimal(backend: DbBackend) {
    let world = World::bare(backend).await;
    let by_key = rule::<Decimal, _>(amount::Column::Key, HashModulo::new(5));
    let rules = EntityRules::<amount::Entity>::new().table(by_key);
    if backend == DbBackend::Sqlite {
        let error = sources(world.urls())
            .table(rules)
            .connect()
            .await
            .unwrap_err();
        assert!(
            error
                .to_string()
                .contains("`key` is a decimal, which SQLite keeps"),
            "{error}"
        );
        return world.end().await;
    }
    let db = connect(&world, rules).await;
    for (id, number) in (0..).zip(["5", "5.25", "-0.5", "0"]) {
        let row = amount::ActiveModel {
            id: Set(id),
            key: Set(number.parse().unwrap()),
        };
        row.insert(&db).await.unwrap();
    }
    let found = async |key: sea_orm::Value| {
        let equal = amount::Entity::find().filter(amount::Column::Key.eq(key));
        assert_eq!(db.explain(&equal).unwrap().nodes.len(), 1);
        equal.one(&db).await.unwrap().map(|row| row.id)
    };
    let decimal = |text: &str| sea_orm::Value::from(text.parse::<Decimal>().unwrap());
    // Numbers of another type are bound as such, which PostgreSQL does not convert.
    for five in [decimal("5"), decimal("5.0"), decimal("5.000")] {
        assert_eq!(found(five.clone()).await, Some(0), "{five:?}");
    }
    // As a literal in the statement's text it may have any type.
    for five in [
        5_i16.into(),
        5_i64.into(),
        5_u64.into(),
        sea_orm::Value::from(5_u8),
    ] {
        let equal =
            amount::Entity::find().filter(Expr::col(amount::Column::Key).eq(Expr::Constant(five)));
        assert_eq!(db.explain(&equal).unwrap().nodes.len(), 1);
        assert_eq!(equal.count(&db).await.unwrap(), 1);
    }
    assert_eq!(found(decimal("5.250")).await, Some(1));
    assert_eq!(found(decimal("-0.5")).await, Some(2));
    let row = amount::ActiveModel {
        id: Set(9),
        key: Set("1.005".parse().unwrap()),
    };
    let rounded = super::refusal(row.insert(&db).await);
    assert!(rounded.contains("would round `key` = 1.005"), "{rounded}");
    db.close().await.unwrap();
    world.end().await;
}
