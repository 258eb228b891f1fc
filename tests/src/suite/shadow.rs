use std::panic::AssertUnwindSafe;

use futures_util::{FutureExt, TryStreamExt};
use sea_orm::sea_query::{Alias, Asterisk, Expr, ExprTrait, Func, Query};
use sea_orm::{
    ActiveModelTrait, ColumnTrait, ConnectionTrait, DatabaseConnection, DbBackend, DbErr,
    EntityTrait, IntoActiveModel, PaginatorTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait,
    Schema, Set, Statement, TransactionError, TransactionTrait,
};
use sharding_sea_orm::assert_same_answers;
use sharding_sea_orm::shadow::{Difference, DifferenceKind, ShadowConnection, same_answers};

use crate::entity::{Event, monthly, place, spread};
use crate::world::{TextColumns, World, binary, events, make_text_binary};

/// The same rows in a plain database and in sharded ones.
struct Both {
    plain: DatabaseConnection,
    db: ShadowConnection,
    worlds: [World; 2],
}

const ROWS: usize = 150;

async fn both(backend: DbBackend) -> Both {
    let worlds = [
        World::bare(backend).await,
        World::with_text(backend, TextColumns::Binary).await,
    ];
    let plain = worlds[0].db.source("a").unwrap();
    let schema = Schema::new(backend);
    macro_rules! create {
        ($($name:ident: $table:literal),+) => {
            $(
                plain
                    .execute(&schema.create_table_from_entity($name::Entity))
                    .await
                    .unwrap();
                if backend == DbBackend::MySql {
                    plain.execute_unprepared(&binary($table)).await.unwrap();
                }
            )+
        };
    }
    create!(monthly: "event_monthly", spread: "event_spread", place: "place");
    if backend == DbBackend::MySql {
        make_text_binary(&worlds[1].db).await;
    }
    let db = ShadowConnection::new(plain.clone(), worlds[1].db.clone());
    let both = Both { plain, db, worlds };
    both.fill().await;
    both
}

impl Both {
    /// Every write goes to both sides.
    async fn fill(&self) {
        let places =
            [(1, "Hall"), (2, "attic"), (3, "Yard")].map(|(id, name)| place::ActiveModel {
                id: Set(id),
                name: Set(name.to_owned()),
            });
        place::Entity::insert_many(places)
            .exec(&self.db)
            .await
            .unwrap();
        let events: Vec<_> = events().into_iter().take(ROWS).collect();
        let rows = |event: Event| monthly::Model::from(event).into_active_model();
        monthly::Entity::insert_many(events.iter().cloned().map(rows))
            .exec_without_returning(&self.db)
            .await
            .unwrap();
        for parity in 0..2 {
            let half = events.iter().filter(|event| event.id % 2 == parity);
            let rows = |event: Event| spread::Model::from(event).into_active_model();
            spread::Entity::insert_many(half.cloned().map(rows))
                .exec_without_returning(&self.db)
                .await
                .unwrap();
        }
        self.assert_clean();
        self.db.reset();
    }

    #[track_caller]
    fn assert_clean(&self) {
        let report = self.db.report();
        assert!(
            report.differences.is_empty() && report.failed == 0,
            "{report}"
        );
    }

    /// The one difference that was recorded, and a new report.
    #[track_caller]
    fn only_difference(&self) -> Difference {
        let report = self.db.report();
        self.db.reset();
        match &report.entries[..] {
            [entry] if entry.times == 1 => entry.difference.clone(),
            _ => panic!("{report}"),
        }
    }

    async fn change_on_sharded(&self, id: i64, n: Option<i32>) {
        let changed = monthly::Entity::update_many()
            .col_expr(monthly::Column::N, Expr::value(n))
            .filter(monthly::Column::Id.eq(id))
            .exec(self.db.sharded())
            .await
            .unwrap();
        assert_eq!(changed.rows_affected, 1);
    }

    async fn end(self) {
        drop((self.db, self.plain));
        for world in self.worlds {
            world.end().await;
        }
    }
}

fn event(id: i64, at: &str) -> Event {
    Event {
        id,
        at: at.parse().unwrap(),
        ..events().swap_remove(9)
    }
}

#[track_caller]
fn kind(result: Result<(), Difference>, expected: DifferenceKind) -> String {
    let difference = result.unwrap_err();
    assert_eq!(difference.kind(), expected, "{difference}");
    difference.to_string()
}

/// Whatever both sides answer is the same, in every form of statement.
pub async fn same_rows(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    let sharded = db.sharded();
    macro_rules! alike {
        ($e:ident) => {
            assert_same_answers!(plain, sharded, $e::Entity::find());
            assert_same_answers!(
                plain,
                sharded,
                $e::Entity::find().order_by_desc($e::Column::Id)
            );
            let ties = $e::Entity::find().order_by_asc($e::Column::N);
            assert_same_answers!(plain, sharded, ties);
            assert_same_answers!(plain, sharded, &ties.limit(1000));
            let page = $e::Entity::find()
                .order_by_asc($e::Column::Id)
                .offset(7)
                .limit(20);
            assert_same_answers!(plain, sharded, page);
            let groups = $e::Entity::find()
                .select_only()
                .column($e::Column::Flag)
                .column_as($e::Column::Score.sum(), "sum")
                .column_as($e::Column::Score.avg(), "average")
                .column_as($e::Column::Amount.sum(), "amount")
                .column_as($e::Column::Amount.avg(), "mean")
                .column_as($e::Column::At.max(), "last")
                .group_by($e::Column::Flag);
            assert_same_answers!(plain, sharded, groups);
            let unnamed = Query::select()
                .expr(Func::count(Expr::col(Asterisk)))
                .expr(Func::max(Expr::col(($e::Entity, $e::Column::Big))))
                .from($e::Entity)
                .to_owned();
            assert_same_answers!(plain, sharded, unnamed);
        };
    }
    alike!(monthly);
    alike!(spread);
    let kinds = monthly::Entity::find()
        .select_only()
        .column(monthly::Column::Kind)
        .column_as(monthly::Column::N.count(), "count")
        .column_as(monthly::Column::Day.min(), "first")
        .group_by(monthly::Column::Kind)
        .having(monthly::Column::Id.count().gt(3))
        .order_by_desc(Expr::col(Alias::new("count")))
        .limit(5);
    assert_same_answers!(plain, sharded, kinds);
    let distinct = monthly::Entity::find()
        .select_only()
        .columns([monthly::Column::Note, monthly::Column::PlaceId])
        .distinct();
    assert_same_answers!(plain, sharded, distinct);
    let joined = monthly::Entity::find().find_also_related(place::Entity);
    assert_same_answers!(plain, sharded, joined);
    let text = Statement::from_string(backend, "SELECT name FROM place ORDER BY id LIMIT 2");
    assert_same_answers!(plain, sharded, text);

    let found = monthly::Entity::find().order_by_asc(monthly::Column::Id);
    let page = found.clone().paginate(db, 10).fetch_page(2).await.unwrap();
    assert_eq!(
        page.iter().map(|e| e.id).collect::<Vec<_>>(),
        (20..30).collect::<Vec<_>>()
    );
    assert_eq!(
        monthly::Entity::find().count(db).await.unwrap(),
        ROWS as u64
    );
    let one = monthly::Entity::find_by_id(5).one(db).await.unwrap();
    assert!(one.is_some());
    let before = db.report().same;
    let all: Vec<_> = found.stream(db).await.unwrap().try_collect().await.unwrap();
    assert_eq!(all.len(), ROWS);
    assert_eq!(db.report().same, before + 1);
    // A stream that is not read to its end is not compared.
    drop(monthly::Entity::find().stream(db).await.unwrap());
    assert_eq!((db.report().same, db.report().skipped), (before + 1, 1));
    both.assert_clean();
    both.end().await;
}

/// A difference that was made on purpose is found, with row and column.
pub async fn values(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    let sharded = db.sharded();
    both.change_on_sharded(7, Some(1234)).await;
    let was = match events()[7].n {
        Some(n) => n.to_string(),
        None => "NULL".to_owned(),
    };
    let expected = format!("row 8, column `n`: the sharded side has 1234, the plain side {was}");
    let by_id = monthly::Entity::find().order_by_asc(monthly::Column::Id);
    let found = same_answers(plain, sharded, &by_id).await;
    assert_eq!(kind(found, DifferenceKind::Value), expected);
    let unordered = monthly::Entity::find().filter(monthly::Column::Id.is_in([7, 8]));
    let found = same_answers(plain, sharded, &unordered).await;
    let found = kind(found, DifferenceKind::Value);
    assert!(
        found.contains("column `n`: the sharded side has 1234"),
        "{found}"
    );

    // One row by its key is all there is, so LIMIT excuses nothing.
    monthly::Entity::find_by_id(7).one(db).await.unwrap();
    let found = both.only_difference().to_string();
    assert_eq!(found, expected.replace("row 8", "row 1"));
    let streamed: Vec<_> = by_id
        .clone()
        .stream(db)
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(
        streamed[7].n.map_or("NULL".to_owned(), |n| n.to_string()),
        was
    );
    assert_eq!(both.only_difference().to_string(), expected);

    monthly::Entity::delete_by_id(7)
        .exec(sharded)
        .await
        .unwrap();
    let found = same_answers(plain, sharded, &by_id).await;
    let found = kind(found, DifferenceKind::Count);
    let expected = format!(
        "the sharded side has {} rows, the plain side {ROWS}; only the plain side has (7, ",
        ROWS - 1
    );
    assert!(found.starts_with(&expected), "{found}");
    both.end().await;
}

/// Another order of the same rows is told from other rows, and ties are none.
pub async fn orders(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    let sharded = db.sharded();
    for (id, plain_n, sharded_n) in [(10, 100_001, 100_002), (11, 100_002, 100_001)] {
        both.change_on_sharded(id, Some(sharded_n)).await;
        let row = monthly::ActiveModel {
            id: Set(id),
            n: Set(Some(plain_n)),
            ..Default::default()
        };
        row.update(plain).await.unwrap();
    }
    let swapped = monthly::Entity::find()
        .select_only()
        .column(monthly::Column::Id)
        .filter(monthly::Column::Id.is_in([10, 11]));
    let by_n = swapped.clone().order_by_asc(monthly::Column::N);
    let found = kind(
        same_answers(plain, sharded, &by_n).await,
        DifferenceKind::Order,
    );
    assert!(
        found.contains("from row 1 on: the sharded side has (11), the plain side (10)"),
        "{found}"
    );
    assert_same_answers!(plain, sharded, swapped);

    // Which of the ties a page has is open; which of the others it has is not.
    let mut first = Query::select();
    first
        .columns([monthly::Column::Id, monthly::Column::Flag])
        .from(monthly::Entity)
        .order_by(monthly::Column::Flag, sea_orm::Order::Asc)
        .limit(1);
    let row = plain.query_one(&first).await.unwrap().unwrap();
    let id: i64 = row.try_get_by_index(0).unwrap();
    monthly::Entity::delete_by_id(id)
        .exec(sharded)
        .await
        .unwrap();
    kind(
        same_answers(plain, sharded, &first).await,
        DifferenceKind::Page,
    );
    first.order_by(monthly::Column::Id, sea_orm::Order::Asc);
    let first = first.limit(ROWS as u64);
    kind(
        same_answers(plain, sharded, first).await,
        DifferenceKind::Count,
    );
    both.end().await;
}

/// What the sharded side refuses is told by its reason, and answered all the same.
pub async fn refusals(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    let numbered = spread::Entity::find()
        .select_only()
        .expr_as(Expr::cust("ROW_NUMBER() OVER (ORDER BY id)"), "number")
        .column(spread::Column::Id);
    let found = same_answers(plain, db.sharded(), &numbered).await;
    let Err(Difference::Refused(error)) = found else {
        panic!("{found:?}")
    };
    assert!(error.to_string().starts_with("refused: "), "{error}");
    for _ in 0..2 {
        let rows = db.query_all(numbered.as_query()).await.unwrap();
        assert_eq!(rows.len(), ROWS);
    }
    spread::Entity::delete_many().exec(db).await.unwrap();
    let report = db.report();
    assert_eq!((report.refused(), report.different()), (3, 0), "{report}");
    assert_eq!(report.refusals.len(), 2, "{report}");
    let times: Vec<_> = report
        .of(DifferenceKind::Refused)
        .map(|entry| entry.times)
        .collect();
    assert_eq!(times, [2, 1]);
    assert!(report.to_string().contains("\n  2 × SELECT "), "{report}");
    both.end().await;
}

/// Writes are made on both sides; other numbers of rows are told.
pub async fn writes(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    let row = monthly::Model::from(event(1000, "2013-05-05T00:00:00Z")).into_active_model();
    let made = row.clone().insert(db).await.unwrap();
    let changed = monthly::ActiveModel {
        id: Set(made.id),
        n: Set(Some(77)),
        ..Default::default()
    };
    changed.update(db).await.unwrap();
    let deleted = monthly::Entity::delete_many()
        .filter(monthly::Column::Flag.eq(true))
        .exec(db)
        .await
        .unwrap();
    assert!(deleted.rows_affected > 0);
    db.execute_unprepared("UPDATE place SET name = 'Gate' WHERE id = 3")
        .await
        .unwrap();
    assert_same_answers!(plain, db.sharded(), monthly::Entity::find());
    assert_same_answers!(plain, db.sharded(), place::Entity::find());
    both.assert_clean();

    // What fails on the plain side is not made on the sharded one.
    let again = events().into_iter().find(|event| !event.flag).unwrap();
    let again = monthly::Model::from(again).into_active_model();
    again.insert(db).await.unwrap_err();
    let report = db.report();
    assert_eq!(report.failed, 1, "{report}");
    assert_same_answers!(plain, db.sharded(), monthly::Entity::find());
    db.reset();

    monthly::Entity::delete_many()
        .filter(monthly::Column::Id.lt(50))
        .exec(plain)
        .await
        .unwrap();
    let all = monthly::Entity::delete_many().exec(db).await.unwrap();
    let difference = both.only_difference();
    let Difference::Affected {
        plain: affected,
        sharded,
    } = difference
    else {
        panic!("{difference}")
    };
    assert_eq!(affected, all.rows_affected);
    assert!(sharded > affected);

    let reading = ShadowConnection::new(plain.clone(), db.sharded().clone()).reads_only();
    place::Entity::delete_many().exec(&reading).await.unwrap();
    assert_eq!(place::Entity::find().count(db.sharded()).await.unwrap(), 3);
    assert_eq!(
        (reading.report().skipped, reading.report().statements()),
        (1, 1)
    );
    both.end().await;
}

/// A sharded side that fails is not noticed but in the report.
pub async fn failures(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    let source = db.sharded().source("a").unwrap();
    source
        .execute_unprepared("DROP TABLE event_monthly_201303")
        .await
        .unwrap();
    let found = same_answers(plain, db.sharded(), &monthly::Entity::find()).await;
    kind(found, DifferenceKind::Error);
    assert_eq!(monthly::Entity::find().all(db).await.unwrap().len(), ROWS);
    let row = monthly::Model::from(event(1000, "2013-03-05T00:00:00Z")).into_active_model();
    row.insert(db).await.unwrap();
    let found: Vec<_> = monthly::Entity::find()
        .stream(db)
        .await
        .unwrap()
        .try_collect()
        .await
        .unwrap();
    assert_eq!(found.len(), ROWS + 1);
    let report = db.report();
    assert!(report.count(DifferenceKind::Error) >= 3, "{report}");
    assert_eq!((report.refused(), report.failed), (0, 0), "{report}");
    db.reset();

    // Statements that are wrong on both sides are no difference.
    let nothing = Query::select()
        .column((monthly::Entity, Alias::new("nowhere")))
        .from(monthly::Entity)
        .to_owned();
    db.query_all(&nothing).await.unwrap_err();
    assert_eq!((db.report().failed, db.report().statements()), (1, 1));
    kind(
        same_answers(plain, db.sharded(), &nothing).await,
        DifferenceKind::NoAnswer,
    );

    // In a transaction, the rest of it is left to the plain side.
    db.reset();
    let transaction = db.begin().await.unwrap();
    place::Entity::delete_by_id(1)
        .exec(&transaction)
        .await
        .unwrap();
    monthly::Entity::find().all(&transaction).await.unwrap();
    place::Entity::delete_by_id(2)
        .exec(&transaction)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    assert_eq!(place::Entity::find().count(plain).await.unwrap(), 1);
    assert_eq!(place::Entity::find().count(db.sharded()).await.unwrap(), 3);
    let report = db.report();
    assert_eq!((report.same, report.skipped), (1, 1), "{report}");
    let failed: Vec<_> = report.of(DifferenceKind::Error).collect();
    assert_eq!(failed.len(), 2, "{report}");
    assert_eq!(failed[1].sql, "COMMIT");

    db.sharded().clone().close().await.unwrap();
    assert_eq!(
        monthly::Entity::find().all(db).await.unwrap().len(),
        ROWS + 1
    );
    drop(source);
    both.end().await;
}

/// Transactions begin and end on both sides.
pub async fn transactions(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    let count = async |side: &str| {
        let found = monthly::Entity::find();
        match side {
            "plain" => found.count(plain).await.unwrap(),
            _ => found.count(db.sharded()).await.unwrap(),
        }
    };
    let transaction = db.begin().await.unwrap();
    monthly::Entity::delete_by_id(3)
        .exec(&transaction)
        .await
        .unwrap();
    let inner = transaction.begin().await.unwrap();
    monthly::Entity::delete_many().exec(&inner).await.unwrap();
    assert_eq!(monthly::Entity::find().count(&inner).await.unwrap(), 0);
    inner.rollback().await.unwrap();
    let left: Vec<_> = {
        let rows = monthly::Entity::find().stream(&transaction).await.unwrap();
        rows.try_collect().await.unwrap()
    };
    assert_eq!(left.len(), ROWS - 1);
    transaction.commit().await.unwrap();
    assert_eq!(
        [count("plain").await, count("sharded").await],
        [ROWS as u64 - 1; 2]
    );

    let dropped = db.begin().await.unwrap();
    monthly::Entity::delete_many().exec(&dropped).await.unwrap();
    drop(dropped);
    let result: Result<(), TransactionError<DbErr>> = db
        .transaction(|transaction| {
            Box::pin(async move {
                monthly::Entity::delete_many().exec(transaction).await?;
                Err(DbErr::Custom("no".into()))
            })
        })
        .await;
    assert!(matches!(result, Err(TransactionError::Transaction(_))));
    assert_eq!(
        [count("plain").await, count("sharded").await],
        [ROWS as u64 - 1; 2]
    );
    both.assert_clean();

    // A refusal does not end the sharded side's part.
    db.reset();
    let transaction = db.begin().await.unwrap();
    for id in [2, 3] {
        let deleted = spread::Entity::delete_by_id(id)
            .exec(&transaction)
            .await
            .unwrap();
        assert_eq!(deleted.rows_affected, 1);
    }
    monthly::Entity::delete_by_id(4)
        .exec(&transaction)
        .await
        .unwrap();
    transaction.commit().await.unwrap();
    let report = db.report();
    assert_eq!(
        (report.same, report.refused(), report.statements()),
        (2, 1, 3),
        "{report}"
    );
    let refused = report.of(DifferenceKind::Refused).next().unwrap();
    assert!(
        refused
            .difference
            .to_string()
            .contains("this transaction is on data source `a`"),
        "{report}"
    );
    assert_eq!(
        [count("plain").await, count("sharded").await],
        [ROWS as u64 - 2; 2]
    );
    both.end().await;
}

/// The macro panics with the difference and the statement.
pub async fn assertions(backend: DbBackend) {
    let both = both(backend).await;
    let Both { plain, db, .. } = &both;
    both.change_on_sharded(7, Some(1234)).await;
    let asserted = async {
        let found = monthly::Entity::find().order_by_asc(monthly::Column::Id);
        assert_same_answers!(plain, db.sharded(), found.filter(monthly::Column::Id.gt(5)));
    };
    let panicked = AssertUnwindSafe(asserted).catch_unwind().await.unwrap_err();
    let message = panicked.downcast_ref::<String>().unwrap();
    assert!(
        message.starts_with("row 2, column `n`: the sharded side has 1234, the plain side"),
        "{message}"
    );
    assert!(
        message.contains("\nSELECT ") && message.contains("> 5"),
        "{message}"
    );
    assert_same_answers!(plain, db, place::Entity::find());
    both.end().await;
}
