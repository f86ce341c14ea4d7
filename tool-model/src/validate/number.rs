//! JSON numbers, compared by their exact value: no two integers become equal by rounding.

use std::cmp::Ordering;
use std::fmt;

use serde_json::{Number as JsonNumber, Value};

/// A number from a schema or from a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExactNumber {
    /// Within `i64` or `u64`.
    Whole(i128),
    /// With a fraction, or outside of both.
    Float(f64),
}

impl From<&JsonNumber> for ExactNumber {
    fn from(number: &JsonNumber) -> Self {
        let whole = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
        match whole {
            Some(whole) => Self::Whole(whole),
            None => Self::from_float(to_float(number)),
        }
    }
}

/// Returns the number as `f64`; infinity if it is too large, which `serde_json/arbitrary_precision` allows.
fn to_float(number: &JsonNumber) -> f64 {
    number.as_f64().or_else(|| number.to_string().parse().ok()).unwrap_or(f64::INFINITY)
}

/// 2^64. Integers beyond it exist only as floats, and are read as the decimals that they are written as.
const WHOLE_LIMIT: f64 = 18_446_744_073_709_551_616.0;

impl ExactNumber {
    pub(crate) fn from_float(float: f64) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the limit")]
        if float.fract() == 0.0 && float.abs() < WHOLE_LIMIT { Self::Whole(float as i128) } else { Self::Float(float) }
    }

    /// Returns `true` for integers in the sense of JSON Schema: `30.0` and `1e300` are.
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

    /// Returns the number as the value of a keyword such as `maxItems`.
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

    /// Returns `true` if `self / divisor` is an integer, with both read as the decimals that they are written as: `0.3`
    /// is a multiple of `0.1`, although the nearest binary fractions are not.
    pub(crate) fn is_multiple_of(self, divisor: Self) -> bool {
        match (DecimalNumber::new(self), DecimalNumber::new(divisor)) {
            (Some(value), Some(divisor)) => value.is_multiple_of(divisor),
            _ => false,
        }
    }
}

/// Never equal: a [`ExactNumber::Float`] has a fraction or lies beyond every [`ExactNumber::Whole`].
fn compare_whole_to_float(whole: i128, float: f64) -> Ordering {
    if float.abs() >= WHOLE_LIMIT {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and within the limit")]
    let floor = float.floor() as i128;
    if whole <= floor { Ordering::Less } else { Ordering::Greater }
}

impl fmt::Display for ExactNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(whole) => write!(f, "{whole}"),
            Self::Float(float) => write!(f, "{}", Value::from(*float)),
        }
    }
}

/// The absolute value `digits · 10^exponent`.
#[derive(Clone, Copy)]
struct DecimalNumber {
    digits: u128,
    exponent: i32,
}

impl DecimalNumber {
    fn new(number: ExactNumber) -> Option<Self> {
        match number {
            ExactNumber::Whole(whole) => Some(Self { digits: whole.unsigned_abs(), exponent: 0 }),
            ExactNumber::Float(float) if float.is_finite() => Self::parse(&format!("{:e}", float.abs())),
            ExactNumber::Float(_) => None,
        }
    }

    /// Parses `1.25e-3`, the shortest text of a float.
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

    /// Handles a divisor whose last digit is further left than the value's.
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

/// Returns `None` for a modulus of zero, which no schema contains. The modulus is below 2^64, so the product fits.
fn remainder_of_product(a: u128, b: u128, modulus: u128) -> Option<u128> {
    (a.checked_rem(modulus)? * b.checked_rem(modulus)?).checked_rem(modulus)
}
