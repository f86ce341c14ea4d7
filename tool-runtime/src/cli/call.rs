//! `tools call`

use std::io::Read;

use super::command::{Call, Format};
use super::{Exit, Report, Result, arguments, exit_of, json, unknown};
use crate::{CancellationToken, Dispatcher, ErrorKind, Progress, ToolCall};

/// Calls a tool, until the token is cancelled. The token is made when the call starts: a Ctrl-C before that, while the
/// arguments are read, ends the process as usual.
pub(super) async fn run(
    tools: &Dispatcher,
    command: &Call,
    stop: impl FnOnce() -> CancellationToken,
) -> Result<Report> {
    let name = command.name.as_str();
    let definition = tools.definition(name).ok_or_else(|| unknown(tools, name))?;
    let json_text = match command.json.as_deref() {
        Some("-") => Some(standard_input()?),
        text => text.map(str::to_owned),
    };
    let arguments = arguments::read(&definition, json_text.as_deref(), &command.arguments)?;
    let stop = stop();
    let call = tools
        .call(ToolCall::new(name, arguments))
        .cancel(stop.clone())
        .with(Progress::to(|report| eprintln!("{report}")));
    let result = if command.dry_run { call.dry_run().await } else { call.await };
    let is_interrupted = stop.is_cancelled();
    // Nothing is left that a Ctrl-C could stop but the process itself.
    stop.cancel();
    let kind = result.error.as_ref().map(|error| error.kind);
    let exit = if is_interrupted && kind.is_some() { Exit::Aborted } else { exit_of(result.error.as_ref()) };
    let report = match command.format {
        Format::Json => Report::out(json(&result)?),
        Format::Text if result.success => Report::out(line(&result.output)),
        Format::Text => Report { err: line(&result.output), ..Report::default() },
    };
    // The runtime would wait for a thread that the tool still blocks.
    let at_once = is_interrupted || kind == Some(ErrorKind::OutcomeUnknown);
    Ok(Report { exit, at_once, ..report })
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|error| format!("the standard input cannot be read: {error}"))?;
    Ok(text)
}

fn line(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}
