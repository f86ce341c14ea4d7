//! Asking a person before a tool runs.
//!
//! A [`Policy`] says which calls need consent, a [`Confirm`] gets it: [`Terminal`] from whoever sits in front of the
//! program, `Deferred` (feature `deferred`) from someone who answers later, on a web page or in a chat, and
//! [`from_fn`] in any other way.
//!
//! What is asked is what runs: a [`Question`] holds the arguments after they were checked and mended.
//!
//! Secrets (`#[arg(secret)]`) are in a question, since it is what runs, and are shown to nobody: a person decides over a
//! call without seeing its password, edits its arguments around a mark that stands for it, and a call that waits does
//! so encrypted.

mod decision;
#[cfg(feature = "deferred")]
mod deferred;
mod edit;
pub(crate) mod policy;
mod question;
mod terminal;

use std::pin::Pin;
use std::sync::Arc;

pub use decision::{Decision, PendingApproval};
#[cfg(feature = "deferred")]
pub use deferred::{
    Deferred, MemoryPendingStore, PendingCall, PendingStore, PendingStoreError, PendingStoreFuture, SealedCall,
    SealingKey, TokenError, WeakKeyError,
};
pub use edit::EditError;
pub use policy::{ParsePolicyError, PolicyVerdict};
pub use question::{Question, fingerprint};
pub use terminal::Terminal;

/// Asks whether a call may run.
///
/// Dropping the future withdraws the question: the call was cancelled or dropped. The time that a
/// person takes does not count against the deadline of the call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot ask for confirmation",
    note = "give a `Terminal`, a `Deferred`, or wrap an async closure: `confirm::from_fn(|question| async move {{ .. }})`"
)]
pub trait Confirm: Send + Sync + 'static {
    /// Asks, and gives what was decided. Whatever prevents asking is a [`Decision::Refuse`].
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;
}

impl<C: Confirm + ?Sized> Confirm for Arc<C> {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        (**self).confirm(question)
    }
}

/// Asks through a closure.
///
/// ```
/// use tool_runtime::confirm::{self, Decision};
///
/// let only_short = confirm::from_fn(|question| async move {
///     match question.arguments.to_string().len() {
///         ..1000 => Decision::Run,
///         _ => Decision::Refuse(Some("send less at once".to_owned())),
///     }
/// });
/// # fn takes(_: impl tool_runtime::confirm::Confirm) {}
/// # takes(only_short);
/// ```
pub fn from_fn<F, Fut>(ask: F) -> ConfirmFn<F>
where
    F: Fn(Question) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    ConfirmFn(ask)
}

/// A closure that asks; see [`from_fn`].
///
/// It is a type of its own, so that `from_fn` and not the trait tells the compiler what `question` is.
#[derive(Clone, Copy)]
pub struct ConfirmFn<F>(F);

impl<F, Fut> Confirm for ConfirmFn<F>
where
    F: Fn(Question) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin((self.0)(question.clone()))
    }
}
