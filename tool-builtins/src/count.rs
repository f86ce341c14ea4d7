//! Counts in result texts.

use std::fmt::Display;

use tool_runtime::display::thousands;

/// Formats a count with its noun: `1 line`, `4,312 bytes`, `2 matches`.
pub(crate) fn format_count<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let (stem, ending) = match thing.strip_suffix('y') {
        _ if number == N::from(1) => (thing, ""),
        Some(stem) => (stem, "ies"),
        None if thing.ends_with("ch") => (thing, "es"),
        None => (thing, "s"),
    };
    format!("{} {stem}{ending}", thousands(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_a_plural_except_after_one() {
        assert_eq!(format_count(1_usize, "line"), "1 line");
        assert_eq!(format_count(0_u64, "match"), "0 matches");
        assert_eq!(format_count(1_200_u64, "file"), "1,200 files");
        assert_eq!(format_count(2_u64, "directory"), "2 directories");
    }
}
