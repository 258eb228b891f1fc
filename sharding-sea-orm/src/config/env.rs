//! Variables of the environment in a text.

use std::borrow::Cow;

/// Where values of variables come from.
pub(super) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Whether the text names a variable.
pub(super) fn has_variable(text: &str) -> bool {
    text.replace("$$", "").contains("${")
}

/// Replaces `${NAME}` and `${NAME:-default}` by values and `$$` by `$`. A default is taken if the
/// variable is not set, or empty.
///
/// # Errors
/// What is wrong; never a value.
pub(super) fn expand<'t>(text: &'t str, env: Env<'_>) -> Result<Cow<'t, str>, String> {
    if !text.contains('$') {
        return Ok(Cow::Borrowed(text));
    }
    let mut expanded = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        expanded.push_str(before);
        if let Some(after) = after.strip_prefix('$') {
            expanded.push('$');
            rest = after;
        } else if let Some(after) = after.strip_prefix('{') {
            let Some((inside, after)) = after.split_once('}') else {
                return Err("has `${` without `}`; a `$` itself is written `$$`".to_owned());
            };
            expanded.push_str(&variable(inside, env)?);
            rest = after;
        } else {
            expanded.push('$');
            rest = after;
        }
    }
    expanded.push_str(rest);
    Ok(Cow::Owned(expanded))
}

/// What stands for the braces of variables while YAML is parsed, where braces in braces would end
/// a text without quotes. Both are of the range for private use.
const BRACES: [char; 2] = ['\u{f8d0}', '\u{f8d1}'];

/// The text with other characters for the braces of variables, at the same places.
pub(super) fn shield(text: &str) -> Cow<'_, str> {
    let mut shielded = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let (before, variable) = rest.split_at(at);
        shielded.push_str(before);
        let inside = variable.strip_prefix("${").and_then(|after| {
            let (inside, after) = after.split_once('}')?;
            (!inside.contains('\n')).then_some((inside, after))
        });
        if let Some((inside, after)) = inside {
            let [open, close] = BRACES;
            shielded.extend(['$', open]);
            shielded.push_str(inside);
            shielded.push(close);
            rest = after;
        } else {
            let sign = if variable.starts_with("$$") { 2 } else { 1 };
            shielded.push_str(&variable[..sign]);
            rest = &variable[sign..];
        }
    }
    if shielded.is_empty() {
        return Cow::Borrowed(text);
    }
    shielded.push_str(rest);
    Cow::Owned(shielded)
}

/// A piece of a shielded text as it was.
pub(super) fn unshield(text: String) -> String {
    if !text.contains(BRACES) {
        return text;
    }
    let [open, close] = BRACES;
    text.replace(open, "{").replace(close, "}")
}

fn variable(inside: &str, env: Env<'_>) -> Result<String, String> {
    let (name, default) = match inside.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (inside, None),
    };
    let is_start = |c: char| c.is_ascii_alphabetic() || c == '_';
    if !name.starts_with(is_start) || !name.chars().all(|c| c.is_ascii_digit() || is_start(c)) {
        return Err(
            "has `${` without the name of a variable after it; a `$` itself is written `$$`"
                .to_owned(),
        );
    }
    if default.is_some_and(|default| default.contains("${")) {
        return Err(format!(
            "has a variable in the default of `{name}`, which is not possible"
        ));
    }
    match (env(name), default) {
        (Some(value), None) => Ok(value),
        (Some(value), Some(_)) if !value.is_empty() => Ok(value),
        (_, Some(default)) => Ok(default.to_owned()),
        (None, None) => Err(format!(
            "the environment variable `{name}` is not set; set it, or give a default as in \
             `${{{name}:-default}}`"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn env(name: &str) -> Option<String> {
        match name {
            "HOST" => Some("localhost".to_owned()),
            "EMPTY" => Some(String::new()),
            "MONEY" => Some("${HOST} $$".to_owned()),
            _ => None,
        }
    }

    #[test]
    fn variables_have_values_or_defaults() {
        for (text, expected) in [
            ("a${HOST}b${HOST}", "alocalhostblocalhost"),
            ("${EMPTY}", ""),
            ("${EMPTY:-x}", "x"),
            ("${NONE:-}", ""),
            ("${NONE:-a:-b}", "a:-b"),
            ("$$ $ $HOST $${HOST} $$$${", "$ $ $HOST ${HOST} $${"),
            // A value is not looked at again.
            ("${MONEY}", "${HOST} $$"),
        ] {
            assert_eq!(expand(text, &env).as_deref(), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (text, expected) in [
            (
                "${NONE}",
                "the environment variable `NONE` is not set; set it, or give a default as in `${NONE:-default}`",
            ),
            (
                "p${HOST",
                "has `${` without `}`; a `$` itself is written `$$`",
            ),
            (
                "p${}",
                "has `${` without the name of a variable after it; a `$` itself is written `$$`",
            ),
            (
                "p${a b}",
                "has `${` without the name of a variable after it; a `$` itself is written `$$`",
            ),
            (
                "${NONE:-${HOST}}",
                "has a variable in the default of `NONE`, which is not possible",
            ),
        ] {
            assert_eq!(expand(text, &env), Err(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn shielded_texts_come_back() {
        for text in [
            "",
            "a",
            "{a: ${HOST}, b: $${x}, c: ${y",
            "$$${HOST:-x} ${\n}",
            "$",
        ] {
            let shielded = shield(text);
            assert_eq!(shielded.chars().count(), text.chars().count());
            assert_eq!(unshield(shielded.into_owned()), text);
        }
        assert_eq!(shield("{${a}}"), "{$\u{f8d0}a\u{f8d1}}");
    }
}
