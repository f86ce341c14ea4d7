//! The command that a call requests.

use std::fmt;

use tool_runtime::HandlerError;

/// A shell command line, or a program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RequestedCommand {
    Line(String),
    Program { program: String, arguments: Vec<String> },
}

impl RequestedCommand {
    pub fn new(line: Option<&str>, program: Option<&str>, arguments: &[String]) -> Result<Self, HandlerError> {
        let command = match (line, program) {
            (Some(line), None) if arguments.is_empty() => Self::Line(line.to_owned()),
            (None, Some(program)) => Self::Program { program: program.to_owned(), arguments: arguments.to_vec() },
            _ => {
                return Err(HandlerError::retry(
                    "Pass either `command`, a shell command line, or `program` with its `arguments`.",
                ));
            }
        };
        if command.words().any(|word| word.contains('\0')) {
            return Err(HandlerError::retry("A command cannot contain the character U+0000."));
        }
        if command.words().next().is_none_or(|first| first.trim().is_empty()) {
            return Err(HandlerError::retry("The command is empty."));
        }
        Ok(command)
    }

    fn words(&self) -> impl Iterator<Item = &str> {
        let (first, rest) = match self {
            Self::Line(line) => (line, [].as_slice()),
            Self::Program { program, arguments } => (program, arguments.as_slice()),
        };
        [first].into_iter().chain(rest).map(String::as_str)
    }
}

/// Formats the command as it would be typed into a shell.
impl fmt::Display for RequestedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => f.write_str(line),
            Self::Program { .. } => {
                for (index, word) in self.words().enumerate() {
                    let separator = if index == 0 { "" } else { " " };
                    write!(f, "{separator}{}", quote(word))?;
                }
                Ok(())
            }
        }
    }
}

/// Quotes a word for the shell.
pub(super) fn quote(word: &str) -> String {
    // `try_quote` fails only for U+0000, which `RequestedCommand::new` rejects.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displays_a_command_as_typed_into_a_shell() {
        let arguments = ["-m".to_owned(), "it's done; rm -rf /".to_owned(), String::new()];
        let command = RequestedCommand::new(None, Some("git"), &arguments).unwrap();
        let shown = command.to_string();
        let read: Vec<String> = shlex::split(&shown).unwrap();
        assert_eq!(read, ["git", "-m", "it's done; rm -rf /", ""]);
        assert_eq!(RequestedCommand::new(Some("ls | wc"), None, &[]).unwrap().to_string(), "ls | wc");
    }

    #[test]
    fn rejects_incomplete_and_ambiguous_commands() {
        let some = ["x".to_owned()];
        assert!(RequestedCommand::new(None, None, &[]).is_err());
        assert!(RequestedCommand::new(Some("ls"), Some("ls"), &[]).is_err());
        assert!(RequestedCommand::new(Some("ls"), None, &some).is_err());
        assert!(RequestedCommand::new(Some(" "), None, &[]).is_err());
        assert!(RequestedCommand::new(None, Some(""), &some).is_err());
        assert!(RequestedCommand::new(Some("a\0b"), None, &[]).is_err());
    }
}
