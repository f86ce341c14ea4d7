//! What a process that ended in the middle has left behind.

use std::collections::HashSet;
use std::time::SystemTime;

use tool_runtime::journal::EntryState as Record;
use tool_runtime::{ErrorKind, ToolResult};

use super::{Shared, State};
use crate::agent::Inner;
use crate::history::{self, not_run, still_running, unknown};
use crate::{Assistant, CallResult, Message};

impl State {
    /// Answers calls that the end of a process has left without a result, by what is on record of them, and looks which
    /// of them still wait. The places of those that waited and do so no more.
    pub(crate) async fn mend(&mut self, agent: &Inner, shared: &Shared) -> Vec<usize> {
        let (is_open, is_waiting) =
            (!history::open_calls(&self.history).is_empty(), history::waiting(&self.history) > 0);
        // What passes is in no store, and no process has left it behind.
        if shared.is_passing || (!is_open && !is_waiting) {
            return Vec::new();
        }
        let waiting = Waiting::of(agent, shared).await;
        if is_open {
            self.answer_open_calls(agent, shared, &waiting).await;
            return Vec::new();
        }
        let waits_on = |id: &str| match &waiting {
            Waiting::These(ids) => ids.contains(id),
            // They may wait or not. What is known to wait stays as it is.
            Waiting::Unknown => true,
            Waiting::ForNobody => false,
        };
        self.answer_unless(waits_on, agent, shared, &waiting).await
    }

    /// Answers all that waits, by what is on record of it: somebody has gone on, and it cannot be withdrawn. The places of
    /// the results.
    pub(crate) async fn answer_waiting(&mut self, agent: &Inner, shared: &Shared) -> Vec<usize> {
        self.answer_unless(|_| false, agent, shared, &Waiting::Unknown).await
    }

    async fn answer_open_calls(&mut self, agent: &Inner, shared: &Shared, waiting: &Waiting) {
        let mut results = Vec::new();
        for call in history::open_calls(&self.history) {
            results.push(match waiting {
                Waiting::These(ids) if ids.contains(&call.id) => pending(&call.name),
                _ => match self.became(agent, shared, &call.id).await {
                    Became::Finished(result) => result,
                    Became::StillRunning | Became::MayBegin => still_running(&call.name),
                    Became::NotBegun => not_begun(&call.name),
                    Became::Unfinished | Became::Unknown => unknown(&call.name),
                },
            });
        }
        let mut results = results.into_iter();
        history::answer(&mut self.history, |call| results.next().unwrap_or_else(|| unknown(&call.name)));
    }

    /// What waits and cannot be agreed to any more has run, or never will: the conversation would wait for ever.
    async fn answer_unless(
        &mut self,
        waits_on: impl Fn(&str) -> bool,
        agent: &Inner,
        shared: &Shared,
        waiting: &Waiting,
    ) -> Vec<usize> {
        let mut answered = Vec::new();
        for (at, result) in history::last_results(&self.history).iter().enumerate() {
            if result.is_waiting() && !waits_on(&result.id) {
                let became = self.became(agent, shared, &result.id).await;
                answered.push((at, no_longer_waiting(became, result, waiting)));
            }
        }
        let places = answered.iter().map(|(at, _)| *at).collect();
        for (at, result) in answered {
            self.replace(at, result);
        }
        places
    }

    /// What became of one of the last calls.
    async fn became(&self, agent: &Inner, shared: &Shared, id: &str) -> Became {
        let answer = history::last_answer(&self.history).and_then(|at| self.history.get(at));
        let (journal, opening) = match answer {
            Some(Message::Assistant(Assistant { journal, opening, .. })) => (journal.as_deref(), *opening),
            _ => (None, None),
        };
        // One that was begun since knows nothing of them.
        let would_be_on_record = journal.is_some() && journal == agent.tools.journal_identity();
        // Before the record is read: who is gone by then writes nothing more.
        let may_begin = opening.is_some_and(|opening| agent.tools.is_journal_open_elsewhere(opening));
        match Became::of(agent, shared, id).await {
            Became::NotBegun if !would_be_on_record => Became::Unknown,
            Became::NotBegun if may_begin => Became::MayBegin,
            became => became,
        }
    }
}

fn no_longer_waiting(became: Became, waited: &CallResult, waiting: &Waiting) -> ToolResult {
    let refused = |because| not_run(&waited.name, ErrorKind::Refused, because);
    match became {
        Became::Finished(result) => result,
        Became::Unfinished => unknown(&waited.name),
        Became::StillRunning => still_running(&waited.name),
        _ if matches!(waiting, Waiting::ForNobody) => refused("nobody can be asked for consent any more"),
        _ if waited.expires().is_some_and(|expires| expires <= SystemTime::now()) => {
            refused("nobody has agreed in time")
        }
        Became::NotBegun => not_begun(&waited.name),
        Became::MayBegin => still_running(&waited.name),
        Became::Unknown => unknown(&waited.name),
    }
}

/// Which calls wait for somebody's consent.
enum Waiting {
    These(HashSet<String>),
    /// Nobody can be asked.
    ForNobody,
    /// The store of those that wait cannot be read.
    Unknown,
}

impl Waiting {
    async fn of(agent: &Inner, shared: &Shared) -> Self {
        let Some(deferred) = &agent.deferred else { return Self::ForNobody };
        match deferred.waiting(&shared.id, SystemTime::now()).await {
            Ok(waiting) => Self::These(waiting.into_iter().filter_map(|(_, call)| call.question.call_id).collect()),
            Err(_) => Self::Unknown,
        }
    }
}

/// What became of a call, by the dispatcher's record of it.
enum Became {
    /// It has ended with this.
    Finished(ToolResult),
    /// It has begun, and nobody will ever know.
    Unfinished,
    /// Another process runs it.
    StillRunning,
    /// It is not on record.
    NotBegun,
    /// As before, and another process that lives may still run it.
    MayBegin,
    /// There is no record to be asked.
    Unknown,
}

impl Became {
    async fn of(agent: &Inner, shared: &Shared, id: &str) -> Self {
        match agent.tools.recall(&shared.id, id).await {
            Ok(Some(Record::Finished(mut finished))) => {
                finished.result.metadata.insert("replayed", true);
                Self::Finished(finished.result)
            }
            Ok(Some(Record::Running)) => Self::StillRunning,
            Ok(Some(Record::Unfinished)) => Self::Unfinished,
            Ok(Some(Record::Noted)) => Self::NotBegun,
            Ok(None) => Self::Unknown,
            Err(error) => {
                tracing::error!(conversation = &*shared.id, %error, "what became of a call cannot be read");
                Self::Unknown
            }
        }
    }
}

fn not_begun(tool: &str) -> ToolResult {
    not_run(tool, ErrorKind::Cancelled, "everything was stopped before it could begin")
}

/// What stands in the place of the result of a call that waits.
fn pending(tool: &str) -> ToolResult {
    not_run(tool, ErrorKind::Pending, "it waits for somebody's consent")
}
