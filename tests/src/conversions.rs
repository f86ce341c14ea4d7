//! Types that serde does not know: arguments that are parsed or converted, results that are formatted.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_stream::Stream;
use tool_runtime::{Effect, tool, tool_class, tools};

/// A hash of 4 hexadecimal digits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommitSha(pub u16);

impl FromStr for CommitSha {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        u16::from_str_radix(text, 16).map(Self)
    }
}

impl fmt::Display for CommitSha {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}", self.0)
    }
}

/// An id that any number is converted into.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunId(pub u64);

impl From<u64> for RunId {
    fn from(id: u64) -> Self {
        Self(id)
    }
}

/// A number that not every number is converted into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Even(pub u8);

impl TryFrom<u8> for Even {
    type Error = String;

    fn try_from(number: u8) -> Result<Self, String> {
        if number.is_multiple_of(2) { Ok(Self(number)) } else { Err(format!("{number} is odd")) }
    }
}

/// A range, converted from a type of the API.
#[derive(Debug)]
pub struct Span {
    /// The first line.
    pub from: u32,
    /// The line after the last.
    pub to: u32,
}

/// The form in which a model writes a span.
#[derive(Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WrittenSpan {
    /// The first line.
    from: u32,
    /// The number of lines.
    #[serde(default)]
    count: u32,
}

impl TryFrom<WrittenSpan> for Span {
    type Error = &'static str;

    fn try_from(span: WrittenSpan) -> Result<Self, &'static str> {
        if span.from == 0 {
            return Err("lines count from 1");
        }
        let to = span.from.checked_add(span.count).ok_or("the span is too long")?;
        Ok(Self { from: span.from, to })
    }
}

/// A type with a `Deserialize` that is not wanted.
#[derive(Debug, Deserialize, JsonSchema)]
pub struct Level(pub u8);

impl FromStr for Level {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "low" => Ok(Self(1)),
            "high" => Ok(Self(9)),
            _ => Err("a level is low or high"),
        }
    }
}

/// A duration in seconds, read by a module.
#[derive(Debug)]
pub struct Seconds(pub f64);

/// Reads [`Seconds`].
pub mod seconds {
    use serde::{Deserialize, Deserializer};

    use super::Seconds;

    /// Reads a number of seconds.
    ///
    /// # Errors
    /// If it is negative.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Seconds, D::Error> {
        match f64::deserialize(deserializer)? {
            seconds if seconds >= 0.0 => Ok(Seconds(seconds)),
            _ => Err(serde::de::Error::custom("a duration is not negative")),
        }
    }
}

/// Parsed strings.
#[tool(name = "conversions.parsed")]
#[expect(clippy::too_many_arguments, reason = "one of each form")]
pub fn parsed(
    #[arg(parse)] sha: CommitSha,
    #[arg(parse)] lent: &CommitSha,
    #[arg(parse)] maybe: Option<CommitSha>,
    #[arg(parse)] maybe_lent: Option<&CommitSha>,
    #[arg(parse)] all: Vec<CommitSha>,
    #[arg(parse)] slice: &[CommitSha],
    #[arg(parse)] maybe_slice: Option<&[CommitSha]>,
    #[arg(parse)] into: impl Into<CommitSha>,
    #[arg(parse)] items: impl IntoIterator<Item = CommitSha>,
    #[arg(parse)] level: Level,
) -> String {
    let items: Vec<CommitSha> = items.into_iter().collect();
    format!(
        "{sha} {lent} {maybe:?} {maybe_lent:?} {all:?} {slice:?} {maybe_slice:?} {} {items:?} {level:?}",
        into.into()
    )
}

/// Strings with rules and defaults.
#[tool(name = "conversions.parsed_rules")]
pub fn parsed_rules(
    #[arg(parse, pattern = "^[0-9a-f]+$", max_length = 4)] sha: CommitSha,
    #[arg(parse, default = "00ff")] other: CommitSha,
    #[arg(parse, default)] zero: CommitSha,
) -> String {
    format!("{sha} {other} {zero}")
}

/// Converted values.
#[tool(name = "conversions.via")]
#[expect(clippy::too_many_arguments, reason = "one of each form")]
pub fn via(
    #[arg(via(u64), min = 1)] run: RunId,
    #[arg(via(u64))] lent: &RunId,
    #[arg(via(u64))] maybe: Option<RunId>,
    #[arg(via(u64), max_length = 3)] all: Vec<RunId>,
    #[arg(via(u64))] slice: &[RunId],
    #[arg(via(u64))] nested: Option<Vec<Option<RunId>>>,
    #[arg(via(u64), default = 7)] other: RunId,
    #[arg(via(u64), default)] zero: RunId,
) -> String {
    format!("{run:?} {lent:?} {maybe:?} {all:?} {slice:?} {nested:?} {other:?} {zero:?}")
}

/// Conversions that can fail.
#[tool(name = "conversions.fallible")]
pub fn fallible(#[arg(via(u8))] even: Even, #[arg(via(u8))] all: Vec<Even>) -> String {
    format!("{even:?} {all:?}")
}

/// Conversions from a struct.
#[tool(name = "conversions.via_struct")]
pub fn via_struct(#[arg(via(WrittenSpan))] span: &Span, #[arg(via(WrittenSpan))] others: Vec<Span>) -> String {
    format!("{}..{} {others:?}", span.from, span.to)
}

/// Values that a module reads.
#[tool(name = "conversions.with")]
pub fn with(
    #[arg(with = "seconds", any)] wait: Seconds,
    #[arg(with = "seconds", via(f64), max = 60)] limit: &Seconds,
    #[arg(with = "crate::conversions::seconds", any)] maybe: Option<Seconds>,
    #[arg(with = "seconds", via(f64))] all: &[Seconds],
) -> String {
    format!("{wait:?} {limit:?} {maybe:?} {all:?}")
}

/// A pull request that does not serialize.
#[derive(Clone, Debug, PartialEq)]
pub struct PullRequest {
    /// The number.
    pub number: u32,
}

impl fmt::Display for PullRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.number)
    }
}

/// The part of a pull request that a model reads.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Summary {
    number: u32,
}

fn summary(request: PullRequest) -> Summary {
    Summary { number: request.number }
}

fn number(request: &PullRequest) -> u32 {
    request.number
}

/// Shown as text.
#[tool(name = "conversions.display", result = display)]
pub fn display(number: u32) -> PullRequest {
    PullRequest { number }
}

/// Shown in its debug form, if there is one.
#[tool(name = "conversions.debug", result = debug)]
pub async fn debug(number: u32) -> Result<Option<PullRequest>, String> {
    match number {
        0 => Ok(None),
        1000.. => Err(format!("there is no request {number}")),
        _ => Ok(Some(PullRequest { number })),
    }
}

/// A list of texts.
#[tool(name = "conversions.list", result = display)]
pub fn list(count: u8) -> Vec<PullRequest> {
    (1..=u32::from(count)).map(|number| PullRequest { number }).collect()
}

/// Converted by value.
#[tool(name = "conversions.by_value", result = summary)]
pub fn by_value(number: u32) -> Result<PullRequest, String> {
    Ok(PullRequest { number })
}

/// Converted by reference, each item of an iterator.
#[tool(name = "conversions.by_reference", result = number)]
pub fn by_reference(count: u8) -> impl Iterator<Item = PullRequest> {
    list(count).into_iter()
}

/// Converted by a path, each item of a stream.
#[tool(name = "conversions.streamed", result = self::summary)]
pub fn streamed(count: u8) -> impl Stream<Item = Result<PullRequest, String>> {
    tokio_stream::iter(list(count).into_iter().map(Ok))
}

/// A service whose types serde does not know.
pub struct Repository {
    requests: Vec<PullRequest>,
}

impl Default for Repository {
    fn default() -> Self {
        Self { requests: list(2) }
    }
}

/// Conversions by class.
#[tool_class(
    prefix = "repository",
    types(CommitSha = parse, RunId = via(u64), conversions::Seconds = with("seconds", via(f64))),
    results(PullRequest = debug)
)]
impl Repository {
    /// All types at once.
    pub fn types(
        &self,
        sha: &CommitSha,
        runs: Option<Vec<RunId>>,
        wait: crate::conversions::Seconds,
        #[arg(parse)] level: Level,
    ) -> String {
        format!("{sha} {runs:?} {wait:?} {level:?}")
    }

    /// One request.
    pub fn request(&self, number: u32) -> Option<&PullRequest> {
        self.requests.iter().find(|request| request.number == number)
    }

    /// All requests.
    #[tool(result = display)]
    pub fn requests(&self) -> &[PullRequest] {
        &self.requests
    }

    /// Runs again, by an id that its preview also takes.
    #[tool(preview = "show_rerun")]
    pub fn rerun(&self, run: RunId) -> u64 {
        run.0
    }

    fn show_rerun(&self, run: &RunId) -> Effect {
        Effect::Text(format!("run {} again", run.0))
    }

    /// The number of requests.
    pub fn count(&self) -> usize {
        self.requests.len()
    }
}

/// An error that is only `Debug`.
#[derive(Debug)]
pub struct QuietError(u32);

/// An error in its debug form.
#[tool(name = "conversions.quiet", error = debug)]
pub fn quiet(number: u32) -> Result<u32, QuietError> {
    if number > 9 { Err(QuietError(number)) } else { Ok(number) }
}

/// An error that a function converts, in an item of a stream.
#[tool(name = "conversions.quiet_items", error = code)]
pub fn quiet_items(number: u32) -> impl tokio_stream::Stream<Item = Result<u32, QuietError>> {
    tokio_stream::iter([quiet(number)])
}

fn code(error: &QuietError) -> String {
    format!("E{}", error.0)
}

/// Any JSON, for `impl Serialize`.
#[tool(name = "conversions.json")]
pub fn json_text<T: serde::Serialize>(
    value: impl serde::Serialize,
    more: Option<&(impl serde::Serialize + ?Sized)>,
    list: &[T],
) -> String {
    let texts = [serde_json::to_string(&value), serde_json::to_string(&more), serde_json::to_string(&list)];
    texts.into_iter().map(|text| text.unwrap_or_default()).collect::<Vec<_>>().join(" ")
}

/// Conversions in a trait.
#[tool_class(prefix = "runs", types(RunId = via(u64)), results(RunId = debug))]
pub trait Runs: Send + Sync {
    /// The next run.
    fn next(&self, run: RunId) -> RunId;
}

impl Runs for Repository {
    fn next(&self, run: RunId) -> RunId {
        RunId(run.0.saturating_add(1))
    }
}

/// A service of another crate.
#[derive(Default)]
pub struct Foreign;

impl Foreign {
    /// Returns the request of a commit.
    #[must_use]
    pub fn request_of(&self, sha: &CommitSha) -> Option<PullRequest> {
        (sha.0 > 0).then(|| PullRequest { number: sha.0.into() })
    }
}

tools! {
    #[tool_class(types(CommitSha = parse), results(PullRequest = display))]
    impl Foreign as "foreign_requests" {
        /// The request of a commit.
        fn request_of(&self, sha: &CommitSha) -> Option<PullRequest>;
    }
}
