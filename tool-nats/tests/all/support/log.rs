//! Recorded log lines.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, OnceLock};

use tracing::dispatcher::Dispatch;
use tracing::subscriber::{DefaultGuard, NoSubscriber};

/// Collects the log of the current thread.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Records until the guard is dropped.
    pub fn record(&self) -> DefaultGuard {
        // With a single subscriber, a test on a thread without one would disable an event for all threads.
        static SECOND: OnceLock<Dispatch> = OnceLock::new();
        SECOND.get_or_init(|| Dispatch::new(NoSubscriber::default()));
        let writer = self.clone();
        let subscriber = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone());
        tracing::subscriber::set_default(subscriber.finish())
    }

    /// Returns the lines since the last call, and removes them.
    pub fn take(&self) -> String {
        String::from_utf8(std::mem::take(&mut self.0.lock().unwrap())).unwrap()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
