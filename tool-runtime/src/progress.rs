//! What a handler says while it runs.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::inject::{Injection, Mode};

/// Where a handler reports how far it is. Every handler can have one, by injection; cheap to clone.
///
/// Whoever makes a call listens by giving it one, with [`Call::with`](crate::Call::with). With nobody listening a
/// report costs nothing: the value is not even looked at.
///
/// ```standalone_crate
/// use std::sync::{Arc, Mutex};
///
/// use serde_json::json;
/// use tool_runtime::{Dispatcher, Progress, ToolCall, tool};
///
/// /// Copy files.
/// #[tool]
/// fn copy(files: Vec<String>, #[inject] progress: &Progress) -> usize {
///     for (index, file) in files.iter().enumerate() {
///         progress.report(json!({"file": file, "done": index + 1, "of": files.len()}));
///     }
///     files.len()
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tools = Dispatcher::builder().build()?;
/// let call = || tools.call(ToolCall::from_text("copy", r#"{"files": ["a", "b"]}"#));
/// assert_eq!(call().await.output, "2", "nobody needs to listen");
///
/// let heard = Arc::new(Mutex::new(Vec::new()));
/// let listener = heard.clone();
/// call().with(Progress::to(move |report| listener.lock().unwrap().push(report))).await;
/// assert_eq!(heard.lock().unwrap()[1], json!({"file": "b", "done": 2, "of": 2}));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Default)]
pub struct Progress {
    listener: Option<Arc<dyn Fn(Value) + Send + Sync>>,
}

impl Progress {
    /// Hands each report to a function, in the handler's own thread: one that takes long holds the handler up.
    pub fn to(listener: impl Fn(Value) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)) }
    }

    /// Whether anybody listens. A report that is dear to make need not be made otherwise.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Says how far the handler is. What cannot be written as JSON is logged and left out.
    pub fn report(&self, value: impl Serialize) {
        let Some(listener) = &self.listener else { return };
        match serde_json::to_value(value) {
            Ok(value) => listener(value),
            Err(error) => tracing::warn!(%error, "a report of progress cannot be written as JSON"),
        }
    }

    /// What the shim of a stream wants injected. It has no parameter; its name is none that a parameter could have.
    #[must_use]
    #[doc(hidden)]
    pub fn of_stream() -> Injection {
        Injection {
            parameter: "(stream)",
            type_id: std::any::TypeId::of::<Self>(),
            arc_type_id: std::any::TypeId::of::<std::sync::Arc<Self>>(),
            type_name: std::any::type_name::<Self>(),
            mode: Mode::Clone,
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("is_heard", &self.is_heard()).finish()
    }
}
