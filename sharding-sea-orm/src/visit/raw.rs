//! SQL text that names a sharded table. It is not parsed, only looked through: a name in doubt
//! counts as named, so that text is refused rather than sent past the shards.

/// The position of the first of the tables that the text names.
pub(crate) fn first_table<'t>(
    text: &str,
    tables: impl Iterator<Item = &'t str> + Clone,
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

/// Whether the text has the word outside of literals and comments.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    words(text).iter().any(|found| found.is(word))
}

#[derive(Debug)]
struct Word {
    text: String,
    quoted: bool,
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
                words.push(Word {
                    text: rest[1..end].to_owned(),
                    quoted: true,
                });
                (end + 1).min(rest.len())
            }
            '-' if rest.starts_with("--") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            c if is_part(c) => {
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                words.push(Word {
                    text: rest[..end].to_owned(),
                    quoted: false,
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
            first_table(text, ["flight", "order"].into_iter()),
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
    fn other_text_passes() {
        check("SELECT * FROM flight_201301", None);
        check("SELECT 'flight' FROM t", None);
        check("SELECT 1 -- flight\nFROM t /* flight */", None);
        check("SELECT * FROM t ORDER BY flights", None);
        check("PRAGMA journal_mode = WAL", None);
    }
}
