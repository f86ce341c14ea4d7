//! Long outputs: the model receives the beginning, the end and a handle to read the rest with.

use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

use super::text_slice::{TextPosition, TextUnit, head_end, line_count, position_at, tail_start};
use super::{MemorySpillStore, READ_RESULT, ResultReader, SpillKey, SpillStore};
use crate::display::thousands;
use crate::panics;

/// The settings for long outputs; see [`Builder::spill`](crate::Builder::spill).
///
/// An output over the limit is stored whole. The model receives its beginning, its end and a notice between them that
/// names the handle to read the rest with.
#[derive(Clone)]
pub struct Spill {
    limit: usize,
    store: Arc<dyn SpillStore>,
    handles: Arc<HandleGenerator>,
}

/// The summary of a stored output, for the metadata of its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct SpillSummary {
    /// The name by which its conversation can read it; `None` if the store failed.
    pub(crate) handle: Option<String>,
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
}

/// The smallest limit. Less leaves no room for text around the notice.
const MIN_LIMIT: usize = 1_000;

/// The bytes reserved for the notice, so that a shortened output is not too long itself.
const NOTICE_BYTES: usize = 300;

impl Spill {
    /// Shortens outputs of more than `limit` bytes, at least 1,000. Stores them in a [`MemorySpillStore`] by default.
    #[must_use]
    pub fn over(limit: usize) -> Self {
        let store = Arc::new(MemorySpillStore::default());
        Self { limit: limit.max(MIN_LIMIT), store, handles: Arc::default() }
    }

    /// Sets the store of long outputs.
    #[must_use]
    pub fn store(mut self, store: impl SpillStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Returns the service with the tool `read_result`.
    pub(crate) fn reader(&self) -> ResultReader {
        ResultReader::new(self.clone())
    }

    /// Shortens and stores a text that is too long.
    #[cfg(test)]
    pub(super) fn shorten(&self, conversation: Option<&str>, text: String) -> (String, Option<SpillSummary>) {
        if !self.is_long(&text) {
            return (text, None);
        }
        let handle = self.keep(conversation, None, &text);
        let (shown, spilled) = self.cut(&text, handle, Some(READ_RESULT));
        (shown, Some(spilled))
    }

    /// Returns `true` if a text exceeds the limit.
    pub(crate) fn is_long(&self, text: &str) -> bool {
        text.len() > self.limit
    }

    /// Stores the output of a call and returns its handle, or `None` if the store failed.
    ///
    /// Idempotent for calls with an id: however often the journal replays a call, its output is stored once.
    pub(crate) fn keep(&self, conversation: Option<&str>, call: Option<&str>, text: &str) -> Option<String> {
        let (Some(_), Some(call)) = (conversation, call) else {
            return self.put(conversation, self.handles.next(), text);
        };
        let handle = self.handles.handle((conversation, call, text));
        let is_kept = |handle: &String| matches!(self.get(SpillKey { conversation, handle }), Ok(Some(_)));
        if is_kept(&handle) {
            return Some(handle);
        }
        // Storing also fails if a concurrent replay of the same call has stored the output first.
        self.put(conversation, handle.clone(), text).or_else(|| Some(handle).filter(is_kept))
    }

    /// Returns a stored output.
    pub(crate) fn whole(&self, conversation: Option<&str>, handle: &str) -> Option<Arc<str>> {
        self.get(SpillKey { conversation, handle }).unwrap_or_else(|error| {
            tracing::warn!(%error, handle, "a stored output could not be read");
            None
        })
    }

    /// Returns the maximum length of a part of an output, which together with the notice stays within the limit.
    pub(super) fn max_part(&self) -> usize {
        self.limit - NOTICE_BYTES
    }

    /// Replaces the middle of a text by a notice, which names the tool that reads the rest if it is offered.
    #[cold]
    pub(crate) fn cut(&self, text: &str, handle: Option<String>, reader: Option<&str>) -> (String, SpillSummary) {
        // A longer name of the tool leaves less room for the text.
        let longer = reader.map_or(0, |reader| reader.len().saturating_sub(READ_RESULT.len()));
        let room = self.max_part() - longer;
        let head = head_end(text, room - room / 3);
        let tail = tail_start(text, room / 3);
        let cut = ShortenedText { text, head, tail, handle: handle.as_deref(), reader, max_part: self.max_part() };
        (cut.to_string(), SpillSummary { handle, bytes: text.len(), lines: line_count(text) })
    }

    fn put(&self, conversation: Option<&str>, handle: String, text: &str) -> Option<String> {
        match catch_panics(|| self.store.put(SpillKey { conversation, handle: &handle }, text)) {
            Ok(()) => Some(handle),
            Err(error) => {
                tracing::warn!(%error, bytes = text.len(), "a long output could not be stored");
                None
            }
        }
    }

    pub(super) fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
        catch_panics(|| self.store.get(key))
    }
}

/// Calls a store, which is application code, and turns a panic into an error.
fn catch_panics<T>(ask: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    panics::catch(ask).unwrap_or_else(|panic| Err(io::Error::other(format!("the store panicked: {panic}"))))
}

impl fmt::Debug for Spill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spill").field("limit", &self.limit).finish_non_exhaustive()
    }
}

/// A generator of unguessable handles.
///
/// A handle is the 64-bit SipHash of a counter, or of a call with its output, under a random key that never leaves the
/// process, so known handles do not reveal others. SipHash is not a cipher, which suffices here: each guess costs a
/// call, and a store returns a text only to its own conversation. Only calls without a conversation rely on the handle
/// alone.
#[derive(Default)]
struct HandleGenerator {
    key: RandomState,
    count: AtomicU64,
}

impl HandleGenerator {
    fn next(&self) -> String {
        self.handle(self.count.fetch_add(1, Ordering::Relaxed))
    }

    /// Returns the same handle for the same value.
    fn handle(&self, value: impl Hash) -> String {
        format!("r{:016x}", self.key.hash_one(value))
    }
}

/// A text with a notice in place of its middle.
struct ShortenedText<'a> {
    text: &'a str,
    head: usize,
    tail: usize,
    handle: Option<&'a str>,
    /// The name of the tool that reads the rest.
    reader: Option<&'a str>,
    max_part: usize,
}

impl fmt::Display for ShortenedText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (head, middle, tail) = (&self.text[..self.head], &self.text[self.head..self.tail], &self.text[self.tail..]);
        let (from, to) = (position_at(self.text, self.head), position_at(self.text, self.tail));
        f.write_str(head)?;
        if !head.ends_with('\n') {
            f.write_str("\n")?;
        }
        write!(f, "… {} bytes left out (", thousands(middle.len()))?;
        let from = match (from.unit, to.unit) {
            (TextUnit::Lines, TextUnit::Lines) => {
                write!(f, "lines {} to {}", thousands(from.offset + 1), thousands(to.offset))?;
                from
            }
            _ => {
                write!(f, "bytes {} to {}", thousands(self.head + 1), thousands(self.tail))?;
                TextPosition { unit: TextUnit::Bytes, offset: self.head }
            }
        };
        match (self.handle, self.reader) {
            (Some(handle), Some(reader)) => {
                let limit = match from.unit {
                    TextUnit::Lines => line_count(middle).min(200),
                    TextUnit::Bytes => middle.len().min(self.max_part),
                };
                write!(f, "). Read them with `{reader}` {} …", ReadArguments { handle, from, limit })?;
            }
            (Some(_), None) => f.write_str("). Ask for less if you need them …")?,
            (None, _) => f.write_str("). They could not be kept: ask for less, if you need them …")?,
        }
        write!(f, "\n{tail}")
    }
}

/// The arguments of a [`READ_RESULT`] call, as JSON for the model to copy.
pub(super) struct ReadArguments<'a> {
    pub(super) handle: &'a str,
    pub(super) from: TextPosition,
    pub(super) limit: usize,
}

impl fmt::Display for ReadArguments<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { handle, from: TextPosition { unit, offset }, limit } = *self;
        write!(f, r#"{{"handle": "{handle}", "offset": {offset}, "limit": {limit}"#)?;
        if unit == TextUnit::Bytes {
            f.write_str(r#", "unit": "bytes""#)?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::super::text_slice::{TextSlice, slice};
    use super::*;
    use crate::testing::properties;

    #[test]
    fn omits_whole_lines() {
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
    fn omits_bytes_of_a_single_long_line() {
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
    fn shortens_an_output_that_cannot_be_stored() {
        struct FullStore;
        impl SpillStore for FullStore {
            fn put(&self, _: SpillKey<'_>, _: &str) -> io::Result<()> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
                Ok(None)
            }
        }
        let (shown, spilled) = Spill::over(1_000).store(FullStore).shorten(None, "x".repeat(5_000));
        assert_eq!(spilled.unwrap().handle, None);
        assert!(shown.contains("They could not be kept") && shown.len() < 1_000);
    }

    /// A [`DirectorySpillStore`](crate::output::DirectorySpillStore) does this for two concurrent replays.
    #[test]
    fn accepts_an_output_that_a_concurrent_replay_has_stored() {
        #[derive(Default)]
        struct RacingStore(std::sync::OnceLock<Arc<str>>);
        impl SpillStore for RacingStore {
            fn put(&self, _: SpillKey<'_>, text: &str) -> io::Result<()> {
                self.0.get_or_init(|| text.into());
                Err(io::ErrorKind::AlreadyExists.into())
            }
            fn get(&self, _: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
                Ok(self.0.get().cloned())
            }
        }
        let spill = Spill::over(1_000).store(RacingStore::default());
        assert!(spill.keep(Some("c"), Some("1"), "text").is_some());
        assert_eq!(Spill::over(1_000).store(RacingStore::default()).keep(Some("c"), None, "text"), None, "the control");
    }

    #[test]
    fn handles_are_unique_across_generators() {
        let (one, other) = (HandleGenerator::default(), HandleGenerator::default());
        let made: HashSet<String> = (0..1_000).flat_map(|_| [one.next(), other.next()]).collect();
        assert_eq!(made.len(), 2_000, "generators have different keys");
        assert!(made.iter().all(|handle| handle.len() == 17));
    }

    fn long_text() -> impl Strategy<Value = String> {
        let piece = prop_oneof!["[a-zé中😀]{0,30}\n", "[a-zé中😀 ]{0,300}", Just("\n\n".to_owned())];
        proptest::collection::vec(piece, 20..120).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(properties(100))]

        #[test]
        fn head_slices_and_tail_form_the_whole_text(text in long_text(), limit in 1_000..3_000_usize, lines in 1..50_usize) {
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

            // The head, the parts that the notice refers to and the tail form the original text.
            let arguments = shown.rsplit_once("`read_result` ").unwrap().1.rsplit_once(" …\n").unwrap().0;
            let arguments: serde_json::Value = serde_json::from_str(arguments).unwrap();
            let unit = if arguments.get("unit").is_some() { TextUnit::Bytes } else { TextUnit::Lines };
            let mut next = Some(TextPosition { unit, offset: usize::try_from(arguments["offset"].as_u64().unwrap()).unwrap() });
            let mut rest = String::new();
            while let Some(position) = next {
                let TextSlice { text, next: following } = slice(&kept, position, lines, spill.max_part()).unwrap();
                prop_assert!(!text.is_empty() && text.len() <= spill.max_part());
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
