//! Asking before something is changed.

use std::pin::{Pin, pin};
use std::sync::Arc;

use tokio::sync::{mpsc, oneshot, watch};
use tool_runtime::{Confirm, Decision, Question, Terminal};

/// Asks on the terminal, once everything that came before the question is shown there.
#[derive(Clone)]
pub struct Asking {
    terminal: Terminal,
    /// How many questions wait for an answer.
    open: Arc<watch::Sender<usize>>,
    coming: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

/// Questions that are about to be asked, for whoever writes on the screen.
pub type Coming = mpsc::UnboundedReceiver<oneshot::Sender<()>>;

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
            let (shown, all_shown) = oneshot::channel();
            if self.coming.send(shown).is_ok() {
                // If nobody writes any more, there is nothing to wait for.
                let _ = all_shown.await;
            }
            let _open = Open::new(&self.open);
            self.terminal.confirm(question).await
        })
    }
}

/// A question that waits for its answer.
struct Open<'a>(&'a watch::Sender<usize>);

impl<'a> Open<'a> {
    fn new(open: &'a watch::Sender<usize>) -> Self {
        open.send_modify(|open| *open += 1);
        Self(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|open| *open -= 1);
    }
}
