//! Who has to agree, and what they said.

use serde_json::Value;

use super::{CallRules, DecodedArguments, GuardedCall, TimeBudget};
use crate::confirm::{Decision, PendingApproval, PolicyVerdict, Question};
use crate::journal::JournalDecision;
use crate::tool_result::{EXPIRES, TOKEN};
use crate::{ErrorKind, ToolResult, panics};

impl GuardedCall {
    /// What the policy says of the arguments that are to run. TurnCall that panics says no.
    pub(crate) fn verdict(&self, rules: &CallRules, read: &DecodedArguments) -> PolicyVerdict {
        panics::catch(|| rules.policy.decide(&self.call.name, self.tool.definition(), &read.arguments))
            .unwrap_or_else(|panic| PolicyVerdict::Refuse(format!("its policy panicked: {panic}")))
    }

    pub(crate) async fn refuse_by_policy(
        &self,
        verdict: PolicyVerdict,
        read: &DecodedArguments,
    ) -> Result<(), Box<ToolResult>> {
        let PolicyVerdict::Refuse(reason) = verdict else { return Ok(()) };
        self.note(read, JournalDecision::RefusedByPolicy).await?;
        Err(self.failure(ErrorKind::Refused, format!("was refused: {reason}")))
    }

    /// Gets consent, if it is needed; with it, the arguments that are to run instead, if somebody has put others.
    pub(crate) async fn consent(
        &self,
        rules: &CallRules,
        read: &DecodedArguments,
        budget: &mut TimeBudget,
    ) -> Result<(JournalDecision, Option<Value>), Box<ToolResult>> {
        let verdict = self.verdict(rules, read);
        let runs = matches!(verdict, PolicyVerdict::Run);
        self.timed(budget, self.refuse_by_policy(verdict, read)).await?;
        if let Some(question) = &self.approved {
            let is_edited = question.arguments != read.arguments;
            let decision = if is_edited { JournalDecision::Edited } else { JournalDecision::Confirmed };
            return Ok((decision, None));
        }
        if runs {
            return Ok((JournalDecision::Policy, None));
        }
        let _asking = self.timed(budget, self.may_ask(read)).await?;
        let (noted, result) = match self.ask(rules, read).await? {
            Decision::Run => return Ok((JournalDecision::Confirmed, None)),
            Decision::Edit(arguments) => return Ok((JournalDecision::Edited, Some(arguments))),
            Decision::Refuse(reason) => {
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                (JournalDecision::Refused, self.failure(ErrorKind::Refused, format!("was refused{reason}")))
            }
            Decision::Abort => {
                let message = "was refused, and everything else with it: stop here".to_owned();
                (JournalDecision::Aborted, self.failure(ErrorKind::Aborted, message))
            }
            Decision::Pending(pending) => (JournalDecision::Pending, self.pending(&pending)),
        };
        self.timed(budget, self.note(read, noted)).await?;
        Err(result)
    }

    /// Asks. Meanwhile the other calls of its turn do not wait for this one.
    async fn ask(&self, rules: &CallRules, read: &DecodedArguments) -> Result<Decision, Box<ToolResult>> {
        let Some(confirm) = self.confirm.as_ref().or(rules.confirm.as_ref()) else {
            self.note(read, JournalDecision::NobodyToAsk).await?;
            // What a model could not act on is for the log.
            let remedy = "set `.confirm(..)`, or another `.policy(..)`";
            tracing::warn!(
                tool = &*self.tool.own_name,
                remedy,
                "a call needs somebody's consent and nobody can be asked"
            );
            let message = "did not run: it needs somebody's consent, and there is nobody to ask. Go on without it";
            return Err(self.failure(ErrorKind::Refused, message.to_owned()));
        };
        let question = match self.question(read).await {
            Ok(question) => question,
            Err(busy) => {
                self.note(read, JournalDecision::Busy).await?;
                return Err(busy);
            }
        };
        let _away = self.seat.as_ref().map(|seat| seat.leave());
        let decision = panics::CatchPanic(confirm.confirm(&question)).await;
        Ok(decision.unwrap_or_else(|panic| Decision::Refuse(Some(format!("asking panicked: {panic}")))))
    }

    async fn question(&self, read: &DecodedArguments) -> Result<Question, Box<ToolResult>> {
        let mut question = Question::new(&*self.tool.name, self.tool.definition().clone(), read.arguments.clone());
        question.registered = self.tool.own_name.to_string();
        question.call_id = self.call.call_id().map(str::to_owned);
        question.conversation = self.call.conversation_id().map(str::to_owned);
        (question.channel, question.chat) =
            self.call.channel.clone().map(|(channel, chat)| (channel.into_owned(), chat.into_owned())).unzip();
        question.defaults.clone_from(&read.defaults);
        question.repairs = read.repaired.as_ref().map(|repaired| repaired.values()).unwrap_or_default();
        question.preview = self.effect(read).await?;
        Ok(question)
    }

    fn pending(&self, pending: &PendingApproval) -> Box<ToolResult> {
        let mut result = self.failure(
            ErrorKind::Pending,
            "waits for somebody's consent. Go on with something else; its result comes later".to_owned(),
        );
        result.metadata.insert(TOKEN, pending.token.as_str());
        let expires = pending.expires.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_millis();
        result.metadata.insert(EXPIRES, u64::try_from(expires).unwrap_or(u64::MAX));
        result
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::LogRecorder;
    use crate::{Dispatcher, RuntimeTool, ToolCall};

    /// A model reads what happened and what it can do about it.
    #[tokio::test]
    async fn what_only_the_application_can_change_is_for_the_log() {
        let log = LogRecorder::default();
        let _logging = tracing::subscriber::set_default(log.clone());
        let purge = RuntimeTool::new("purge", "", |(): ()| async {}).sensitive();
        let tools = Dispatcher::builder().tool(purge).build().unwrap();
        let refused = tools.call(ToolCall::from_text("purge", "{}")).await;
        assert_eq!(
            refused.output,
            "`purge` did not run: it needs somebody's consent, and there is nobody to ask. Go on without it."
        );
        assert!(log.text().contains("`.confirm(..)`"), "{}", log.text());
    }
}
