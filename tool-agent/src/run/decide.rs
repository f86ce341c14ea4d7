//! What somebody has decided about calls that waited.

use std::time::SystemTime;

use tool_runtime::ToolResult;
use tool_runtime::confirm::{Decision, Deferred, PendingCall, TokenError};

use super::live::Live;
use super::open::{Open, ended};
use super::stop::Why;
use crate::history;
use crate::{Ending, Event};

impl Live {
    /// Does what was decided about a call. If others wait on, the run ends with that.
    pub(super) async fn decide(&mut self, token: &str, decision: Decision) -> Result<(), Ending> {
        let not_waiting = |error| Ending::NotWaiting(error);
        let Some(deferred) = self.conversation.agent.inner.deferred.clone() else {
            return Err(not_waiting(TokenError::Invalid));
        };
        self.mend().await;
        let waiting = self.waiting(&deferred).await.map_err(not_waiting)?;
        let Some((token, at, call)) = waiting.iter().find(|(known, ..)| is_same(known, token)) else {
            return Err(not_waiting(TokenError::Invalid));
        };
        let why = match decision {
            Decision::Abort => {
                for (token, at, call) in &waiting {
                    // One that somebody has taken meanwhile is theirs.
                    let _ = self.refuse(&deferred, token, *at, call, Some("somebody has stopped everything")).await;
                }
                return Err(Ending::Aborted);
            }
            Decision::Refuse(reason) => {
                self.refuse(&deferred, token, *at, call, reason.as_deref()).await.map_err(not_waiting)?;
                None
            }
            Decision::Run => self.approve(&deferred, token, *at, call, None).await?,
            Decision::Edit(arguments) => self.approve(&deferred, token, *at, call, Some(arguments)).await?,
            // Whoever has not decided yet has not decided.
            _ => return Err(Ending::Waiting(waiting.len())),
        };
        self.save().await?;
        self.tell(|| Event::Kept);
        match why {
            Some(why) => Err(why.into()),
            None => self.go_on(),
        }
    }

    /// Runs a call that somebody has agreed to, and says what has stopped it, if anything has. It is an error if it could
    /// not begin, and waits on.
    async fn approve(
        &mut self,
        deferred: &Deferred,
        token: &str,
        at: usize,
        call: &PendingCall,
        edited: Option<serde_json::Value>,
    ) -> Result<Option<Why>, Ending> {
        let tools = self.conversation.agent.inner.tools.clone();
        if self.state.set_journal(&tools) {
            self.save().await?;
        }
        let question = &call.question;
        let id = question.call_id.as_deref().unwrap_or_default();
        let open = Open::new([(at, id, question.tool.as_str())], true);
        let prepare = self.prepare(&open);
        self.open = Some(open.clone());
        let watchers = self.end.watchers.clone();
        let run = deferred.resume(token, SystemTime::now(), |question| {
            open.begins(&question);
            watchers.tell(|| {
                let (id, tool) = (id.into(), question.tool.as_str().into());
                Event::CallStarted { id, tool, arguments: question.shown() }
            });
            prepare(match edited {
                Some(arguments) => tools.approve_with(question, arguments),
                None => tools.approve(question),
            })
        });
        let mut run = std::pin::pin!(run);
        let (resumed, why) = tokio::select! {
            biased;
            resumed = &mut run => (resumed, None),
            why = self.stop.wait() => {
                self.stop.token.cancel();
                (run.await, Some(why))
            }
        };
        // From here to where the result is put in its place nothing is waited for, unless it may not be the last word.
        self.open = None;
        open.hand_over();
        let result = resumed.map_err(Ending::NotWaiting)?;
        if result.is_not_started() {
            self.tell(|| Event::CallPending { id: id.into(), expires: Some(call.expires) });
            let waiting = self.waiting(deferred).await.map_err(Ending::NotWaiting)?;
            if waiting.iter().any(|(_, its, _)| *its == at) {
                return Err(why.map_or_else(|| Ending::NotBegun(result), Ending::from));
            }
        }
        self.parent.budget.add_call();
        self.put(at, call, result);
        Ok(why)
    }

    /// Refuses everything that waits: somebody has gone on without deciding.
    pub(super) async fn withdraw(&mut self) {
        let Some(deferred) = self.conversation.agent.inner.deferred.clone() else { return };
        if history::waiting(&self.state.history) == 0 {
            return;
        }
        for (token, at, call) in self.waiting(&deferred).await.unwrap_or_default() {
            let _ = self.refuse(&deferred, &token, at, &call, Some("the person has gone on without it")).await;
        }
        // What is left somebody else has taken meanwhile, or nobody can say.
        let Self { conversation, state, .. } = self;
        let answered = state.answer_waiting(&conversation.agent.inner, &conversation.shared).await;
        self.tell_of(&answered);
    }

    /// Refuses a call. Once its token is used up it has its result, whatever stops this then: that is recorded afterwards.
    async fn refuse(
        &mut self,
        deferred: &Deferred,
        token: &str,
        at: usize,
        call: &PendingCall,
        reason: Option<&str>,
    ) -> Result<(), TokenError> {
        deferred.redeem(token, SystemTime::now()).await?;
        self.put(at, call, call.question.refused(reason));
        self.conversation.agent.inner.tools.refuse(&call.question, reason).await;
        Ok(())
    }

    fn put(&mut self, at: usize, call: &PendingCall, result: ToolResult) {
        let question = &call.question;
        let id = question.call_id.as_deref().unwrap_or_default();
        self.tell(|| ended(&id.into(), &question.tool, &result));
        self.state.replace(at, result);
    }

    async fn waiting(&self, deferred: &Deferred) -> Result<Vec<(String, usize, PendingCall)>, TokenError> {
        let waiting = self.state.waiting(deferred, &self.conversation.shared).await?;
        Ok(waiting.into_iter().map(|(at, pending, call)| (pending.token, at, call)).collect())
    }
}

/// Compares in a time that does not tell how much of a token was right.
fn is_same(known: &str, given: &str) -> bool {
    let differences = known.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    known.len() == given.len() && differences == 0
}
