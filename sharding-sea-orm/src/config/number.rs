//! Numbers as they may be spelled.

use bigdecimal::BigDecimal;

/// The most digits that an exponent may add.
const MAX_EXPONENT: i64 = 100;

/// An integer in decimal, or hexadecimal, octal or binary after `0x`, `0o` or `0b`.
pub(super) fn integer(text: &str) -> Option<i128> {
    let (is_negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let prefixed = |prefix| digits.strip_prefix(prefix);
    let (radix, digits) = if let Some(digits) = prefixed("0x").or_else(|| prefixed("0X")) {
        (16, digits)
    } else if let Some(digits) = prefixed("0o") {
        (8, digits)
    } else if let Some(digits) = prefixed("0b") {
        (2, digits)
    } else {
        (10, digits)
    };
    // `from_str_radix` would take another sign.
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    let number = i128::from_str_radix(digits, radix).ok()?;
    Some(if is_negative { -number } else { number })
}

/// A decimal number, with an exponent or without.
pub(super) fn decimal(text: &str) -> Option<BigDecimal> {
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse().ok()?),
        None => (text, 0_i64),
    };
    let unsigned = digits.strip_prefix(['-', '+']).unwrap_or(digits);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let is_number = |digits: &str| digits.chars().all(|c| c.is_ascii_digit());
    let has_digits = !whole.is_empty() || !fraction.is_empty();
    // A number with a million zeros would be written out in full.
    if !has_digits || !is_number(whole) || !is_number(fraction) || exponent.abs() > MAX_EXPONENT {
        return None;
    }
    let sign = if digits.starts_with('-') { "-" } else { "" };
    format!("{sign}0{whole}.{fraction}0e{exponent}")
        .parse()
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_every_radix() {
        let read = [
            "12", "-12", "+12", "0x8000", "0XfF", "-0x10", "0o17", "0b101", "007",
        ];
        assert_eq!(
            read.map(integer),
            [12, -12, 12, 32_768, 255, -16, 15, 5, 7].map(Some)
        );
        for text in [
            "", "-", "0x", "--1", "0x-1", "1_000", "1.0", "1e3", "a", "١",
        ] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn decimals_are_exact() {
        for text in [
            "0.1",
            "-0.10",
            "+1.",
            ".5",
            "1e3",
            "1.5E-3",
            "12345678901234567890.5",
        ] {
            let expected: BigDecimal = text.parse().unwrap();
            assert_eq!(decimal(text), Some(expected), "{text}");
        }
        for text in [
            "",
            ".",
            "1e999999999",
            "1.2.3",
            "nan",
            "inf",
            "0x1",
            "1e",
            "--1",
            "-",
        ] {
            assert_eq!(decimal(text), None, "{text}");
        }
    }
}
