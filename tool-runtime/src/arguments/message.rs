//! The text of argument errors: the words around the texts that `tool_model::validate` writes for violations.
//!
//! Behaviour and redaction depend on violations, never on these texts. Tests replace the format to show that.

use tool_model::validate::ViolationKind;

/// Writes the texts of argument errors.
pub(crate) trait MessageFormat {
    /// Writes the expectation of a violation, from which secrets were removed.
    fn expected(&self, kind: &ViolationKind) -> String {
        kind.to_string()
    }

    /// Writes the placeholder for a secret value.
    fn secret(&self) -> String {
        "a secret".to_owned()
    }

    /// Writes the line of one error; `path` is empty for the arguments as a whole.
    fn line(&self, path: &str, received: Option<&str>, expected: &str) -> String {
        let path = if path.is_empty() { String::new() } else { format!("`{path}`: ") };
        match received {
            Some(received) => format!("{path}got {received}, expected {expected}"),
            None => format!("{path}{expected}"),
        }
    }

    /// Writes the message of a refused call; `omitted` is the number of errors without a line.
    fn refusal(&self, tool: &str, lines: &[String], omitted: usize) -> String {
        let mut message = format!("Invalid arguments for `{tool}`:");
        for line in lines {
            message.push_str("\n- ");
            message.push_str(line);
        }
        if omitted > 0 {
            message.push_str(&format!("\n- … and {omitted} more"));
        }
        message
    }
}

/// The texts that models read.
struct EnglishFormat;

impl MessageFormat for EnglishFormat {}

/// Returns the format in use.
pub(crate) fn format() -> &'static dyn MessageFormat {
    #[cfg(test)]
    if let Some(replaced) = testing::REPLACED.get() {
        return replaced;
    }
    &EnglishFormat
}

#[cfg(test)]
pub(crate) mod testing {
    use std::cell::Cell;

    use super::MessageFormat;

    thread_local! {
        pub(super) static REPLACED: Cell<Option<&'static dyn MessageFormat>> = const { Cell::new(None) };
    }

    /// Replaces the format on this thread while `run` runs.
    pub(crate) fn with_format<T>(format: &'static dyn MessageFormat, run: impl FnOnce() -> T) -> T {
        struct Restore(Option<&'static dyn MessageFormat>);
        impl Drop for Restore {
            fn drop(&mut self) {
                REPLACED.set(self.0);
            }
        }
        let _restore = Restore(REPLACED.replace(Some(format)));
        run()
    }
}
