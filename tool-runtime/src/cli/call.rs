//! `tools call`

use std::io::Read;

use super::command::{Call, Format};
use super::{Report, Result, arguments, exit_of, json, unknown};
use crate::{CancellationToken, Dispatcher, Progress, ToolCall};

pub(super) async fn run(tools: &Dispatcher, command: &Call) -> Result<Report> {
    let name = command.name.as_str();
    let definition = tools.definition(name).ok_or_else(|| unknown(tools, name))?;
    let json_text = match command.json.as_deref() {
        Some("-") => Some(standard_input()?),
        text => text.map(str::to_owned),
    };
    let arguments = arguments::read(&definition, json_text.as_deref(), &command.arguments)?;
    let stop = CancellationToken::new();
    let call = tools
        .call(ToolCall::new(name, arguments))
        .cancel(stop.clone())
        .with(Progress::to(|report| eprintln!("{report}")));
    let mut call = if command.dry_run { call.dry_run() } else { call };
    let result = tokio::select! {
        result = &mut call => result,
        // Whoever interrupts the program wants the call to end, and its values to be rolled back.
        Ok(()) = tokio::signal::ctrl_c() => {
            stop.cancel();
            call.await
        }
    };
    let exit = exit_of(result.error.as_ref());
    let report = match command.format {
        Format::Json => Report::out(json(&result)?),
        Format::Text if result.success => Report::out(line(&result.output)),
        Format::Text => Report { err: line(&result.output), ..Report::default() },
    };
    Ok(Report { exit, ..report })
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
