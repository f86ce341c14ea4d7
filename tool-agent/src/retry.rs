//! Asking again.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures_util::StreamExt;
use futures_util::stream;
use tokio::time::sleep;

use crate::{Answering, Model, ModelError, Part, Request};

/// A model that is asked again where that may help: when there were too many requests, when the provider has failed, when
/// it cannot be reached or its answer breaks off. See [`ModelError::may_pass`].
///
/// It waits longer each time, and never less than the provider asks for; by a different time in each program, so that
/// those who were refused together do not come back together. An answer that has begun, with text or a call, is not asked
/// for again, since a reader would see that part twice. Thoughts do not begin an answer: providers often fail during long
/// thinking, and the thoughts of the failed request are discarded.
///
/// Before each wait there is a [`Part::Retrying`], which a run passes on as
/// [`Event::Retrying`](crate::Event::Retrying): a person who sees nothing for a minute wants to know why.
#[derive(Clone, Debug)]
pub struct Retrying<M> {
    model: M,
    retry: Retry,
}

/// How often and how patiently a model is asked again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Retry {
    /// How often at most, after the first time.
    pub times: usize,
    /// The first wait, to which up to as much is added by chance. Each further one is twice as long.
    pub first_wait: Duration,
    /// The longest wait, with what is added by chance. A provider that asks for a longer one is not asked again: the error says how long it wants.
    pub longest_wait: Duration,
}

impl Default for Retry {
    fn default() -> Self {
        Self { times: 4, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(60) }
    }
}

impl Retry {
    /// Never again.
    #[must_use]
    pub fn never() -> Self {
        Self::default().times(0)
    }

    /// How often at most, after the first time.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// The first wait.
    #[must_use]
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// The longest wait.
    #[must_use]
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    fn waits(self) -> Waits {
        let waits = ExponentialBuilder::new().with_min_delay(self.first_wait).with_max_delay(self.longest_wait);
        Waits { waits: waits.with_max_times(self.times).with_jitter().build(), longest: self.longest_wait }
    }
}

impl<M> Retrying<M> {
    /// This model, asked again as is usual.
    pub fn new(model: M) -> Self {
        Self { model, retry: Retry::default() }
    }

    /// How often and how patiently.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }
}

impl<M: Model> Model for Retrying<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn answer<'a>(&'a self, request: Request<'a>) -> Answering<'a> {
        let asking = Asking {
            answer: self.model.answer(request),
            again: Box::new(move || self.model.answer(request)),
            waits: self.retry.waits(),
            wait: None,
            is_begun: false,
        };
        Box::pin(stream::try_unfold(
            asking,
            |mut asking| async move { Ok(asking.next().await?.map(|part| (part, asking))) },
        ))
    }
}

/// An answer that is asked for until it begins.
struct Asking<'a> {
    answer: Answering<'a>,
    again: Box<dyn Fn() -> Answering<'a> + Send + 'a>,
    waits: Waits,
    /// How long to wait before it is asked for again.
    wait: Option<Duration>,
    is_begun: bool,
}

/// The waits that are left.
struct Waits {
    waits: ExponentialBackoff,
    longest: Duration,
}

impl Waits {
    /// How long to wait after a failure; nothing where it is not worth it any more.
    fn after(&mut self, error: &ModelError) -> Option<Duration> {
        let asked = error.retry_after.unwrap_or_default();
        let wait = self.waits.next().filter(|_| asked <= self.longest)?;
        Some(wait.min(self.longest).max(asked))
    }
}

impl Asking<'_> {
    async fn next(&mut self) -> Result<Option<Part>, ModelError> {
        if let Some(wait) = self.wait.take() {
            sleep(wait).await;
            self.answer = (self.again)();
        }
        let error = match self.answer.next().await {
            Some(Ok(part)) => {
                self.is_begun |= matches!(part, Part::Text(_) | Part::Call(_) | Part::End(_));
                return Ok(Some(part));
            }
            Some(Err(error)) => error,
            None if self.is_begun => return Ok(None),
            None => ModelError::cut(),
        };
        if self.is_begun || !error.may_pass() {
            return Err(error);
        }
        let Some(after) = self.waits.after(&error) else { return Err(error) };
        tracing::warn!(kind = ?error.kind, ?after, "the model did not answer and is asked again");
        self.wait = Some(after);
        Ok(Some(Part::Retrying { why: error, after }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::TryStreamExt;

    use super::*;
    use crate::{ModelErrorKind, Reply, Usage};

    /// Answers with these, one after the other.
    struct Moody(Mutex<Vec<Vec<Result<Part, ModelError>>>>);

    impl Moody {
        fn new<const N: usize>(mut answers: [Vec<Result<Part, ModelError>>; N]) -> Self {
            answers.reverse();
            Self(Mutex::new(answers.into()))
        }
    }

    impl Model for Moody {
        fn answer<'a>(&'a self, _request: Request<'a>) -> Answering<'a> {
            let answer = self.0.lock().expect("not poisoned").pop();
            Box::pin(stream::iter(answer.expect("it is not asked more often")))
        }
    }

    fn failed(kind: ModelErrorKind) -> Vec<Result<Part, ModelError>> {
        vec![Err(ModelError::new(kind, "no"))]
    }

    fn hello() -> Vec<Result<Part, ModelError>> {
        Reply::text("hello").into_parts().collect()
    }

    async fn asked(model: Moody) -> (Result<Vec<Part>, ModelError>, usize) {
        let model = Retrying::new(model).retry(Retry::default().first_wait(Duration::from_millis(1)));
        let answer = model.answer(Request::new(&[])).try_collect().await;
        let left = model.model.0.lock().expect("not poisoned").len();
        (answer, left)
    }

    #[tokio::test]
    async fn what_may_pass_is_asked_again() {
        use ModelErrorKind::{Cut, RateLimited, Server, Unreachable};
        let model = Moody::new([failed(RateLimited), failed(Server), failed(Unreachable), failed(Cut), hello()]);
        let (answer, _) = asked(model).await;
        let answer = answer.unwrap();
        let why = |part: &Part| match part {
            Part::Retrying { why, .. } => Some(why.kind),
            _ => None,
        };
        assert_eq!(answer.iter().map_while(why).collect::<Vec<_>>(), [RateLimited, Server, Unreachable, Cut]);
        assert_eq!(answer[4], Part::Text("hello".to_owned()));
    }

    #[tokio::test]
    async fn there_is_an_end_to_it() {
        let model = Moody::new([0; 6].map(|_| failed(ModelErrorKind::Server)));
        let (answer, left) = asked(model).await;
        assert_eq!((answer.unwrap_err().kind, left), (ModelErrorKind::Server, 1));
    }

    #[tokio::test]
    async fn what_will_not_pass_is_not_asked_again() {
        let (answer, left) = asked(Moody::new([failed(ModelErrorKind::RefusedKey), hello()])).await;
        assert_eq!((answer.unwrap_err().kind, left), (ModelErrorKind::RefusedKey, 1));
    }

    #[tokio::test]
    async fn retries_a_request_that_fails_while_the_model_thinks() {
        let thinking =
            vec![Ok(Part::Usage(Usage::new(5_000, 1))), Ok(Part::Thinking("Hm.".to_owned())), Err(ModelError::cut())];
        let (answer, left) = asked(Moody::new([thinking, hello()])).await;
        let answer = answer.unwrap();
        assert_eq!(left, 0);
        assert!(matches!(answer[2], Part::Retrying { .. }), "{answer:?}");
        assert_eq!(answer[3], Part::Text("hello".to_owned()));
    }

    #[tokio::test]
    async fn nothing_is_said_twice() {
        let begun = vec![Ok(Part::Text("hel".to_owned())), Err(ModelError::cut())];
        let (answer, left) = asked(Moody::new([begun, hello()])).await;
        assert_eq!((answer.unwrap_err().kind, left), (ModelErrorKind::Cut, 1));
    }

    #[test]
    fn a_provider_is_given_the_time_that_it_asks_for() {
        let asking = |seconds| {
            let error =
                ModelError::new(ModelErrorKind::RateLimited, "no").with_retry_after(Duration::from_secs(seconds));
            Retry::default().waits().after(&error)
        };
        assert!(asking(40).is_some_and(|wait| wait >= Duration::from_secs(40)));
        assert!(asking(0).is_some_and(|wait| wait >= Duration::from_millis(500)), "there is a wait in any case");
        assert_eq!(asking(61), None, "whoever asks decides on so long a wait");
    }

    #[test]
    fn no_wait_is_longer_than_the_longest() {
        let second = Duration::from_secs(1);
        let retry = Retry::default().first_wait(second).longest_wait(second).times(100);
        let (error, mut waits) = (ModelError::cut(), retry.waits());
        let waits: Vec<Duration> = std::iter::from_fn(|| waits.after(&error)).collect();
        assert_eq!(waits, [second; 100]);
    }

    #[test]
    fn each_wait_is_longer_and_by_chance_a_little_more() {
        let waits = || -> Vec<Duration> {
            let (error, mut waits) = (ModelError::cut(), Retry::default().waits());
            std::iter::from_fn(|| waits.after(&error)).collect()
        };
        let (one, other) = (waits(), waits());
        let least = [500, 1000, 2000, 4000].map(Duration::from_millis);
        assert_eq!(one.len(), least.len());
        assert!(one.iter().zip(least).all(|(wait, least)| (least..=least * 2).contains(wait)), "{one:?}");
        assert_ne!(one, other, "two programs do not come back together");
    }
}
