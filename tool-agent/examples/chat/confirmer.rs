//! Confirmation in the terminal.

use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use tool_agent::{AgentEvent, AgentUpdate};
use tool_runtime::Dispatcher;
use tool_runtime::confirm::{Confirm, Decision, Question, Terminal};

/// A confirmer that asks in the terminal, after everything that precedes the question is shown.
#[derive(Clone)]
pub struct ChatConfirmer {
    terminal: Terminal,
    /// The number of open questions.
    open: Arc<watch::Sender<usize>>,
    questions: mpsc::UnboundedSender<PendingQuestion>,
}

/// A question that waits for its turn on the screen.
pub struct PendingQuestion {
    call: Option<String>,
    go: oneshot::Sender<OpenQuestion>,
}

/// The questions that wait for their turn.
pub type PendingQuestions = mpsc::UnboundedReceiver<PendingQuestion>;

impl ChatConfirmer {
    pub fn new() -> (Self, PendingQuestions) {
        let (questions, received) = mpsc::unbounded_channel();
        (Self { terminal: Terminal::default(), open: Arc::new(watch::Sender::new(0)), questions }, received)
    }

    pub fn is_open(&self) -> bool {
        *self.open.borrow() > 0
    }

    /// Awaits a future, except while a question is open.
    pub async fn quiet<T>(&self, future: impl Future<Output = T>) -> T {
        let mut open = self.open.subscribe();
        let mut future = pin!(future);
        loop {
            // It cannot be closed, because this holds a sender.
            let _ = open.wait_for(|open| *open == 0).await;
            tokio::select! {
                biased;
                _ = open.wait_for(|open| *open > 0) => {}
                done = &mut future => return done,
            }
        }
    }
}

impl Confirm for ChatConfirmer {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(async move {
            let (go, its_turn) = oneshot::channel();
            // If the screen is gone, there is nothing to wait for.
            let _open = match self.questions.send(PendingQuestion { call: question.call_id.clone(), go }) {
                Ok(()) => its_turn.await.ok(),
                Err(_) => None,
            };
            self.terminal.confirm(question).await
        })
    }
}

/// A guard that counts an open question.
struct OpenQuestion(Arc<watch::Sender<usize>>);

impl OpenQuestion {
    fn new(confirmer: &ChatConfirmer) -> Self {
        confirmer.open.send_modify(|open| *open += 1);
        Self(confirmer.open.clone())
    }
}

impl Drop for OpenQuestion {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}

/// The order of questions: calls run concurrently, and are confirmed in the order in which the model made them.
#[derive(Default)]
pub struct QuestionOrder {
    /// Set if every call is confirmed, and not only those of sensitive tools.
    confirms_all: bool,
    /// The calls that may ask, and have neither asked nor ended.
    begun: Vec<String>,
    waiting: Vec<PendingQuestion>,
}

impl QuestionOrder {
    /// Creates the order for a policy.
    pub fn new(confirms_all: bool) -> Self {
        Self { confirms_all, ..Self::default() }
    }

    /// Tracks the calls of a run.
    pub fn observe(&mut self, update: &AgentUpdate, tools: &Dispatcher) {
        match update.event() {
            Some(AgentEvent::CallStarted { id, tool, .. })
                if tools.definition(tool).is_some_and(|tool| self.confirms_all || tool.sensitive) =>
            {
                self.begun.push(id.to_string());
            }
            Some(AgentEvent::CallFinished(ended)) => self.begun.retain(|id| *id != ended.id),
            _ => {}
        }
    }

    pub fn add(&mut self, asked: PendingQuestion) {
        self.waiting.push(asked);
    }

    /// Returns `true` if a question can be asked now.
    pub fn is_ready(&self) -> bool {
        self.next().is_some()
    }

    /// Asks the next question.
    pub fn ask(&mut self, confirmer: &ChatConfirmer) {
        let Some(next) = self.next() else { return };
        let PendingQuestion { call, go } = self.waiting.remove(next);
        self.begun.retain(|id| Some(id) != call.as_ref());
        // The receiver may be gone.
        let _ = go.send(OpenQuestion::new(confirmer));
    }

    /// Returns the index of the question of the first call, or of a call that is not among these: a sub-agent's.
    fn next(&self) -> Option<usize> {
        let is_next = |asked: &PendingQuestion| match &asked.call {
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

    fn update(event: AgentEvent) -> AgentUpdate {
        AgentUpdate::Event { run: 1, event }
    }

    #[test]
    fn questions_are_asked_in_the_order_of_the_calls() {
        let asks = RuntimeTool::new("asks", "", |(): ()| async {}).sensitive();
        let looks = RuntimeTool::new("looks", "", |(): ()| async {});
        let tools = Dispatcher::builder().manifest(Manifest::default()).tool(asks).tool(looks).build().unwrap();
        let (confirmer, _coming) = ChatConfirmer::new();
        let mut order = QuestionOrder::default();
        for (id, tool) in [("1", "asks"), ("2", "looks"), ("3", "asks"), ("4", "asks")] {
            let (id, tool) = (Arc::from(id), Arc::from(tool));
            order.observe(&update(AgentEvent::CallStarted { id, tool, arguments: Value::Null }), &tools);
        }
        let question = |order: &mut QuestionOrder, call: &str| {
            let (go, its_turn) = oneshot::channel();
            order.add(PendingQuestion { call: Some(call.to_owned()), go });
            its_turn
        };
        let mut last = question(&mut order, "4");
        let mut first = question(&mut order, "1");
        order.ask(&confirmer);
        drop(first.try_recv().expect("the first call comes first"));
        assert!(!order.is_ready() && last.try_recv().is_err(), "the third call has not asked yet");
        let mut foreign = question(&mut order, "a sub-agent's");
        order.ask(&confirmer);
        drop(foreign.try_recv().expect("it does not wait for these calls"));
        let ended = CallResult::new("3", "asks", ToolResult::success(String::new()));
        order.observe(&update(AgentEvent::CallFinished(Arc::new(ended))), &tools);
        order.ask(&confirmer);
        assert!(last.try_recv().is_ok() && !confirmer.is_open(), "the third call will not ask any more");
    }

    #[test]
    fn all_calls_wait_for_their_turn_if_all_are_confirmed() {
        let looks = || RuntimeTool::new("looks", "", |(): ()| async {});
        let tools = Dispatcher::builder().manifest(Manifest::default()).tool(looks()).build().unwrap();
        for (confirms_all, is_ready) in [(false, true), (true, false)] {
            let mut order = QuestionOrder::new(confirms_all);
            for id in ["1", "2"] {
                let (id, tool) = (Arc::from(id), Arc::from("looks"));
                order.observe(&update(AgentEvent::CallStarted { id, tool, arguments: Value::Null }), &tools);
            }
            order.add(PendingQuestion { call: Some("2".to_owned()), go: oneshot::channel().0 });
            assert_eq!(order.is_ready(), is_ready, "the first call may still ask");
        }
    }
}
