//! Lists and texts of limited length.

use serde::Serialize;

/// The first items of a list with their total number, so that a model knows that there are more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing<T> {
    /// The total number.
    pub total: usize,
    /// The first items.
    pub items: Vec<T>,
}

impl<T> Listing<T> {
    /// Returns the first `limit` items.
    #[must_use]
    pub fn first(mut items: Vec<T>, limit: usize) -> Self {
        let total = items.len();
        items.truncate(limit);
        Self { total, items }
    }

    /// Adds items and keeps the first `limit` in order. Other items are dropped immediately, which bounds memory.
    pub fn extend(&mut self, more: impl IntoIterator<Item = T>, limit: usize) {
        for item in more {
            self.total += 1;
            if self.items.len() < limit {
                self.items.push(item);
            }
        }
    }
}

/// Returns at most `characters` characters of a text. A shortened text ends in `…`.
#[must_use]
pub fn clip(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Rounds to one decimal, the precision of the measurements.
#[must_use]
pub fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Converts bytes to megabytes.
#[must_use]
pub fn megabytes(bytes: u64) -> f64 {
    rounded(bytes as f64 / 1_000_000.0)
}

/// Returns a part as a percentage of the whole; 0 if the whole is 0.
#[must_use]
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 * 100.0 / whole as f64) }
}

/// Returns `true` if a text contains another, ignoring case.
#[must_use]
pub fn contains(text: &str, wanted: &str) -> bool {
    text.to_lowercase().contains(&wanted.to_lowercase())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::Listing;

    #[test]
    fn no_more_are_held_than_are_kept() {
        let (held, most) = (Rc::new(()), Cell::new(0));
        let item = |_| {
            let item = Rc::clone(&held);
            most.set(most.get().max(Rc::strong_count(&held) - 1));
            item
        };
        let mut listing = Listing { total: 0, items: Vec::new() };
        listing.extend((0..2).map(item), 3);
        listing.extend((0..1000).map(item), 3);
        assert_eq!((listing.total, listing.items.len()), (1002, 3));
        assert_eq!(most.get(), 4, "three, and the one that is looked at");
    }
}
