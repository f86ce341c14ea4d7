//! Decisions about pending calls.

use std::time::SystemTime;

use tool_runtime::ToolResult;
use tool_runtime::confirm::{Decision, Deferred, PendingCall, TokenError};

use super::live_run::LiveRun;
use super::open_calls::{OpenCalls, end_event};
use super::stop::StopCause;
use crate::history;
use crate::{AgentEvent, RunEnding};

impl LiveRun {
    /// Carries out a decision. If other calls are still pending, the run ends.
    pub(super) async fn decide(&mut self, token: &str, decision: Decision) -> Result<(), RunEnding> {
        let not_pending = |error| RunEnding::NotWaiting(error);
        let Some(deferred) = self.conversation.agent.inner.deferred.clone() else {
            return Err(not_pending(TokenError::Invalid));
        };
        self.recover().await;
        let pending = self.waiting(&deferred).await.map_err(not_pending)?;
        let Some((token, at, call)) = pending.iter().find(|(known, ..)| is_equal_token(known, token)) else {
            return Err(not_pending(TokenError::Invalid));
        };
        let why = match decision {
            Decision::Abort => {
                for (token, at, call) in &pending {
                    // A token that was redeemed meanwhile belongs to another caller.
                    let _ = self.refuse(&deferred, token, *at, call, Some("the user aborted the turn")).await;
                }
                return Err(RunEnding::Aborted);
            }
            Decision::Refuse(reason) => {
                self.refuse(&deferred, token, *at, call, reason.as_deref()).await.map_err(not_pending)?;
                None
            }
            Decision::Run => self.approve(&deferred, token, *at, call, None).await?,
            Decision::Edit(arguments) => self.approve(&deferred, token, *at, call, Some(arguments)).await?,
            // An unknown kind of decision leaves the call pending.
            _ => return Err(RunEnding::Waiting(pending.len())),
        };
        self.save().await?;
        self.send(|| AgentEvent::Kept);
        match why {
            Some(why) => Err(why.into()),
            None => self.continue_or_end(),
        }
    }

    /// Runs an approved call. Returns what has stopped the run meanwhile, if anything. Fails if the call could not
    /// start and is still pending.
    async fn approve(
        &mut self,
        deferred: &Deferred,
        token: &str,
        at: usize,
        call: &PendingCall,
        edited: Option<serde_json::Value>,
    ) -> Result<Option<StopCause>, RunEnding> {
        let tools = self.conversation.agent.inner.tools.clone();
        if self.state.set_journal(&tools) {
            self.save().await?;
        }
        let question = &call.question;
        let id = question.call_id.as_deref().unwrap_or_default();
        let open = OpenCalls::new([(at, id, question.tool.as_str())], true);
        let prepare = self.prepare(&open);
        self.open = Some(open.clone());
        let events = self.guard.events.clone();
        let run = deferred.resume(token, SystemTime::now(), |question| {
            open.set_decided(&question);
            events.send(|| {
                let (id, tool) = (id.into(), question.tool.as_str().into());
                AgentEvent::CallStarted { id, tool, arguments: question.shown() }
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
        // No await between here and storing the result, except to check whether a call that did not start is still
        // pending.
        self.open = None;
        open.stop_reporting();
        let result = resumed.map_err(RunEnding::NotWaiting)?;
        if result.is_not_started() {
            self.send(|| AgentEvent::CallPending { id: id.into(), expires: Some(call.expires) });
            let pending = self.waiting(deferred).await.map_err(RunEnding::NotWaiting)?;
            if pending.iter().any(|(_, index, _)| *index == at) {
                return Err(why.map_or_else(|| RunEnding::NotBegun(result), RunEnding::from));
            }
        }
        self.parent.budget.add_call();
        self.set_result(at, call, result);
        Ok(why)
    }

    /// Refuses all pending calls because the user has continued without a decision.
    pub(super) async fn withdraw(&mut self) {
        let Some(deferred) = self.conversation.agent.inner.deferred.clone() else { return };
        if history::pending_count(&self.state.history) == 0 {
            return;
        }
        for (token, at, call) in self.waiting(&deferred).await.unwrap_or_default() {
            let _ = self.refuse(&deferred, &token, at, &call, Some("the user continued without approving it")).await;
        }
        // The remaining ones were redeemed by another caller, or their state is unknown.
        let Self { conversation, state, .. } = self;
        let resolved = state.resolve_pending(&conversation.agent.inner, &conversation.shared).await;
        self.report_resolved(&resolved);
    }

    /// Refuses a call. The result is set as soon as the token is redeemed; the refusal is recorded after that.
    async fn refuse(
        &mut self,
        deferred: &Deferred,
        token: &str,
        at: usize,
        call: &PendingCall,
        reason: Option<&str>,
    ) -> Result<(), TokenError> {
        deferred.redeem(token, SystemTime::now()).await?;
        self.set_result(at, call, call.question.refused(reason));
        self.conversation.agent.inner.tools.refuse(&call.question, reason).await;
        Ok(())
    }

    fn set_result(&mut self, at: usize, call: &PendingCall, result: ToolResult) {
        let question = &call.question;
        let id = question.call_id.as_deref().unwrap_or_default();
        self.send(|| end_event(&id.into(), &question.tool, &result));
        self.state.replace(at, result);
    }

    async fn waiting(&self, deferred: &Deferred) -> Result<Vec<(String, usize, PendingCall)>, TokenError> {
        let pending = self.state.waiting(deferred, &self.conversation.shared).await?;
        Ok(pending.into_iter().map(|(at, pending, call)| (pending.token, at, call)).collect())
    }
}

/// Compares two tokens in constant time.
fn is_equal_token(known: &str, given: &str) -> bool {
    let differences = known.bytes().zip(given.bytes()).fold(0, |all, (a, b)| all | (a ^ b));
    known.len() == given.len() && differences == 0
}
