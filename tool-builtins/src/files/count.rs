//! Numbers as results say them.

/// A number with its thousands set apart: `4,312`.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 line`, `4,312 lines`.
pub(super) fn counted(number: usize, thing: &str) -> String {
    let plural = match (number, thing) {
        (1, _) => "",
        (_, thing) if thing.ends_with("ch") => "es",
        _ => "s",
    };
    format!("{} {thing}{plural}", thousands(number as u64))
}

/// How many lines a text has. What follows the last line break is a line if there is any.
pub(super) fn lines(text: &str) -> usize {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    breaks + usize::from(!text.is_empty() && !text.ends_with('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let texts = [0, 999, 1_000, 1_234_567].map(thousands);
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
        assert_eq!(counted(1, "line"), "1 line");
        assert_eq!(counted(0, "match"), "0 matches");
        assert_eq!(counted(1_200, "file"), "1,200 files");
    }

    #[test]
    fn a_last_line_without_its_break_counts() {
        assert_eq!(["", "\n", "a", "a\n", "a\nb"].map(lines), [0, 1, 1, 1, 2]);
    }
}
