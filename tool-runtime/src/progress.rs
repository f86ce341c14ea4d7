//! Progress reports of a handler.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use crate::inject::{Injection, InjectionMode};

/// Reports the progress of a handler. Every handler can have it injected. Cheap to clone.
///
/// A caller listens by passing a `Progress` with [`Call::with`](crate::Call::with). Without a listener a report costs
/// nothing: the value is not serialized.
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
/// assert_eq!(call().await.output, "2", "a listener is optional");
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
    /// Creates a reporter that calls a function with each report, on the thread of the handler. A slow function slows the
    /// handler down.
    pub fn to(listener: impl Fn(Value) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Arc::new(listener)) }
    }

    /// Returns `true` if there is a listener. Skip reports that are expensive to compute otherwise.
    #[must_use]
    pub fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Reports progress. A value that cannot be serialized as JSON is logged and dropped.
    pub fn report(&self, value: impl Serialize) {
        let Some(listener) = &self.listener else { return };
        match serde_json::to_value(value) {
            Ok(value) => listener(value),
            Err(error) => tracing::warn!(%error, "a progress report cannot be serialized as JSON"),
        }
    }

    /// Returns the injection that the shim of a stream declares. It has no parameter, so its name is one that no parameter
    /// can have.
    #[must_use]
    #[doc(hidden)]
    pub fn of_stream() -> Injection {
        Injection {
            parameter: "(stream)",
            type_id: std::any::TypeId::of::<Self>(),
            arc_type_id: std::any::TypeId::of::<std::sync::Arc<Self>>(),
            type_name: std::any::type_name::<Self>(),
            mode: InjectionMode::Clone,
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress").field("is_heard", &self.is_heard()).finish()
    }
}
