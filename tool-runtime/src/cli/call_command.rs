//! The command `tools call`.

use std::io::Read;

use super::command::{CallCommand, ReportFormat};
use super::{CliExit, CommandReport, Result, call_arguments, exit_code, json, unknown};
use crate::{CancellationToken, Dispatcher, ErrorKind, Progress, ToolCall};

/// Calls a tool, until the token is cancelled. The token is created when the call starts: before that, while arguments
/// are read from standard input, Ctrl-C terminates the process as usual.
pub(super) async fn run(
    tools: &Dispatcher,
    command: &CallCommand,
    stop: impl FnOnce() -> CancellationToken,
) -> Result<CommandReport> {
    let name = command.name.as_str();
    let definition = tools.definition(name).ok_or_else(|| unknown(tools, name))?;
    let json_text = match command.json.as_deref() {
        Some("-") => Some(read_standard_input()?),
        text => text.map(str::to_owned),
    };
    let arguments = call_arguments::read(&definition, json_text.as_deref(), &command.arguments)?;
    let stop = stop();
    let call = tools
        .call(ToolCall::new(name, arguments))
        .cancel(stop.clone())
        .with(Progress::to(|report| eprintln!("{report}")));
    let result = if command.dry_run { call.dry_run().await } else { call.await };
    let is_interrupted = stop.is_cancelled();
    // From here on, Ctrl-C ends the process.
    stop.cancel();
    let kind = result.error.as_ref().map(|error| error.kind);
    let exit = if is_interrupted && kind.is_some() { CliExit::Aborted } else { exit_code(result.error.as_ref()) };
    let report = match command.format {
        ReportFormat::Json => CommandReport::out(json(&result)?),
        ReportFormat::Text if result.success => CommandReport::out(with_newline(&result.output)),
        ReportFormat::Text => CommandReport { err: with_newline(&result.output), ..CommandReport::default() },
    };
    // Dropping the runtime would wait for a thread that the tool still blocks.
    let exits_at_once = is_interrupted || kind == Some(ErrorKind::OutcomeUnknown);
    Ok(CommandReport { exit, exits_at_once, ..report })
}

fn read_standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot read standard input: {error}"))?;
    Ok(text)
}

fn with_newline(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}
