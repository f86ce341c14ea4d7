//! Command-line arguments of the log.

use std::env;
use std::fmt::{self, Debug};
use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};
use tracing::field::{Field, Visit};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::{RecordFields, VisitOutput};
use tracing_subscriber::fmt::FormatFields;
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};

/// The argument `--log` of a program that uses clap, and the subscriber that it configures.
///
/// ```
/// use clap::Parser;
/// use tool_runtime::diagnostics::{LogArguments, LogFormat};
///
/// #[derive(Parser)]
/// struct Arguments {
///     #[command(flatten)]
///     log: LogArguments,
/// }
///
/// let arguments = Arguments::try_parse_from(["app", "--log", "json"])?;
/// assert_eq!(arguments.log.log, LogFormat::Json);
/// arguments.log.install("info");
/// # Ok::<(), clap::Error>(())
/// ```
#[derive(Args, Clone, Debug, Default)]
pub struct LogArguments {
    /// Format of the log on standard error. The variable `RUST_LOG` sets what is logged, such as `debug` or
    /// `tool_runtime=debug`
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t)]
    pub log: LogFormat,
}

/// Formats of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// One line of text for each event, with colours on a terminal.
    #[default]
    Text,
    /// One line of JSON for each event.
    Json,
}

impl LogArguments {
    /// Logs to standard error from now on: the events that `RUST_LOG` selects or, if it is not set, those that `default`
    /// selects, such as `info` or `info,hyper=warn`. An invalid part is reported on standard error and ignored.
    ///
    /// Does nothing if the program has installed a subscriber already.
    pub fn install(&self, default: &str) {
        let directives = env::var("RUST_LOG").ok().filter(|directives| !directives.trim().is_empty());
        let filter = EnvFilter::builder().parse_lossy(directives.as_deref().unwrap_or(default));
        // A reader that closes the pipe must not make the program panic.
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
        // The error says that there is a subscriber.
        let _ = match self.log {
            LogFormat::Text => log.with_ansi(has_colours()).fmt_fields(TextFields).try_init(),
            LogFormat::Json => log.json().flatten_event(true).with_span_list(false).with_ansi(false).try_init(),
        };
    }
}

fn has_colours() -> bool {
    io::stderr().is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Attributes of a call's span that are the same in all calls of a tool. They would hide the rest of a line.
const CONSTANT_ATTRIBUTES: [&str; 4] =
    ["gen_ai.operation.name", "gen_ai.tool.description", "gen_ai.tool.type", "otel.name"];

/// Formats the fields of events and spans for people.
struct TextFields;

impl<'writer> FormatFields<'writer> for TextFields {
    fn format_fields<R: RecordFields>(&self, writer: Writer<'writer>, fields: R) -> fmt::Result {
        let mut visitor = TextVisitor(DefaultVisitor::new(writer, true));
        fields.record(&mut visitor);
        visitor.0.finish()
    }
}

struct TextVisitor<'a>(DefaultVisitor<'a>);

impl Visit for TextVisitor<'_> {
    fn record_str(&mut self, field: &Field, value: &str) {
        if !CONSTANT_ATTRIBUTES.contains(&field.name()) {
            self.0.record_str(field, value);
        }
    }

    fn record_error(&mut self, field: &Field, value: &(dyn std::error::Error + 'static)) {
        self.0.record_error(field, value);
    }

    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if !CONSTANT_ATTRIBUTES.contains(&field.name()) {
            self.0.record_debug(field, value);
        }
    }
}
