//! Lists of bounded length, and texts of bounded length in them.

use serde::Serialize;

/// Some of many, with how many there are: a model is to know what it does not see.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Listing<T> {
    /// How many there are in all.
    pub total: usize,
    /// The first of them.
    pub items: Vec<T>,
}

impl<T> Listing<T> {
    /// The first `limit` of these.
    #[must_use]
    pub fn first(mut items: Vec<T>, limit: usize) -> Self {
        let total = items.len();
        items.truncate(limit);
        Self { total, items }
    }

    /// Counts more, and keeps those that are among the first `limit` of all. The others are gone at once: where there
    /// may be any number, they never take room together.
    pub fn extend(&mut self, more: impl IntoIterator<Item = T>, limit: usize) {
        for item in more {
            self.total += 1;
            if self.items.len() < limit {
                self.items.push(item);
            }
        }
    }
}

/// A text of at most so many characters; one that was longer ends in `…`.
#[must_use]
pub fn clip(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number with one digit behind the point: what is measured is not more exact than that.
#[must_use]
pub fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

/// Bytes as megabytes.
#[must_use]
pub fn megabytes(bytes: u64) -> f64 {
    rounded(bytes as f64 / 1_000_000.0)
}

/// A part as a percentage of the whole; 0 of nothing.
#[must_use]
pub fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { rounded(part as f64 * 100.0 / whole as f64) }
}

/// Whether a text contains another, in capitals or not. Nothing is contained in everything.
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
