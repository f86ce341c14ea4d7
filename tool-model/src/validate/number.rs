//! JSON numbers compared by their exact value: no two whole numbers become equal by rounding.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number as JsonNumber, Value};

/// A number from a schema or from a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    /// Within `i64` or `u64`.
    Whole(i128),
    /// Has a fraction, or lies beyond them.
    Float(f64),
}

impl From<&JsonNumber> for Number {
    fn from(number: &JsonNumber) -> Self {
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match whole {
            Some(whole) => Self::Whole(whole),
            None => Self::from_float(float_of(number)),
        }
    }
}

/// With `serde_json/arbitrary_precision` a number may be too large for `f64`: then it is an infinity.
fn float_of(number: &JsonNumber) -> f64 {
    number.as_f64().or_else(|| number.to_string().parse().ok()).unwrap_or(f64::INFINITY)
}

/// 2^64: whole numbers beyond it come only as floats, and are read as the decimals they are written as.
const WHOLE_LIMIT: f64 = 18_446_744_073_709_551_616.0;

impl Number {
    pub(crate) fn from_float(float: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the limit")]
        if float.fract() == 0.0 && float.abs() < WHOLE_LIMIT { Self::Whole(float as i128) } else { Self::Float(float) }
    }

    /// `30.0` is an integer in JSON Schema, and so is `1e300`.
    pub(crate) fn is_integer(self) -> bool {
        match self {
            Self::Whole(_) => true,
            Self::Float(float) => float.fract() == 0.0 || float.is_infinite(),
        }
    }

    pub(crate) fn is_positive(self) -> bool {
        match self {
            Self::Whole(whole) => whole > 0,
            Self::Float(float) => float > 0.0,
        }
    }

    /// The count that a keyword such as `maxItems` gives, if this is one.
    pub(crate) fn as_count(self) -> Option<u64> {
        match self {
            Self::Whole(whole) if whole >= 0 => Some(u64::try_from(whole).unwrap_or(u64::MAX)),
            Self::Float(float) if float.fract() == 0.0 && float > 0.0 => Some(u64::MAX),
            _ => None,
        }
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Whole(a), Self::Whole(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(&b),
            (Self::Whole(a), Self::Float(b)) => compare_whole_to_float(a, b),
            (Self::Float(a), Self::Whole(b)) => compare_whole_to_float(b, a).reverse(),
        }
    }

    pub(crate) fn is_above(self, other: Self) -> bool {
        self.compare(other).is_gt()
    }

    /// Whether `self` divided by `divisor` is whole, both read as the decimals they are written as: `0.3` is a
    /// multiple of `0.1`, although the nearest binary fractions are not.
    pub(crate) fn is_multiple_of(self, divisor: Self) -> bool {
        match (Decimal::of(self), Decimal::of(divisor)) {
            (Some(value), Some(divisor)) => value.is_multiple_of(divisor),
            _ => false,
        }
    }
}

/// Never equal: a [`Number::Float`] has a fraction or lies beyond every [`Number::Whole`].
fn compare_whole_to_float(whole: i128, float: f64) -> Ordering {
    if float.abs() >= WHOLE_LIMIT {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the limit")]
    let floor = float.floor() as i128;
    if whole <= floor { Ordering::Less } else { Ordering::Greater }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Float(float) => write!(f, "{}", Value::from(*float)),
        }
    }
}

/// `digits · 10^exponent`, without its sign.
#[derive(Clone, Copy)]
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn of(number: Number) -> Option<Self> {
        match number {
            Number::Whole(whole) => Some(Self { digits: whole.unsigned_abs(), exponent: 0 }),
            Number::Float(float) if float.is_finite() => Self::parse(&format!("{:e}", float.abs())),
            Number::Float(_) => None,
        }
    }

    /// Reads `1.25e-3`, the shortest text that stands for the float.
    fn parse(text: &str) -> Option<Self> {
        let (mantissa, exponent) = text.split_once('e')?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().ok()?;
        let exponent = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
        Some(Self { digits, exponent })
    }

    fn is_multiple_of(self, divisor: Self) -> bool {
        let Ok(shift) = u32::try_from(self.exponent - divisor.exponent) else {
            return self.is_multiple_of_larger_unit(divisor);
        };
        let power = power_of_ten_modulo(shift, divisor.digits);
        remainder_of_product(self.digits, power, divisor.digits) == Some(0)
    }

    /// The divisor's last digit stands further left than the value's.
    fn is_multiple_of_larger_unit(self, divisor: Self) -> bool {
        let shift = divisor.exponent.abs_diff(self.exponent);
        let scaled = 10_u128.checked_pow(shift).and_then(|power| divisor.digits.checked_mul(power));
        match scaled {
            Some(scaled) => self.digits.checked_rem(scaled) == Some(0),
            None => self.digits == 0,
        }
    }
}

fn power_of_ten_modulo(exponent: u32, modulus: u128) -> u128 {
    (0..exponent).fold(1, |power, _| remainder_of_product(power, 10, modulus).unwrap_or(0))
}

/// `None` for a modulus of zero, which no schema can contain. The modulus is below 2^64: the product fits.
fn remainder_of_product(a: u128, b: u128, modulus: u128) -> Option<u128> {
    (a.checked_rem(modulus)? * b.checked_rem(modulus)?).checked_rem(modulus)
}
