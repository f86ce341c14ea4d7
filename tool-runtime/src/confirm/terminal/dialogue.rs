//! The dialogue about one question.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::Value;

use super::render::render;
use super::screen::DialogueScreen;
use crate::confirm::{Decision, Question};
use crate::display::escape;

const NO_TERMINAL: &str = "it needs the user's approval, and there is no terminal to ask on; continue without it";
/// A hint for the user and the log, since the model cannot act on it.
const NO_TERMINAL_HINT: &str =
    "there is no terminal to ask on; in CI, use the policy `yolo` (`--policy yolo`) or a dry run (`--dry-run`)";
const NO_ANSWER: &str = "the input ended before the user answered";

pub(super) struct QuestionDialogue<'a> {
    screen: &'a mut dyn DialogueScreen,
    question: Question,
    edited: bool,
    withdrawn: &'a AtomicBool,
}

/// A parsed line of input.
enum DialogueInput {
    Run,
    Refuse(Option<String>),
    Abort,
    Edit,
    InFull,
    Unclear,
}

impl<'a> QuestionDialogue<'a> {
    pub(super) fn new(screen: &'a mut dyn DialogueScreen, question: Question, withdrawn: &'a AtomicBool) -> Self {
        Self { screen, question, edited: false, withdrawn }
    }

    pub(super) fn run(mut self) -> Decision {
        if !self.screen.is_terminal() {
            // On the screen or, if standard error is closed as well, in the log: a log to standard error would repeat it.
            let shown =
                self.screen.show(&format!("`{}` was refused: {NO_TERMINAL_HINT}\n", escape(&self.question.tool)));
            if shown.is_err() {
                tracing::warn!(tool = self.question.tool, "{NO_TERMINAL_HINT}");
            }
            return Decision::refuse(NO_TERMINAL);
        }
        match self.ask() {
            Ok(decision) => decision,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Decision::refuse(NO_ANSWER),
            Err(error) => {
                tracing::error!(tool = self.question.tool, %error, "the terminal cannot be read or written");
                Decision::refuse("the user could not be asked")
            }
        }
    }

    fn ask(&mut self) -> io::Result<Decision> {
        let mut folded = self.show_question(false)?;
        loop {
            match self.answer(folded)? {
                DialogueInput::Run if self.edited => return Ok(Decision::Edit(self.question.arguments.take())),
                DialogueInput::Run => return Ok(Decision::Run),
                DialogueInput::Refuse(reason) => return Ok(Decision::Refuse(reason)),
                DialogueInput::Abort => return Ok(Decision::Abort),
                DialogueInput::InFull => folded = self.show_question(true)?,
                DialogueInput::Unclear => {
                    self.screen.show("Type y, n (optionally with a reason for the model), a, e or f.\n")?
                }
                // Saving a file is not an approval: ask again about the edited arguments.
                DialogueInput::Edit => {
                    self.edit()?;
                    folded = self.show_question(false)?;
                }
            }
        }
    }

    /// Shows the question. Returns `true` if parts of it are folded.
    fn show_question(&mut self, in_full: bool) -> io::Result<bool> {
        let (text, folded) = render(&self.question, self.edited, in_full, self.screen.has_colours());
        self.screen.show(&text)?;
        Ok(folded)
    }

    fn answer(&mut self, folded: bool) -> io::Result<DialogueInput> {
        self.screen.show("[y] run  [n] refuse  [a] abort everything  [e] edit")?;
        self.screen.show(if folded { "  [f] in full\n> " } else { "\n> " })?;
        let shown = Instant::now();
        let line = self.read_line()?;
        if self.withdrawn.load(Ordering::Relaxed) {
            self.screen.show("That call has ended; nothing was run.\n")?;
            return Ok(DialogueInput::Refuse(None));
        }
        // Keys that were meant for something else must not answer an unread question.
        if shown.elapsed() < self.screen.reading_time() {
            self.screen.show("That was typed before the question could be read.\n")?;
            return Ok(DialogueInput::Unclear);
        }
        Ok(parse(&line))
    }

    /// Reads a complete line. A line cut off by the end of the input is an error.
    fn read_line(&mut self) -> io::Result<String> {
        let line = self.screen.read_line()?;
        if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Lets the user edit the arguments until they are valid or unchanged.
    fn edit(&mut self) -> io::Result<()> {
        let mut text = self.question.to_edit();
        loop {
            let edited = match self.screen.edit(&text) {
                Some(Ok(edited)) => edited,
                Some(Err(error)) => return self.screen.show(&format!("The editor failed: {error}\n")),
                None => {
                    self.screen.show("The arguments as a JSON object, on one line (empty to keep them)\n> ")?;
                    self.read_line()?
                }
            };
            if edited.trim().is_empty() || edited == text {
                return self.screen.show("The arguments are unchanged.\n");
            }
            match self.question.edited(&edited) {
                Ok(arguments) => {
                    self.replace(arguments);
                    return Ok(());
                }
                Err(error) => {
                    let error = error.to_string();
                    self.screen.show(&format!("Invalid arguments: {}.\n", escape(&error)))?;
                    text = edited;
                }
            }
        }
    }

    /// Replaces the arguments. The preview and the repairs belonged to the old ones.
    fn replace(&mut self, arguments: Value) {
        self.question.arguments = arguments;
        self.question.preview = None;
        self.question.repairs.clear();
        self.edited = true;
    }
}

/// Parses a line of input. Anything but a plain `y` or `yes` does not approve.
fn parse(line: &str) -> DialogueInput {
    // In raw mode, Ctrl-C arrives as a character.
    if line.contains('\u{3}') {
        return DialogueInput::Abort;
    }
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    match (word.to_ascii_lowercase().as_str(), rest.trim()) {
        ("y" | "yes", "") => DialogueInput::Run,
        ("n" | "no", "") => DialogueInput::Refuse(None),
        ("n" | "no", reason) => DialogueInput::Refuse(Some(reason.to_owned())),
        ("a" | "abort", "") => DialogueInput::Abort,
        ("e" | "edit", "") => DialogueInput::Edit,
        ("f" | "full", "") => DialogueInput::InFull,
        _ => DialogueInput::Unclear,
    }
}
