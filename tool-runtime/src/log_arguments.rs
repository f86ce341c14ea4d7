//! Command-line arguments of the log.

use std::io::{self, IsTerminal};

use clap::{Args, ValueEnum};
use tracing::Level;
use tracing_subscriber::EnvFilter;

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
/// arguments.log.install(tracing::Level::INFO);
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
    /// Logs to standard error from now on: the events that `RUST_LOG` selects, or those of the given level and above.
    /// An invalid part of `RUST_LOG` is reported on standard error and ignored.
    ///
    /// Does nothing if the program has installed a subscriber already.
    pub fn install(&self, default: Level) {
        let filter = EnvFilter::builder().with_default_directive(default.into()).from_env_lossy();
        // A reader that closes the pipe must not make the program panic.
        let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr).log_internal_errors(false);
        // The error says that there is a subscriber.
        let _ = match self.log {
            LogFormat::Text => log.with_ansi(has_colours()).try_init(),
            LogFormat::Json => log.json().flatten_event(true).with_ansi(false).try_init(),
        };
    }
}

fn has_colours() -> bool {
    io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
