//! Background jobs that continue after a failure and report it.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;

use crate::settings::Extension;

/// The last failure of each extension's job. Cheap to clone; clones share it.
#[derive(Clone, Debug, Default)]
pub struct Failures(Arc<Mutex<BTreeMap<Extension, String>>>);

impl Failures {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Extension, String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the last failure of an extension's job, or `None` if it succeeded or did not run.
    #[must_use]
    pub fn last(&self, extension: Extension) -> Option<String> {
        self.lock().get(&extension).cloned()
    }

    /// Records the result of an extension's job.
    pub fn note(&self, extension: Extension, ended: Result<(), String>) {
        match ended {
            Ok(()) => self.lock().remove(&extension),
            Err(failure) => self.lock().insert(extension, failure),
        };
    }
}

/// Runs one step of a background job. A panic counts as a failure, so that the job can continue.
///
/// # Errors
/// If the step fails or panics.
pub async fn attempt<E: fmt::Display>(work: impl Future<Output = Result<(), E>>) -> Result<(), String> {
    match AssertUnwindSafe(work).catch_unwind().await {
        Ok(done) => done.map_err(|error| error.to_string()),
        Err(panic) => Err(format!("it panicked: {}", message(&*panic))),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}
