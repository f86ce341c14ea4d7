//! Random rules and defaults of `#[arg(..)]` that match the type.

use super::Generator;
use crate::model::{Form, Type};
use crate::words;

/// The kind of rules that values of a type can have.
enum RuleKind {
    Integer,
    Float,
    Text,
    Letter,
    Truth,
    /// A list; `true` if its items are integers.
    List(bool),
    Map,
    Other,
}

impl Generator {
    /// Returns the entries of an `#[arg(..)]`, in some cases.
    pub(super) fn arg(&mut self, form: &Form) -> Option<Vec<String>> {
        if !self.chance(35) {
            return None;
        }
        let mut words = Vec::new();
        if self.chance(80) {
            let kind = self.kind_of_form(form);
            self.rules(&kind, &mut words);
        }
        if self.chance(10) {
            words.push("description = \"Said by `arg`.\"".to_owned());
        }
        if self.chance(8) {
            // A literal default would show the secret.
            let is_shown = words.iter().any(|word| word.starts_with("default ="));
            let secret = self.random.pick(&["secret", "secret = true", "secret = false"]).to_owned();
            words.push(if is_shown { "secret = false".to_owned() } else { secret });
        }
        let has_default = match form {
            Form::Owned(ty) | Form::Lent(ty) => self.has_default(ty),
            Form::Slice(_) => true,
            Form::OptionLent(_) | Form::OptionSlice(_) => true,
            Form::Plain(text) => *text == "&str" || text.starts_with("impl"),
        };
        if has_default && !words.iter().any(|word| word.starts_with("default")) && self.chance(15) {
            words.push("default".to_owned());
        }
        Some(words)
    }

    fn rules(&mut self, kind: &RuleKind, words: &mut Vec<String>) {
        let mut choose =
            |choices: &[&[&str]]| words.extend(self.random.pick(choices).iter().map(|&word| word.to_owned()));
        match kind {
            RuleKind::Integer => choose(&[
                &["min = 1", "max = 100"],
                &["default = 10"],
                &["default = 0x10", "max = 1_00"],
                &["default = 7", "min = 5", "max = 9"],
                &["one_of = [1, 2, 4, 8]"],
                &["one_of = [1, 2]", "default = 2"],
                &["min = -5"],
                &["max = 1000"],
            ]),
            RuleKind::Float => choose(&[
                &["min = 0.5", "max = 1.5"],
                &["default = 2.5"],
                &["default = -1"],
                &["min = 1", "max = 2"],
                &["one_of = [0.5, 1.0]"],
                &["max = 1e3"],
            ]),
            RuleKind::Text => {
                let pattern = format!("pattern = {}", self.random.pick(words::PATTERNS));
                let patterns: &[&str] = &[&pattern];
                words.extend(
                    self.random
                        .pick(&[
                            &["min_length = 2", "max_length = 4"] as &[&str],
                            &["default = \"te\\\"xt\""],
                            &["default = r\"ab\"", "min_length = 1", "max_length = 3"],
                            &["one_of = [\"asc\", \"desc\"]"],
                            &["one_of = [\"a\", \"b\"]", "default = \"b\""],
                            patterns,
                            patterns,
                            patterns,
                        ])
                        .iter()
                        .map(|&word| word.to_owned()),
                );
            }
            RuleKind::Letter => choose(&[&["default = 'c'"], &["one_of = [\"a\", \"b\"]"]]),
            RuleKind::Truth => choose(&[&["default = true"], &["default = false"]]),
            RuleKind::List(true) => {
                choose(&[&["default = [1, 2]"], &["default = []"], &["min_length = 1", "max_length = 3"]])
            }
            RuleKind::List(false) => choose(&[&["default = []"], &["min_length = 1"], &["max_length = 4"]]),
            RuleKind::Map => choose(&[&["min_length = 1"], &["max_length = 4"]]),
            RuleKind::Other => {}
        }
    }

    fn kind_of_form(&self, form: &Form) -> RuleKind {
        match form {
            Form::Owned(ty) | Form::Lent(ty) | Form::OptionLent(ty) => self.kind(ty),
            Form::Slice(ty) | Form::OptionSlice(ty) => RuleKind::List(self.is_integer(ty)),
            Form::Plain(text) if text.contains("[u8]") || text.contains("Item = u16") => RuleKind::List(true),
            Form::Plain(text) if text.contains("Iterator") || text.contains("[&") => RuleKind::List(false),
            Form::Plain(_) => RuleKind::Text,
        }
    }

    fn kind(&self, ty: &Type) -> RuleKind {
        let Type::Library(path, arguments) = self.expand(ty) else { return RuleKind::Other };
        match path {
            "std::option::Option" | "std::boxed::Box" => self.kind(&arguments[0]),
            "std::string::String" | "std::path::PathBuf" => RuleKind::Text,
            "char" => RuleKind::Letter,
            "bool" => RuleKind::Truth,
            "f32" | "f64" => RuleKind::Float,
            "std::vec::Vec" | "std::collections::VecDeque" => RuleKind::List(self.is_integer(&arguments[0])),
            "std::collections::HashMap" | "std::collections::BTreeMap" => RuleKind::Map,
            _ if self.is_integer(ty) => RuleKind::Integer,
            _ => RuleKind::Other,
        }
    }

    fn is_integer(&self, ty: &Type) -> bool {
        let ty = self.expand(ty);
        ty.path().is_some_and(|path| !path.contains("::") && matches!(path.as_bytes().first(), Some(b'i' | b'u')))
    }
}
