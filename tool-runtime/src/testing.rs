//! Helpers for unit tests.

use std::cell::RefCell;
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex, OnceLock};

use proptest::test_runner::{Config, RngSeed};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing_core::span::Current;

/// Returns a reproducible proptest configuration. `PROPTEST_RNG_SEED` and `PROPTEST_CASES` override it.
pub(crate) fn properties(cases: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    config
}

/// A subscriber that records all logged events and span fields as text.
#[derive(Clone, Default)]
pub(crate) struct LogRecorder(Arc<Mutex<String>>);

impl LogRecorder {
    /// Records what the current thread logs until the guard is dropped.
    pub(crate) fn record(&self) -> tracing::subscriber::DefaultGuard {
        // As long as there is only one subscriber, tracing asks only that of the current thread: a test on a thread without
        // one would disable an event for all threads.
        static SECOND: OnceLock<tracing::Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| tracing::Dispatch::new(tracing::subscriber::NoSubscriber::default()));
        tracing::subscriber::set_default(self.clone())
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().unwrap().clone()
    }
}

impl Visit for LogRecorder {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl tracing::Subscriber for LogRecorder {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

thread_local! {
    /// The spans that the thread has entered.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// A subscriber that records all events and spans, each with the name of its parent span.
#[derive(Clone, Default)]
pub(crate) struct SpanRecorder(Arc<Mutex<SpanRecords>>);

#[derive(Default)]
struct SpanRecords {
    spans: Vec<&'static tracing::Metadata<'static>>,
    seen: Vec<(String, Option<&'static str>)>,
}

impl SpanRecorder {
    /// Returns the recorded entries that contain `text`, with their parent spans.
    pub(crate) fn seen(&self, text: &str) -> Vec<(String, Option<&'static str>)> {
        self.0.lock().unwrap().seen.iter().filter(|(seen, _)| seen.contains(text)).cloned().collect()
    }

    fn current(&self) -> Option<(u64, &'static tracing::Metadata<'static>)> {
        let id = ENTERED.with_borrow(|entered| entered.last().copied())?;
        let index = usize::try_from(id).unwrap() - 1;
        Some((id, self.0.lock().unwrap().spans[index]))
    }

    fn see(&self, text: String) {
        let current = self.current().map(|(_, span)| span.name());
        self.0.lock().unwrap().seen.push((text, current));
    }
}

impl tracing::Subscriber for SpanRecorder {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.see(span.metadata().name().to_owned());
        let mut recorded = self.0.lock().unwrap();
        recorded.spans.push(span.metadata());
        Id::from_u64(recorded.spans.len() as u64)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut log = LogRecorder::default();
        event.record(&mut log);
        self.see(log.text());
    }

    fn enter(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(id.into_u64()));
    }

    fn exit(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            let last = entered.iter().rposition(|entered| *entered == id.into_u64());
            last.map(|last| entered.remove(last));
        });
    }

    fn current_span(&self) -> Current {
        match self.current() {
            Some((id, span)) => Current::new(Id::from_u64(id), span),
            None => Current::none(),
        }
    }
}
