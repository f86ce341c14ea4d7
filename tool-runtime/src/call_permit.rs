//! The place of a call among those that run at a time.

use std::sync::{Arc, Mutex, PoisonError};

use crate::concurrency::RunPermit;

/// The place of a call among those that run at a time, where [`Builder::concurrency`](crate::Builder::concurrency) says how
/// many. A handler asks for it by type.
///
/// A handler that waits for other calls of the same dispatcher [releases](Self::release) its place to them: if all that run
/// waited for a place, none would ever come free. One that is given the [`Dispatcher`](crate::Dispatcher) has left it
/// already, and so has a call whose values are being [finished](crate::Builder::finish).
#[derive(Clone, Debug, Default)]
pub struct CallPermit {
    /// Nothing where any number of calls run.
    permit: Option<Arc<Mutex<Option<RunPermit>>>>,
}

impl CallPermit {
    pub(crate) fn held(permit: RunPermit) -> Self {
        Self { permit: Some(Arc::new(Mutex::new(Some(permit)))) }
    }

    /// Lets another call run. This one goes on, and counts no more.
    pub fn release(&self) {
        if let Some(permit) = &self.permit {
            drop(permit.lock().unwrap_or_else(PoisonError::into_inner).take());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex, OnceLock};
    use std::time::Duration;

    use crate::inject::{CallPermit, InjectError};
    use crate::{Dispatcher, RuntimeTool, Scope, ToolCall, tool, tool_class};

    /// Tools that call another.
    #[derive(Clone, Default)]
    struct Outer {
        tools: Arc<OnceLock<Dispatcher>>,
    }

    async fn inner(tools: &Dispatcher) -> String {
        let result = tools.call(ToolCall::from_text("inner", "{}")).await;
        let running = tools.concurrency().map_or(0, |places| places.running());
        format!("{}, {running} run", result.output)
    }

    #[tool_class(crate = crate, manual)]
    impl Outer {
        /// Through what it is given.
        #[tool]
        async fn injected(&self, #[inject] tools: &Dispatcher) -> String {
            inner(tools).await
        }

        /// Through what it has.
        #[tool]
        async fn own(&self, leave: bool, #[inject] permit: &CallPermit) -> String {
            if leave {
                permit.release();
            }
            inner(self.tools.get().unwrap()).await
        }
    }

    /// With one place each of them would wait for itself. Time stands still: it goes on when nothing else does.
    #[tokio::test(start_paused = true)]
    async fn who_waits_for_another_call_leaves_it_the_place() {
        let scoped = |(): (), scope: Scope| async move { inner(&scope.value().await.unwrap()).await };
        let outer = Outer::default();
        let tools = Dispatcher::builder()
            .service(outer.clone())
            .tool(RuntimeTool::new("inner", "", |(): ()| async { "done" }))
            .tool(RuntimeTool::scoped("scoped", "", scoped))
            .concurrency(1, 10)
            .build()
            .unwrap();
        assert!(outer.tools.set(tools.clone()).is_ok());
        let call = async |name: &str, arguments: &str| {
            tools.call(ToolCall::from_text(name, arguments)).timeout(Duration::from_secs(60)).await.output
        };
        for (name, arguments) in [("outer.injected", "{}"), ("outer.own", r#"{"leave": true}"#), ("scoped", "{}")] {
            assert_eq!(call(name, arguments).await, "done, 0 run", "{name}");
        }
        assert!(call("outer.own", r#"{"leave": false}"#).await.contains("did not finish"), "it has its place");
        assert_eq!(call("inner", "{}").await, "done");
    }

    /// A hook would wait for the place of its own call. A thread that still blocks keeps it.
    #[tokio::test(start_paused = true)]
    async fn a_finish_hook_may_call_a_tool() {
        let (tools, audited) = (Arc::new(OnceLock::<Dispatcher>::new()), Arc::new(Mutex::new(Vec::new())));
        let finish = {
            let (tools, audited) = (tools.clone(), audited.clone());
            move |number: u32, _| {
                let (tools, audited) = (tools.clone(), audited.clone());
                async move {
                    let audit = inner(tools.get().unwrap()).await;
                    audited.lock().unwrap().push(format!("{number}: {audit}"));
                }
            }
        };
        let provided = |(): (), scope: Scope| async move { scope.get::<u32>("number").await.unwrap().to_string() };
        let dispatcher = Dispatcher::builder()
            .tool(RuntimeTool::new("inner", "", |(): ()| async { "done" }))
            .tool(RuntimeTool::scoped("provided", "", provided))
            .provide("number", |_| async { Ok::<_, InjectError>(7_u32) })
            .finish("number", finish)
            .concurrency(1, 10)
            .build()
            .unwrap();
        assert!(tools.set(dispatcher.clone()).is_ok());
        let call = || ToolCall::from_text("provided", "{}");
        let called = async {
            let one = dispatcher.call(call()).await;
            (one, dispatcher.call_all([call(), call()]).await)
        };
        let (one, turn) =
            tokio::time::timeout(Duration::from_secs(3_600), called).await.expect("none waits for itself");
        assert_eq!([&*one.output, &*turn[0].output, &*turn[1].output], ["7", "7", "7"]);
        assert_eq!(audited.lock().unwrap().len(), 3);
        assert!(audited.lock().unwrap().iter().all(|audit| audit.starts_with("7: done")), "{audited:?}");
    }
}
