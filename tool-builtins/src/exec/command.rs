//! What a call asks for.

use std::fmt;

use tool_runtime::HandlerError;

/// A line for the shell, or a program with its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Line(String),
    Program { program: String, arguments: Vec<String> },
}

impl Command {
    pub fn new(line: Option<&str>, program: Option<&str>, arguments: &[String]) -> Result<Self, HandlerError> {
        let command = match (line, program) {
            (Some(line), None) if arguments.is_empty() => Self::Line(line.to_owned()),
            (None, Some(program)) => Self::Program { program: program.to_owned(), arguments: arguments.to_vec() },
            _ => {
                return Err(HandlerError::retry(
                    "Give either `command`, a line for the shell, or `program` with its `arguments`.",
                ));
            }
        };
        if command.words().any(|word| word.contains('\0')) {
            return Err(HandlerError::retry("A command cannot hold the character U+0000."));
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

/// As one would type it into a shell.
impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => f.write_str(line),
            Self::Program { .. } => {
                for (index, word) in self.words().enumerate() {
                    let separator = if index == 0 { "" } else { " " };
                    write!(f, "{separator}{}", quoted(word))?;
                }
                Ok(())
            }
        }
    }
}

/// A word as the shell would have to read it.
pub(super) fn quoted(word: &str) -> String {
    // It fails only for the character that no command has.
    shlex::try_quote(word).map_or_else(|_| word.to_owned(), |quoted| quoted.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_shown_as_one_would_type_it() {
        let arguments = ["-m".to_owned(), "it's done; rm -rf /".to_owned(), String::new()];
        let command = Command::new(None, Some("git"), &arguments).unwrap();
        let shown = command.to_string();
        let read: Vec<String> = shlex::split(&shown).unwrap();
        assert_eq!(read, ["git", "-m", "it's done; rm -rf /", ""]);
        assert_eq!(Command::new(Some("ls | wc"), None, &[]).unwrap().to_string(), "ls | wc");
    }

    #[test]
    fn half_a_command_is_none() {
        let some = ["x".to_owned()];
        assert!(Command::new(None, None, &[]).is_err());
        assert!(Command::new(Some("ls"), Some("ls"), &[]).is_err());
        assert!(Command::new(Some("ls"), None, &some).is_err());
        assert!(Command::new(Some(" "), None, &[]).is_err());
        assert!(Command::new(None, Some(""), &some).is_err());
        assert!(Command::new(Some("a\0b"), None, &[]).is_err());
    }
}
