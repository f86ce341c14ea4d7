//! Confirmation of calls by a user before they run.
//!
//! A [`Policy`](crate::Policy) decides which calls need approval. A [`Confirm`] asks for it: [`Terminal`] on the terminal,
//! `Deferred` (feature `deferred`) later, on a web page or in a chat, and [`from_fn`] in any other way.
//!
//! A [`Question`] holds the arguments exactly as they will run, after validation and repair.
//!
//! Secrets (`#[arg(secret)]`) are part of a question, but are never displayed. Users see and edit a mark in their place,
//! and pending calls are stored encrypted.

mod argument_edit;
#[cfg(feature = "deferred")]
mod deferred;
pub(crate) mod policy;
#[cfg(feature = "cli")]
mod policy_arguments;
mod question;
mod terminal;

use std::pin::Pin;
use std::sync::Arc;

pub use argument_edit::EditError;
#[cfg(feature = "deferred")]
pub use deferred::{
    Deferred, MemoryPendingStore, PendingCall, PendingStore, PendingStoreError, PendingStoreFuture, SealedCall,
    SealingKey, TokenError, WeakKeyError,
};
pub use policy::{ParsePolicyError, PolicyVerdict};
#[cfg(feature = "cli")]
pub use policy_arguments::PolicyArguments;
pub use question::{Decision, PendingApproval, Question, fingerprint};
pub use terminal::Terminal;

/// Asks a user whether a call may run.
///
/// Dropping the future withdraws the question, because the call was cancelled or dropped. The time spent waiting for the
/// user does not count towards the deadline of the call.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot ask for confirmation",
    note = "use a `Terminal`, a `Deferred`, or wrap an async closure: `confirm::from_fn(|question| async move {{ .. }})`"
)]
pub trait Confirm: Send + Sync + 'static {
    /// Asks the user and returns the decision. If the user cannot be asked, returns [`Decision::Refuse`].
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>>;
}

impl<C: Confirm + ?Sized> Confirm for Arc<C> {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        (**self).confirm(question)
    }
}

/// Creates a confirmer from an async closure.
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
pub fn from_fn<F, Fut>(ask: F) -> impl Confirm
where
    F: Fn(Question) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    ConfirmFn(ask)
}

/// Creates a confirmer for a dispatcher whose calls bring their own with [`Call::confirm`](crate::Call::confirm), as those
/// over HTTP and MCP do. A call that brings none and needs approval is refused.
///
/// ```
/// use tool_runtime::{Dispatcher, RuntimeTool, confirm};
///
/// let purge = RuntimeTool::new("purge", "Deletes everything.", |()| async { "gone" }).destructive();
/// let tools = Dispatcher::builder().tool(purge).confirm(confirm::per_call()).build()?;
/// # Ok::<(), tool_runtime::BuildError>(())
/// ```
pub fn per_call() -> impl Confirm {
    from_fn(|_| async { Decision::refuse("it needs a user's approval, and there is nobody to ask") })
}

/// A separate type instead of an `impl` for closures, so that `from_fn` determines the type of the parameter.
struct ConfirmFn<F>(F);

impl<F, Fut> Confirm for ConfirmFn<F>
where
    F: Fn(Question) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Decision> + Send + 'static,
{
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin((self.0)(question.clone()))
    }
}
