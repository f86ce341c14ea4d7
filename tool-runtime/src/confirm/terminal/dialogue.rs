//! One question, until it is answered.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde_json::Value;

use super::render::render;
use super::screen::Screen;
use crate::confirm::{Decision, Question};
use crate::display::escape;

const NO_TERMINAL: &str = "it needs a person's consent, and there is no terminal to ask on; go on without it";
/// For the log, since a model could not act on it.
const WITHOUT_TERMINAL: &str = "there is no terminal to ask on; where nobody can be asked, as in CI, run with \
                                `Policy::Yolo` or as a dry run";
const NO_ANSWER: &str = "the input ended before anyone had answered";

pub(super) struct Dialogue<'a> {
    screen: &'a mut dyn Screen,
    question: Question,
    edited: bool,
    withdrawn: &'a AtomicBool,
}

/// What a person typed.
enum Answer {
    Run,
    Refuse(Option<String>),
    Abort,
    Edit,
    InFull,
    Unclear,
}

impl<'a> Dialogue<'a> {
    pub(super) fn new(screen: &'a mut dyn Screen, question: Question, withdrawn: &'a AtomicBool) -> Self {
        Self { screen, question, edited: false, withdrawn }
    }

    pub(super) fn hold(mut self) -> Decision {
        if !self.screen.is_terminal() {
            tracing::warn!(tool = self.question.tool, "{WITHOUT_TERMINAL}");
            return Decision::refuse(NO_TERMINAL);
        }
        match self.ask() {
            Ok(decision) => decision,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Decision::refuse(NO_ANSWER),
            Err(error) => Decision::refuse(format!("nobody could be asked: {error}")),
        }
    }

    fn ask(&mut self) -> io::Result<Decision> {
        let mut folded = self.show_question(false)?;
        loop {
            match self.answer(folded)? {
                Answer::Run if self.edited => return Ok(Decision::Edit(self.question.arguments.take())),
                Answer::Run => return Ok(Decision::Run),
                Answer::Refuse(reason) => return Ok(Decision::Refuse(reason)),
                Answer::Abort => return Ok(Decision::Abort),
                Answer::InFull => folded = self.show_question(true)?,
                Answer::Unclear => self.screen.show("Type y, n (a reason for the model may follow), a, e or f.\n")?,
                // Leaving an editor is no consent, and what was saved may not be what was meant: ask again.
                Answer::Edit => {
                    self.edit()?;
                    folded = self.show_question(false)?;
                }
            }
        }
    }

    /// Whether some of it was folded.
    fn show_question(&mut self, in_full: bool) -> io::Result<bool> {
        let (text, folded) = render(&self.question, self.edited, in_full, self.screen.has_colours());
        self.screen.show(&text)?;
        Ok(folded)
    }

    fn answer(&mut self, folded: bool) -> io::Result<Answer> {
        self.screen.show("[y] run  [n] refuse  [a] abort everything  [e] edit")?;
        self.screen.show(if folded { "  [f] in full\n> " } else { "\n> " })?;
        let shown = Instant::now();
        let line = self.read_line()?;
        if self.withdrawn.load(Ordering::Relaxed) {
            self.screen.show("That call is over; nothing was run.\n")?;
            return Ok(Answer::Refuse(None));
        }
        // Keys that were meant for something else must not answer a question that nobody has read.
        if shown.elapsed() < self.screen.reading_time() {
            self.screen.show("That was typed before the question could be read.\n")?;
            return Ok(Answer::Unclear);
        }
        Ok(understand(&line))
    }

    /// A whole line. One that the end of the input has cut off may not be what was meant.
    fn read_line(&mut self) -> io::Result<String> {
        let line = self.screen.read_line()?;
        if line.ends_with('\n') { Ok(line) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    /// Has the arguments edited, until they can be taken or the person gives up.
    fn edit(&mut self) -> io::Result<()> {
        let mut text = self.question.to_edit();
        loop {
            let edited = match self.screen.edit(&text) {
                Some(Ok(edited)) => edited,
                Some(Err(error)) => return self.screen.show(&format!("The editor failed: {error}\n")),
                None => {
                    self.screen
                        .show("The arguments as a JSON object, on one line (nothing leaves them as they are)\n> ")?;
                    self.read_line()?
                }
            };
            if edited.trim().is_empty() || edited == text {
                return self.screen.show("Nothing was changed.\n");
            }
            match self.question.edited(&edited) {
                Ok(arguments) => {
                    self.replace(arguments);
                    return Ok(());
                }
                Err(error) => {
                    let error = error.to_string();
                    self.screen.show(&format!("Once more, please: {}.\n", escape(&error)))?;
                    text = edited;
                }
            }
        }
    }

    /// The preview and the repairs were those of other arguments.
    fn replace(&mut self, arguments: Value) {
        self.question.arguments = arguments;
        self.question.preview = None;
        self.question.repairs.clear();
        self.edited = true;
    }
}

/// Only a clear yes is one.
fn understand(line: &str) -> Answer {
    // A terminal in raw mode passes Ctrl-C on.
    if line.contains('\u{3}') {
        return Answer::Abort;
    }
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    match (word.to_ascii_lowercase().as_str(), rest.trim()) {
        ("y" | "yes", "") => Answer::Run,
        ("n" | "no", "") => Answer::Refuse(None),
        ("n" | "no", reason) => Answer::Refuse(Some(reason.to_owned())),
        ("a" | "abort", "") => Answer::Abort,
        ("e" | "edit", "") => Answer::Edit,
        ("f" | "full", "") => Answer::InFull,
        _ => Answer::Unclear,
    }
}
