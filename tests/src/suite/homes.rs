use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DbBackend, EntityTrait, IntoActiveModel,
    JoinType, PaginatorTrait, QueryFilter, QuerySelect, RelationTrait, Set, Statement,
};
use sharding_sea_orm::{
    EntityRules, Modulo, ShardingBuilder, ShardingConnection, ShardingError, TableName, rule,
};

use super::refusal;
use crate::entity::{place, spread};
use crate::world::{World, events, sources};

/// An entity that lives in the data source `b`.
mod job {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "job")]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i32,
        pub name: String,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

async fn connect(world: &World) -> ShardingConnection {
    let db = sources(world.urls())
        .entity::<spread::Entity>()
        .broadcast::<place::Entity>()
        .single::<job::Entity>("b")
        .connect()
        .await
        .unwrap();
    db.create_tables().await.unwrap();
    for source in ["a", "b"] {
        let source = db.source(source).unwrap();
        for (id, name) in [(1, "Hall"), (2, "Attic")] {
            let row = place::ActiveModel {
                id: Set(id),
                name: Set(name.to_owned()),
            };
            row.insert(&source).await.unwrap();
        }
    }
    for event in events().into_iter().take(50) {
        let row = spread::Model::from(event).into_active_model();
        spread::Entity::insert(row)
            .exec_without_returning(&db)
            .await
            .unwrap();
    }
    db
}

/// A broadcast table is joined in every data source, and read once.
pub async fn broadcast_tables(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = connect(&world).await;
    let expected = events()
        .into_iter()
        .take(50)
        .filter(|e| e.place_id == Some(1))
        .count();
    let joined = spread::Entity::find()
        .join(JoinType::InnerJoin, spread::Relation::Place.def())
        .filter(place::Column::Name.eq("Hall"));
    assert_eq!(db.explain(&joined).unwrap().nodes.len(), 12);
    assert_eq!(joined.all(&db).await.unwrap().len(), expected);
    assert_eq!(place::Entity::find().count(&db).await.unwrap(), 2);
    let text = Statement::from_string(backend, "SELECT COUNT(*) FROM place");
    let row = db.query_one_raw(text).await.unwrap().unwrap();
    assert_eq!(row.try_get_by_index::<i64>(0).unwrap(), 2);
    db.close().await.unwrap();
    world.end().await;
}

/// A single table is reached in its data source, whatever the default one is.
pub async fn single_tables(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = connect(&world).await;
    let made = job::ActiveModel {
        name: Set("sweep".to_owned()),
        ..Default::default()
    };
    let made = made.insert(&db).await.unwrap();
    assert_eq!(
        job::Entity::find_by_id(made.id).one(&db).await.unwrap(),
        Some(made)
    );
    let other = db.source("b").unwrap();
    assert_eq!(job::Entity::find().count(&other).await.unwrap(), 1);
    let text = Statement::from_string(backend, "DELETE FROM job WHERE name = 'nobody'");
    assert_eq!(db.execute_raw(text).await.unwrap().rows_affected(), 0);

    let join = |filter: sea_orm::sea_query::SimpleExpr| {
        let on = sea_orm::sea_query::Expr::col((job::Entity, job::Column::Id)).eq(
            sea_orm::sea_query::Expr::col((spread::Entity, spread::Column::N)),
        );
        let mut query = sea_orm::sea_query::Query::select();
        query
            .column((spread::Entity, spread::Column::Id))
            .from(spread::Entity)
            .inner_join(job::Entity, on)
            .and_where(filter);
        query
    };
    use sea_orm::sea_query::ExprTrait;
    let in_b = join(sea_orm::sea_query::Expr::col((spread::Entity, spread::Column::Id)).eq(1));
    db.query_all(&in_b).await.unwrap();
    let none = sea_orm::sea_query::Expr::col((spread::Entity, spread::Column::Id));
    let none = join(none.clone().eq(1).and(none.eq(2)));
    assert_eq!(db.query_all(&none).await.unwrap().len(), 0);
    let in_a = join(sea_orm::sea_query::Expr::col((spread::Entity, spread::Column::Id)).eq(2));
    let refused = refusal(db.query_all(&in_a).await.map(|rows| rows.len()));
    assert!(
        refused.contains("a join with a table of another data source"),
        "{refused}"
    );
    db.close().await.unwrap();
    world.end().await;
}

mod customer {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "customer")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        #[sea_orm(indexed)]
        pub referrer_id: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {}

    impl ActiveModelBehavior for ActiveModel {}
}

mod purchase {
    #![allow(unreachable_pub, reason = "entities are written so")]

    use sea_orm::entity::prelude::*;

    #[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
    #[sea_orm(table_name = "purchase")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub id: i64,
        pub customer_id: i64,
    }

    #[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
    pub enum Relation {
        #[sea_orm(
            belongs_to = "super::customer::Entity",
            from = "Column::CustomerId",
            to = "super::customer::Column::Id",
            skip_fk
        )]
        Customer,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

/// A relation from key to key makes tables with alike rules co-located; others are if they are
/// declared, and it is a mistake to declare what is not.
pub async fn co_located_tables(backend: DbBackend) {
    let world = World::bare(backend).await;
    let customers = |shards| {
        EntityRules::<customer::Entity>::new()
            .table(rule::<i64, _>(customer::Column::Id, Modulo::new(shards)))
    };
    let purchases = |column| {
        EntityRules::<purchase::Entity>::new().table(rule::<i64, _>(column, Modulo::new(3)))
    };
    let by_customer = || purchases(purchase::Column::CustomerId);
    let groups = async |builder: ShardingBuilder| {
        let db = builder.connect().await.unwrap();
        let topology = db.topology();
        let names = |group: &Vec<TableName>| group.iter().map(ToString::to_string).collect();
        let groups: Vec<Vec<String>> = topology.co_located().iter().map(names).collect();
        db.close().await.unwrap();
        groups
    };
    let sources = || sources(world.urls());
    let related = sources().table(customers(3)).table(by_customer());
    assert_eq!(groups(related).await, [["purchase", "customer"]]);
    let others = sources().table(customers(4)).table(by_customer());
    assert!(groups(others).await.is_empty());
    let by_id = || {
        sources()
            .table(customers(3))
            .table(purchases(purchase::Column::Id))
    };
    assert!(groups(by_id()).await.is_empty());
    let declared = by_id().co_located::<(customer::Entity, purchase::Entity)>();
    assert_eq!(groups(declared).await, [["customer", "purchase"]]);
    let wrong = sources()
        .table(customers(4))
        .table(by_customer())
        .co_located::<(customer::Entity, purchase::Entity)>();
    let error = wrong.connect().await.unwrap_err().to_string();
    assert!(
        error.contains("co_located: `purchase` places rows otherwise than `customer`"),
        "{error}"
    );
    world.end().await;
}

pub async fn refused_writes(backend: DbBackend) {
    let world = World::bare(backend).await;
    let db = connect(&world).await;
    let insert = place::ActiveModel {
        id: Set(3),
        name: Set("Yard".to_owned()),
    };
    let expected = "refused: a write to a broadcast table of several sources on `place`; write to \
                    the copy of each data source on its plain connection, `source(name)`";
    assert_eq!(refusal(insert.insert(&db).await), expected);
    assert_eq!(
        refusal(place::Entity::delete_many().exec(&db).await),
        expected
    );
    let text = Statement::from_string(backend, "UPDATE place SET name = 'x'");
    assert_eq!(refusal(db.execute_raw(text).await), expected);
    let torn = Statement::from_string(backend, "SELECT 1 FROM job, event_whole, place");
    // Text without a declared table beside `job` goes to its data source.
    assert!(db.query_all_raw(torn).await.is_err());
    db.close().await.unwrap();

    let wrong = sources(world.urls())
        .entity::<spread::Entity>()
        .broadcast::<spread::Entity>()
        .single::<job::Entity>("c")
        .connect()
        .await
        .unwrap_err();
    let ShardingError::Config(mistakes) = &wrong else {
        panic!("{wrong}")
    };
    let texts: Vec<_> = mistakes
        .mistakes()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        texts,
        [
            "tables.job.single: `c` is not among the sources",
            "tables.event_spread: is declared as sharded and as broadcast",
        ]
    );
    world.end().await;
}
