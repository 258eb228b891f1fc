//! SQL text that names a sharded table. It is not parsed, only looked through: a name in doubt
//! counts as named, so that text is refused rather than sent past the shards.

/// The position of the first of the tables that the text names.
pub(crate) fn first_table<'t>(
    text: &str,
    tables: &(impl Iterator<Item = &'t str> + Clone),
) -> Option<usize> {
    let words = words(text);
    words.iter().enumerate().find_map(|(at, word)| {
        // ORDER BY and GROUP BY name no table, even if there is one called `order`.
        let is_keyword = !word.quoted
            && words
                .get(at + 1)
                .is_some_and(|next| !next.quoted && next.is("by"));
        if is_keyword {
            None
        } else {
            tables.clone().position(|table| word.is(table))
        }
    })
}

/// The position of the first of the tables that a piece of text within a statement reads: its
/// columns may be named there.
pub(crate) fn first_table_read<'t>(
    text: &str,
    tables: &(impl Iterator<Item = &'t str> + Clone),
) -> Option<usize> {
    let words = words(text);
    let reads = ["select", "from", "join", "into", "update", "table"];
    if !words
        .iter()
        .any(|word| !word.quoted && reads.iter().any(|read| word.is(read)))
    {
        return None;
    }
    words
        .iter()
        .filter(|word| !word.qualifies)
        .find_map(|word| tables.clone().position(|table| word.is(table)))
}

/// Whether a piece of text within a statement is an expression and no more: no further column, no
/// clause, and nothing that may be a function.
pub(crate) fn is_expression(text: &str) -> bool {
    const CLAUSES: [&str; 22] = [
        "all",
        "distinct",
        "distinctrow",
        "except",
        "fetch",
        "for",
        "from",
        "group",
        "having",
        "intersect",
        "into",
        "join",
        "limit",
        "offset",
        "order",
        "over",
        "select",
        "top",
        "union",
        "where",
        "window",
        "with",
    ];
    !text.contains(['(', ',', ';'])
        && !text.contains("--")
        && !text.contains("/*")
        && !is_star(text)
        && !words(text)
            .iter()
            .any(|word| !word.quoted && CLAUSES.iter().any(|clause| word.is(clause)))
}

/// Whether a piece of text stays within the parentheses that are put around it, so that the
/// conditions beside it mean what they say.
pub(crate) fn stays_inside(text: &str) -> bool {
    let (mut depth, mut quote) = (0_i32, None);
    for c in text.chars() {
        match (quote, c) {
            // Databases differ in what a backslash within a literal means.
            (_, '\\' | ';') => return false,
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"' | '`') => quote = Some(c),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, _) => {}
        }
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && quote.is_none() && !text.contains("--") && !text.contains("/*")
}

/// `*` or `t.*`
fn is_star(text: &str) -> bool {
    let text = text.trim_end();
    text == "*" || text.ends_with(".*")
}

#[derive(Debug)]
struct Word {
    text: String,
    quoted: bool,
    /// Whether a point follows.
    qualifies: bool,
}

impl Word {
    fn is(&self, name: &str) -> bool {
        self.text.eq_ignore_ascii_case(name)
    }
}

/// The identifiers and keywords of the text, without literals, comments and numbers.
fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '\'' => literal(rest),
            '"' | '`' | '[' => {
                let close = if first == '[' { ']' } else { first };
                let end = rest[1..].find(close).map_or(rest.len(), |at| at + 1);
                let after = (end + 1).min(rest.len());
                words.push(Word {
                    text: rest[1..end].to_owned(),
                    quoted: true,
                    qualifies: rest[after..].starts_with('.'),
                });
                after
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            c if is_part(c) => {
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                words.push(Word {
                    text: rest[..end].to_owned(),
                    quoted: false,
                    qualifies: rest[end..].starts_with('.'),
                });
                end
            }
            c => c.len_utf8(),
        };
        rest = &rest[length..];
    }
    words
}

fn is_part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The length of a string literal. A backslash may or may not escape a quote, depending on the
/// database; the shorter reading is taken, so that what follows is looked at.
fn literal(text: &str) -> usize {
    text[1..].find('\'').map_or(text.len(), |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        assert_eq!(
            first_table(text, &["flight", "order"].into_iter()),
            expected,
            "{text}"
        );
    }

    #[test]
    fn names_are_found_however_they_are_written() {
        check("SELECT * FROM flight WHERE id = 1", Some(0));
        check("select * from FLIGHT", Some(0));
        check(r#"SELECT * FROM "flight""#, Some(0));
        check("SELECT * FROM `flight`", Some(0));
        check("SELECT 1; DELETE FROM public.flight", Some(0));
        check("SELECT * FROM \"order\" ORDER BY 1", Some(1));
        check("SELECT * FROM a, order", Some(1));
    }

    #[test]
    fn text_within_a_statement_may_name_columns() {
        let read = |text| first_table_read(text, &["flight", "order"].into_iter());
        assert_eq!(read("* FROM flight"), Some(0));
        assert_eq!(read("id IN (SELECT id FROM flight)"), Some(0));
        assert_eq!(read("id IN (SELECT id FROM public.flight)"), Some(0));
        assert_eq!(read("flight.id > 5"), None);
        assert_eq!(read("EXTRACT(MONTH FROM flight.time_hour)"), None);
        assert_eq!(read("flight > 5"), None);
    }

    #[test]
    fn expressions_are_told_from_clauses() {
        for text in [
            "1",
            "id % 7",
            "\"flight\".\"id\" + 1",
            "id * 2",
            "'a'",
            "id AS x",
        ] {
            assert!(is_expression(text), "{text}");
        }
        for text in [
            "DISTINCT kind",
            "a, b",
            "*",
            "flight.*",
            "COUNT(*)",
            "id LIMIT 5",
            "1 FROM t",
            "id -- x",
        ] {
            assert!(!is_expression(text), "{text}");
        }
    }

    #[test]
    fn text_may_break_out_of_its_parentheses() {
        for text in [
            "(a = 1 OR b = 2) AND f(c)",
            "f('a)') = \"b(\"",
            "a = 'it''s'",
        ] {
            assert!(stays_inside(text), "{text}");
        }
        for text in [
            "a = 1) OR (1 = 1",
            "(a = 1",
            "a = 1 --",
            "a = 1 /* */",
            "1; DELETE",
            "'(') OR (a",
            "a = '",
            "a = '\\' OR 1",
        ] {
            assert!(!stays_inside(text), "{text}");
        }
    }

    #[test]
    fn other_text_passes() {
        check("SELECT * FROM flight_201301", None);
        check("SELECT 'flight' FROM t", None);
        check("SELECT 1 -- flight\nFROM t /* flight */", None);
        check("SELECT * FROM t ORDER BY flights", None);
        check("PRAGMA journal_mode = WAL", None);
    }
}
