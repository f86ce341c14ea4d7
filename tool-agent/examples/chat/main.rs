//! A chat in the terminal, with the built-in tools on a directory.
//!
//! ```sh
//! cargo run -p tool-agent --example chat -- some/folder
//! TOOL_MODEL=anthropic/claude-sonnet-5-5 cargo run -p tool-agent --example chat -- some/folder
//! ```
//!
//! Without `TOOL_MODEL` an offline demo model picks tools by keywords. Conversations are stored, and the newest one of
//! a directory continues, unless another chat has it open. Type `/help` for the commands.
//!
//! `--mcp mcp.json` and `--plugins DIR` add the tools of MCP servers, `--policy` and `--dry-run` set which calls are
//! confirmed or only described. A user who answers `a` (abort) to a question leaves with exit code 130.

mod arguments;
mod command;
mod confirmer;
#[cfg(all(test, target_os = "linux"))]
mod program_tests;
mod screen;
mod servers;
mod setup;
mod storage;

use std::error::Error;
use std::ops::ControlFlow::{self, Break, Continue};
use std::process::ExitCode;

use clap::Parser;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::runtime::Runtime;
use tool_agent::{Mode, Run, RunEnding};
use tool_runtime::{CancellationToken, Policy};

use self::arguments::Arguments;
use self::command::Command;
use self::confirmer::QuestionOrder;
use self::setup::Chat;

/// The conventional exit code of an interrupted program.
const ABORTED: u8 = 130;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    // Warnings, such as those of a retried request, would appear in the middle of the dialogue.
    arguments.log.install("error");
    run(&arguments).into()
}

/// Runs the program and returns its exit code.
fn run(arguments: &Arguments) -> u8 {
    chat(arguments).unwrap_or_else(|error| {
        anstream::eprintln!("chat: {error}");
        1
    })
}

fn chat(arguments: &Arguments) -> Result<u8, Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut chat = runtime.block_on(Chat::new(arguments))?;
    let mut editor = DefaultEditor::new()?;
    // The file does not exist the first time.
    let _ = editor.load_history(&chat.lines);
    screen::greet(&chat);
    let code = loop {
        let mode = runtime.block_on(chat.conversation.mode())?;
        let line = match editor.readline(screen::prompt(mode)) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                screen::note("Press Ctrl-D or type /quit to leave.");
                continue;
            }
            Err(ReadlineError::Eof) => break 0,
            // The reader of the output is gone, and with it the user.
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => break 0,
            Err(error) => return Err(error.into()),
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        editor.add_history_entry(line)?;
        editor.append_history(&chat.lines)?;
        let flow = match Command::parse(line) {
            Ok(None) => {
                let run = chat.conversation.say(line);
                respond(&runtime, &mut chat, run)
            }
            Ok(Some(command)) => execute(&runtime, &mut chat, command)?,
            Err(unknown) => {
                screen::note(&unknown);
                Continue(())
            }
        };
        if let Break(code) = flow {
            break code;
        }
    };
    runtime.block_on(chat.close());
    Ok(code)
}

/// Executes a command. Breaks with an exit code if the program is to end.
fn execute(runtime: &Runtime, chat: &mut Chat, command: Command) -> Result<ControlFlow<u8>, Box<dyn Error>> {
    match command {
        Command::Help => screen::note(command::HELP),
        Command::Tools => screen::tools(chat.agent.tools()),
        Command::Servers | Command::Reload => {
            let Some(servers) = &chat.servers else {
                screen::note("There are no MCP servers; `chat --mcp FILE` and `chat --plugins DIR` add some.");
                return Ok(Continue(()));
            };
            if matches!(command, Command::Reload) {
                screen::note(&servers::describe_reload(&runtime.block_on(servers.reload())));
            }
            servers::describe(servers).iter().for_each(|line| screen::note(line));
        }
        Command::Mode(mode) => {
            runtime.block_on(chat.conversation.set_mode(mode))?;
            screen::note(describe(mode));
        }
        Command::History => screen::history(&runtime.block_on(chat.conversation.history())?),
        Command::Again if runtime.block_on(chat.conversation.history())?.is_empty() => {
            screen::note("The conversation is empty.");
        }
        Command::Again => {
            let run = chat.conversation.resume();
            return Ok(respond(runtime, chat, run));
        }
        Command::New => {
            // The mode is kept, so that a user who plans does not change anything by accident.
            let mode = runtime.block_on(chat.conversation.mode())?;
            chat.start_conversation()?;
            runtime.block_on(chat.conversation.set_mode(mode))?;
            screen::note("Started a new conversation.");
        }
        Command::Quit => return Ok(Break(0)),
    }
    Ok(Continue(()))
}

fn describe(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "The model has no tools and describes a plan.",
        Mode::PlanReading => "The model has read-only tools and describes a plan.",
        _ => "The model has all tools and asks before it changes anything.",
    }
}

/// Shows a response as it streams. Ctrl-C stops the response, not the program. Breaks if the user has aborted.
fn respond(runtime: &Runtime, chat: &mut Chat, run: Run) -> ControlFlow<u8> {
    runtime.block_on(async {
        let stop = CancellationToken::new();
        let run = run.cancel(stop.clone());
        let mut events = run.events();
        let (mut screen, mut order) =
            (screen::Screen::default(), QuestionOrder::new(matches!(chat.policy.policy, Policy::ConfirmAll)));
        let mut run = tokio::spawn(run.into_future());
        let outcome = loop {
            tokio::select! {
                biased;
                // While a question is open, it stays the last thing on the screen.
                Some(update) = chat.confirmer.quiet(events.next()) => {
                    order.observe(&update, chat.agent.tools());
                    screen.show(update);
                }
                Some(asked) = chat.questions.recv() => order.add(asked),
                () = chat.confirmer.quiet(std::future::ready(())), if order.is_ready() => {
                    screen.leave();
                    order.ask(&chat.confirmer);
                }
                outcome = &mut run => break outcome,
                Ok(()) = tokio::signal::ctrl_c() => match chat.confirmer.is_open() {
                    true => screen::note("\nAnswer `a` to abort."),
                    false => stop.cancel(),
                },
            }
        };
        while let Some(update) = events.try_next() {
            screen.show(update);
        }
        match outcome {
            Ok(outcome) => {
                let ending = &outcome.ending;
                screen.end(
                    (!matches!(ending, RunEnding::Answered)).then(|| ending.to_string()).as_deref(),
                    outcome.usage,
                );
                if *ending == RunEnding::Aborted { Break(ABORTED) } else { Continue(()) }
            }
            Err(error) => {
                screen.end(Some(&error.to_string()), tool_agent::Usage::default());
                Continue(())
            }
        }
    })
}
