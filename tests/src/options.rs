//! Every key of `#[tool(..)]`.

use tool_runtime::{Effect, tool, tool_class};

/// An explicit name.
#[tool(name = "options.named-tool_2")]
pub fn named() {}

/// All keys of a tool.
#[tool(
    name = "options.all",
    description = "Said by the attribute.",
    instructions = "Call it once.\nThen stop.",
    category = "testing",
    deprecated = "call `options.reading` instead",
    tags = ["b", "a", "b"],
    sensitive,
    destructive,
    idempotent,
    sequential,
    timeout = "1500ms",
    strict,
    repair,
    preview = "what_it_would_do"
)]
pub async fn all(number: u8) -> u8 {
    number
}

/// Describes the effect of the tool above.
pub fn what_it_would_do(number: u8) -> Effect {
    Effect::Text(format!("give back {number}"))
}

/// A tool that only reads.
#[tool(name = "options.reading", read_only, blocking, timeout = "2m")]
pub fn reading() -> u8 {
    1
}

/// Flags that say no.
#[tool(
    name = "options.negated",
    sensitive = false,
    read_only = false,
    destructive = false,
    idempotent = false,
    blocking = false,
    sequential = false,
    strict = false,
    repair = false,
    tags = [],
    inject = []
)]
pub fn negated() -> u8 {
    2
}

/// Flags that say yes.
#[tool(name = "options.affirmed", sensitive = true, read_only = true, strict = true, repair = true, timeout = "1h")]
pub fn affirmed() -> u8 {
    3
}

/// Injected parameters are hidden.
#[tool(name = "options.injected", inject = ["ping_host"])]
pub fn injected(
    ping_host: &str,
    text: &str,
    #[inject] number: u64,
    session: &Session,
    repository: Repository,
) -> String {
    format!("{ping_host} {text} {number} {} {}", session.0, repository.0)
}

/// A session of a database.
#[derive(Clone)]
pub struct Session(pub &'static str);

/// A repository.
#[derive(Clone)]
pub struct Repository(pub &'static str);

/// Where the runtime is.
#[tool(name = "options.located", crate = ::tool_runtime)]
pub fn located() -> u8 {
    4
}

pub struct Located;

#[tool_class(prefix = "options.class", crate = tool_runtime)]
impl Located {
    /// Of a class.
    #[tool(read_only)]
    pub fn located() -> u8 {
        5
    }
}
