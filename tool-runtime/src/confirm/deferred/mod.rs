//! Answers that come later, on a web page or in a chat.

mod pending_store;
mod seal;
mod sealing_key;
#[cfg(test)]
mod tests;
mod token;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use pending_store::{MemoryPendingStore, PendingStore, PendingStoreError, PendingStoreFuture, SealedCall};
pub use sealing_key::{SealingKey, WeakKeyError};
pub use token::TokenError;
use tokio::runtime::Handle;

use self::token::Token;
use super::{Confirm, Decision, PendingApproval, Question};
use crate::call_stage::CallStage;
use crate::detach_on_drop::DetachOnDrop;
use crate::{ToolResult, panics};

/// Answers [`Decision::Pending`] with a token, and knows the call again when someone comes back with it.
///
/// A token is good once, until it expires, and for exactly the call that was asked about: a MAC binds it to the call's
/// id, its conversation, channel and chat, the tool and its definition, the arguments and the preview. Whatever is off
/// makes it invalid.
///
/// A call waits [encrypted](SealedCall), with its secrets, so that it can run later: a store, its backups and whoever
/// can read them learn no arguments. [`resume`](Self::resume) runs it.
///
/// It is cheap to clone; the clones answer for each other's calls.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, SystemTime};
///
/// use serde_json::json;
/// use tool_runtime::ToolDefinition;
/// use tool_runtime::confirm::{Confirm, Decision, Deferred, SealingKey, Question, TokenError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let deferred = Deferred::new(SealingKey::random()?).expires_in(Duration::from_secs(600));
///
/// // What the dispatcher does when a call needs consent:
/// let question = Question::new("metrics.purge", Arc::new(ToolDefinition::default()), json!({"host": "web-1"}));
/// let Decision::Pending(pending) = deferred.confirm(&question).await else { panic!("it does not wait") };
///
/// // When someone presses the button:
/// let call = deferred.redeem(&pending.token, SystemTime::now()).await?;
/// assert_eq!(call.question.arguments, json!({"host": "web-1"}));
///
/// // And presses it again:
/// let again = deferred.redeem(&pending.token, SystemTime::now()).await;
/// assert_eq!(again, Err(TokenError::Invalid));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Deferred {
    key: Arc<SealingKey>,
    store: Arc<dyn PendingStore>,
    expires_in: Duration,
}

impl Deferred {
    /// Makes tokens with this key. Calls wait in memory, for an hour at most.
    pub fn new(key: impl Into<SealingKey>) -> Self {
        Self {
            key: Arc::new(key.into()),
            store: Arc::new(MemoryPendingStore::default()),
            expires_in: Duration::from_secs(60 * 60),
        }
    }

    /// How long a call waits.
    #[must_use]
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.expires_in = time;
        self
    }

    /// Where calls wait. A store on disk lets them outlive the process.
    #[must_use]
    pub fn store(mut self, store: impl PendingStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Runs the call of a token. The token is used up when the handler starts, not before.
    ///
    /// A call whose handler does not start waits on, and its token stays good, whatever the reason: a queue, a limit, a
    /// provider that failed, a tool that is gone, edited arguments that are wrong, a cancellation, or this future being
    /// dropped. The approval is for a run, not for an attempt. A call that the journal has run before is not run again,
    /// and uses up the token.
    ///
    /// This holds for calls that `run` makes with [`Dispatcher::approve`](crate::Dispatcher::approve) or
    /// [`approve_with`](crate::Dispatcher::approve_with). If `run` does anything else with the question, the token is
    /// used up unless the result says [`not_started`](ToolResult::not_started).
    ///
    /// ```no_run
    /// # async fn answer(deferred: tool_runtime::confirm::Deferred, tools: tool_runtime::Dispatcher, token: &str)
    /// # -> Result<(), Box<dyn std::error::Error>> {
    /// use std::time::SystemTime;
    ///
    /// let result = deferred.resume(token, SystemTime::now(), |question| tools.approve(question)).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`redeem`](Self::redeem).
    pub async fn resume<F>(
        &self,
        token: &str,
        now: SystemTime,
        run: impl FnOnce(Question) -> F,
    ) -> Result<ToolResult, TokenError>
    where
        F: IntoFuture<Output = ToolResult>,
    {
        let mut taken = self.take(token, now).await?;
        let result = run(taken.question()).await;
        taken.ends(&result).await;
        Ok(result)
    }

    /// Takes a call out of the store. Dropped in the middle, it is put back.
    async fn take(&self, token: &str, now: SystemTime) -> Result<Taken, TokenError> {
        let (deferred, token, runtime) = (self.clone(), token.to_owned(), Handle::try_current().ok());
        let taken = {
            let runtime = runtime.clone();
            async move {
                let call = deferred.redeem(&token, now).await?;
                Ok(Taken { call: Some(call), deferred, stage: None, runtime })
            }
        };
        DetachOnDrop::new(runtime, taken).await
    }

    /// The call of a token, which is used up by it: to refuse it, or to run it in a way of your own.
    ///
    /// Dropped in the middle, it may have used up the token.
    ///
    /// Whether to run it is for the person who has the token to say; that its tool is still
    /// [the one it was](Question::is_about) is for the caller to see.
    ///
    /// # Errors
    /// When the token is not that of a call that waits, as it waits, or when it is too late. A wrong token leaves the
    /// call waiting.
    pub async fn redeem(&self, token: &str, now: SystemTime) -> Result<PendingCall, TokenError> {
        let token = Token::read(token).ok_or(TokenError::Invalid)?;
        let id = token.id();
        // Looked at before it is taken: someone who knows an id must not be able to make a call go away.
        self.expect(&token, self.store.get(&id).await)?;
        let call = self.expect(&token, self.store.take(&id).await)?;
        if now < call.expires { Ok(call) } else { Err(TokenError::Expired) }
    }

    fn expect(
        &self,
        token: &Token,
        found: Result<Option<SealedCall>, PendingStoreError>,
    ) -> Result<PendingCall, TokenError> {
        let found = found.map_err(|error| unavailable(&error))?;
        let call = found.and_then(|sealed| seal::open(&self.key, &sealed));
        call.filter(|call| token.fits(&self.key, call)).ok_or(TokenError::Invalid)
    }

    /// Puts a call back that was taken out, under the same token.
    async fn give_back(&self, call: &PendingCall) {
        let put = match seal::seal(&self.key, call) {
            Ok(sealed) => self.store.put(sealed).await,
            Err(error) => Err(error),
        };
        if let Err(error) = put {
            tracing::warn!(id = call.id, "a call that could not begin cannot wait on: {error}");
        }
    }

    /// The calls of a conversation that wait, each with its token: for a page that is loaded again, or after a restart.
    ///
    /// It is for the application to know who may see them.
    ///
    /// # Errors
    /// [`TokenError::Unavailable`], when the store cannot be asked.
    pub async fn waiting(
        &self,
        conversation: &str,
        now: SystemTime,
    ) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        self.answerable(self.store.list(conversation).await, now)
    }

    /// The calls that wait, of all conversations and of none: for somebody who answers for all of them.
    ///
    /// # Errors
    /// [`TokenError::Unavailable`], when the store cannot be asked, or lists no more than the calls of one conversation.
    pub async fn all_waiting(&self, now: SystemTime) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        self.answerable(self.store.list_all().await, now)
    }

    /// Those that are as they were put into the store and for which it is not too late.
    fn answerable(
        &self,
        listed: Result<Vec<SealedCall>, PendingStoreError>,
        now: SystemTime,
    ) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        let calls = listed.map_err(|error| unavailable(&error))?;
        let opened = calls.iter().filter_map(|sealed| self.opened(sealed));
        Ok(opened.filter(|(pending, _)| now < pending.expires).collect())
    }

    /// A call that is as it was put into the store, with its token.
    fn opened(&self, sealed: &SealedCall) -> Option<(PendingApproval, PendingCall)> {
        let Some(call) = seal::open(&self.key, sealed) else {
            tracing::warn!(id = sealed.id, "a call that waits for confirmation was altered, or is of another key");
            return None;
        };
        Some((PendingApproval::new(token::token(&self.key, &call)?, call.expires), call))
    }

    async fn defer(&self, question: &Question) -> Result<PendingApproval, PendingStoreError> {
        let id = token::random_id().map_err(PendingStoreError::new)?;
        let expires =
            expiry(SystemTime::now(), self.expires_in).ok_or_else(|| PendingStoreError::new("it is no time"))?;
        let call = PendingCall { id, question: question.clone(), expires };
        let token = token::token(&self.key, &call).ok_or_else(|| PendingStoreError::new("the call has no token"))?;
        self.store.put(seal::seal(&self.key, &call)?).await?;
        Ok(PendingApproval::new(token, expires))
    }
}

/// A call that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PendingCall {
    /// Its name in the store. Knowing it is not enough to run the call.
    pub id: String,
    /// What is asked.
    pub question: Question,
    /// When it is too late to answer, in whole milliseconds.
    pub expires: SystemTime,
}

/// A call that was taken out of the store. Dropped, it is put back unless its handler has started or may have.
struct Taken {
    deferred: Deferred,
    call: Option<PendingCall>,
    /// How far the call has come, once somebody has the question.
    stage: Option<CallStage>,
    runtime: Option<Handle>,
}

impl Taken {
    /// The question, for whoever runs the call.
    fn question(&mut self) -> Question {
        let stage = self.stage.get_or_insert_default().clone();
        let call = self.call.as_ref().expect("the call is there until it ends");
        Question { stage: Some(stage), ..call.question.clone() }
    }

    /// The call has this result.
    async fn ends(mut self, result: &ToolResult) {
        if let Some(stage) = &self.stage
            && result.is_not_started()
        {
            // Whoever answered without a dispatcher says that nothing runs.
            stage.claim();
        }
        if let Some(back) = self.give_back() {
            back.await;
        }
    }

    fn give_back(&mut self) -> Option<DetachOnDrop<()>> {
        let call = self.call.take()?;
        if self.stage.as_ref().is_some_and(|stage| !stage.withdraw()) {
            return None;
        }
        let deferred = self.deferred.clone();
        Some(DetachOnDrop::new(self.runtime.clone(), async move { deferred.give_back(&call).await }))
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Some(mut back) = self.give_back() else { return };
        // A store in memory has it back at once. With any other this goes on in the background.
        let mut context = Context::from_waker(Waker::noop());
        if let Err(panic) = panics::catch(|| Pin::new(&mut back).poll(&mut context).is_ready()) {
            tracing::warn!("the store of calls that wait panicked: {panic}");
        }
    }
}

impl Confirm for Deferred {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(async move {
            self.defer(question).await.map_or_else(
                |error| {
                    tracing::warn!("a call cannot wait for confirmation: {error}");
                    Decision::refuse("it needs a person's consent, and cannot wait for it now; try again later")
                },
                Decision::Pending,
            )
        })
    }
}

impl fmt::Debug for Deferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deferred").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}

/// In whole milliseconds, which every store can keep.
fn expiry(now: SystemTime, expires_in: Duration) -> Option<SystemTime> {
    let since = now.checked_add(expires_in)?.duration_since(UNIX_EPOCH).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_millis(since.as_millis().try_into().ok()?))
}

fn unavailable(error: &PendingStoreError) -> TokenError {
    tracing::warn!("calls that wait for confirmation cannot be looked up: {error}");
    TokenError::Unavailable
}
