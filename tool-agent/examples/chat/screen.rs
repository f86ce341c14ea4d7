//! Terminal output.

use std::fmt::Display;
use std::io::{ErrorKind, Write};

use anstyle::{AnsiColor, Style};
use serde_json::Value;
use tool_agent::{AgentEvent, AgentUpdate, CallResult, Message, Mode, Usage};
use tool_runtime::confirm::PolicyArguments;
use tool_runtime::display::{escape, escape_lines, fold, thousands};
use tool_runtime::{Dispatcher, Policy};

use crate::servers;
use crate::setup::Chat;

const DIM: Style = Style::new().dimmed();
const THOUGHT: Style = Style::new().dimmed().italic();
const TOOL: Style = AnsiColor::Cyan.on_default();
const GOOD: Style = AnsiColor::Green.on_default();
const BAD: Style = AnsiColor::Red.on_default();

/// The maximum length of a shown result, and of a shown argument.
const SHOWN: usize = 100;
const VALUE: usize = 40;

/// Prints to standard output. Ends the program if nothing reads it any more, as in `chat | head`. Other errors are noticed
/// when the next line is read.
fn print(text: impl Display) {
    let mut out = anstream::stdout().lock();
    if let Err(error) = write!(out, "{text}").and_then(|()| out.flush())
        && error.kind() == ErrorKind::BrokenPipe
    {
        std::process::exit(0);
    }
}

fn print_line(text: impl Display) {
    print(format_args!("{text}\n"));
}

pub fn greet(chat: &Chat) {
    print_line(format_args!("{DIM}{} · {}{DIM:#}", chat.model, escape(&chat.folder.display().to_string())));
    match &chat.policy {
        PolicyArguments { dry_run: true, .. } => note("Dry run: calls are described, and none runs."),
        PolicyArguments { policy: Policy::Yolo, .. } => note("Calls run without asking you."),
        PolicyArguments { policy: Policy::ConfirmAll, .. } => note("Every call asks you first."),
        _ => {}
    }
    if let Some(servers) = &chat.servers {
        servers::describe(servers).iter().for_each(|line| note(line));
    }
    if chat.is_second {
        note("Another chat has the newest conversation of this folder open. This is a new one.");
    }
    if !chat.before.is_empty() {
        note(&format!("Continuing a conversation of {} messages; /new starts another.", chat.before.len()));
        let last = chat.before.iter().rposition(|message| matches!(message, Message::User { .. }));
        history(&chat.before[last.unwrap_or_default()..]);
        if !matches!(chat.before.last(), Some(Message::Assistant(said)) if !said.is_cut) {
            note("The last response is incomplete; /again continues.");
        }
    }
    note("Type /help for a list of commands.");
}

pub fn prompt(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "plan> ",
        Mode::PlanReading => "plan (reading)> ",
        _ => "build> ",
    }
}

pub fn note(text: &str) {
    print_line(format_args!("{DIM}{text}{DIM:#}"));
}

pub fn tools(tools: &Dispatcher) {
    for (name, tool) in tools.definitions().iter() {
        let kind = if tool.sensitive { " (asks first)" } else { "" };
        let description = tool.description.split_inclusive(". ").next().unwrap_or_default().trim_end();
        print_line(format_args!("{TOOL}{}{TOOL:#}{DIM}{kind}{DIM:#} {}", escape(name), escape(description)));
    }
}

pub fn history(messages: &[Message]) {
    for message in messages {
        match message {
            Message::User { text } => print_line(format_args!("{DIM}>{DIM:#} {}", lines(text))),
            Message::Assistant(said) => {
                if !said.text.is_empty() {
                    print_line(lines(&said.text));
                }
                for call in &said.calls {
                    let (name, arguments) = (escape(&call.name), brief(&call.arguments));
                    print_line(format_args!("{TOOL}●{TOOL:#} {name} {DIM}{arguments}{DIM:#}"));
                }
            }
            Message::Tools { results } => results.iter().for_each(|result| print_line(ended(result))),
            _ => {}
        }
    }
}

/// The output of a run.
#[derive(Default)]
pub struct Screen {
    at: OutputKind,
}

/// The kind of the last output.
#[derive(Clone, Copy, Default, PartialEq)]
enum OutputKind {
    #[default]
    LineStart,
    Text,
    Thought,
}

impl Screen {
    pub fn show(&mut self, update: AgentUpdate) {
        match update {
            AgentUpdate::Event { event, .. } => self.tell(&event),
            AgentUpdate::Missed(events) => self.line(&format!("{DIM}{events} events were missed{DIM:#}")),
            _ => {}
        }
    }

    fn tell(&mut self, event: &AgentEvent) {
        match event {
            AgentEvent::Text { text } => self.append(OutputKind::Text, &lines(text)),
            AgentEvent::Thinking { text } => self.append(OutputKind::Thought, &lines(text)),
            AgentEvent::CallStarted { tool, arguments, .. } => {
                self.line(&format!("{TOOL}●{TOOL:#} {} {DIM}{}{DIM:#}", escape(tool), named(arguments)));
            }
            AgentEvent::CallProgress { progress, .. } => self.line(&format!("  {DIM}… {}{DIM:#}", reported(progress))),
            AgentEvent::CallFinished(result) => self.line(&ended(result)),
            AgentEvent::Retrying { why, after } => {
                let (why, after) = (why.to_string(), after.as_secs().max(1));
                self.line(&format!("{DIM}{}; retrying in {after} s{DIM:#}", escape(&why)));
            }
            _ => {}
        }
    }

    /// Shows the end of a run: the error, if any, and the tokens used.
    pub fn end(&mut self, wrong: Option<&str>, usage: Usage) {
        if let Some(wrong) = wrong {
            self.line(&format!("{BAD}{}{BAD:#}", escape(wrong)));
        }
        self.leave();
        if usage.total() > 0 {
            let (input, output) = (thousands(usage.input), thousands(usage.output));
            note(&format!("{input} input tokens, {output} output tokens"));
        }
    }

    fn append(&mut self, at: OutputKind, text: &str) {
        if self.at != at {
            self.leave();
        }
        match at {
            OutputKind::Thought => print(format_args!("{THOUGHT}{text}{THOUGHT:#}")),
            _ => print(text),
        }
        self.at = at;
    }

    fn line(&mut self, text: &str) {
        self.leave();
        print_line(text);
    }

    /// Moves to the beginning of a line.
    pub fn leave(&mut self) {
        if self.at != OutputKind::LineStart {
            print_line("");
            self.at = OutputKind::LineStart;
        }
    }
}

fn ended(result: &CallResult) -> String {
    let (tool, first) = (escape(&result.name), brief(result.result.output.trim()));
    match result.result.success {
        true => format!("  {GOOD}✓{GOOD:#} {tool} {DIM}{first}{DIM:#}"),
        false => format!("  {BAD}✗{BAD:#} {tool} {first}"),
    }
}

/// Formats progress: the output of a command, or other data.
fn reported(progress: &Value) -> String {
    match progress.get("text").unwrap_or(progress) {
        Value::String(text) => brief(text),
        other => named(other),
    }
}

/// Formats arguments as `name=value`.
fn named(arguments: &Value) -> String {
    let Some(arguments) = arguments.as_object() else { return String::new() };
    let one = |(name, value): (&String, &Value)| {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let (shown, cut) = fold(&value, VALUE);
        format!("{}={}{}", escape(name), escape(shown), if cut > 0 { "…" } else { "" })
    };
    arguments.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of a text, on one line.
fn brief(text: &str) -> String {
    let (first, more) = (text.lines().next().unwrap_or_default(), text.lines().count().saturating_sub(1));
    let (shown, cut) = fold(first, SHOWN);
    let rest = match (cut, more) {
        (0, 0) => String::new(),
        (_, 0) => " …".to_owned(),
        (_, 1) => " … (1 more line)".to_owned(),
        (_, more) => format!(" … ({more} more lines)"),
    };
    format!("{}{rest}", escape(shown))
}

/// Sanitizes a model's text for the terminal, keeping its line breaks.
fn lines(text: &str) -> String {
    let mut shown = escape_lines(text).collect::<Vec<_>>().join("\n");
    if text.ends_with('\n') {
        shown.push('\n');
    }
    shown
}
