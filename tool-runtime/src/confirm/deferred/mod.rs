//! Approvals that arrive later, on a web page or in a chat.

mod approval_token;
mod pending_store;
mod seal;
mod sealing_key;
#[cfg(test)]
mod tests;

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Waker};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

pub use approval_token::TokenError;
pub use pending_store::{MemoryPendingStore, PendingStore, PendingStoreError, PendingStoreFuture, SealedCall};
pub use sealing_key::{SealingKey, WeakKeyError};
use tokio::runtime::Handle;

use self::approval_token::ApprovalToken;
use super::{Confirm, Decision, PendingApproval, Question};
use crate::call_stage::CallStage;
use crate::detach_on_drop::DetachOnDrop;
use crate::{ToolResult, panics};

/// Stores a call that needs approval and returns [`Decision::Pending`] with a token, which resumes the call later.
///
/// A token can be used once, until it expires, and only for the call that was asked about. A MAC binds it to the call's
/// ID, conversation, channel and chat, to the tool and its definition, and to the arguments and the preview.
///
/// A pending call is stored [encrypted](SealedCall), with its secrets, so that neither the store nor its backups reveal
/// arguments. [`resume`](Self::resume) runs it.
///
/// Clones are cheap and share the pending calls.
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
/// // The dispatcher does this when a call needs approval:
/// let question = Question::new("metrics.purge", Arc::new(ToolDefinition::default()), json!({"host": "web-1"}));
/// let Decision::Pending(pending) = deferred.confirm(&question).await else { panic!("not pending") };
///
/// // When the user approves:
/// let call = deferred.redeem(&pending.token, SystemTime::now()).await?;
/// assert_eq!(call.question.arguments, json!({"host": "web-1"}));
///
/// // A second approval is rejected:
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
    /// Creates a confirmer that makes tokens with this key. Pending calls are kept in memory, and expire after an hour.
    pub fn new(key: impl Into<SealingKey>) -> Self {
        Self {
            key: Arc::new(key.into()),
            store: Arc::new(MemoryPendingStore::default()),
            expires_in: Duration::from_secs(60 * 60),
        }
    }

    /// Sets the time after which a pending call expires.
    #[must_use]
    pub fn expires_in(mut self, time: Duration) -> Self {
        self.expires_in = time;
        self
    }

    /// Sets the store of pending calls. With a store on disk they survive a restart.
    #[must_use]
    pub fn store(mut self, store: impl PendingStore) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Runs the call of a token. The token is spent when the handler starts.
    ///
    /// If the handler does not start, the call stays pending and its token valid. Possible reasons are a full queue, a
    /// rate limit, a failed provider, a missing tool, invalid edited arguments, a cancellation, or this future being
    /// dropped. A call that the journal has recorded as run is not run again, and spends the token.
    ///
    /// This holds for calls that `run` makes with [`Dispatcher::approve`](crate::Dispatcher::approve) or
    /// [`approve_with`](crate::Dispatcher::approve_with). If `run` does anything else with the question, the token is
    /// spent unless the result is [`not_started`](ToolResult::not_started).
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
    /// Fails like [`redeem`](Self::redeem).
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
        taken.finish(&result).await;
        Ok(result)
    }

    /// Takes a call out of the store. If this future is dropped, the call is put back.
    async fn take(&self, token: &str, now: SystemTime) -> Result<ResumedCall, TokenError> {
        let (deferred, token, runtime) = (self.clone(), token.to_owned(), Handle::try_current().ok());
        let taken = {
            let runtime = runtime.clone();
            async move {
                let call = deferred.redeem(&token, now).await?;
                Ok(ResumedCall { call: Some(call), deferred, stage: None, runtime })
            }
        };
        DetachOnDrop::new(runtime, taken).await
    }

    /// Returns the pending call of a token, which stays valid. For a check of who may decide about the call.
    ///
    /// ```
    /// # use std::sync::Arc;
    /// # use std::time::SystemTime;
    /// # use tool_runtime::{ToolDefinition, confirm::{Confirm, Decision, Deferred, Question, SealingKey}};
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let deferred = Deferred::new(SealingKey::random()?);
    /// # let question = Question::new("metrics.purge", Arc::new(ToolDefinition::default()), serde_json::json!({}));
    /// # let Decision::Pending(pending) = deferred.confirm(&question).await else { panic!("not pending") };
    /// let now = SystemTime::now();
    /// assert_eq!(deferred.peek(&pending.token, now).await?.question.conversation, None);
    /// assert!(deferred.redeem(&pending.token, now).await.is_ok(), "it is still pending");
    /// assert!(deferred.peek(&pending.token, now).await.is_err(), "it was redeemed");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails like [`redeem`](Self::redeem).
    pub async fn peek(&self, token: &str, now: SystemTime) -> Result<PendingCall, TokenError> {
        let token = ApprovalToken::decode(token).ok_or(TokenError::Invalid)?;
        let call = self.verify(&token, self.store.get(&token.id()).await)?;
        if now < call.expires { Ok(call) } else { Err(TokenError::Expired) }
    }

    /// Spends a token and returns its call, to refuse it or to run it without [`resume`](Self::resume).
    ///
    /// If this future is dropped, the token may be spent. The caller must check that the tool is still
    /// [the same](Question::is_about).
    ///
    /// # Errors
    /// Fails if the token belongs to no pending call, if the call was altered, or if the token has expired. A wrong token
    /// does not affect the call.
    pub async fn redeem(&self, token: &str, now: SystemTime) -> Result<PendingCall, TokenError> {
        let token = ApprovalToken::decode(token).ok_or(TokenError::Invalid)?;
        let id = token.id();
        // The token is verified before the call is taken: knowing an ID must not suffice to remove a call.
        self.verify(&token, self.store.get(&id).await)?;
        let call = self.verify(&token, self.store.take(&id).await)?;
        if now < call.expires { Ok(call) } else { Err(TokenError::Expired) }
    }

    fn verify(
        &self,
        token: &ApprovalToken,
        found: Result<Option<SealedCall>, PendingStoreError>,
    ) -> Result<PendingCall, TokenError> {
        let found = found.map_err(|error| unavailable(&error))?;
        let call = found.and_then(|sealed| seal::open(&self.key, &sealed));
        call.filter(|call| token.matches(&self.key, call)).ok_or(TokenError::Invalid)
    }

    /// Puts a call back into the store, under the same token.
    async fn put_back(&self, call: &PendingCall) {
        let put = match seal::seal(&self.key, call) {
            Ok(sealed) => self.store.put(sealed).await,
            Err(error) => Err(error),
        };
        if let Err(error) = put {
            tracing::warn!(id = call.id, "a call that did not start cannot be stored again: {error}");
        }
    }

    /// Returns the pending calls of a conversation with their tokens, for a page that is reloaded or after a restart.
    ///
    /// The application must decide who may see them.
    ///
    /// # Errors
    /// Fails with [`TokenError::Unavailable`] if the store fails.
    pub async fn waiting(
        &self,
        conversation: &str,
        now: SystemTime,
    ) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        self.open_all(self.store.list(conversation).await, now)
    }

    /// Returns all pending calls with their tokens, including those without a conversation.
    ///
    /// # Errors
    /// Fails with [`TokenError::Unavailable`] if the store fails, or can list the calls of one conversation only.
    pub async fn all_waiting(&self, now: SystemTime) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        self.open_all(self.store.list_all().await, now)
    }

    /// Opens the calls that are intact and have not expired.
    fn open_all(
        &self,
        listed: Result<Vec<SealedCall>, PendingStoreError>,
        now: SystemTime,
    ) -> Result<Vec<(PendingApproval, PendingCall)>, TokenError> {
        let calls = listed.map_err(|error| unavailable(&error))?;
        let opened = calls.iter().filter_map(|sealed| self.open(sealed));
        Ok(opened.filter(|(pending, _)| now < pending.expires).collect())
    }

    /// Opens a call and returns it with its token. Returns `None` if the call was altered.
    fn open(&self, sealed: &SealedCall) -> Option<(PendingApproval, PendingCall)> {
        let Some(call) = seal::open(&self.key, sealed) else {
            tracing::warn!(id = sealed.id, "a pending call was altered, or was sealed with another key");
            return None;
        };
        Some((PendingApproval::new(approval_token::encode(&self.key, &call)?, call.expires), call))
    }

    async fn defer(&self, question: &Question) -> Result<PendingApproval, PendingStoreError> {
        let id = approval_token::random_id().map_err(PendingStoreError::new)?;
        let expires = expiry(SystemTime::now(), self.expires_in)
            .ok_or_else(|| PendingStoreError::new("the expiry is out of range"))?;
        let call = PendingCall { id, question: question.clone(), expires };
        let token = approval_token::encode(&self.key, &call)
            .ok_or_else(|| PendingStoreError::new("cannot make a token for the call"))?;
        self.store.put(seal::seal(&self.key, &call)?).await?;
        Ok(PendingApproval::new(token, expires))
    }
}

/// A call that waits for approval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PendingCall {
    /// The ID in the store. It does not authorize running the call.
    pub id: String,
    /// The question about the call.
    pub question: Question,
    /// The time at which the call expires, in whole milliseconds.
    pub expires: SystemTime,
}

/// A call that was taken out of the store. Dropping it puts the call back, unless its handler has or may have started.
struct ResumedCall {
    deferred: Deferred,
    call: Option<PendingCall>,
    /// The progress of the call, once the question was handed out.
    stage: Option<CallStage>,
    runtime: Option<Handle>,
}

impl ResumedCall {
    /// Returns the question, which tracks the progress of the call.
    fn question(&mut self) -> Question {
        let stage = self.stage.get_or_insert_default().clone();
        let call = self.call.as_ref().expect("the call is present until it finishes");
        Question { stage: Some(stage), ..call.question.clone() }
    }

    /// Finishes with the result of the call.
    async fn finish(mut self, result: &ToolResult) {
        if let Some(stage) = &self.stage
            && result.is_not_started()
        {
            // Nothing runs, also if no dispatcher has claimed the call. A claimed call can be put back.
            stage.claim();
        }
        if let Some(back) = self.put_back() {
            back.await;
        }
    }

    fn put_back(&mut self) -> Option<DetachOnDrop<()>> {
        let call = self.call.take()?;
        if self.stage.as_ref().is_some_and(|stage| !stage.withdraw()) {
            return None;
        }
        let deferred = self.deferred.clone();
        Some(DetachOnDrop::new(self.runtime.clone(), async move { deferred.put_back(&call).await }))
    }
}

impl Drop for ResumedCall {
    fn drop(&mut self) {
        let Some(mut back) = self.put_back() else { return };
        // A store in memory completes at once. Any other continues in the background.
        let mut context = Context::from_waker(Waker::noop());
        if let Err(panic) = panics::catch(|| Pin::new(&mut back).poll(&mut context).is_ready()) {
            tracing::warn!("the store of pending calls panicked: {panic}");
        }
    }
}

impl Confirm for Deferred {
    fn confirm<'a>(&'a self, question: &'a Question) -> Pin<Box<dyn Future<Output = Decision> + Send + 'a>> {
        Box::pin(async move {
            self.defer(question).await.map_or_else(
                |error| {
                    tracing::warn!("cannot store a pending call: {error}");
                    Decision::refuse("it needs the user's approval, which cannot be requested now; try again later")
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

/// Returns the expiry in whole milliseconds, which every store can represent.
fn expiry(now: SystemTime, expires_in: Duration) -> Option<SystemTime> {
    let since = now.checked_add(expires_in)?.duration_since(UNIX_EPOCH).ok()?;
    UNIX_EPOCH.checked_add(Duration::from_millis(since.as_millis().try_into().ok()?))
}

fn unavailable(error: &PendingStoreError) -> TokenError {
    tracing::warn!("cannot look up pending calls: {error}");
    TokenError::Unavailable
}
