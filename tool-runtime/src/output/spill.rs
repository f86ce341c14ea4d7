//! Long results: the model gets the beginning, the end, and a handle to read the rest with.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::slice::{Place, Unit, head_end, line_count, place_of, tail_start};
use super::{MemorySpillStore, READ_RESULT, ResultReader, SpillKey, SpillStore};
use crate::display::thousands;
use crate::panics;

/// Shortens results that are too long to be read as a whole, and keeps them for the tool `read_result`.
///
/// ```
/// use tool_runtime::output::Spill;
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
    store: Arc<dyn SpillStore>,
    handles: Arc<Handles>,
}

/// A result that was kept, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SpillSummary {
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
    /// Shortens results of more than so many bytes, at least 1,000. They are kept in a [`MemorySpillStore`].
    #[must_use]
    pub fn over(limit: usize) -> Self {
        let store = Arc::new(MemorySpillStore::default());
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
    pub fn results(&self) -> ResultReader {
        ResultReader::new(self.clone())
    }

    /// Shortens a text that is too long, and keeps the whole of it.
    #[must_use]
    pub fn shorten(&self, conversation: Option<&str>, text: String) -> (String, Option<SpillSummary>) {
        if !self.is_long(&text) {
            return (text, None);
        }
        let handle = self.keep(conversation, None, &text);
        let (shown, spilled) = self.cut(&text, handle, Some(READ_RESULT));
        (shown, Some(spilled))
    }

    /// Returns `true` if a text is too long to be read as a whole.
    pub(crate) fn is_long(&self, text: &str) -> bool {
        text.len() > self.limit
    }

    /// Keeps the output of a call. `None` if the store cannot keep it.
    ///
    /// However often the journal answers with the output of a call, or is asked for it, the output is kept once.
    pub(crate) fn keep(&self, conversation: Option<&str>, call: Option<&str>, text: &str) -> Option<String> {
        let (Some(_), Some(call)) = (conversation, call) else {
            return self.put(conversation, self.handles.next(), text);
        };
        let handle = self.handles.handle((conversation, call, text));
        let is_kept = |handle: &String| matches!(self.get(SpillKey { conversation, handle }), Ok(Some(_)));
        if is_kept(&handle) {
            return Some(handle);
        }
        // If it cannot be kept, another answer of the same call may have been faster.
        self.put(conversation, handle.clone(), text).or_else(|| Some(handle).filter(is_kept))
    }

    /// Returns a result that was kept.
    pub(crate) fn whole(&self, conversation: Option<&str>, handle: &str) -> Option<Arc<str>> {
        self.get(SpillKey { conversation, handle }).unwrap_or_else(|error| {
            tracing::warn!(%error, handle, "a result that was kept cannot be read");
            None
        })
    }

    /// The most of a kept result that is given at once. With what is said beside it, it is not too long itself.
    pub(super) fn most(&self) -> usize {
        self.limit - NOTICE
    }

    /// Cuts the middle out of a text. The notice in its place names the tool that reads the rest, if there is one.
    #[cold]
    pub(crate) fn cut(&self, text: &str, handle: Option<String>, reader: Option<&str>) -> (String, SpillSummary) {
        // A tool that was given a longer name leaves less room for the text.
        let longer = reader.map_or(0, |reader| reader.len().saturating_sub(READ_RESULT.len()));
        let room = self.most() - longer;
        let head = head_end(text, room - room / 3);
        let tail = tail_start(text, room / 3);
        let cut = Cut { text, head, tail, handle: handle.as_deref(), reader, most: self.most() };
        (cut.to_string(), SpillSummary { handle, bytes: text.len(), lines: line_count(text) })
    }

    fn put(&self, conversation: Option<&str>, handle: String, text: &str) -> Option<String> {
        match unpanicked(|| self.store.put(SpillKey { conversation, handle: &handle }, text)) {
            Ok(()) => Some(handle),
            Err(error) => {
                tracing::warn!(%error, bytes = text.len(), "a long result could not be kept");
                None
            }
        }
    }

    pub(super) fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
        unpanicked(|| self.store.get(key))
    }
}

/// Calls a store, which is the application's own code: a panic is an error.
fn unpanicked<T>(ask: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    panics::catch(ask).unwrap_or_else(|panic| Err(io::Error::other(format!("the store panicked: {panic}"))))
}

impl fmt::Debug for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spill").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// Makes handles that nobody guesses.
///
/// A handle is the SipHash of a number, or of a call with its output, under a key that std draws from the system's random numbers and that never leaves
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

    /// Returns the same handle for the same value.
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
    /// The name of the tool that reads the rest.
    reader: Option<&'a str>,
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
        match (self.handle, self.reader) {
            (Some(handle), Some(reader)) => {
                let limit = match from.unit {
                    Unit::Lines => line_count(middle).min(200),
                    Unit::Bytes => middle.len().min(self.most),
                };
                write!(f, "). Read them with `{reader}` {} …", Request { handle, from, limit })?;
            }
            (Some(_), None) => f.write_str("). Ask for less if you need them …")?,
            (None, _) => f.write_str("). They could not be kept: ask for less, if you need them …")?,
        }
        write!(f, "\n{tail}")
    }
}

/// The arguments of [`READ_RESULT`], as a model may repeat them.
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

    /// As a [`DirectorySpillStore`](crate::output::DirectorySpillStore) does of two answers that come at the same time.
    #[test]
    fn what_another_answer_of_the_call_has_kept_meanwhile_is_kept() {
        #[derive(Default)]
        struct Slower(std::sync::OnceLock<Arc<str>>);
        impl SpillStore for Slower {
            fn put(&self, _: SpillKey<'_>, text: &str) -> io::Result<()> {
                self.0.get_or_init(|| text.into());
                Err(io::ErrorKind::AlreadyExists.into())
            }
            fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
                Ok(self.0.get().cloned())
            }
        }
        let spill = Spill::over(1_000).store(Slower::default());
        assert!(spill.keep(Some("c"), Some("1"), "text").is_some());
        assert_eq!(Spill::over(1_000).store(Slower::default()).keep(Some("c"), None, "text"), None, "the control");
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
