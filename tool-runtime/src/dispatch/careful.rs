//! The careful way of a call: what happens before its handler runs when somebody is asked, when it is recorded or
//! only tried, or when somebody watches.
//!
//! Find and check come before it, execute and answer after. Arguments are checked and mended before anybody is asked,
//! and held in the form in which the handler gets them: what is asked is what runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tracing::Span;

use super::beginning::Beginning;
use super::dispatcher::Inner;
use super::read::{Read, WRONG_EDIT, of_an_edit};
use super::{BoundTool, Given, Rules, preview};
use crate::arguments::{Reader, Repaired};
use crate::confirm::{Decision, Pending, Question, Verdict};
use crate::guard;
use crate::inject::{Facts, ScopeInner};
use crate::journal::{Begun, Finished, Journal, Started};
use crate::shim::Waiting;
use crate::{ErrorKind, Permit, ToolCall, ToolError, ToolResult, Watched, What, redact};

/// What is decided about a call before it runs.
pub(super) enum Prepared {
    /// It runs.
    Run(Waiting, Box<Care>),
    /// It does not; this is the answer.
    Answer(Box<ToolResult>),
}

/// What has to be done once the handler is over.
pub(super) struct Care {
    started: Instant,
    pub(super) span: Span,
    repaired: Option<Box<Repaired>>,
    decision: &'static str,
    record: Option<Record>,
    watched: Option<Watched>,
    /// Goes with the handler.
    pub(super) permit: Option<Permit>,
}

/// A call that is on record, and is to be finished there.
type Record = (Arc<dyn Journal>, Arc<Started>);

/// A call on its careful way.
pub(super) struct Careful {
    pub(super) inner: Arc<Inner>,
    pub(super) tool: Arc<BoundTool>,
    pub(super) call: ToolCall<'static>,
    /// What somebody has given consent to already.
    pub(super) approved: Option<Box<Question>>,
    pub(super) dry_run: bool,
    pub(super) watched: Option<Watched>,
    /// What came with the call, for its preview.
    pub(super) with: Vec<Given>,
}

impl Careful {
    /// Everything up to the handler.
    pub(super) async fn prepare(self, span: Span) -> Prepared {
        let started = Instant::now();
        let watched = self.watched.clone();
        match self.decide(span).await {
            Ok((waiting, care)) => Prepared::Run(waiting, care),
            Err(result) => {
                tell_end(watched.as_ref(), &result, started.elapsed());
                Prepared::Answer(result)
            }
        }
    }

    async fn decide(self, span: Span) -> Result<(Waiting, Box<Care>), Box<ToolResult>> {
        let rules = &self.inner.rules;
        let (mut waiting, mut read) = match &self.approved {
            None => self.read(&self.call.arguments, self.inner.limits.repair)?,
            Some(question) => self.read_approved(question).await?,
        };
        if let Some(watched) = &self.watched {
            watched.send(What::Started { arguments: redact(&read.arguments, self.tool.definition()) });
        }
        if rules.trace_arguments {
            let shown = redact(&read.arguments, self.tool.definition());
            span.record("gen_ai.tool.call.arguments", shown.to_string());
        }
        if self.dry_run || rules.dry_run {
            self.note(&read, "dry run").await?;
            return Err(self.dry_result(rules, &read).await);
        }
        // A call is known by what the model asked for, whatever somebody has put in its place.
        let asked = self.approved.as_ref().map_or(&read.arguments, |question| &question.arguments).clone();
        self.recall(&asked).await?;
        let (decision, edited) = self.consent(rules, &read).await?;
        if let Some(arguments) = edited {
            (waiting, read) = match self.read(&arguments.to_string(), false) {
                Ok(edited) => edited,
                Err(result) => {
                    self.note(&read, WRONG_EDIT).await?;
                    return Err(of_an_edit(result));
                }
            };
            // Consent is no leave to do what the policy forbids.
            self.refuse_by_policy(self.verdict(rules, &read), &read).await?;
        }
        self.admit(&read).await?;
        let permit = self.enter(&read).await?;
        let record = self.begin(&read, &asked, decision).await?;
        let care = Care {
            started: Instant::now(),
            span,
            repaired: read.repaired,
            decision,
            record,
            watched: self.watched.clone(),
            permit,
        };
        Ok((waiting, Box::new(care)))
    }

    /// What the policy says of the arguments that are to run. One that panics says no.
    fn verdict(&self, rules: &Rules, read: &Read) -> Verdict {
        guard::catch(|| rules.policy.decide(&self.call.name, self.tool.definition(), &read.arguments))
            .unwrap_or_else(|panic| Verdict::Refuse(format!("its policy panicked: {panic}")))
    }

    async fn refuse_by_policy(&self, verdict: Verdict, read: &Read) -> Result<(), Box<ToolResult>> {
        let Verdict::Refuse(reason) = verdict else { return Ok(()) };
        self.note(read, "refused by policy").await?;
        Err(self.failure(ErrorKind::Refused, format!("was refused: {reason}")))
    }

    /// Gets consent, if it is needed; with it, the arguments that are to run instead, if somebody has put others.
    async fn consent(&self, rules: &Rules, read: &Read) -> Result<(&'static str, Option<Value>), Box<ToolResult>> {
        let verdict = self.verdict(rules, read);
        let runs = matches!(verdict, Verdict::Run);
        self.refuse_by_policy(verdict, read).await?;
        if let Some(question) = &self.approved {
            let is_edited = question.arguments != read.arguments;
            return Ok((if is_edited { "edited" } else { "confirmed" }, None));
        }
        if runs {
            return Ok(("policy", None));
        }
        let Some(confirm) = &rules.confirm else {
            self.note(read, "nobody to ask").await?;
            let message = "needs somebody's consent, and there is nobody to ask: the application sets `.confirm(..)`, or another `.policy(..)`";
            return Err(self.failure(ErrorKind::Refused, message.to_owned()));
        };
        let question = self.question(read).await;
        let decision = guard::CatchPanic(confirm.confirm(&question)).await;
        match decision.unwrap_or_else(|panic| Decision::Refuse(Some(format!("asking panicked: {panic}")))) {
            Decision::Run => Ok(("confirmed", None)),
            Decision::Edit(arguments) => Ok(("edited", Some(arguments))),
            Decision::Refuse(reason) => {
                self.note(read, "refused").await?;
                let reason = reason.map(|reason| format!(": {reason}")).unwrap_or_default();
                Err(self.failure(ErrorKind::Refused, format!("was refused{reason}")))
            }
            Decision::Abort => {
                self.note(read, "aborted").await?;
                Err(self.failure(ErrorKind::Aborted, "was refused, and everything else with it: stop here".to_owned()))
            }
            Decision::Pending(pending) => {
                if let Some(watched) = &self.watched {
                    watched.send(What::Pending { expires: pending.expires });
                }
                self.note(read, "pending").await?;
                Err(Box::new(self.pending(&pending)))
            }
        }
    }

    /// Counts the call, where they may come only so often. What does not run does not count.
    async fn admit(&self, read: &Read) -> Result<(), Box<ToolResult>> {
        let Some(limiter) = &self.inner.rules.limiter else { return Ok(()) };
        let Err(exceeded) = limiter.admit(&self.call.name, self.call.conversation_id()) else { return Ok(()) };
        self.note(read, "rate limited").await?;
        Err(Box::new(ToolResult::failure(exceeded.error(&self.tool.name))))
    }

    /// Waits for its turn, where only so many calls run at a time.
    async fn enter(&self, read: &Read) -> Result<Option<Permit>, Box<ToolResult>> {
        let Some(concurrency) = &self.inner.rules.concurrency else { return Ok(None) };
        match concurrency.enter().await {
            Ok(permit) => Ok(Some(permit)),
            Err(busy) => {
                self.note(read, "busy").await?;
                Err(Box::new(ToolResult::failure(busy.error(&self.tool.name))))
            }
        }
    }

    /// What the call would do, if its tool can tell.
    async fn effect(&self, read: &Read) -> Option<Value> {
        let preview = self.tool.preview.clone()?;
        let limits = &self.inner.limits;
        // Of what is shown, which is what runs.
        let text = read.arguments.to_string();
        let reader =
            Reader { text: &text, schemas: preview.schemas(), allow_unknown: limits.allow_unknown, repair: false };
        let timeout = preview.timeout.or(limits.timeout);
        let waiting = preview::decoded(&preview, reader);
        let facts = Facts::new(self.call.context(), timeout);
        let scope = ScopeInner::new(self.inner.dependencies.clone(), self.with.clone(), facts);
        let effect = match waiting {
            Ok(waiting) => preview::effect(preview, scope, waiting, timeout).await,
            Err(error) => Err(error),
        };
        Some(match effect {
            Ok(effect) => serde_json::to_value(effect).unwrap_or_default(),
            Err(error) => Value::from(format!("The preview failed: {error}")),
        })
    }

    async fn question(&self, read: &Read) -> Question {
        let mut question = Question::new(&*self.tool.name, self.tool.definition().clone(), read.arguments.clone());
        question.call_id = self.call.call_id().map(str::to_owned);
        question.conversation = self.call.conversation_id().map(str::to_owned);
        (question.channel, question.chat) =
            self.call.channel.clone().map(|(channel, chat)| (channel.into_owned(), chat.into_owned())).unzip();
        question.repairs = read.repaired.as_ref().map(|repaired| repaired.values()).unwrap_or_default();
        question.preview = self.effect(read).await;
        question
    }

    /// A call that completed before is answered as it was then; of one that was left in the middle nobody knows.
    async fn recall(&self, asked: &Value) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        let started = Started::new(&self.call, self.tool.definition(), asked);
        match journal.recall(&started.key).await {
            Ok(None) => Ok(()),
            Ok(Some(begun)) => self.known(begun),
            Err(error) => Err(self.unrecorded(&error.to_string())),
        }
    }

    fn known(&self, begun: Begun) -> Result<(), Box<ToolResult>> {
        match begun {
            Begun::New => Ok(()),
            Begun::Completed(mut result) => {
                result.metadata.insert("replayed", true);
                Err(result)
            }
            Begun::Unfinished => {
                let message =
                    "was started before and never finished: it may have taken effect. Look before you call it again";
                Err(self.failure(ErrorKind::OutcomeUnknown, message.to_owned()))
            }
            Begun::Running => Err(self.failure(ErrorKind::Busy, "is running already, by the same call".to_owned())),
        }
    }

    /// Records that the handler starts. Without a record it does not.
    async fn begin(
        &self,
        read: &Read,
        asked: &Value,
        decision: &'static str,
    ) -> Result<Option<Record>, Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(None) };
        let mut started = self.started(read).decision(decision);
        started.key = Started::new(&self.call, self.tool.definition(), asked).key;
        let started = Arc::new(started);
        let cancelled = self.failure(ErrorKind::Cancelled, "was cancelled before it ran".to_owned());
        match Beginning::new(journal.clone(), started.clone(), cancelled).await {
            Ok(begun) => self.known(begun).map(|()| Some((journal.clone(), started))),
            Err(error) => Err(self.unrecorded(&error.to_string())),
        }
    }

    fn started(&self, read: &Read) -> Started {
        let started = Started::new(&self.call, self.tool.definition(), &read.arguments);
        match &read.repaired {
            Some(repaired) => started.repairs(repaired.values()),
            None => started,
        }
    }

    /// Records a decision after which nothing runs.
    async fn note(&self, read: &Read, decision: &str) -> Result<(), Box<ToolResult>> {
        if self.inner.rules.journal.is_none() {
            return Ok(());
        }
        self.note_that(self.started(read), decision).await
    }

    pub(super) async fn note_that(&self, call: Started, decision: &str) -> Result<(), Box<ToolResult>> {
        let Some(journal) = &self.inner.rules.journal else { return Ok(()) };
        journal.note(&call, decision).await.map_err(|error| self.unrecorded(&error.to_string()))
    }

    /// What would happen, as far as that can be said without doing it or asking anybody.
    async fn dry_result(&self, rules: &Rules, read: &Read) -> Box<ToolResult> {
        let (verdict, when) = match self.verdict(rules, read) {
            Verdict::Run => ("run", ""),
            Verdict::Ask => ("ask", " once somebody has given consent"),
            Verdict::Refuse(reason) => {
                let mut result = self.failure(ErrorKind::Refused, format!("would be refused: {reason}"));
                result.metadata.insert("dry_run", true);
                return result;
            }
        };
        let arguments = redact(&read.arguments, self.tool.definition());
        let output = format!("Dry run: `{}` would run{when} with {arguments}. Nothing was done.", self.tool.name);
        let mut result = ToolResult::success(output);
        result.metadata.insert("dry_run", true);
        result.metadata.insert("policy", verdict);
        if let Some(effect) = self.effect(read).await {
            result.output.push_str(&format!(" It would do this: {effect}"));
            result.metadata.insert("preview", effect);
        }
        Box::new(mend(result, read.repaired.as_deref()))
    }

    fn pending(&self, pending: &Pending) -> ToolResult {
        let mut result = *self.failure(
            ErrorKind::Pending,
            "waits for somebody's consent. Go on with something else; its result comes later".to_owned(),
        );
        result.metadata.insert("token", pending.token.as_str());
        let expires = pending.expires.duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
        result.metadata.insert("expires", expires);
        result
    }

    fn unrecorded(&self, error: &str) -> Box<ToolResult> {
        self.failure(ErrorKind::Journal, format!("did not run, because it cannot be recorded: {error}"))
    }

    pub(super) fn failure(&self, kind: ErrorKind, message: String) -> Box<ToolResult> {
        Box::new(ToolResult::failure(ToolError::new(kind, format!("`{}` {message}.", self.tool.name))))
    }
}

/// Tells whoever watches that the call has answered.
fn tell_end(watched: Option<&Watched>, result: &ToolResult, duration: Duration) {
    if let Some(watched) = watched {
        let kind = result.error.as_ref().map(|error| error.kind);
        watched.send(What::Finished { success: result.success, kind, duration });
    }
}

fn mend(mut result: ToolResult, repaired: Option<&Repaired>) -> ToolResult {
    if let Some(repaired) = repaired {
        result.metadata.insert("repairs", repaired.values());
    }
    result
}

impl Care {
    /// The result with what is known of its way.
    pub(super) fn complete(&self, result: ToolResult) -> ToolResult {
        let mut result = mend(result, self.repaired.as_deref());
        let milliseconds = self.started.elapsed().as_secs_f64() * 1e3;
        result.metadata.insert("milliseconds", milliseconds);
        result.metadata.insert("decision", self.decision);
        if let Some(error) = &result.error {
            self.span.record("error.type", error.kind.as_str());
        }
        tell_end(self.watched.as_ref(), &result, self.started.elapsed());
        result
    }

    /// Records the outcome, if calls are recorded.
    pub(super) fn record(&mut self, result: &ToolResult) -> Option<impl Future<Output = ()> + Send + 'static + use<>> {
        let (journal, started) = self.record.take()?;
        let finished = Finished::new(result.clone(), self.started.elapsed());
        Some(async move {
            if let Err(error) = journal.finish(&started.key, &finished).await {
                tracing::error!(tool = started.tool, %error, "the outcome of a call could not be recorded");
            }
        })
    }
}
