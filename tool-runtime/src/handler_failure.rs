//! Failures of handlers: the model reads a message, the log gets the whole chain of causes.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::display::escape;
use crate::inject::InjectError;
use crate::output::sanitize;
use crate::{ErrorKind, HandlerError, ToolError, ToolResult};

/// An error of application code. Every `Error`, `String`, `&str` and `anyhow::Error` converts into it.
pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// A failure that is not a message to the model yet.
#[derive(Debug)]
pub struct HandlerFailure {
    pub(crate) kind: ErrorKind,
    pub(crate) message: String,
    /// The time after which a retry may succeed, if the handler knows it.
    pub(crate) retry_after: Option<Duration>,
    /// The complete result, if the handler returned one.
    pub(crate) result: Option<ToolResult>,
    /// The error behind the failure, for the log.
    pub(crate) error: Option<BoxError>,
    /// Set if the handler has not started.
    pub(crate) not_started: bool,
}

impl HandlerFailure {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Box<Self> {
        let message = message.into();
        Box::new(Self { kind, message, retry_after: None, result: None, error: None, not_started: false })
    }

    /// Creates the failure of a handler that returned an error. The model reads the error without its causes.
    #[cold]
    pub(crate) fn from_error(error: BoxError) -> Box<Self> {
        match error.downcast::<ExplicitError>() {
            Ok(explicit) => explicit.0,
            Err(error) => Self::new(ErrorKind::Failed, error.to_string()).with_error(error),
        }
    }

    /// Creates the failure of a handler that panicked. The text of the panic is for the log: it may be the `Debug` form of
    /// anything.
    #[cold]
    pub(crate) fn panicked(panic: String) -> Box<Self> {
        Self::new(ErrorKind::Panicked, String::new()).with_error(panic)
    }

    /// Creates the failure of a call whose injected values could not be made.
    #[cold]
    pub(crate) fn injection(error: InjectError) -> Box<Self> {
        let mut failure = Self::new(ErrorKind::Injection, String::new()).with_error(error);
        failure.not_started = true;
        failure
    }

    /// Creates the failure of a call whose handler succeeded, but whose values could not be finished.
    #[cold]
    pub(crate) fn finish(error: BoxError) -> Box<Self> {
        let message = match explicit_message(&*error) {
            Some((_, message)) => format!("ran, but {message}"),
            None => "ran, but its changes could not be saved. Check before you call it again".to_owned(),
        };
        Self::new(ErrorKind::Finish, message).with_error(error)
    }

    pub(crate) fn with_error(mut self: Box<Self>, error: impl Into<BoxError>) -> Box<Self> {
        self.error = Some(error.into());
        self
    }

    /// Logs the failure and converts it into the error that the model reads.
    #[cold]
    pub(crate) fn into_tool_error(self, tool: &str, describe: Option<&ErrorDescriber>) -> ToolError {
        self.log(tool);
        let Self { mut kind, mut message, retry_after, error, .. } = self;
        if let Some(error) = error.as_deref().and_then(|error| error.downcast_ref::<InjectError>()) {
            match kind {
                ErrorKind::Injection => (kind, message) = error.message_for_model(tool),
                // The handler has asked its scope for the value, and may have taken effect before.
                _ => message = format!("`{tool}` failed: a value that it needs is unavailable right now."),
            }
        }
        let message = match kind {
            ErrorKind::Panicked => format!("`{tool}` panicked, which is a bug in the tool."),
            ErrorKind::TimedOut => format!("`{tool}` {message} and was stopped."),
            ErrorKind::Cancelled
            | ErrorKind::OutcomeUnknown
            | ErrorKind::NoRuntime
            | ErrorKind::Refused
            | ErrorKind::Finish => format!("`{tool}` {message}."),
            _ => message,
        };
        let message = match (describe, &error) {
            (Some(describe), Some(error)) if explicit_message(&**error).is_none() => match kind {
                ErrorKind::Retry | ErrorKind::Fatal => message,
                _ => describe.describe(tool, kind, message, &**error),
            },
            _ => message,
        };
        ToolError::new(kind, sanitize(message)).with_retry_after(retry_after)
    }

    /// Logs the error with all its causes. A failure to finish a value is logged where the value is known.
    fn log(&self, tool: &str) {
        let Some(error) = &self.error else {
            if matches!(self.kind, ErrorKind::Failed | ErrorKind::Fatal) {
                tracing::warn!(target: TARGET, tool, error = %escape(&self.message), "the handler failed");
            }
            return;
        };
        match self.kind {
            ErrorKind::Finish => {}
            ErrorKind::Panicked => log_error(tool, "the handler panicked", &**error),
            ErrorKind::Journal => log_error(tool, "a call cannot be recorded, and does not run", &**error),
            ErrorKind::Injection => log_error(tool, "a value could not be injected", &**error),
            _ => {
                tracing::warn!(target: TARGET, tool, error = %ErrorChain(&**error), "the handler failed");
            }
        }
    }
}

/// The tracing target of everything that concerns a single call.
pub(crate) const TARGET: &str = "tool_runtime::call";

/// Logs an error that is not the handler's own.
pub(crate) fn log_error(tool: &str, message: &str, error: &(dyn Error + 'static)) {
    tracing::error!(target: TARGET, tool, error = %ErrorChain(error), "{message}");
}

/// Displays an error and its causes, separated by colons, on one line. A cause whose text its parent contains already is
/// left out.
pub(crate) struct ErrorChain<'a>(pub(crate) &'a (dyn Error + 'static));

impl fmt::Display for ErrorChain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parent = self.0.to_string();
        f.write_str(&escape(&parent))?;
        for cause in std::iter::successors(self.0.source(), |&cause| cause.source()) {
            let text = cause.to_string();
            if !parent.contains(&text) {
                write!(f, ": {}", escape(&text))?;
                parent = text;
            }
        }
        Ok(())
    }
}

/// A failed call, as the function of [`Builder::describe_errors`](crate::Builder::describe_errors) sees it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FailedCall<'a> {
    /// The name by which the model called the tool.
    pub tool: &'a str,
    /// The kind of failure.
    pub kind: ErrorKind,
    /// The message that the model would read.
    pub message: &'a str,
    /// The error of the handler, provider, constructor, finish hook or journal, with its causes as
    /// [`source`](Error::source). The text of a panic is an error, too.
    pub error: &'a (dyn Error + 'static),
}

/// The function of [`Builder::describe_errors`](crate::Builder::describe_errors).
#[derive(Clone)]
pub(crate) struct ErrorDescriber(Arc<dyn Fn(&FailedCall<'_>) -> String + Send + Sync>);

impl ErrorDescriber {
    pub(crate) fn new(describe: impl Fn(&FailedCall<'_>) -> String + Send + Sync + 'static) -> Self {
        Self(Arc::new(describe))
    }

    /// Returns the application's message, or the given one if its function panics.
    pub(crate) fn describe(
        &self,
        tool: &str,
        kind: ErrorKind,
        message: String,
        error: &(dyn Error + 'static),
    ) -> String {
        match crate::panics::catch(|| (self.0)(&FailedCall { tool, kind, message: &message, error })) {
            Ok(described) => described,
            Err(panic) => {
                tracing::error!(target: TARGET, tool, panic, "the function of `describe_errors` panicked");
                message
            }
        }
    }
}

/// The texts of an error and its causes, for an error that cannot be kept.
#[derive(Debug)]
struct CopiedError {
    text: String,
    cause: Option<Box<Self>>,
}

impl fmt::Display for CopiedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for CopiedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// Copies the texts of an error that borrows, or is not `Send`.
pub(crate) fn copied(error: &(dyn Error + '_)) -> BoxError {
    fn copy(error: &(dyn Error + '_)) -> CopiedError {
        CopiedError { text: error.to_string(), cause: error.source().map(|cause| Box::new(copy(cause))) }
    }
    Box::new(copy(error))
}

/// A [`HandlerError`] as an `Error`, so that providers, constructors and finish hooks can return it.
struct ExplicitError(Box<HandlerFailure>);

impl fmt::Debug for ExplicitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for ExplicitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl Error for ExplicitError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.error.as_deref()?.source()
    }
}

impl From<HandlerError> for Box<dyn Error + Send + Sync> {
    fn from(error: HandlerError) -> Self {
        Box::new(ExplicitError(error.into_failure()))
    }
}

/// Finds a [`HandlerError::retry`] or [`HandlerError::fatal`] among an error and its causes: a message that is meant for the
/// model. The operator `?` makes a `HandlerError` of any error, so a plain failure is not.
pub(crate) fn explicit_message<'a>(error: &'a (dyn Error + 'static)) -> Option<(ErrorKind, &'a str)> {
    let mut causes = std::iter::successors(Some(error), |&cause| cause.source());
    let explicit = causes.find_map(|cause| cause.downcast_ref::<ExplicitError>())?;
    matches!(explicit.0.kind, ErrorKind::Retry | ErrorKind::Fatal).then_some((explicit.0.kind, &*explicit.0.message))
}
