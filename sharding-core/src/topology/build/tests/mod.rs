mod changes;
mod keys;

use super::super::{
    ColumnDraft, ColumnKind, KeyColumn, KeyDraft, RuleDraft, TableDraft, TailsDraft,
};
use super::*;
use crate::error::KeyError;
use crate::key::{KeyKind, KeySet, KeyValue};
use crate::strategy::{
    Embedded, HashModulo, HashSplit, Lists, Modulo, Monthly, SnowflakeDatabase, SnowflakeEpoch,
    SnowflakeHash, Strategy,
};

fn key<const N: usize>(columns: [(&'static str, KeyKind); N], strategy: impl Strategy) -> KeyDraft {
    let column = |(name, kind): (&'static str, KeyKind)| ColumnDraft {
        name: name.into(),
        kind: ColumnKind::Key(kind),
    };
    KeyDraft {
        columns: columns.map(column).to_vec(),
        strategy: Arc::new(strategy),
    }
}

fn rule(kind: KeyKind, strategy: impl Strategy) -> Option<RuleDraft> {
    Some(RuleDraft::new(key([("k", kind)], strategy)))
}

fn draft(name: &'static str) -> TableDraft {
    TableDraft {
        table: rule(KeyKind::Integer, Modulo::new(3)),
        ..TableDraft::new(TableName::new(name))
    }
}

fn build(sources: &[&str], tables: Vec<TableDraft>) -> Result<Topology, ConfigError> {
    let sources = sources.iter().map(ToString::to_string).collect();
    TopologyDraft {
        sources,
        tables,
        ..TopologyDraft::default()
    }
    .build(DateTime::UNIX_EPOCH)
}

#[track_caller]
fn mistakes(sources: &[&str], tables: Vec<TableDraft>, expected: &[&str]) {
    let error = build(sources, tables).unwrap_err();
    let texts: Vec<_> = error.mistakes().iter().map(ToString::to_string).collect();
    assert_eq!(texts, expected);
}

#[test]
fn everything_wrong_is_reported_at_once() {
    let zero = TableDraft {
        table: rule(KeyKind::Integer, Modulo::new(0)),
        ..draft("zero")
    };
    let text = TableDraft {
        table: rule(KeyKind::Text, Modulo::new(2)),
        ..draft("text")
    };
    let bare = TableDraft {
        table: None,
        separator: "-".into(),
        ..draft("bare")
    };
    let lost = TableDraft {
        source: rule(KeyKind::Integer, HashModulo::new(3)),
        source_names: Some(vec!["ds0".into(), "ds9".into(), "ds0".into()]),
        ..draft("lost")
    };
    let few = TableDraft {
        source: rule(KeyKind::Integer, HashModulo::new(3)),
        ..draft("few")
    };
    let float = TableDraft {
        table: Some(RuleDraft::new(KeyDraft {
            columns: vec![ColumnDraft {
                name: "f".into(),
                kind: ColumnKind::Unusable("float".into()),
            }],
            strategy: Arc::new(Modulo::new(1)),
        })),
        ..draft("float")
    };
    mistakes(
        &["ds0", "a b", "ds0"],
        vec![zero, text, bare, lost, few.clone(), draft("few"), float],
        &[
            "sources.\"a b\": a name consists of letters, digits, `_` and `-`",
            "sources.ds0: declared twice",
            "tables.zero.table.by.shards: is 0; at least 1 is needed",
            "tables.text.table.by: modulo 2 cannot place `k`, which is text",
            "tables.bare: has no rule; add a `table`, a `source` or a `node` rule",
            "tables.bare.separator: \"-\" may only hold letters, digits and `_`",
            "tables.lost.source.names: `ds9` is not among the sources",
            "tables.lost.source.names: `ds0` is listed twice",
            "tables.few.source: hash modulo 3 has 3 partitions for 2 data sources",
            "tables.float.table.key: `f` is float and cannot be a key",
        ],
    );
    mistakes(
        &[],
        vec![],
        &["sources: none is declared; declare at least one data source"],
    );
    mistakes(
        &["ds0"],
        vec![draft("t"), draft("t")],
        &["tables.t: two entities name this table; register only one of them"],
    );
}

#[test]
fn physical_names_belong_to_one_table() {
    let glued = TableDraft {
        separator: "".into(),
        ..draft("t_")
    };
    mistakes(
        &["ds0"],
        vec![draft("t"), glued],
        &[
            "tables.t_: the physical table `t_0` also belongs to `t`",
            "tables.t_: the physical table `t_1` also belongs to `t`",
            "tables.t_: the physical table `t_2` also belongs to `t`",
        ],
    );
    mistakes(
        &["ds0"],
        vec![draft("t"), draft("t_1")],
        &["tables.t: the physical table `t_1` also belongs to `t_1`"],
    );
}

#[test]
fn nodes_form_a_grid() {
    let table = TableDraft {
        source: rule(KeyKind::Integer, Modulo::new(2)),
        table: rule(KeyKind::Date, Monthly::starting(2013, 1).through(2013, 3)),
        ..draft("flight")
    };
    let topology = build(&["ds0", "ds1"], vec![table]).unwrap();
    let table = topology.table(&TableName::new("flight")).unwrap();
    assert_eq!(table.node_count(), 6);
    let node = table.node(4);
    assert_eq!(
        (topology.source(node.source), &*node.table),
        ("ds1", "flight_201302")
    );
    assert_eq!(node.tail, "201302");

    let march = KeyValue::Date("2013-03-09".parse().unwrap());
    let row = |column: &KeyColumn| match column.kind() {
        KeyKind::Integer => Some(Some(KeyValue::Int(7))),
        _ => Some(Some(march.clone())),
    };
    assert_eq!(table.place(row), Ok(5));
    let route = table.route(|column| match column.kind() {
        KeyKind::Integer => KeySet::all(),
        _ => KeySet::point(march.clone()),
    });
    assert_eq!(route, [2, 5]);
}

fn text(value: &'static str) -> KeyValue<'static> {
    KeyValue::text(value)
}

fn physical(topology: &Topology, positions: impl IntoIterator<Item = usize>) -> Vec<String> {
    let table = &topology.tables()[0];
    let name = |at| {
        let node = table.node(at);
        format!("{}.{}", topology.source(node.source), node.table)
    };
    positions.into_iter().map(name).collect()
}

fn all_nodes(topology: &Topology) -> Vec<String> {
    physical(topology, topology.tables()[0].positions())
}

fn tails<const N: usize>(lists: [(&'static str, &[&'static str]); N]) -> Option<Vec<TailsDraft>> {
    let list = |(source, tails): (&'static str, &[&'static str])| TailsDraft {
        source: source.into(),
        tails: tails.iter().map(|tail| (*tail).into()).collect(),
    };
    Some(lists.map(list).to_vec())
}

#[test]
fn partitions_named_like_sources_lead_there() {
    let region = Lists::new().values("eu", ["de"]).values("us", ["us"]);
    let table = TableDraft {
        source: rule(KeyKind::Text, region),
        table: None,
        ..draft("order")
    };
    let topology = build(&["us", "other", "eu"], vec![table]).unwrap();
    assert_eq!(all_nodes(&topology), ["eu.order", "us.order"]);
    let place = topology.tables()[0].place(|_| Some(Some(text("us"))));
    assert_eq!(physical(&topology, place), ["us.order"]);
}

#[test]
fn tails_may_differ_per_source() {
    let table = TableDraft {
        source: rule(KeyKind::Integer, Modulo::new(2)),
        table: rule(KeyKind::Integer, Modulo::new(4)),
        tails: tails([("a", &["0", "2"]), ("b", &["1", "3"])]),
        ..draft("t")
    };
    let topology = build(&["a", "b"], vec![table.clone()]).unwrap();
    assert_eq!(all_nodes(&topology), ["a.t_0", "a.t_2", "b.t_1", "b.t_3"]);
    let own = &topology.tables()[0];
    assert_eq!(own.node_count(), 4);
    for n in 0..8 {
        let place = own.place(|_| Some(Some(KeyValue::Int(n)))).unwrap();
        assert_eq!(own.node(place).tail, (n % 4).to_string());
        assert_eq!(own.route(|_| KeySet::point(KeyValue::Int(n))), [place]);
    }
    assert_eq!(own.route(|_| KeySet::all()).len(), 4);
    let full = TableDraft {
        tails: None,
        ..table
    };
    mistakes(
        &["a", "b"],
        vec![full],
        &[
            "tables.t: no row can reach 4 of the 8 tables, such as `1` in `a`, since source and tail \
           follow from remainders of the same key; list the `tails` of each source, or choose one \
           of them by something else",
        ],
    );
}

#[test]
fn rows_for_a_tail_that_their_source_has_not_are_refused() {
    let columns = |column: &'static str, strategy| {
        Some(RuleDraft::new(key([(column, KeyKind::Integer)], strategy)))
    };
    let table = TableDraft {
        source: columns("s", Modulo::new(2)),
        table: columns("t", Modulo::new(3)),
        tails: tails([("a", &["0..1"]), ("b", &["2.."])]),
        ..draft("t")
    };
    let topology = build(&["a", "b"], vec![table]).unwrap();
    assert_eq!(all_nodes(&topology), ["a.t_0", "a.t_1", "b.t_2"]);
    let own = &topology.tables()[0];
    let row = |s: i128, t: i128| {
        own.place(|column| {
            Some(Some(KeyValue::Int(if column.name() == "s" {
                s
            } else {
                t
            })))
        })
    };
    assert_eq!(
        row(1, 2).map(|at| own.node(at).table.into_owned()),
        Ok("t_2".to_owned())
    );
    let (table, tail) = ("t".to_owned(), "2".to_owned());
    assert_eq!(row(0, 2), Err(KeyError::NoTail { table, tail }));
}

#[test]
fn each_tail_may_have_its_source() {
    let table = TableDraft {
        tails: tails([("a", &["..1"]), ("b", &["2"])]),
        ..draft("t")
    };
    let topology = build(&["a", "b"], vec![table.clone()]).unwrap();
    assert_eq!(all_nodes(&topology), ["a.t_0", "a.t_1", "b.t_2"]);
    let own = &topology.tables()[0];
    assert_eq!(own.route(|_| KeySet::point(KeyValue::Int(5))), [2]);
    let wrong = TableDraft {
        tails: tails([("a", &["0..7", "x"]), ("c", &["1"]), ("a", &["1..0"])]),
        ..table.clone()
    };
    mistakes(
        &["a", "b"],
        vec![wrong],
        &[
            "tables.t.tails.a: \"0..7\" names no tail of the strategy",
            "tables.t.tails.a: \"x\" names no tail of the strategy",
            "tables.t.tails: `c` is not among the sources",
            "tables.t.tails.a: \"\" is listed twice",
            "tables.t.tails.a: \"1..0\" ends before it begins",
        ],
    );
    let twice = TableDraft {
        tails: tails([("a", &["..1"]), ("b", &["1"])]),
        ..table
    };
    mistakes(
        &["a", "b"],
        vec![twice],
        &[
            "tables.t.tails: the tail `1` is in two data sources; without a source rule a tail is in one",
            "tables.t.tails: the tail `2` is in no data source",
        ],
    );
}

/// The lists also say where the tails of a growing calendar will be.
#[test]
fn tails_to_come_have_a_source() {
    let table = |lists| TableDraft {
        table: rule(KeyKind::Date, Monthly::starting(1970, 1)),
        tails: tails::<2>(lists),
        ..draft("t")
    };
    let lists = [("a", &["..197012"][..]), ("b", &["197101.."])];
    let topology = build(&["a", "b"], vec![table(lists)]).unwrap();
    let later = topology.at(at("1970-12-15T00:00:00Z"));
    let nodes = all_nodes(&later);
    assert_eq!(nodes[11..], ["a.t_197012", "b.t_197101"].map(String::from));
    let sources = &["a", "b"];
    mistakes(
        sources,
        vec![table([
            ("a", &["..197001"]),
            ("b", &["197002", "197005.."]),
        ])],
        &["tables.t.tails: the tail `197003` is in no data source"],
    );
    mistakes(
        sources,
        vec![table([("a", &["..197002"]), ("b", &["197003"])])],
        &["tables.t.tails: the tail `197004` is in no data source"],
    );
    let twice = "is in two data sources; without a source rule a tail is in one";
    mistakes(
        sources,
        vec![table([("a", &[".."]), ("b", &["197005..197007"])])],
        &[&format!("tables.t.tails: the tail `197005` {twice}")],
    );
    let by_source = TableDraft {
        source: rule(KeyKind::Integer, Modulo::new(2)),
        source_names: Some(vec!["a".into(), "b".into()]),
        ..table([("a", &[".."]), ("c", &["197005"])])
    };
    mistakes(
        &["a", "b", "c"],
        vec![by_source.clone()],
        &["tables.t.tails.c: \"\" is not among the sources of the `source` rule"],
    );
    let ending = TableDraft {
        tails: tails([("a", &["..197002"]), ("b", &["197001..197006"])]),
        ..by_source
    };
    mistakes(
        sources,
        vec![ending],
        &["tables.t.tails: the tail `197007` is in no data source"],
    );
}

fn snowflake(tables: [&'static str; 2]) -> SnowflakeHash {
    let tables = HashSplit::modulo(tables);
    let databases = ["a", "b"].map(|name| SnowflakeDatabase::new(name, tables.clone()));
    SnowflakeHash::new([SnowflakeEpoch::new(HashSplit::modulo(databases))])
}

#[test]
fn a_node_rule_decides_source_and_table() {
    let table = TableDraft {
        table: None,
        node: rule(KeyKind::Integer, snowflake(["t_0", "t_one"])),
        ..draft("t")
    };
    let topology = build(&["b", "a"], vec![table.clone()]).unwrap();
    assert_eq!(
        all_nodes(&topology),
        ["a.t_0", "a.t_one", "b.t_0", "b.t_one"]
    );
    assert_eq!(topology.tables()[0].node(3).tail, "one");
    // The hash of id 1 is 0x53075D44: odd above, even below.
    let place = topology.tables()[0].place(|_| Some(Some(KeyValue::Int(1))));
    assert_eq!(physical(&topology, place), ["b.t_0"]);
    let wrong = TableDraft {
        table: rule(KeyKind::Integer, Modulo::new(2)),
        node: rule(KeyKind::Integer, snowflake(["t.0", "T_1"])),
        ..table.clone()
    };
    mistakes(
        &["a"],
        vec![wrong],
        &[
            "tables.t.node: decides source and table together; remove the `table` beside it",
            "tables.t: the name \"t.0\" is not possible; names have no quotes, dots, backslashes and \
             control characters",
            "tables.t.node.by: `b` is not among the sources",
            "tables.t: the name \"t.0\" is not possible; names have no quotes, dots, backslashes and \
             control characters",
            "tables.t.node.by: `b` is not among the sources",
        ],
    );
    let growing = TableDraft {
        node: rule(KeyKind::Date, Monthly::starting(2013, 1)),
        ..table
    };
    let error = build(&["a"], vec![growing]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("months from 201301 grows with time; give it an end")
    );
}

#[test]
fn tables_that_are_not_sharded_have_a_home() {
    let draft = TopologyDraft {
        sources: vec!["a".into(), "b".into()],
        default_source: Some("b".into()),
        tables: vec![draft("t")],
        broadcast: vec![TableName::new("country")],
        single: vec![(TableName::new("job"), "a".into())],
        ..TopologyDraft::default()
    };
    let topology = draft.clone().build(DateTime::UNIX_EPOCH).unwrap();
    let home = |name: &'static str| topology.home(&TableName::new(name));
    let a = topology.source_id("a").unwrap();
    assert_eq!(home("country"), Some(Home::Broadcast));
    assert_eq!(home("job"), Some(Home::Single(a)));
    assert_eq!(home("t"), Some(Home::Sharded(0)));
    assert_eq!(home("else"), None);
    assert_eq!(topology.source(topology.default_source()), "b");
    let wrong = TopologyDraft {
        broadcast: vec![TableName::new("t"), TableName::new("x\"y")],
        single: vec![
            (TableName::new("t_1"), "c".into()),
            (TableName::new("t_2"), "a".into()),
        ],
        draining: vec!["z".into()],
        co_located: vec![vec![TableName::new("t"), TableName::new("nowhere")]],
        ..draft
    };
    let error = wrong.build(DateTime::UNIX_EPOCH).unwrap_err();
    let texts: Vec<_> = error.mistakes().iter().map(ToString::to_string).collect();
    assert_eq!(
        texts,
        [
            "draining: `z` is not among the sources",
            "tables.t_1.single: `c` is not among the sources",
            "tables.t: is declared as sharded and as broadcast",
            "tables.x\"y: the name \"x\\\"y\" is not possible; names have no quotes, dots, \
             backslashes and control characters",
            "tables.t: the physical table `t_2` also belongs to `t_2`",
        ]
    );
}

#[test]
fn co_located_tables_place_alike() {
    let topology = |second: Modulo| {
        TopologyDraft {
            sources: vec!["a".into()],
            tables: vec![
                draft("t"),
                TableDraft {
                    table: rule(KeyKind::Integer, second),
                    ..draft("u")
                },
            ],
            co_located: vec![vec![TableName::new("t"), TableName::new("u")]],
            ..TopologyDraft::default()
        }
        .build(DateTime::UNIX_EPOCH)
    };
    let same = topology(Modulo::new(3)).unwrap();
    assert!(same.tables()[0].is_alike(&same.tables()[1]));
    assert_eq!(
        topology(Modulo::new(4)).unwrap_err().to_string(),
        "the sharding configuration has a mistake: co_located: `u` places rows otherwise than `t`; \
         give both the same strategies, key types and sources"
    );
}

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}
