mod carrier {
    use sea_orm::entity::prelude::*;

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
    #[sea_orm(table_name = "carriers")]
    pub struct Model {
        #[sea_orm(primary_key, auto_increment = false)]
        pub code: String,
        #[sea_orm(has_many)]
        pub flights: HasMany<super::flight::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

mod flight {
    use sea_orm::entity::prelude::*;
    use sharding_sea_orm::{HashModulo, Monthly, Sharded};

    #[sea_orm::model]
    #[derive(Clone, Debug, PartialEq, DeriveEntityModel, Sharded)]
    #[sea_orm(table_name = "flights")]
    #[sharded(
        table(key = time_hour, by = Monthly::starting(2013, 1)),
        source(key = carrier_code, by = HashModulo::new(2))
    )]
    pub struct Model {
        #[sea_orm(primary_key)]
        pub id: i64,
        pub carrier_code: String,
        pub time_hour: DateTimeUtc,
        #[sea_orm(belongs_to, from = "carrier_code", to = "code")]
        pub carrier: HasOne<super::carrier::Entity>,
    }

    impl ActiveModelBehavior for ActiveModel {}
}

fn main() {
    let _ = <flight::Entity as sharding_sea_orm::ShardedEntity>::sharding();
}
