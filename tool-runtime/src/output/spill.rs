//! Long results: the model gets the beginning, the end, and a handle to read the rest with.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::slice::{Place, Unit, head_end, line_count, place_of, tail_start};
use super::{MemoryStore, Results, SpillKey, SpillStore};
use crate::display::thousands;

/// Shortens results that are too long to be read as a whole, and keeps them for `read_result`.
///
/// ```
/// use tool_runtime::Spill;
///
/// let spill = Spill::over(1_000);
/// let log: String = (1..=500).map(|line| format!("line {line}\n")).collect();
///
/// let (shown, spilled) = spill.shorten(Some("conversation"), log);
/// assert!(shown.starts_with("line 1\n") && shown.ends_with("line 500\n"));
/// assert!(shown.contains("Read them with `read_result`"));
/// assert_eq!(spilled.unwrap().lines, 500);
///
/// let (shown, spilled) = spill.shorten(None, "short".into());
/// assert_eq!((shown.as_str(), spilled), ("short", None));
/// ```
#[derive(Clone)]
pub struct Spill {
    limit: usize,
    pub(super) store: Arc<dyn SpillStore>,
    handles: Arc<Handles>,
}

/// A result that was kept, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Spilled {
    /// The name under which its conversation can read it; nothing if the store could not keep it.
    pub handle: Option<String>,
    /// How long it is.
    pub bytes: usize,
    /// How many lines it has.
    pub lines: usize,
}

/// Less than this is no result with a notice in its middle.
const LEAST_LIMIT: usize = 1_000;

/// Room for what is said beside a part of a result, so that it is not itself too long.
const NOTICE: usize = 300;

impl Spill {
    /// Shortens results of more than so many bytes, at least 1,000. They are kept in a [`MemoryStore`].
    #[must_use]
    pub fn over(limit: usize) -> Self {
        let store = Arc::new(MemoryStore::default());
        Self { limit: limit.max(LEAST_LIMIT), store, handles: Arc::default() }
    }

    /// Keeps the results somewhere else.
    #[must_use]
    pub fn store(mut self, store: impl SpillStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// The service with the tool `read_result`, for [`Builder::service`](crate::Builder::service).
    #[must_use]
    pub fn results(&self) -> Results {
        Results::of(self.clone())
    }

    /// A result as the model reads it, and what was kept of one that is too long.
    #[must_use]
    pub fn shorten(&self, conversation: Option<&str>, text: String) -> (String, Option<Spilled>) {
        if text.len() <= self.limit {
            return (text, None);
        }
        let (shown, spilled) = self.shortened(&text, || self.keep(conversation, self.handles.next(), &text));
        (shown, Some(spilled))
    }

    /// As [`shorten`](Self::shorten), for the result of a call that is on record: however often somebody asks for it, it
    /// is kept once.
    pub(crate) fn shorten_recalled(&self, conversation: &str, call: &str, text: String) -> (String, Option<Spilled>) {
        if text.len() <= self.limit {
            return (text, None);
        }
        let (shown, spilled) = self.shortened(&text, || {
            let handle = self.handles.of(conversation, call, &text);
            let key = SpillKey { conversation: Some(conversation), handle: &handle };
            match self.store.get(key) {
                Ok(Some(_)) => Some(handle),
                _ => self.keep(Some(conversation), handle, &text),
            }
        });
        (shown, Some(spilled))
    }

    /// A result that was kept.
    pub(crate) fn whole(&self, conversation: Option<&str>, handle: &str) -> Option<Arc<str>> {
        let kept = self.store.get(SpillKey { conversation, handle });
        kept.unwrap_or_else(|error| {
            tracing::warn!(%error, handle, "a result that was kept cannot be read");
            None
        })
    }

    /// The most of a kept result that is given at once. With what is said beside it, it is not too long itself.
    pub(super) fn most(&self) -> usize {
        self.limit - NOTICE
    }

    #[cold]
    fn shortened(&self, text: &str, keep: impl FnOnce() -> Option<String>) -> (String, Spilled) {
        let most = self.most();
        let head = head_end(text, most - most / 3);
        let tail = tail_start(text, most / 3);
        let handle = keep();
        let cut = Cut { text, head, tail, handle: handle.as_deref(), most };
        (cut.to_string(), Spilled { handle, bytes: text.len(), lines: line_count(text) })
    }

    fn keep(&self, conversation: Option<&str>, handle: String, text: &str) -> Option<String> {
        match self.store.put(SpillKey { conversation, handle: &handle }, text) {
            Ok(()) => Some(handle),
            Err(error) => {
                tracing::warn!(%error, bytes = text.len(), "a long result could not be kept");
                None
            }
        }
    }
}

impl fmt::Debug for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spill").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Makes handles that nobody guesses.
///
/// A handle is the SipHash of a number, or of a call, under a key that std draws from the system's random numbers and that never leaves
/// the process, 64 bits of it: who has seen some handles cannot tell another. That SipHash is no cipher is enough
/// here, since a guess is a call, and since a store gives a text to its own conversation only: only calls that say no
/// conversation rest on the handle alone.
#[derive(Default)]
struct Handles {
    key: RandomState,
    count: AtomicU64,
}

impl Handles {
    fn next(&self) -> String {
        self.handle(self.count.fetch_add(1, Ordering::Relaxed))
    }

    /// The same for the same result of a call. Two calls may have one id.
    fn of(&self, conversation: &str, call: &str, text: &str) -> String {
        self.handle((conversation, call, text))
    }

    fn handle(&self, of: impl Hash) -> String {
        format!("r{:016x}", self.key.hash_one(of))
    }
}

/// A text without its middle.
struct Cut<'a> {
    text: &'a str,
    head: usize,
    tail: usize,
    handle: Option<&'a str>,
    most: usize,
}

impl fmt::Display for Cut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, middle, tail) = (&self.text[..self.head], &self.text[self.head..self.tail], &self.text[self.tail..]);
        let (from, to) = (place_of(self.text, self.head), place_of(self.text, self.tail));
        f.write_str(head)?;
        if !head.ends_with('\n') {
            f.write_str("\n")?;
        }
        write!(f, "… {} bytes left out (", thousands(middle.len()))?;
        let from = match (from.unit, to.unit) {
            (Unit::Lines, Unit::Lines) => {
                write!(f, "lines {} to {}", thousands(from.offset + 1), thousands(to.offset))?;
                from
            }
            _ => {
                write!(f, "bytes {} to {}", thousands(self.head + 1), thousands(self.tail))?;
                Place { unit: Unit::Bytes, offset: self.head }
            }
        };
        match self.handle {
            Some(handle) => {
                let limit = match from.unit {
                    Unit::Lines => line_count(middle).min(200),
                    Unit::Bytes => middle.len().min(self.most),
                };
                write!(f, "). Read them with `read_result` {} …", Request { handle, from, limit })?;
            }
            None => f.write_str("). They could not be kept: ask for less, if you need them …")?,
        }
        write!(f, "\n{tail}")
    }
}

/// The arguments of `read_result`, as a model may repeat them.
pub(super) struct Request<'a> {
    pub(super) handle: &'a str,
    pub(super) from: Place,
    pub(super) limit: usize,
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { handle, from: Place { unit, offset }, limit } = *self;
        write!(f, r#"{{"handle": "{handle}", "offset": {offset}, "limit": {limit}"#)?;
        if unit == Unit::Bytes {
            f.write_str(r#", "unit": "bytes""#)?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::io;

    use proptest::prelude::*;

    use super::super::slice::{Slice, slice};
    use super::*;
    use crate::testing::properties;

    #[test]
    fn lines_are_left_out_as_lines() {
        let text: String = (1..=1_500).map(|line| format!("line {line}\n")).collect();
        let (shown, spilled) = Spill::over(1_000).shorten(None, text);
        let handle = spilled.unwrap().handle.unwrap();
        let notice = shown.lines().find(|line| line.starts_with('…')).unwrap();
        assert_eq!(
            notice,
            format!(
                "… 13,200 bytes left out (lines 60 to 1,477). Read them with `read_result` \
                 {{\"handle\": \"{handle}\", \"offset\": 59, \"limit\": 200}} …"
            )
        );
        assert!(shown.contains("\nline 59\n…") && shown.contains("…\nline 1478\n"), "{shown}");
    }

    #[test]
    fn one_long_line_is_left_out_by_bytes() {
        let (shown, spilled) = Spill::over(1_000).shorten(None, "é".repeat(50_000));
        let handle = spilled.unwrap().handle.unwrap();
        let (head, rest) = shown.split_once('\n').unwrap();
        let (notice, tail) = rest.split_once('\n').unwrap();
        assert_eq!((head.len(), tail.len()), (466, 232));
        assert_eq!(
            notice,
            format!(
                "… 99,302 bytes left out (bytes 467 to 99,768). Read them with `read_result` \
                 {{\"handle\": \"{handle}\", \"offset\": 466, \"limit\": 700, \"unit\": \"bytes\"}} …"
            )
        );
    }

    #[test]
    fn what_cannot_be_kept_is_shortened_all_the_same() {
        struct Full;
        impl SpillStore for Full {
            fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
                Ok(None)
            }
        }
        let (shown, spilled) = Spill::over(1_000).store(Full).shorten(None, "x".repeat(5_000));
        assert_eq!(spilled.unwrap().handle, None);
        assert!(shown.contains("They could not be kept") && shown.len() < 1_000);
    }

    #[test]
    fn handles_do_not_tell_of_each_other() {
        let (one, other) = (Handles::default(), Handles::default());
        let made: HashSet<String> = (0..1_000).flat_map(|_| [one.next(), other.next()]).collect();
        assert_eq!(made.len(), 2_000, "the same number gives another handle in another place");
        assert!(made.iter().all(|handle| handle.len() == 17));
    }

    fn long_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof!["[a-zé中😀]{0,30}\n", "[a-zé中😀 ]{0,300}", Just("\n\n".to_owned())];
        proptest::collection::vec(piece, 20..120).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(properties(100))]

        #[test]
        fn head_slices_and_tail_are_the_whole(text in long_text(), limit in 1_000..3_000_usize, lines in 1..50_usize) {
            let spill = Spill::over(limit);
            let (shown, spilled) = spill.shorten(Some("c"), text.clone());
            let Some(spilled) = spilled else {
                prop_assert!(shown == text && text.len() <= limit);
                return Ok(());
            };
            prop_assert!(shown.len() <= limit, "{} bytes", shown.len());
            prop_assert_eq!((spilled.bytes, spilled.lines), (text.len(), text.lines().count()));
            let handle = spilled.handle.unwrap();
            let kept = spill.store.get(SpillKey { conversation: Some("c"), handle: &handle }).unwrap().unwrap();

            // What the notice says can be read, joined to what is shown, is what there was.
            let arguments = shown.rsplit_once("`read_result` ").unwrap().1.rsplit_once(" …\n").unwrap().0;
            let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
            let unit = if arguments.get("unit").is_some() { Unit::Bytes } else { Unit::Lines };
            let mut next = Some(Place { unit, offset: usize::try_from(arguments["offset"].as_u64().unwrap()).unwrap() });
            let mut rest = String::new();
            while let Some(place) = next {
                let Slice { text, next: following } = slice(&kept, place, lines, spill.most()).unwrap();
                prop_assert!(!text.is_empty() && text.len() <= spill.most());
                rest.push_str(text);
                next = following;
            }
            let head = &text[..text.len() - rest.len()];
            let tail = shown.rsplit_once(" …\n").unwrap().1;
            prop_assert_eq!(format!("{head}{rest}"), &*text);
            prop_assert!(shown.starts_with(head) && rest.ends_with(tail));
        }
    }
}
