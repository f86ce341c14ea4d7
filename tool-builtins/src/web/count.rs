//! Numbers for people.

use std::fmt;

/// A number with its thousands set apart.
pub(super) struct Grouped(pub(super) u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (place, digit) in digits.char_indices() {
            let left = digits.len() - place;
            if place > 0 && left.is_multiple_of(3) {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_set_apart() {
        let grouped = [0, 999, 1_000, 1_234_567].map(|number| Grouped(number).to_string());
        assert_eq!(grouped, ["0", "999", "1,000", "1,234,567"]);
    }
}
