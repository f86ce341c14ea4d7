//! Asking on a terminal.

mod dialogue;
mod editor;
mod frame;
mod render;
mod screen;
#[cfg(test)]
mod tests;

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use tokio::sync::{Mutex, oneshot};

use self::dialogue::Dialogue;
use self::screen::{Console, Screen};
use super::{Confirm, Decision, Question};

/// Asks whoever sits in front of the program, on standard error and standard input.
///
/// It shows the tool, its arguments and, where the tool offers one, a preview of what it would do:
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
/// - Calls that run side by side are asked about one after the other.
/// - What does not show is escaped, each long argument is folded and `f` shows it in full: what is seen is what runs.
/// - A secret is shown as a mark, such as `"*** 1"`, here and in an editor; the mark stands for it in what is edited.
/// - `n` can be followed by a reason, which the model is told: `n take web-2`.
/// - `e` opens the arguments in `$VISUAL` or `$EDITOR`, or takes them on one line, and asks again about the edited ones.
/// - The end of the input, and what was typed before the question was there to be read, are no consent.
/// - Without a terminal every call is refused, with a reason that says so. Where nobody can be asked, as in CI, run with
///   [`Policy::Yolo`](crate::Policy::Yolo) or as a dry run.
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
    /// Held while a question is on the screen, by the thread that reads the answer.
    screen: Arc<Mutex<Box<dyn Screen>>>,
}

impl Default for Terminal {
    fn default() -> Self {
        Self::on(Console)
    }
}

impl Terminal {
    fn on(screen: impl Screen) -> Self {
        Self { screen: Arc::new(Mutex::new(Box::new(screen))) }
    }

    async fn ask(&self, question: &Question) -> Decision {
        let mut screen = self.screen.clone().lock_owned().await;
        let withdrawn = Withdrawn::default();
        let seen = withdrawn.0.clone();
        let question = question.clone();
        let (answer, answered) = oneshot::channel();
        // A thread of its own and not one of the runtime's: a runtime that shuts down waits for its threads, and this
        // one waits for a key.
        let asking = thread::Builder::new().name("tool confirmation".to_owned()).spawn(move || {
            let decision = Dialogue::new(&mut **screen, question, &seen).hold();
            drop(screen);
            // Nobody is there to hear it if the call is gone.
            drop(answer.send(decision));
        });
        if asking.is_err() {
            return Decision::refuse("nobody could be asked: no thread can be started");
        }
        answered.await.unwrap_or_else(|_| Decision::refuse("nobody could be asked: the dialogue failed"))
    }
}

impl Confirm for Terminal {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(self.ask(question))
    }
}

/// Set when the call that asked is dropped: the person is told that the answer is not wanted any more.
#[derive(Default)]
struct Withdrawn(Arc<AtomicBool>);

impl Drop for Withdrawn {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
