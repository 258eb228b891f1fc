use super::*;

#[test]
fn columns_are_hashed_together() {
    let two = key(
        [("x", KeyKind::Integer), ("y", KeyKind::Text)],
        HashModulo::new(5),
    );
    let table = TableDraft {
        table: Some(RuleDraft::new(two)),
        ..draft("t")
    };
    let topology = build(&["a"], vec![table]).unwrap();
    let own = &topology.tables()[0];
    let place = |x: i128, y: &'static str| {
        let of = |column: &KeyColumn| match column.name() {
            "x" => Some(Some(KeyValue::Int(x))),
            _ => Some(Some(text(y))),
        };
        own.place(of).unwrap()
    };
    let places: HashSet<_> = (0..40).map(|n| place(n, "UA")).collect();
    assert_eq!(places.len(), 5);
    let route = |xs: KeySet<'static>, ys: KeySet<'static>| {
        own.route(|column| {
            if column.name() == "x" {
                xs.clone()
            } else {
                ys.clone()
            }
        })
    };
    let ua = || KeySet::point(text("UA"));
    assert_eq!(
        route(KeySet::point(KeyValue::Int(7)), ua()),
        [place(7, "UA")]
    );
    let list = KeySet::points(vec![KeyValue::Int(7), KeyValue::Int(9)]);
    let mut both = vec![place(7, "UA"), place(9, "UA")];
    both.sort_unstable();
    both.dedup();
    assert_eq!(route(list, ua()), both);
    assert_eq!(route(KeySet::all(), ua()).len(), 5);
    assert_eq!(route(KeySet::null(), ua()), [0; 0]);
    let missing = own.place(|column| (column.name() == "x").then_some(Some(KeyValue::Int(1))));
    let (table, column) = ("t".to_owned(), "y".to_owned());
    assert_eq!(missing, Err(KeyError::Missing { table, column }));
    let modulo = key(
        [("x", KeyKind::Integer), ("y", KeyKind::Text)],
        Modulo::new(5),
    );
    let table = TableDraft {
        table: Some(RuleDraft::new(modulo)),
        ..draft("t")
    };
    mistakes(
        &["a"],
        vec![table],
        &["tables.t.table.by: modulo 5 cannot place `x, y`, which is integer, text"],
    );
}

#[test]
fn secondary_keys_narrow_and_must_agree() {
    let months = Monthly::starting(2013, 1).through(2013, 6);
    let mut by_time = RuleDraft::new(key([("at", KeyKind::Date)], months));
    by_time
        .secondary
        .push(key([("no", KeyKind::Text)], Embedded::new(0..6, months)));
    let table = TableDraft {
        table: Some(by_time.clone()),
        ..draft("t")
    };
    let topology = build(&["a"], vec![table]).unwrap();
    let own = &topology.tables()[0];
    let day = |text: &str| KeyValue::Date(text.parse().unwrap());
    let row = |no: Option<KeyValue<'static>>| {
        own.place(|column| match column.name() {
            "at" => Some(Some(day("2013-03-09"))),
            _ => Some(no.clone()),
        })
    };
    assert_eq!(row(Some(text("201303-1"))), Ok(2));
    assert_eq!(row(None), Ok(2));
    assert!(matches!(
        row(Some(text("201304-1"))),
        Err(KeyError::Disagree { .. })
    ));
    assert!(matches!(
        row(Some(text("unclear"))),
        Err(KeyError::Outside { .. })
    ));
    let route = |at: KeySet<'static>, no: KeySet<'static>| {
        own.route(|column| {
            if column.name() == "at" {
                at.clone()
            } else {
                no.clone()
            }
        })
    };
    assert_eq!(route(KeySet::all(), KeySet::point(text("201305-7"))), [4]);
    assert_eq!(
        route(
            KeySet::point(day("2013-03-01")),
            KeySet::point(text("201305-7"))
        ),
        [0; 0]
    );
    assert_eq!(route(KeySet::all(), KeySet::null()).len(), 6);
    assert_eq!(route(KeySet::point(day("2013-03-01")), KeySet::all()), [2]);

    by_time.secondary.push(key(
        [("no", KeyKind::Text)],
        Embedded::new(0..6, Monthly::starting(2013, 2).through(2013, 7)),
    ));
    let table = TableDraft {
        table: Some(by_time),
        ..draft("t")
    };
    mistakes(
        &["a"],
        vec![table],
        &[
            "tables.t.table.also[1].by: characters 0 to 6, months 201302 to 201307 has other partitions \
           than the key: \"201301\" is not among both",
        ],
    );
}

#[test]
fn changed_keys_stay_or_not() {
    let table = TableDraft {
        table: Some(RuleDraft::new(key(
            [("x", KeyKind::Integer)],
            Modulo::new(3),
        ))),
        ..draft("t")
    };
    let topology = build(&["a"], vec![table]).unwrap();
    let own = &topology.tables()[0];
    let stays = |at, set| own.stays(at, |_| KeySet::point(KeyValue::Int(set)), |_| true);
    assert!(stays(1, 7) && !stays(1, 8));
    assert!(!own.stays(1, |_| KeySet::all(), |_| true));
    assert!(!own.stays(1, |_| KeySet::null(), |_| true));
    let list = Lists::new().values("only", [1, 2]);
    let table = TableDraft {
        table: rule(KeyKind::Integer, list),
        ..draft("t")
    };
    let topology = build(&["a"], vec![table]).unwrap();
    let own = &topology.tables()[0];
    let stays = |set| own.stays(0, |_| KeySet::point(KeyValue::Int(set)), |_| true);
    assert!(stays(2) && !stays(3));
}
