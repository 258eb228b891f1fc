use super::*;

#[test]
fn open_calendars_grow() {
    let table = TableDraft {
        source: rule(KeyKind::Integer, HashModulo::new(2)),
        table: rule(KeyKind::Instant, Monthly::starting(2013, 1)),
        ..draft("t")
    };
    let draft = TopologyDraft {
        sources: vec!["a".into(), "b".into()],
        tables: vec![table],
        ..TopologyDraft::default()
    };
    let march = draft.build(at("2013-03-31T23:00:00Z")).unwrap();
    assert_eq!(march.tables()[0].node_count(), 8);
    assert_eq!(march.until(), Some(at("2013-04-01T00:00:00Z")));
    let april = march.at(at("2013-04-01T00:00:00Z"));
    assert_eq!(april.until(), Some(at("2013-05-01T00:00:00Z")));
    assert_eq!(
        all_nodes(&april)[4..6],
        ["a.t_201305".to_owned(), "b.t_201301".to_owned()]
    );
    // A clock that goes back takes no tail away.
    assert_eq!(
        all_nodes(&april.at(at("2013-01-01T00:00:00Z"))),
        all_nodes(&april)
    );
}

#[test]
fn changes_neither_move_rows_nor_lose_them() {
    let country = |list: Lists| TopologyDraft {
        sources: vec!["a".into(), "b".into()],
        tables: vec![TableDraft {
            source: rule(KeyKind::Text, list),
            table: None,
            ..draft("t")
        }],
        ..TopologyDraft::default()
    };
    let lists = || Lists::new().values("a", ["cz"]).values("b", ["de"]);
    let now = DateTime::UNIX_EPOCH;
    let before = country(lists()).build(now).unwrap();
    let mut more = country(lists().values("c", ["fr"]));
    more.sources = ["c", "b", "a"].map(String::from).to_vec();
    more.default_source = Some("a".into());
    more.draining = vec!["a".into()];
    let after = more.change(&before, now).unwrap();
    assert_eq!(after.source_id("a"), before.source_id("a"));
    assert_eq!(all_nodes(&after), ["a.t", "b.t", "c.t"]);
    assert_eq!(
        after.state(after.source_id("a").unwrap()),
        SourceState::Draining
    );

    let texts = |draft: TopologyDraft| {
        let error = draft.change(&before, now).unwrap_err();
        error
            .mistakes()
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
    };
    assert_eq!(
        texts(country(
            Lists::new().values("a", ["de"]).values("b", ["cz"])
        )),
        ["tables.t: would move rows: lists of 2 values does not extend lists of 2 values"]
    );
    let mut gone = country(lists());
    gone.tables.clear();
    assert_eq!(texts(gone), ["tables.t: is not declared any more"]);
    let mut without = country(lists());
    without.sources = vec!["a".into()];
    without.tables[0].source_names = Some(vec!["a".into(), "b".into()]);
    assert_eq!(
        texts(without),
        ["tables.t.source.names: `b` is not among the sources"]
    );
    let mut swapped = country(lists());
    swapped.tables[0].source_names = Some(vec!["b".into(), "a".into()]);
    assert_eq!(texts(swapped).len(), 1);
}

/// A removed source keeps its id, and its name may be used again for another.
#[test]
fn unused_sources_can_be_removed() {
    let now = DateTime::UNIX_EPOCH;
    let with = |sources: &[&str]| TopologyDraft {
        sources: sources.iter().map(ToString::to_string).collect(),
        tables: vec![draft("t")],
        ..TopologyDraft::default()
    };
    let before = with(&["a", "b", "c"]).build(now).unwrap();
    let after = with(&["a", "c"]).change(&before, now).unwrap();
    assert_eq!(after.source_id("c"), before.source_id("c"));
    assert_eq!(after.source_id("b"), None);
    let again = with(&["a", "c", "b"]).change(&after, now).unwrap();
    assert_ne!(again.source_id("b"), before.source_id("b"));
    let mut moved = with(&["b"]);
    moved.default_source = Some("b".into());
    let error = moved.change(&before, now).unwrap_err().to_string();
    assert!(
        error.contains("sources.a: still holds `t_0` of `t`"),
        "{error}"
    );
}
