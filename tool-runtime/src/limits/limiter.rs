//! Admission of calls under rate limits and totals.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustc_hash::FxHashMap;
use tokio::time::Instant;

use super::usage::LimitUsage;
use super::{Limit, LimitExceeded, LimitScope, RecentConversations};

/// Admits calls under limits per tool, per conversation, or per tool and conversation.
///
/// A call is admitted if every limit that applies to it allows it, and then counts towards all of them. A rejected call
/// counts towards none. Calls without a conversation share one.
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
/// assert_eq!(exceeded.retry_after, None, "a total is not refilled");
/// assert!(limiter.admit("mail.send", Some("c-2")).is_ok());
/// ```
#[derive(Debug)]
pub struct Limiter {
    tools: FxHashMap<String, ToolLimits>,
    per_conversation: Vec<Limit>,
    conversations: Mutex<RecentConversations<ConversationUsage>>,
}

/// The limits of one tool. Each tool has its own lock, which is acquired before the lock of the conversations.
#[derive(Debug, Default)]
struct ToolLimits {
    global: Vec<Limit>,
    /// The usage of each global limit.
    usage: Mutex<Vec<LimitUsage>>,
    in_conversation: Vec<Limit>,
}

/// The usage of one conversation.
#[derive(Debug, Default)]
struct ConversationUsage {
    all: Vec<LimitUsage>,
    /// Bounded by the tools that have a limit.
    tools: FxHashMap<String, Vec<LimitUsage>>,
}

impl Limiter {
    /// Creates a limiter that admits every call.
    #[must_use]
    pub fn new() -> Self {
        Self {
            tools: FxHashMap::default(),
            per_conversation: Vec::new(),
            conversations: Mutex::new(RecentConversations::new(10_000)),
        }
    }

    /// Returns the names of the tools that have a limit.
    pub(crate) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// Limits a tool over all conversations.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>, limit: Limit) -> Self {
        let limits = self.tools.entry(tool.into()).or_default();
        limits.global.push(limit);
        limits.usage.get_mut().unwrap_or_else(PoisonError::into_inner).push(LimitUsage::default());
        self
    }

    /// Limits a tool within each conversation.
    #[must_use]
    pub fn tool_in_conversation(mut self, tool: impl Into<String>, limit: Limit) -> Self {
        self.tools.entry(tool.into()).or_default().in_conversation.push(limit);
        self
    }

    /// Limits each conversation over all tools.
    #[must_use]
    pub fn conversation(mut self, limit: Limit) -> Self {
        self.per_conversation.push(limit);
        self
    }

    /// Sets the number of conversations whose usage is kept, 10,000 by default.
    ///
    /// The least recently used conversations are forgotten, and start over if they come back.
    #[must_use]
    pub fn remember(mut self, conversations: usize) -> Self {
        self.conversations = Mutex::new(RecentConversations::new(conversations));
        self
    }

    /// Admits a call and counts it.
    ///
    /// # Errors
    /// Fails if a limit is exceeded. The error says when to retry.
    pub fn admit(&self, tool: &str, conversation: Option<&str>) -> Result<(), LimitExceeded> {
        let admitted = self.with_usage(tool, conversation, |groups| {
            let now = Instant::now();
            update_all(groups, |usage, limit| usage.after_call(limit, now))
        });
        admitted.unwrap_or(Ok(()))
    }

    /// Admits a question about a call, without counting the call. A user is not asked about a call that could not run.
    ///
    /// Each admitted question must be closed by [`answered`](Self::answered).
    pub(crate) fn ask(&self, tool: &str, conversation: Option<&str>) -> Result<(), LimitExceeded> {
        let admitted = self.with_usage(tool, conversation, |groups| {
            let now = Instant::now();
            update_all(groups, |usage, limit| usage.after_question(limit, now))
        });
        admitted.unwrap_or(Ok(()))
    }

    /// Closes an admitted question.
    pub(crate) fn answered(&self, tool: &str, conversation: Option<&str>) {
        self.with_usage(tool, conversation, |groups| {
            groups.iter_mut().flat_map(UsageGroup::iter_mut).for_each(|(_, usage)| *usage = usage.without_question());
        });
    }

    /// Uncounts an admitted call that did not run.
    pub(crate) fn take_back(&self, tool: &str, conversation: Option<&str>) {
        self.with_usage(tool, conversation, |groups| {
            groups.iter_mut().flat_map(UsageGroup::iter_mut).for_each(|(limit, usage)| {
                *usage = usage.without_call(limit);
            });
        });
    }

    /// Calls `access` with the limits that apply to a call, and their usage. Returns `None` if the call is not limited.
    ///
    /// Every call of a limited tool comes here: nothing is allocated for a known conversation.
    fn with_usage<T>(
        &self,
        tool: &str,
        conversation: Option<&str>,
        access: impl FnOnce(&mut [UsageGroup<'_>; 3]) -> T,
    ) -> Option<T> {
        let (global, in_conversation, usage) = match self.tools.get(tool) {
            Some(limits) => (&*limits.global, &*limits.in_conversation, Some(&limits.usage)),
            None if self.per_conversation.is_empty() => return None,
            None => (&[][..], &[][..], None),
        };
        let mut of_tool = usage.filter(|_| !global.is_empty()).map(lock);
        let needs_conversation = !in_conversation.is_empty() || !self.per_conversation.is_empty();
        let mut conversations = needs_conversation.then(|| lock(&self.conversations));
        let (all, of_both) = match &mut conversations {
            Some(conversations) => {
                let ConversationUsage { all, tools } = conversations.get(conversation);
                all.resize(self.per_conversation.len(), LimitUsage::default());
                let of_both =
                    if in_conversation.is_empty() { &mut [][..] } else { tool_usage(tools, tool, in_conversation) };
                (&mut **all, of_both)
            }
            None => (&mut [][..], &mut [][..]),
        };
        Some(access(&mut [
            UsageGroup {
                scope: LimitScope::Tool,
                limits: global,
                usage: of_tool.as_mut().map_or(&mut [], |usage| &mut usage[..]),
            },
            UsageGroup { scope: LimitScope::Conversation, limits: &self.per_conversation, usage: all },
            UsageGroup { scope: LimitScope::ToolInConversation, limits: in_conversation, usage: of_both },
        ]))
    }
}

impl Default for Limiter {
    fn default() -> Self {
        Self::new()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tool_usage<'a>(
    tools: &'a mut FxHashMap<String, Vec<LimitUsage>>,
    tool: &str,
    limits: &[Limit],
) -> &'a mut [LimitUsage] {
    if !tools.contains_key(tool) {
        tools.insert(tool.to_owned(), vec![LimitUsage::default(); limits.len()]);
    }
    tools.get_mut(tool).map_or(&mut [], Vec::as_mut_slice)
}

/// The limits of one scope that apply to a call, each with its usage.
struct UsageGroup<'a> {
    scope: LimitScope,
    limits: &'a [Limit],
    usage: &'a mut [LimitUsage],
}

impl UsageGroup<'_> {
    fn iter_mut(&mut self) -> impl Iterator<Item = (&Limit, &mut LimitUsage)> {
        self.limits.iter().zip(&mut *self.usage)
    }
}

/// Updates every usage, or none if a limit is exceeded. The error reports the longest wait.
///
/// Updates are computed twice, once to check and once to apply them: cheaper than storing them in between.
fn update_all(
    groups: &mut [UsageGroup<'_>; 3],
    update: impl Fn(LimitUsage, &Limit) -> Result<LimitUsage, Option<Duration>>,
) -> Result<(), LimitExceeded> {
    let mut longest: Option<LimitExceeded> = None;
    for UsageGroup { scope, limits, usage } in groups.iter() {
        for (limit, usage) in limits.iter().zip(usage.iter()) {
            match update(*usage, limit) {
                Ok(_) => {}
                Err(None) => return Err(LimitExceeded { retry_after: None, scope: *scope }),
                Err(wait) if longest.is_none_or(|known| known.retry_after < wait) => {
                    longest = Some(LimitExceeded { retry_after: wait, scope: *scope });
                }
                Err(_) => {}
            }
        }
    }
    if let Some(exceeded) = longest {
        return Err(exceeded);
    }
    for (limit, usage) in groups.iter_mut().flat_map(UsageGroup::iter_mut) {
        if let Ok(after) = update(*usage, limit) {
            *usage = after;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tokio::time::advance;

    use super::LimitScope::{Conversation as InConversation, Tool, ToolInConversation};
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn after(seconds: u64, scope: LimitScope) -> Result<(), LimitExceeded> {
        Err(LimitExceeded { retry_after: Some(Duration::from_secs(seconds)), scope })
    }

    fn never(scope: LimitScope) -> Result<(), LimitExceeded> {
        Err(LimitExceeded { retry_after: None, scope })
    }

    #[tokio::test(start_paused = true)]
    async fn admits_a_burst_and_then_one_call_per_share() {
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
    async fn never_refills_a_total() {
        let limiter = Limiter::new().conversation(Limit::total(2)).conversation(Limit::per_second(1));
        assert_eq!(limiter.admit("a", Some("c")), Ok(()));
        assert_eq!(limiter.admit("b", Some("c")), after(1, InConversation), "a rejected call is not counted");
        advance(SECOND).await;
        assert_eq!(limiter.admit("b", Some("c")), Ok(()));
        advance(SECOND * 100).await;
        assert_eq!(limiter.admit("b", Some("c")), never(InConversation));
        assert_eq!(limiter.admit("b", Some("d")), Ok(()));
        assert_eq!(limiter.admit("b", None), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn counts_a_rejected_call_towards_no_limit() {
        let limiter = Limiter::new().tool("t", Limit::total(2)).tool_in_conversation("t", Limit::total(1));
        assert_eq!(limiter.admit("t", Some("c")), Ok(()));
        assert_eq!([(); 3].map(|()| limiter.admit("t", Some("c"))), [never(ToolInConversation); 3]);
        assert_eq!(limiter.admit("t", Some("d")), Ok(()));
        assert_eq!(limiter.admit("t", Some("e")), never(Tool));
    }

    #[tokio::test(start_paused = true)]
    async fn considers_open_questions_without_counting_them() {
        let limiter = Limiter::new().tool("t", Limit::per_minute(2)).conversation(Limit::total(3));
        let ask = || limiter.ask("t", Some("c"));
        assert_eq!([ask(), ask()], [Ok(()); 2]);
        assert_eq!(ask(), after(30, Tool), "a third call could not run if both are approved");
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
    fn admits_nothing_under_a_limit_of_zero() {
        for limit in [Limit::total(0), Limit::per_minute(0)] {
            assert_eq!(Limiter::new().tool("t", limit).admit("t", None), never(Tool));
        }
        let forever = Limiter::new().tool("t", Limit::per(1, Duration::MAX));
        assert_eq!(forever.admit("t", None), never(Tool), "the period exceeds the clock's range");
    }

    #[test]
    fn forgets_old_conversations_and_keeps_recent_ones() {
        let limiter = Limiter::new().conversation(Limit::total(1_000)).remember(100);
        for number in 0..10_000 {
            limiter.admit("t", Some(&number.to_string())).unwrap();
            limiter.admit("t", Some("busy")).ok();
        }
        let mut conversations = limiter.conversations.lock().unwrap();
        assert!(conversations.len() <= 100);
        assert_eq!(conversations.get(Some("9998")).all.len(), 1);
        assert_eq!(conversations.get(Some("busy")).all[0].calls, 1_000, "a busy conversation is kept");
        assert!(conversations.get(Some("0")).all.is_empty(), "an idle one is forgotten");
    }
}
