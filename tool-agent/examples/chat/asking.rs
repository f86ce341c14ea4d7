//! Asking before something is changed.

use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use tool_agent::{AgentEvent, AgentUpdate};
use tool_runtime::Dispatcher;
use tool_runtime::confirm::{Confirm, Decision, Question, Terminal};

/// Asks on the terminal, once everything that came before the question is shown there.
#[derive(Clone)]
pub struct Asking {
    terminal: Terminal,
    /// How many questions wait for an answer.
    open: Arc<watch::Sender<usize>>,
    coming: mpsc::UnboundedSender<Asked>,
}

/// A question that is about to be asked, for whoever writes on the screen.
pub struct Asked {
    call: Option<String>,
    go: oneshot::Sender<Open>,
}

/// The questions that are about to be asked.
pub type Coming = mpsc::UnboundedReceiver<Asked>;

impl Asking {
    pub fn new() -> (Self, Coming) {
        let (coming, received) = mpsc::unbounded_channel();
        (Self { terminal: Terminal::default(), open: Arc::new(watch::Sender::new(0)), coming }, received)
    }

    pub fn is_open(&self) -> bool {
        *self.open.borrow() > 0
    }

    /// Waits for a future, but not while somebody is asked.
    pub async fn quiet<T>(&self, future: impl Future<Output = T>) -> T {
        let mut open = self.open.subscribe();
        let mut future = pin!(future);
        loop {
            // It cannot be closed, since this is one who could open it.
            let _ = open.wait_for(|open| *open == 0).await;
            tokio::select! {
                biased;
                _ = open.wait_for(|open| *open > 0) => {}
                done = &mut future => return done,
            }
        }
    }
}

impl Confirm for Asking {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(async move {
            let (go, its_turn) = oneshot::channel();
            // If nobody writes any more, there is nothing to wait for.
            let _open = match self.coming.send(Asked { call: question.call_id.clone(), go }) {
                Ok(()) => its_turn.await.ok(),
                Err(_) => None,
            };
            self.terminal.confirm(question).await
        })
    }
}

/// A question that waits for its answer.
struct Open(Arc<watch::Sender<usize>>);

impl Open {
    fn new(asking: &Asking) -> Self {
        asking.open.send_modify(|open| *open += 1);
        Self(asking.open.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// Which question comes next: calls run side by side, and are asked about in the order in which the model made them.
#[derive(Default)]
pub struct Order {
    /// The calls that may ask, and have neither asked nor ended.
    begun: Vec<String>,
    waiting: Vec<Asked>,
}

impl Order {
    /// Hears which calls there are.
    pub fn hear(&mut self, update: &AgentUpdate, tools: &Dispatcher) {
        match update.event() {
            Some(AgentEvent::CallStarted { id, tool, .. })
                if tools.definition(tool).is_some_and(|tool| tool.sensitive) =>
            {
                self.begun.push(id.to_string());
            }
            Some(AgentEvent::CallFinished(ended)) => self.begun.retain(|id| *id != ended.id),
            _ => {}
        }
    }

    pub fn add(&mut self, asked: Asked) {
        self.waiting.push(asked);
    }

    /// Whether a question can be asked now.
    pub fn is_ready(&self) -> bool {
        self.next().is_some()
    }

    /// Has the next question asked.
    pub fn ask(&mut self, asking: &Asking) {
        let Some(next) = self.next() else { return };
        let Asked { call, go } = self.waiting.remove(next);
        self.begun.retain(|id| Some(id) != call.as_ref());
        // Whoever wanted to ask may be gone.
        let _ = go.send(Open::new(asking));
    }

    /// The place of the question of the first call, or of one that is not among these: a sub-agent's.
    fn next(&self) -> Option<usize> {
        let is_next = |asked: &Asked| match &asked.call {
            Some(call) => self.begun.first() == Some(call) || !self.begun.contains(call),
            None => true,
        };
        self.waiting.iter().position(is_next)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::Value;
    use tool_agent::CallResult;
    use tool_runtime::{Manifest, RuntimeTool, ToolResult};

    use super::*;

    fn told(event: AgentEvent) -> AgentUpdate {
        AgentUpdate::Event { run: 1, event }
    }

    #[test]
    fn questions_come_in_the_order_of_the_calls() {
        let asks = RuntimeTool::new("asks", "", |(): ()| async {}).sensitive();
        let looks = RuntimeTool::new("looks", "", |(): ()| async {});
        let tools = Dispatcher::builder().manifest(Manifest::default()).tool(asks).tool(looks).build().unwrap();
        let (asking, _coming) = Asking::new();
        let mut order = Order::default();
        for (id, tool) in [("1", "asks"), ("2", "looks"), ("3", "asks"), ("4", "asks")] {
            let (id, tool) = (Arc::from(id), Arc::from(tool));
            order.hear(&told(AgentEvent::CallStarted { id, tool, arguments: Value::Null }), &tools);
        }
        let question = |order: &mut Order, call: &str| {
            let (go, its_turn) = oneshot::channel();
            order.add(Asked { call: Some(call.to_owned()), go });
            its_turn
        };
        let mut last = question(&mut order, "4");
        let mut first = question(&mut order, "1");
        order.ask(&asking);
        drop(first.try_recv().expect("the first call comes first"));
        assert!(!order.is_ready() && last.try_recv().is_err(), "the third call has not asked yet");
        let mut foreign = question(&mut order, "a sub-agent's");
        order.ask(&asking);
        drop(foreign.try_recv().expect("it waits for no call of these"));
        let ended = CallResult::new("3", "asks", ToolResult::success(String::new()));
        order.hear(&told(AgentEvent::CallFinished(Arc::new(ended))), &tools);
        order.ask(&asking);
        assert!(last.try_recv().is_ok() && !asking.is_open(), "the third call will not ask any more");
    }
}
