use bigdecimal::BigDecimal;
use bigdecimal::num_bigint::{BigInt, Sign};
use sharding_core::merge::Datum;

/// Reads PostgreSQL's binary `numeric`: counts of digits to the base 10,000, the weight of the
/// first, a sign, and the digits after the decimal point that are shown.
pub(super) fn parse(bytes: &[u8]) -> Option<Datum> {
    let word = |at: usize| {
        Some(u16::from_be_bytes([
            *bytes.get(2 * at)?,
            *bytes.get(2 * at + 1)?,
        ]))
    };
    let count = usize::from(word(0)?);
    let weight = i64::from(word(1)? as i16);
    let scale = i64::from(word(3)?);
    let sign = match word(2)? {
        0x0000 => Sign::Plus,
        0x4000 => Sign::Minus,
        0xC000 => return Some(Datum::Float(f64::NAN)),
        0xD000 => return Some(Datum::Float(f64::INFINITY)),
        0xF000 => return Some(Datum::Float(f64::NEG_INFINITY)),
        _ => return None,
    };
    let mut digits = Vec::with_capacity(count * 4);
    for at in 0..count {
        let group = word(4 + at)?;
        digits
            .extend([group / 1000, group / 100 % 10, group / 10 % 10, group % 10].map(|d| d as u8));
    }
    // Without digits the number is zero.
    let magnitude = BigInt::from_radix_be(sign, &digits, 10).unwrap_or_default();
    let shown = (i64::try_from(count).ok()? - weight - 1) * 4;
    Some(Datum::Decimal(
        BigDecimal::new(magnitude, shown).with_scale(scale),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dialect::text::decimal;

    #[track_caller]
    fn check(words: &[u16], expected: &str) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
        match parse(&bytes) {
            Some(Datum::Decimal(number)) => assert_eq!(decimal(&number), expected),
            Some(Datum::Float(number)) => assert_eq!(number.to_string(), expected),
            other => panic!("{other:?}"),
        }
    }

    /// What `numeric_send` gives for these numbers.
    #[test]
    fn numbers_keep_their_scale() {
        check(&[0, 0, 0, 0], "0");
        check(&[0, 0, 0, 2], "0.00");
        check(&[1, 0, 0, 0, 7], "7");
        check(&[2, 0, 0, 2, 12, 3400], "12.34");
        check(&[2, 0, 0x4000, 2, 12, 3400], "-12.34");
        check(&[1, 1, 0, 0, 5], "50000");
        check(&[1, 0xFFFF, 0, 4, 1], "0.0001");
        check(&[1, 0xFFFE, 0, 8, 1], "0.00000001");
        check(&[3, 1, 0, 3, 1, 0, 5000], "10000.500");
        check(&[0, 0, 0xC000, 0], "NaN");
        check(&[0, 0, 0xF000, 0], "-inf");
    }
}
