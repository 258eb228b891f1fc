//! Values as text that a database reads without loss, and rows of them as one JSON text.

use bigdecimal::BigDecimal;
use sharding_core::merge::Datum;

use super::{Shape, TypeName, Unshapeable};

/// The text of a value, or `None` for NULL; an error names a type that has none.
pub(super) type Text = fn(&Datum, &TypeName) -> Result<Option<String>, TypeName>;

/// An array of rows, each an array of texts and NULLs.
pub(super) fn json_rows(
    shape: &Shape<'_>,
    rows: &[&[Datum]],
    text: Text,
) -> Result<String, Unshapeable> {
    let mut json = String::from("[");
    for (number, row) in rows.iter().enumerate() {
        json.push_str(if number == 0 { "[" } else { ",[" });
        for (at, datum) in row.iter().enumerate() {
            if at > 0 {
                json.push(',');
            }
            match text(datum, &shape.types[at]) {
                Ok(None) => json.push_str("null"),
                Ok(Some(text)) => write_json_text(&text, &mut json),
                Err(type_name) => {
                    let column = shape.column_of(at);
                    return Err(Unshapeable { column, type_name });
                }
            }
        }
        json.push(']');
    }
    json.push(']');
    Ok(json)
}

/// An array of texts.
pub(crate) fn json_texts<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    let mut json = String::from("[");
    for (number, text) in texts.enumerate() {
        if number > 0 {
            json.push(',');
        }
        write_json_text(text, &mut json);
    }
    json.push(']');
    json
}

/// A decimal with all digits of its scale, zero included: `0.00` is not `0`.
pub(super) fn decimal(value: &BigDecimal) -> String {
    let (digits, scale) = value.as_bigint_and_exponent();
    let (sign, digits) = match digits.to_string() {
        text if text.starts_with('-') => ("-", text[1..].to_owned()),
        text => ("", text),
    };
    let Ok(scale) = usize::try_from(scale) else {
        let zeros = usize::try_from(-scale).unwrap_or_default();
        return format!("{sign}{digits}{}", "0".repeat(zeros));
    };
    if scale == 0 {
        return format!("{sign}{digits}");
    }
    let digits = format!("{digits:0>width$}", width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    format!("{sign}{whole}.{fraction}")
}

/// Bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write_json_text(text: &str, json: &mut String) {
    json.push('"');
    for c in text.chars() {
        match c {
            '"' => json.push_str("\\\""),
            '\\' => json.push_str("\\\\"),
            c if c < ' ' => json.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => json.push(c),
        }
    }
    json.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_scale() {
        for text in ["0", "0.00", "-0.05", "12.3400", "100", "-7", "0.000000001"] {
            assert_eq!(decimal(&text.parse().unwrap()), text);
        }
        assert_eq!(decimal(&"1e3".parse().unwrap()), "1000");
    }

    #[test]
    fn json_escapes_what_it_must() {
        let mut json = String::new();
        write_json_text("a\"b\\c\n\u{1}é", &mut json);
        assert_eq!(json, "\"a\\\"b\\\\c\\u000a\\u0001é\"");
    }
}
