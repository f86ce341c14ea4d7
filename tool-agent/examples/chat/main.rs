//! A chat in the terminal, with the built-in tools on a folder.
//!
//! ```sh
//! cargo run -p tool-agent --example chat -- some/folder
//! TOOL_MODEL=anthropic/claude-sonnet-5-5 cargo run -p tool-agent --example chat -- some/folder
//! ```
//!
//! Without `TOOL_MODEL` there is no language model: what answers finds tools by the words of what is said. Conversations
//! are kept, and the newest one of a folder goes on, unless another chat has it open. `/help` says the rest.

mod arguments;
mod asking;
mod command;
mod keep;
mod screen;
mod setup;

use std::error::Error;
use std::process::ExitCode;

use clap::Parser;
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;
use tokio::runtime::Runtime;
use tool_agent::{Mode, Run, RunEnding};
use tool_runtime::CancellationToken;

use self::arguments::Arguments;
use self::asking::Order;
use self::command::Command;
use self::setup::Chat;

fn main() -> ExitCode {
    match chat(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            anstream::eprintln!("chat: {error}");
            ExitCode::FAILURE
        }
    }
}

fn chat(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let mut chat = runtime.block_on(Chat::new(arguments))?;
    let mut editor = DefaultEditor::new()?;
    // There is none the first time.
    let _ = editor.load_history(&chat.lines);
    screen::greet(&chat);
    loop {
        let mode = runtime.block_on(chat.conversation.mode())?;
        let line = match editor.readline(screen::prompt(mode)) {
            Ok(line) => line,
            Err(ReadlineError::Interrupted) => {
                screen::note("Ctrl-D or /quit leaves.");
                continue;
            }
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error.into()),
        };
        let line = line.trim();
        if line.is_empty() {
            continue;
        }
        editor.add_history_entry(line)?;
        editor.append_history(&chat.lines)?;
        match Command::of(line) {
            Ok(None) => {
                let run = chat.conversation.say(line);
                answer(&runtime, &mut chat, run);
            }
            Ok(Some(Command::Quit)) => break,
            Ok(Some(command)) => obey(&runtime, &mut chat, command)?,
            Err(unknown) => screen::note(&unknown),
        }
    }
    runtime.block_on(chat.close());
    Ok(())
}

fn obey(runtime: &Runtime, chat: &mut Chat, command: Command) -> Result<(), Box<dyn Error>> {
    match command {
        Command::Help => screen::note(command::HELP),
        Command::Tools => screen::tools(chat.agent.tools()),
        Command::Mode(mode) => {
            runtime.block_on(chat.conversation.set_mode(mode))?;
            screen::note(meaning(mode));
        }
        Command::History => screen::history(&runtime.block_on(chat.conversation.history())?),
        Command::Again if runtime.block_on(chat.conversation.history())?.is_empty() => {
            screen::note("Nothing was said yet.");
        }
        Command::Again => {
            let run = chat.conversation.resume();
            answer(runtime, chat, run);
        }
        Command::New => {
            // Whoever plans does not mean to change anything all of a sudden.
            let mode = runtime.block_on(chat.conversation.mode())?;
            chat.begin_anew()?;
            runtime.block_on(chat.conversation.set_mode(mode))?;
            screen::note("A new conversation.");
        }
        Command::Quit => {}
    }
    Ok(())
}

fn meaning(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan => "The model has no tools, and says what it would do.",
        Mode::PlanReading => "The model has the tools that change nothing, and says what it would do.",
        _ => "The model has its tools, and asks before it changes anything.",
    }
}

/// Shows an answer as it comes. Ctrl-C stops it, and not the program.
fn answer(runtime: &Runtime, chat: &mut Chat, run: Run) {
    runtime.block_on(async {
        let stop = CancellationToken::new();
        let run = run.cancel(stop.clone());
        let mut events = run.events();
        let (mut screen, mut order) = (screen::Screen::default(), Order::default());
        let mut run = tokio::spawn(run.into_future());
        let outcome = loop {
            tokio::select! {
                biased;
                // While somebody is asked, the question stays the last thing on the screen.
                Some(update) = chat.asking.quiet(events.next()) => {
                    order.hear(&update, chat.agent.tools());
                    screen.show(update);
                }
                Some(asked) = chat.coming.recv() => order.add(asked),
                () = chat.asking.quiet(std::future::ready(())), if order.is_ready() => {
                    screen.leave();
                    order.ask(&chat.asking);
                }
                outcome = &mut run => break outcome,
                Ok(()) = tokio::signal::ctrl_c() => match chat.asking.is_open() {
                    true => screen::note("\nAnswer `a` to stop everything."),
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
            }
            Err(error) => screen.end(Some(&error.to_string()), tool_agent::Usage::default()),
        }
    });
}
