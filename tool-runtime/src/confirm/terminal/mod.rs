//! Confirmation on a terminal.

mod dialogue;
mod editor;
mod question_page;
mod render;
mod screen;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::sync::{Mutex, oneshot};

use self::dialogue::QuestionDialogue;
use self::screen::{DialogueScreen, StdioScreen};
use super::{Confirm, Decision, Question};

/// Asks the user on the terminal, through standard error and standard input.
///
/// The question shows the tool, its arguments and, if the tool has one, a preview of the call:
///
/// ```text
/// metrics.purge wants to run
///   Delete all points of a host.
///   sensitive, destructive
///   arguments
///   │ {
///   │   "host": "web-1"
///   │ }
/// [y] run  [n] refuse  [a] abort everything  [e] edit
/// >
/// ```
///
/// - Concurrent calls are confirmed one after the other.
/// - Invisible and control characters are escaped. Long arguments are folded, and `f` shows them in full.
/// - A secret is shown as a mark such as `"*** 1"`, which also represents it in edited arguments.
/// - `n` may be followed by a reason for the model: `n take web-2`.
/// - `e` opens the arguments in `$VISUAL` or `$EDITOR`, or reads them from one line, and asks again.
/// - The end of the input refuses the call. Input typed before the question could be read is ignored.
/// - Without a terminal every call is refused, and the reason says so. A line on standard error says what to do: in CI,
///   use [`Policy::Yolo`](crate::Policy::Yolo) or dry runs.
///
/// ```
/// use tool_runtime::confirm::{Confirm, Terminal};
///
/// let confirm = Terminal::default();
/// # fn takes(_: impl Confirm) {}
/// # takes(confirm);
/// ```
#[derive(Clone)]
pub struct Terminal {
    /// Locked by the thread that shows a question and reads its answer.
    screen: Arc<Mutex<Box<dyn DialogueScreen>>>,
}

impl Default for Terminal {
    fn default() -> Self {
        Self::on(StdioScreen)
    }
}

impl Terminal {
    fn on(screen: impl DialogueScreen) -> Self {
        Self { screen: Arc::new(Mutex::new(Box::new(screen))) }
    }

    async fn ask(&self, question: &Question) -> Decision {
        let mut screen = self.screen.clone().lock_owned().await;
        let withdrawal = WithdrawalGuard::default();
        let seen = withdrawal.0.clone();
        let question = question.clone();
        let (answer, answered) = oneshot::channel();
        // A separate thread, because a runtime that shuts down waits for its own threads, and this one waits for input.
        let asking = thread::Builder::new().name("tool confirmation".to_owned()).spawn(move || {
            let decision = QuestionDialogue::new(&mut **screen, question, &seen).run();
            drop(screen);
            // Fails if the call was dropped.
            drop(answer.send(decision));
        });
        if asking.is_err() {
            return Decision::refuse("the user could not be asked: cannot start a thread");
        }
        answered.await.unwrap_or_else(|_| Decision::refuse("the user could not be asked: the dialogue failed"))
    }
}

impl Confirm for Terminal {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(self.ask(question))
    }
}

/// Sets its flag when the call is dropped, so that the dialogue discards the answer.
#[derive(Default)]
struct WithdrawalGuard(Arc<AtomicBool>);

impl Drop for WithdrawalGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
