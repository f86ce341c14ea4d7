//! Policy, approval and dry runs of guarded calls.

use serde_json::Value;

use super::{CallRules, DecodedArguments, GuardedCall, TimeBudget, with_repairs};
use crate::arguments::ArgumentReader;
use crate::confirm::{Decision, PendingApproval, PolicyVerdict, Question};
use crate::dispatch::call::preview::run_preview;
use crate::handler_failure::{BoxError, log_error};
use crate::journal::JournalDecision;
use crate::tool_result::{EXPIRES, TOKEN};
use crate::{ErrorKind, ToolResult, json, panics};

impl GuardedCall {
    /// Returns the verdict of the policy on these arguments. A policy that panics refuses.
    pub(super) fn verdict(&self, rules: &CallRules, decoded: &DecodedArguments) -> PolicyVerdict {
        panics::catch(|| rules.policy.decide(&self.call.name, self.tool.definition(), &decoded.arguments))
            .unwrap_or_else(|panic| {
                log_error(&self.tool.name, "the policy panicked", &*BoxError::from(panic));
                PolicyVerdict::Refuse("its policy panicked".to_owned())
            })
    }

    pub(super) async fn refuse_by_policy(
        &self,
        verdict: PolicyVerdict,
        decoded: &DecodedArguments,
    ) -> Result<(), Box<ToolResult>> {
        let PolicyVerdict::Refuse(reason) = verdict else { return Ok(()) };
        self.note(decoded, JournalDecision::RefusedByPolicy).await?;
        Err(self.failure(ErrorKind::Refused, format!("was refused: {reason}")))
    }

    /// Gets an approval if the policy requires one. Returns the decision to record, and the arguments that the user has
    /// edited, if any.
    pub(super) async fn approve(
        &self,
        rules: &CallRules,
        decoded: &DecodedArguments,
        budget: &mut TimeBudget,
    ) -> Result<(JournalDecision, Option<Value>), Box<ToolResult>> {
        let verdict = self.verdict(rules, decoded);
        let runs = matches!(verdict, PolicyVerdict::Run);
        self.within_budget(budget, self.refuse_by_policy(verdict, decoded)).await?;
        if let Some(question) = &self.approved {
            let is_edited = question.arguments != decoded.arguments;
            let decision = if is_edited { JournalDecision::Edited } else { JournalDecision::Confirmed };
            return Ok((decision, None));
        }
        if runs {
            return Ok((JournalDecision::Policy, None));
        }
        let _open = self.within_budget(budget, self.open_question(decoded)).await?;
        let (decision, result) = match self.ask(rules, decoded).await? {
            Decision::Run => return Ok((JournalDecision::Confirmed, None)),
            Decision::Edit(arguments) => return Ok((JournalDecision::Edited, Some(arguments))),
            Decision::Refuse(reason) => {
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                (JournalDecision::Refused, self.failure(ErrorKind::Refused, format!("was refused{reason}")))
            }
            Decision::Abort => {
                let message = "was refused, and the user aborted the turn: stop here".to_owned();
                (JournalDecision::Aborted, self.failure(ErrorKind::Aborted, message))
            }
            Decision::Pending(pending) => (JournalDecision::Pending, self.pending_result(&pending)),
        };
        self.within_budget(budget, self.note(decoded, decision)).await?;
        Err(result)
    }

    /// Asks the confirmer. Meanwhile the call does not hold up the other calls of its turn.
    async fn ask(&self, rules: &CallRules, decoded: &DecodedArguments) -> Result<Decision, Box<ToolResult>> {
        let Some(confirmer) = self.confirmer.as_ref().or(rules.confirm.as_ref()) else {
            self.note(decoded, JournalDecision::NobodyToAsk).await?;
            // The remedy is for the application, so it goes to the log, not to the model.
            let remedy = "set `.confirm(..)`, or another `.policy(..)`";
            tracing::warn!(tool = &*self.tool.own_name, remedy, "a call needs approval, and no confirmer is set");
            let message = "did not run: it needs a user's approval, and there is nobody to ask. Continue without it";
            return Err(self.failure(ErrorKind::Refused, message.to_owned()));
        };
        let question = match self.question(decoded).await {
            Ok(question) => question,
            Err(busy) => {
                self.note(decoded, JournalDecision::Busy).await?;
                return Err(busy);
            }
        };
        let _suspended = self.turn_slot.as_ref().map(|slot| slot.suspend());
        let decision = panics::CatchPanic(confirmer.confirm(&question)).await;
        Ok(decision.unwrap_or_else(|panic| {
            log_error(&self.tool.name, "the confirmer panicked", &*BoxError::from(panic));
            Decision::refuse("the user could not be asked")
        }))
    }

    async fn question(&self, decoded: &DecodedArguments) -> Result<Question, Box<ToolResult>> {
        let mut question = Question::new(&*self.tool.name, self.tool.definition().clone(), decoded.arguments.clone());
        question.registered = self.tool.own_name.to_string();
        question.call_id = self.call.call_id().map(str::to_owned);
        question.conversation = self.call.conversation_id().map(str::to_owned);
        (question.channel, question.chat) =
            self.call.channel.clone().map(|(channel, chat)| (channel.into_owned(), chat.into_owned())).unzip();
        question.defaults.clone_from(&decoded.defaults);
        question.repairs = decoded.repaired.as_ref().map(|repaired| repaired.values()).unwrap_or_default();
        question.preview = self.preview(decoded).await?;
        Ok(question)
    }

    fn pending_result(&self, pending: &PendingApproval) -> Box<ToolResult> {
        let mut result = self.failure(
            ErrorKind::Pending,
            "waits for a user's approval. Continue with something else; its result comes later".to_owned(),
        );
        result.metadata.insert(TOKEN, pending.token.as_str());
        let expires = pending.expires.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
        result.metadata.insert(EXPIRES, u64::try_from(expires).unwrap_or(u64::MAX));
        result
    }

    /// Returns the result of a dry run: what would happen, as far as that is known without running the handler or
    /// asking a user.
    pub(super) async fn dry_run_result(&self, rules: &CallRules, decoded: &DecodedArguments) -> Box<ToolResult> {
        let (verdict, when) = match self.verdict(rules, decoded) {
            PolicyVerdict::Run => ("run", ""),
            PolicyVerdict::Ask => ("ask", " once a user has approved it"),
            PolicyVerdict::Refuse(reason) => {
                let mut result = self.failure(ErrorKind::Refused, format!("would be refused: {reason}"));
                result.metadata.insert("dry_run", true);
                return result;
            }
        };
        let arguments = self.redact(&decoded.arguments);
        let arguments = match self.tool.shown_arguments() {
            None => arguments,
            Some(shown) => shown.to_shown(arguments),
        };
        let arguments = json::text(&arguments);
        let output = format!("Dry run: `{}` would run{when} with {arguments}. Nothing was done.", self.tool.name);
        let mut result = ToolResult::success(output);
        result.metadata.insert("dry_run", true);
        result.metadata.insert("policy", verdict);
        match self.preview(decoded).await {
            Ok(None) => {}
            Ok(Some(effect)) => {
                result.output.push_str(&format!(" It would do this: {}", json::text(&effect)));
                result.metadata.insert("preview", effect);
            }
            Err(mut busy) => {
                busy.metadata.insert("dry_run", true);
                return busy;
            }
        }
        Box::new(with_repairs(result, decoded.repaired.as_deref()))
    }

    /// Runs the tool's preview, if it has one. In a turn, the preview waits until it may run beside the other calls.
    ///
    /// # Errors
    /// If there is no permit: then the call itself could not run either.
    async fn preview(&self, decoded: &DecodedArguments) -> Result<Option<Value>, Box<ToolResult>> {
        let Some(preview) = self.tool.preview.clone() else { return Ok(None) };
        let slot = match &self.turn_slot {
            None => None,
            Some(slot) => Some(slot.preview().await),
        };
        // The shown arguments, because they are the ones that run.
        let text = decoded.arguments.to_string();
        let limit = self.budget.limit;
        let reader = ArgumentReader {
            text: &text,
            schemas: preview.own_schemas(),
            allow_unknown: self.inner.limits.allow_unknown,
            repair: false,
        };
        match run_preview(&self.inner, &preview, &self.call, reader, &self.values, limit, slot).await {
            Ok(effect) => Ok(Some(serde_json::to_value(effect).unwrap_or_default())),
            Err(error) if error.kind == ErrorKind::Busy => Err(Box::new(ToolResult::failure(error))),
            Err(error) => Ok(Some(Value::from(format!("The preview failed: {error}")))),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::LogRecorder;
    use crate::{Dispatcher, RuntimeTool, ToolCall};

    #[tokio::test]
    async fn logs_the_remedy_that_only_the_application_can_apply() {
        let log = LogRecorder::default();
        let _logging = tracing::subscriber::set_default(log.clone());
        let purge = RuntimeTool::new("purge", "", |(): ()| async {}).sensitive();
        let tools = Dispatcher::builder().tool(purge).build().unwrap();
        let refused = tools.call(ToolCall::from_text("purge", "{}")).await;
        assert_eq!(
            refused.output,
            "`purge` did not run: it needs a user's approval, and there is nobody to ask. Continue without it."
        );
        assert!(log.text().contains("`.confirm(..)`"), "{}", log.text());
    }
}
