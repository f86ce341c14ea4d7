//! Which calls are admitted.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::count::Count;
use super::{Exceeded, Limit, LimitScope, Recent};

/// Admits calls as its limits allow, each counted for a tool, for a conversation, or for a tool in a conversation.
///
/// A call is admitted if every limit that concerns it allows it, and counts towards all of them; one that is not
/// admitted counts towards none. Calls that say no conversation are together one conversation.
///
/// ```
/// use tool_runtime::limits::{Limit, Limiter};
///
/// let limiter = Limiter::new()
///     .tool("mail.send", Limit::per_minute(100))
///     .tool_in_conversation("mail.send", Limit::total(1))
///     .conversation(Limit::per_minute(60));
///
/// assert!(limiter.admit("mail.send", Some("c-1")).is_ok());
/// let exceeded = limiter.admit("mail.send", Some("c-1")).unwrap_err();
/// assert_eq!(exceeded.retry_after, None, "one is all it gets");
/// assert!(limiter.admit("mail.send", Some("c-2")).is_ok());
/// ```
#[derive(Debug)]
pub struct Limiter {
    of_tools: HashMap<String, Vec<Limit>>,
    of_tools_in_conversations: HashMap<String, Vec<Limit>>,
    of_conversations: Vec<Limit>,
    counted: Mutex<Counted>,
}

/// What has been counted.
#[derive(Debug)]
struct Counted {
    /// Bounded by the tools that have a limit.
    tools: FxHashMap<String, Vec<Count>>,
    conversations: Recent<Conversation>,
}

/// The counts of one conversation.
#[derive(Debug, Default)]
struct Conversation {
    all: Vec<Count>,
    tools: FxHashMap<String, Vec<Count>>,
}

impl Limiter {
    /// A limiter that admits everything.
    #[must_use]
    pub fn new() -> Self {
        Self {
            of_tools: HashMap::new(),
            of_tools_in_conversations: HashMap::new(),
            of_conversations: Vec::new(),
            counted: Mutex::new(Counted { tools: FxHashMap::default(), conversations: Recent::new(10_000) }),
        }
    }

    /// Limits a tool, over all conversations.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>, limit: Limit) -> Self {
        self.of_tools.entry(tool.into()).or_default().push(limit);
        self
    }

    /// Limits a tool in each conversation by itself.
    #[must_use]
    pub fn tool_in_conversation(mut self, tool: impl Into<String>, limit: Limit) -> Self {
        self.of_tools_in_conversations.entry(tool.into()).or_default().push(limit);
        self
    }

    /// Limits each conversation, over all tools.
    #[must_use]
    pub fn conversation(mut self, limit: Limit) -> Self {
        self.of_conversations.push(limit);
        self
    }

    /// How many conversations are remembered, 10,000 unless set. Those that called nothing for longest are forgotten,
    /// and begin anew if they come back.
    #[must_use]
    pub fn remember(mut self, conversations: usize) -> Self {
        self.counted.get_mut().unwrap_or_else(PoisonError::into_inner).conversations = Recent::new(conversations);
        self
    }

    /// Admits a call and counts it, or says when to come back.
    ///
    /// # Errors
    /// One of the limits is reached.
    pub fn admit(&self, tool: &str, conversation: Option<&str>) -> Result<(), Exceeded> {
        let now = Instant::now();
        self.with_concerned(tool, conversation, |concerned| {
            admit_all(concerned, |count, limit| count.after_call(limit, now))
        })
    }

    /// Admits a question about a call without counting the call, so that nobody is asked about calls that could not run
    /// anyway. Each question that is admitted must be [`answered`](Self::answered).
    pub(crate) fn ask(&self, tool: &str, conversation: Option<&str>) -> Result<(), Exceeded> {
        let now = Instant::now();
        self.with_concerned(tool, conversation, |concerned| {
            admit_all(concerned, |count, limit| count.after_question(limit, now))
        })
    }

    /// Ends a question that was admitted.
    pub(crate) fn answered(&self, tool: &str, conversation: Option<&str>) {
        self.with_concerned(tool, conversation, |concerned| {
            for (_, _, count) in concerned {
                **count = count.without_question();
            }
        });
    }

    /// Counts an admitted call no more, since it did not run.
    pub(crate) fn take_back(&self, tool: &str, conversation: Option<&str>) {
        self.with_concerned(tool, conversation, |concerned| {
            for (_, limit, count) in concerned {
                **count = count.without_call(limit);
            }
        });
    }

    /// Looks at all limits that concern a call, with what has come under each.
    fn with_concerned<T>(
        &self,
        tool: &str,
        conversation: Option<&str>,
        look: impl FnOnce(&mut [Concerned<'_>]) -> T,
    ) -> T {
        let of_tool = limits_of(&self.of_tools, tool);
        let of_both = limits_of(&self.of_tools_in_conversations, tool);
        let of_conversation = self.of_conversations.as_slice();
        if of_tool.is_empty() && of_both.is_empty() && of_conversation.is_empty() {
            return look(&mut []);
        }
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let Counted { tools, conversations } = &mut *counted;
        let mut concerned: Vec<Concerned<'_>> = Vec::new();
        if !of_tool.is_empty() {
            let counts = counts(tools, tool, of_tool.len());
            concerned.extend(of_tool.iter().zip(counts).map(|(limit, count)| (LimitScope::Tool, limit, count)));
        }
        if !of_both.is_empty() || !of_conversation.is_empty() {
            let Conversation { all, tools } = conversations.get(conversation);
            all.resize(of_conversation.len(), Count::default());
            let of_all = of_conversation.iter().zip(all);
            concerned.extend(of_all.map(|(limit, count)| (LimitScope::Conversation, limit, count)));
            if !of_both.is_empty() {
                let of_tool = of_both.iter().zip(counts(tools, tool, of_both.len()));
                concerned.extend(of_tool.map(|(limit, count)| (LimitScope::ToolInConversation, limit, count)));
            }
        }
        look(&mut concerned)
    }
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new()
    }
}

fn limits_of<'a>(limits: &'a HashMap<String, Vec<Limit>>, tool: &str) -> &'a [Limit] {
    limits.get(tool).map_or(&[], Vec::as_slice)
}

fn counts<'a>(counts: &'a mut FxHashMap<String, Vec<Count>>, tool: &str, limits: usize) -> &'a mut [Count] {
    if !counts.contains_key(tool) {
        counts.insert(tool.to_owned(), vec![Count::default(); limits]);
    }
    counts.get_mut(tool).map_or(&mut [], Vec::as_mut_slice)
}

/// A limit that concerns a call, and what has come under it.
type Concerned<'a> = (LimitScope, &'a Limit, &'a mut Count);

/// Changes every count, or none. The longest wait is the one that counts.
fn admit_all(
    concerned: &mut [Concerned<'_>],
    change: impl Fn(Count, &Limit) -> Result<Count, Option<Duration>>,
) -> Result<(), Exceeded> {
    let mut longest: Option<(Duration, LimitScope)> = None;
    let mut admitted = Vec::with_capacity(concerned.len());
    for (scope, limit, count) in concerned.iter() {
        match change(**count, limit) {
            Ok(after) => admitted.push(after),
            Err(None) => return Err(Exceeded { retry_after: None, scope: *scope }),
            Err(Some(wait)) => {
                longest = longest.filter(|(known, _)| *known >= wait).or(Some((wait, *scope)));
            }
        }
    }
    if let Some((wait, scope)) = longest {
        return Err(Exceeded { retry_after: Some(wait), scope });
    }
    for ((_, _, count), after) in concerned.iter_mut().zip(admitted) {
        **count = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::LimitScope::{Conversation as InConversation, Tool, ToolInConversation};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn after(seconds: u64, scope: LimitScope) -> Result<(), Exceeded> {
        Err(Exceeded { retry_after: Some(Duration::from_secs(seconds)), scope })
    }

    fn never(scope: LimitScope) -> Result<(), Exceeded> {
        Err(Exceeded { retry_after: None, scope })
    }

    #[tokio::test(start_paused = true)]
    async fn calls_may_come_at_once_and_then_one_by_one() {
        let limiter = Limiter::new().tool("t", Limit::per_minute(3));
        for _ in 0..3 {
            assert_eq!(limiter.admit("t", None), Ok(()));
        }
        assert_eq!(limiter.admit("t", Some("c")), after(20, Tool));
        advance(SECOND * 19).await;
        assert_eq!(limiter.admit("t", None), after(1, Tool));
        advance(SECOND).await;
        assert_eq!(limiter.admit("t", None), Ok(()));
        assert_eq!(limiter.admit("t", None), after(20, Tool));
        advance(SECOND * 3_600).await;
        assert_eq!([(); 4].map(|()| limiter.admit("t", None)), [Ok(()), Ok(()), Ok(()), after(20, Tool)]);
        assert_eq!(limiter.admit("other", None), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_total_does_not_come_back() {
        let limiter = Limiter::new().conversation(Limit::total(2)).conversation(Limit::per_second(1));
        assert_eq!(limiter.admit("a", Some("c")), Ok(()));
        assert_eq!(limiter.admit("b", Some("c")), after(1, InConversation), "a refused call is not counted");
        advance(SECOND).await;
        assert_eq!(limiter.admit("b", Some("c")), Ok(()));
        advance(SECOND * 100).await;
        assert_eq!(limiter.admit("b", Some("c")), never(InConversation));
        assert_eq!(limiter.admit("b", Some("d")), Ok(()));
        assert_eq!(limiter.admit("b", None), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_call_counts_towards_no_limit() {
        let limiter = Limiter::new().tool("t", Limit::total(2)).tool_in_conversation("t", Limit::total(1));
        assert_eq!(limiter.admit("t", Some("c")), Ok(()));
        assert_eq!([(); 3].map(|()| limiter.admit("t", Some("c"))), [never(ToolInConversation); 3]);
        assert_eq!(limiter.admit("t", Some("d")), Ok(()));
        assert_eq!(limiter.admit("t", Some("e")), never(Tool));
    }

    #[tokio::test(start_paused = true)]
    async fn a_question_is_not_counted_and_open_ones_are_considered() {
        let limiter = Limiter::new().tool("t", Limit::per_minute(2)).conversation(Limit::total(3));
        let ask = || limiter.ask("t", Some("c"));
        assert_eq!([ask(), ask()], [Ok(()); 2]);
        assert_eq!(ask(), after(30, Tool), "a third call could not run if both are confirmed");
        limiter.answered("t", Some("c"));
        assert_eq!(ask(), Ok(()), "one was refused");
        for _ in 0..2 {
            limiter.answered("t", Some("c"));
            assert_eq!(limiter.admit("t", Some("c")), Ok(()), "questions do not count as calls");
        }
        assert_eq!(ask(), after(30, Tool));
        advance(SECOND * 60).await;
        assert_eq!(ask(), Ok(()));
        assert_eq!(ask(), after(10, InConversation), "the open question may be refused");
        limiter.answered("t", Some("c"));
        assert_eq!(limiter.admit("t", Some("c")), Ok(()));
        assert_eq!(ask(), never(InConversation));
    }

    #[test]
    fn nothing_is_admitted_where_no_call_is_allowed() {
        for limit in [Limit::total(0), Limit::per_minute(0)] {
            assert_eq!(Limiter::new().tool("t", limit).admit("t", None), never(Tool));
        }
        let forever = Limiter::new().tool("t", Limit::per(1, Duration::MAX));
        assert_eq!(forever.admit("t", None), never(Tool), "a time that no clock shows");
    }

    #[test]
    fn old_conversations_are_forgotten_and_recent_ones_are_not() {
        let limiter = Limiter::new().conversation(Limit::total(1_000)).remember(100);
        for number in 0..10_000 {
            limiter.admit("t", Some(&number.to_string())).unwrap();
            limiter.admit("t", Some("busy")).ok();
        }
        let mut counted = limiter.counted.lock().unwrap();
        assert!(counted.conversations.len() <= 100);
        assert_eq!(counted.conversations.get(Some("9998")).all.len(), 1);
        assert_eq!(counted.conversations.get(Some("busy")).all[0].calls, 1_000, "it was never forgotten");
        assert!(counted.conversations.get(Some("0")).all.is_empty(), "it was");
    }
}
