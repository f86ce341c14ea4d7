//! Retries of failed model requests.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures_util::StreamExt;
use futures_util::stream;
use tokio::time::sleep;

use crate::{Model, ModelError, ModelRequest, ResponsePart, ResponseStream};

/// A model that retries transient failures: rate limits, server errors, unreachable providers, timeouts and responses
/// that were cut off. See [`ModelError::is_retryable`].
///
/// Delays grow exponentially with random jitter and are never shorter than the provider's `Retry-After`. A
/// response that has already produced text or a call is not retried, because the user would see that part twice.
/// Reasoning does not count: providers often fail during long reasoning, and the reasoning of the failed request is
/// discarded.
///
/// Before each delay the stream yields a [`ResponsePart::Retrying`], which a run forwards as
/// [`AgentEvent::Retrying`](crate::AgentEvent::Retrying).
#[derive(Clone, Debug)]
pub struct RetryingModel<M> {
    model: M,
    retry: RetryPolicy,
}

/// The number and the delays of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RetryPolicy {
    /// The maximum number of retries.
    pub times: usize,
    /// The first delay, plus a random amount of up to the same length. Each further delay is twice as long.
    pub first_wait: Duration,
    /// The longest delay, including the random amount. If the provider asks for more, the request fails with its error.
    pub longest_wait: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { times: 4, first_wait: Duration::from_millis(500), longest_wait: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// Disables retries.
    #[must_use]
    pub fn never() -> Self {
        Self::default().times(0)
    }

    /// Sets the maximum number of retries.
    #[must_use]
    pub fn times(mut self, times: usize) -> Self {
        self.times = times;
        self
    }

    /// Sets the first delay.
    #[must_use]
    pub fn first_wait(mut self, wait: Duration) -> Self {
        self.first_wait = wait;
        self
    }

    /// Sets the longest delay.
    #[must_use]
    pub fn longest_wait(mut self, wait: Duration) -> Self {
        self.longest_wait = wait;
        self
    }

    fn waits(self) -> RetryDelays {
        let waits = ExponentialBuilder::new().with_min_delay(self.first_wait).with_max_delay(self.longest_wait);
        RetryDelays { waits: waits.with_max_times(self.times).with_jitter().build(), longest: self.longest_wait }
    }
}

impl<M> RetryingModel<M> {
    /// Wraps a model with the default retry policy.
    pub fn new(model: M) -> Self {
        Self { model, retry: RetryPolicy::default() }
    }

    /// Sets the retry policy.
    #[must_use]
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }
}

impl<M: Model> Model for RetryingModel<M> {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn respond<'a>(&'a self, request: ModelRequest<'a>) -> ResponseStream<'a> {
        let asking = RetryingResponse {
            answer: self.model.respond(request),
            again: Box::new(move || self.model.respond(request)),
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

/// A response that is requested again until it produces output.
struct RetryingResponse<'a> {
    answer: ResponseStream<'a>,
    again: Box<dyn Fn() -> ResponseStream<'a> + Send + 'a>,
    waits: RetryDelays,
    /// The delay before the next request.
    wait: Option<Duration>,
    is_begun: bool,
}

/// The remaining delays.
struct RetryDelays {
    waits: ExponentialBackoff,
    longest: Duration,
}

impl RetryDelays {
    /// Returns the delay after a failure, or `None` if the request should not be retried.
    fn after(&mut self, error: &ModelError) -> Option<Duration> {
        let asked = error.retry_after.unwrap_or_default();
        let wait = self.waits.next().filter(|_| asked <= self.longest)?;
        Some(wait.min(self.longest).max(asked))
    }
}

impl RetryingResponse<'_> {
    async fn next(&mut self) -> Result<Option<ResponsePart>, ModelError> {
        if let Some(wait) = self.wait.take() {
            sleep(wait).await;
            self.answer = (self.again)();
        }
        let error = match self.answer.next().await {
            Some(Ok(part)) => {
                self.is_begun |= matches!(part, ResponsePart::Text(_) | ResponsePart::Call(_) | ResponsePart::End(_));
                return Ok(Some(part));
            }
            Some(Err(error)) => error,
            None if self.is_begun => return Ok(None),
            None => ModelError::cut(),
        };
        if self.is_begun || !error.is_retryable() {
            return Err(error);
        }
        let Some(after) = self.waits.after(&error) else { return Err(error) };
        tracing::warn!(kind = ?error.kind, ?after, "model request failed, retrying");
        self.wait = Some(after);
        Ok(Some(ResponsePart::Retrying { why: error, after }))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::TryStreamExt;

    use super::*;
    use crate::{ModelErrorKind, Reply, Usage};

    /// A model that streams these responses in order.
    struct FlakyModel(Mutex<Vec<Vec<Result<ResponsePart, ModelError>>>>);

    impl FlakyModel {
        fn new<const N: usize>(mut answers: [Vec<Result<ResponsePart, ModelError>>; N]) -> Self {
            answers.reverse();
            Self(Mutex::new(answers.into()))
        }
    }

    impl Model for FlakyModel {
        fn respond<'a>(&'a self, _request: ModelRequest<'a>) -> ResponseStream<'a> {
            let answer = self.0.lock().expect("not poisoned").pop();
            Box::pin(stream::iter(answer.expect("it is not asked more often")))
        }
    }

    fn failed(kind: ModelErrorKind) -> Vec<Result<ResponsePart, ModelError>> {
        vec![Err(ModelError::new(kind, "no"))]
    }

    fn hello() -> Vec<Result<ResponsePart, ModelError>> {
        Reply::text("hello").into_parts().collect()
    }

    async fn asked(model: FlakyModel) -> (Result<Vec<ResponsePart>, ModelError>, usize) {
        let model = RetryingModel::new(model).retry(RetryPolicy::default().first_wait(Duration::from_millis(1)));
        let answer = model.respond(ModelRequest::new(&[])).try_collect().await;
        let left = model.model.0.lock().expect("not poisoned").len();
        (answer, left)
    }

    #[tokio::test]
    async fn retries_transient_failures() {
        use ModelErrorKind::{Cut, RateLimited, Server, Unreachable};
        let model = FlakyModel::new([failed(RateLimited), failed(Server), failed(Unreachable), failed(Cut), hello()]);
        let (answer, _) = asked(model).await;
        let answer = answer.unwrap();
        let why = |part: &ResponsePart| match part {
            ResponsePart::Retrying { why, .. } => Some(why.kind),
            _ => None,
        };
        assert_eq!(answer.iter().map_while(why).collect::<Vec<_>>(), [RateLimited, Server, Unreachable, Cut]);
        assert_eq!(answer[4], ResponsePart::Text("hello".to_owned()));
    }

    #[tokio::test]
    async fn stops_after_the_maximum_number_of_retries() {
        let model = FlakyModel::new([0; 6].map(|_| failed(ModelErrorKind::Server)));
        let (answer, left) = asked(model).await;
        assert_eq!((answer.unwrap_err().kind, left), (ModelErrorKind::Server, 1));
    }

    #[tokio::test]
    async fn does_not_retry_permanent_failures() {
        let (answer, left) = asked(FlakyModel::new([failed(ModelErrorKind::RefusedKey), hello()])).await;
        assert_eq!((answer.unwrap_err().kind, left), (ModelErrorKind::RefusedKey, 1));
    }

    #[tokio::test]
    async fn retries_a_request_that_fails_while_the_model_thinks() {
        let thinking = vec![
            Ok(ResponsePart::Usage(Usage::new(5_000, 1))),
            Ok(ResponsePart::Thinking("Hm.".to_owned())),
            Err(ModelError::cut()),
        ];
        let (answer, left) = asked(FlakyModel::new([thinking, hello()])).await;
        let answer = answer.unwrap();
        assert_eq!(left, 0);
        assert!(matches!(answer[2], ResponsePart::Retrying { .. }), "{answer:?}");
        assert_eq!(answer[3], ResponsePart::Text("hello".to_owned()));
    }

    #[tokio::test]
    async fn does_not_retry_a_response_that_has_begun() {
        let begun = vec![Ok(ResponsePart::Text("hel".to_owned())), Err(ModelError::cut())];
        let (answer, left) = asked(FlakyModel::new([begun, hello()])).await;
        assert_eq!((answer.unwrap_err().kind, left), (ModelErrorKind::Cut, 1));
    }

    #[test]
    fn waits_at_least_as_long_as_the_provider_asks() {
        let asking = |seconds| {
            let error =
                ModelError::new(ModelErrorKind::RateLimited, "no").with_retry_after(Duration::from_secs(seconds));
            RetryPolicy::default().waits().after(&error)
        };
        assert!(asking(40).is_some_and(|wait| wait >= Duration::from_secs(40)));
        assert!(asking(0).is_some_and(|wait| wait >= Duration::from_millis(500)), "there is a wait in any case");
        assert_eq!(asking(61), None, "the caller decides about such a long delay");
    }

    #[test]
    fn no_delay_exceeds_the_longest() {
        let second = Duration::from_secs(1);
        let retry = RetryPolicy::default().first_wait(second).longest_wait(second).times(100);
        let (error, mut waits) = (ModelError::cut(), retry.waits());
        let waits: Vec<Duration> = std::iter::from_fn(|| waits.after(&error)).collect();
        assert_eq!(waits, [second; 100]);
    }

    #[test]
    fn delays_double_and_have_jitter() {
        let waits = || -> Vec<Duration> {
            let (error, mut waits) = (ModelError::cut(), RetryPolicy::default().waits());
            std::iter::from_fn(|| waits.after(&error)).collect()
        };
        let (one, other) = (waits(), waits());
        let least = [500, 1000, 2000, 4000].map(Duration::from_millis);
        assert_eq!(one.len(), least.len());
        assert!(one.iter().zip(least).all(|(wait, least)| (least..=least * 2).contains(wait)), "{one:?}");
        assert_ne!(one, other, "two programs do not come back together");
    }
}
