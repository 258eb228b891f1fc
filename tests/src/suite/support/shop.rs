//! The tables of the examples.

use std::fmt::Debug;

use chrono::{DateTime, TimeDelta, Utc};
use sea_orm::sea_query::{ColumnDef, Table, TableCreateStatement};
use sea_orm::{ConnectionTrait, DbBackend, EntityTrait};
use sharding_sea_orm::{EntityRules, Modulo, ShardingBuilder, rule};

use crate::suite::peers::entities::entity;
use crate::suite::peers::fixture::{LOOSE, by_key, table};
use crate::suite::peers::{Bench, Layout, Peers, Text};

entity!(
    /// Sales.
    sale, "sale";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    shop: i32,
    country: i32,
    price: Option<i32>,
    note: String,
    sold: DateTimeUtc;
    relations {
        #[sea_orm(has_many = "super::item::Entity")]
        Item,
        #[sea_orm(
            belongs_to = "super::country::Entity",
            from = "Column::Country",
            to = "super::country::Column::Id",
            skip_fk
        )]
        Country,
    }
);
entity!(
    /// What was sold, which is where its sale is.
    item, "item";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    sale_id: i64,
    product: i32,
    pieces: Option<i32>;
    relations {
        #[sea_orm(
            belongs_to = "super::sale::Entity",
            from = "Column::SaleId",
            to = "super::sale::Column::Id",
            skip_fk
        )]
        Sale,
    }
);
entity!(
    /// Visits, which are sharded otherwise.
    visit, "visit";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    shop: i32,
);
entity!(
    /// Text of a collation that takes `a` for `A`.
    remark, "remark";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i64,
    words: String,
);
entity!(
    /// A broadcast table.
    country, "country";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i32,
    name: String,
);
entity!(
    /// A table of one data source.
    job, "job";
    #[sea_orm(primary_key, auto_increment = false)]
    id: i32,
    name: String,
);

impl sea_orm::Related<item::Entity> for sale::Entity {
    fn to() -> sea_orm::RelationDef {
        sea_orm::RelationTrait::def(&sale::Relation::Item)
    }
}

impl sea_orm::Related<country::Entity> for sale::Entity {
    fn to() -> sea_orm::RelationDef {
        sea_orm::RelationTrait::def(&sale::Relation::Country)
    }
}

impl sea_orm::Related<sale::Entity> for item::Entity {
    fn to() -> sea_orm::RelationDef {
        sea_orm::RelationTrait::def(&item::Relation::Sale)
    }
}

fn tables(backend: DbBackend) -> [(String, TableCreateStatement); 6] {
    let remarks = Table::create()
        .table(remark::Entity)
        .col(
            ColumnDef::new(remark::Column::Id)
                .big_integer()
                .primary_key(),
        )
        .col(
            ColumnDef::new(remark::Column::Words)
                .custom(LOOSE)
                .not_null(),
        )
        .to_owned();
    [
        table::<sale::Entity>(backend),
        table::<item::Entity>(backend),
        table::<visit::Entity>(backend),
        ("remark".to_owned(), remarks),
        table::<country::Entity>(backend),
        table::<job::Entity>(backend),
    ]
}

fn rules(builder: ShardingBuilder, layout: Layout) -> ShardingBuilder {
    let visits = EntityRules::<visit::Entity>::new()
        .table(rule::<i64, _>(visit::Column::Id, Modulo::new(3)));
    builder
        .table(by_key::<sale::Entity>(sale::Column::Id, layout))
        .table(by_key::<item::Entity>(item::Column::SaleId, layout))
        .table(by_key::<remark::Entity>(remark::Column::Id, layout))
        .table(match layout {
            Layout::One => visits,
            Layout::Two => visits.tails("a", ["0"]).tails("b", ["1", "2"]),
        })
        .broadcast::<country::Entity>()
        .single::<job::Entity>("a")
}

/// The tables with their rows.
pub(super) async fn open(bench: &Bench) -> Peers {
    let peers = bench.of(Text::Bytes, &tables(bench.backend), rules).await;
    peers.fill::<sale::Entity>(sales()).await;
    peers.fill::<item::Entity>(items()).await;
    peers.fill::<job::Entity>(jobs()).await;
    peers
        .fill::<visit::Entity>((1..=20).map(visit_of).collect())
        .await;
    let remarks = (0..12).map(|id| remark::Model {
        id,
        words: ["a", "A", "b", "B", "c", "Z", "z"][id as usize % 7].to_owned(),
    });
    peers.fill::<remark::Entity>(remarks.collect()).await;
    peers.fill_everywhere::<country::Entity>(countries()).await;
    peers
}

/// Puts the rows of the tables that examples write to back.
pub(super) async fn restore(peers: &Peers, table: Written) {
    match table {
        Written::Sale => {
            peers.clear::<sale::Entity>().await;
            peers.fill::<sale::Entity>(sales()).await;
        }
        Written::Item => {
            peers.clear::<item::Entity>().await;
            peers.fill::<item::Entity>(items()).await;
        }
        Written::Job => {
            peers.clear::<job::Entity>().await;
            peers.fill::<job::Entity>(jobs()).await;
        }
        Written::Country => {
            peers.clear::<country::Entity>().await;
            peers.fill_everywhere::<country::Entity>(countries()).await;
        }
    }
}

/// A table that examples write to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// `sale`.
    Sale,
    /// `item`.
    Item,
    /// `country`.
    Country,
    /// `job`.
    Job,
}

impl Written {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Sale, Self::Item, Self::Country, Self::Job];

    /// The rows as text, in an order of their own.
    pub(super) async fn rows(self, db: &impl ConnectionTrait) -> Vec<String> {
        async fn of<E>(db: &impl ConnectionTrait) -> Vec<String>
        where
            E: EntityTrait,
            E::Model: Debug,
        {
            let rows = E::find().all(db).await.unwrap();
            let mut rows: Vec<_> = rows.iter().map(|row| format!("{row:?}")).collect();
            rows.sort();
            rows
        }
        match self {
            Self::Sale => of::<sale::Entity>(db).await,
            Self::Item => of::<item::Entity>(db).await,
            Self::Country => of::<country::Entity>(db).await,
            Self::Job => of::<job::Entity>(db).await,
        }
    }
}

fn sales() -> Vec<sale::Model> {
    let start: DateTime<Utc> = "2024-01-01T00:00:00Z".parse().unwrap();
    let row = |id: i64| sale::Model {
        id,
        shop: (id % 5) as i32,
        country: (id % 3) as i32,
        price: (id % 7 != 3).then_some((id * 37 % 50) as i32),
        note: ["", "gift", "Gift", "late", "Z"][(id * 3 % 5) as usize].to_owned(),
        sold: start + TimeDelta::hours(17 * id),
    };
    (0..40).map(row).collect()
}

/// Items; some of them have no sale, and some sales no item.
fn items() -> Vec<item::Model> {
    let row = |id: i64| item::Model {
        id,
        sale_id: id * id % 45,
        product: (id % 7) as i32,
        pieces: (id % 4 != 1).then_some((id % 6) as i32),
    };
    (1..=60).map(row).collect()
}

fn countries() -> Vec<country::Model> {
    let row = |id: i32| country::Model {
        id,
        name: ["France", "Italy", "Japan", "Peru"][id as usize].to_owned(),
    };
    (0..4).map(row).collect()
}

fn jobs() -> Vec<job::Model> {
    let row = |id: i32| job::Model {
        id,
        name: format!("job {id}"),
    };
    (0..4).map(row).collect()
}

fn visit_of(id: i64) -> visit::Model {
    visit::Model {
        id,
        shop: (id % 5) as i32,
    }
}
