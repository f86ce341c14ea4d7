//! Attributes as insertions into source files. Everything else is kept byte for byte, apart from doc lines that describe
//! no parameter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use proc_macro2::LineColumn;

use super::{AdoptReport, ClassCandidate, EditPlace, Fit, MethodCandidate, TypeRole};
use crate::{Error, Result};

/// The style of the annotations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnnotationStyle {
    /// `#[tool_class(opt_in)]`, and `#[tool]` on each method that fits.
    #[default]
    OptIn,
    /// `#[tool_class(exclude = [..], inject = [..])]`: every public method is a tool but those that do not fit.
    All,
}

/// The new text of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileEdit {
    /// The file.
    pub file: PathBuf,
    /// Its text with the attributes.
    pub text: String,
}

/// The insertions into one file: position and text.
type Insertions = Vec<(LineColumn, InsertedText)>;

enum InsertedText {
    /// On a line of its own, if the item begins its line.
    Line(String),
    /// Directly before the token.
    Inline(String),
    /// Nothing: the line is removed.
    Removed,
}

impl AdoptReport {
    /// Returns the classes that are annotated: those that are named, or else all services, if any of their methods fits.
    pub fn chosen<'r>(&'r self, names: &'r [String]) -> impl Iterator<Item = &'r ClassCandidate> {
        self.classes.iter().filter(move |class| {
            let is_named = if names.is_empty() { class.role == TypeRole::Service } else { names.contains(&class.name) };
            is_named && class.can_be_annotated()
        })
    }

    /// Returns the files with the attributes of the chosen classes.
    ///
    /// # Errors
    /// Returns an error if a file cannot be read.
    pub fn edits(&self, names: &[String], style: AnnotationStyle) -> Result<Vec<FileEdit>> {
        let mut files: BTreeMap<PathBuf, Insertions> = BTreeMap::new();
        for class in self.chosen(names) {
            let insertions = files.entry(class.place.file.clone()).or_default();
            match style {
                AnnotationStyle::OptIn => class.opt_in(insertions),
                AnnotationStyle::All => class.all(insertions),
            }
        }
        let edited = files.into_iter().map(|(file, insertions)| {
            let text = std::fs::read_to_string(&file)
                .map_err(|error| Error::new(format!("cannot read {}: {error}", file.display())))?;
            Ok(FileEdit { text: inserted(&text, insertions), file })
        });
        edited.collect()
    }
}

impl ClassCandidate {
    /// Returns `true` if the class is not annotated yet, its instances are known and a method fits.
    #[must_use]
    pub fn can_be_annotated(&self) -> bool {
        !self.is_annotated && !self.has_placeholder() && self.fitting().next().is_some()
    }

    /// Returns `true` if `instances(..)` needs a type that the crate does not determine.
    #[must_use]
    pub fn has_placeholder(&self) -> bool {
        self.placeholders
    }

    fn fitting(&self) -> impl Iterator<Item = &MethodCandidate> {
        self.methods.iter().filter(|method| method.can_be_annotated())
    }

    fn opt_in(&self, insertions: &mut Insertions) {
        let keys: Vec<&str> = std::iter::once("opt_in").chain(self.keys.iter().map(String::as_str)).collect();
        insertions.push(line(self.at, format!("#[tool_runtime::tool_class({})]", keys.join(", "))));
        for method in self.fitting() {
            insertions.push(line(method.at, method.attribute()));
            method.annotate_parameters(insertions, &BTreeSet::new());
            method.remove_stale_lines(insertions);
        }
    }

    fn all(&self, insertions: &mut Insertions) {
        let listed = self.injected_everywhere();
        let quoted = |name: &str| format!("\"{name}\"");
        let excluded: Vec<String> = self
            .methods
            .iter()
            .filter(|method| !method.can_be_annotated() && method.fit != Fit::Constructor)
            .map(|method| quoted(&method.name))
            .collect();
        let injected: Vec<String> = listed.iter().map(|name| quoted(name)).collect();
        let list = |key: &str, names: &[String]| (!names.is_empty()).then(|| format!("{key} = [{}]", names.join(", ")));
        let lists = [list("exclude", &excluded), list("inject", &injected)];
        let keys: Vec<String> = self.keys.iter().cloned().chain(lists.into_iter().flatten()).collect();
        let keys = if keys.is_empty() { String::new() } else { format!("({})", keys.join(", ")) };
        insertions.push(line(self.at, format!("#[tool_runtime::tool_class{keys}]")));
        for method in self.fitting() {
            if !method.keys.is_empty() {
                insertions.push(line(method.at, method.attribute()));
            }
            method.annotate_parameters(insertions, &listed);
            method.remove_stale_lines(insertions);
        }
    }

    /// Returns the names of parameters that are injected wherever a tool of the class has them.
    fn injected_everywhere(&self) -> BTreeSet<String> {
        let is_injected = |method: &MethodCandidate, name: &str| {
            method.parameters.get(name).is_some_and(|attribute| attribute == "#[inject]")
        };
        let names = self.fitting().flat_map(|method| method.parameters.keys());
        let everywhere = names.filter(|name| {
            let mut with = self.fitting().filter(|method| method.parameter_places.contains_key(*name));
            with.all(|method| is_injected(method, name))
        });
        everywhere.cloned().collect()
    }
}

impl MethodCandidate {
    /// Returns `true` if the method fits, and the types of its `generics(..)` are known.
    #[must_use]
    pub fn can_be_annotated(&self) -> bool {
        self.fit.is_fit() && !self.placeholders
    }

    /// Returns `true` if `generics(..)` needs a type that the crate does not determine.
    #[must_use]
    pub fn has_placeholder(&self) -> bool {
        self.placeholders
    }

    fn attribute(&self) -> String {
        match self.keys.is_empty() {
            true => "#[tool_runtime::tool]".to_owned(),
            false => format!("#[tool_runtime::tool({})]", self.keys.join(", ")),
        }
    }

    fn annotate_parameters(&self, insertions: &mut Insertions, listed: &BTreeSet<String>) {
        for (name, attribute) in self.parameters.iter().filter(|(name, _)| !listed.contains(*name)) {
            if let Some(&place) = self.parameter_places.get(name) {
                insertions.push((place, InsertedText::Inline(format!("{attribute} "))));
            }
        }
    }

    fn remove_stale_lines(&self, insertions: &mut Insertions) {
        let removed = self.stale_lines.iter().map(|&line| (LineColumn { line, column: 0 }, InsertedText::Removed));
        insertions.extend(removed);
    }
}

fn line(place: EditPlace, text: String) -> (LineColumn, InsertedText) {
    (place.0, InsertedText::Line(text))
}

/// Returns a text with the insertions.
fn inserted(text: &str, mut insertions: Insertions) -> String {
    const MARK: char = '\u{feff}';
    insertions.sort_by_key(|(place, _)| (place.line, place.column));
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut insertions = insertions.into_iter().peekable();
    let mut edited = String::with_capacity(text.len() + 1024);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        // Columns do not count the byte-order mark.
        let mark = if index == 0 && line.starts_with(MARK) { MARK.len_utf8() } else { 0 };
        let mut done = 0;
        // Several items of a doc comment may have the same line.
        let is_removal = |(place, edit): &(LineColumn, InsertedText)| {
            place.line == index + 1 && matches!(edit, InsertedText::Removed)
        };
        if insertions.next_if(is_removal).is_some() {
            while insertions.next_if(is_removal).is_some() {}
            continue;
        }
        while let Some((place, inserted)) = insertions.next_if(|(place, _)| place.line == index + 1) {
            let offset = line[mark..].char_indices().nth(place.column).map_or(line.len(), |(offset, _)| offset + mark);
            let before = &line[..offset];
            let begins_line = before[mark..].trim().is_empty();
            edited.push_str(&line[done..offset]);
            match inserted {
                InsertedText::Line(attribute) if begins_line => {
                    edited.push_str(&attribute);
                    edited.push_str(newline);
                    edited.push_str(&before[mark..]);
                }
                InsertedText::Line(attribute) => {
                    edited.push_str(&attribute);
                    edited.push(' ');
                }
                InsertedText::Inline(attribute) => edited.push_str(&attribute),
                InsertedText::Removed => {}
            }
            done = offset;
        }
        edited.push_str(&line[done..]);
    }
    edited
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_removed_twice_does_not_drop_later_edits() {
        let at = |line| LineColumn { line, column: 0 };
        let insertions = vec![
            (at(1), InsertedText::Removed),
            (at(1), InsertedText::Removed),
            (at(2), InsertedText::Line("#[tool]".to_owned())),
        ];
        assert_eq!(inserted("/// stale\nfn a() {}\n", insertions), "#[tool]\nfn a() {}\n");
    }
}
