//! Manifests: all offered tools by name.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::replace_file::replace_file;
use crate::unique_map::unique;
use crate::{ToolDefinition, registrations, to_pretty};

/// A sorted set of tools, the content of `tools_calls.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Manifest {
    #[serde(deserialize_with = "unique")]
    tools: BTreeMap<String, ToolDefinition>,
}

impl Manifest {
    /// Returns the tools of all crates linked into this program, except those of `manual` classes.
    ///
    /// If two tools have the same name, the one with the lesser handler is included. Building a dispatcher reports the
    /// pair.
    #[must_use]
    pub fn linked() -> Self {
        let mut manifest = Self::default();
        for tool in registrations().into_iter().filter(|tool| !tool.options.manual) {
            manifest.tools.entry(tool.name.to_owned()).or_insert_with(|| tool.definition());
        }
        manifest
    }

    /// Reads a manifest from a file.
    ///
    /// # Errors
    /// If the file cannot be read or is not a manifest; the error names the file and the position.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ManifestError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|error| ManifestError::new(error).in_file(path))?;
        Self::from_json(&text).map_err(|error| error.in_file(path))
    }

    /// Writes the manifest to a file. Returns `false` if the file already had this content.
    ///
    /// The file is replaced atomically: a reader sees either the old file or the new one. Missing directories are
    /// created; a read-only file is an error. A build script writes below `OUT_DIR`; an application can write its
    /// manifest at startup for other programs:
    ///
    /// ```
    /// use tool_model::{Manifest, ManifestError};
    ///
    /// struct Config {
    ///     tools: bool,
    ///     manifest: std::path::PathBuf,
    /// }
    ///
    /// fn start(config: &Config) -> Result<(), ManifestError> {
    ///     if config.tools {
    ///         Manifest::linked().save(&config.manifest)?;
    ///     }
    ///     Ok(())
    /// }
    /// # let manifest = std::env::temp_dir().join(format!("tools_calls-{}.json", std::process::id()));
    /// # start(&Config { tools: false, manifest: manifest.clone() })?;
    /// # assert!(!manifest.exists(), "nothing is written if the tools are disabled");
    /// # start(&Config { tools: true, manifest: manifest.clone() })?;
    /// # assert_eq!(Manifest::load(&manifest)?, Manifest::linked());
    /// # assert!(!Manifest::linked().save(&manifest)?, "nothing has changed");
    /// # std::fs::remove_file(manifest).unwrap();
    /// # Ok::<(), ManifestError>(())
    /// ```
    ///
    /// # Errors
    /// If the file cannot be written; the error names it. The old content is kept.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<bool, ManifestError> {
        let path = path.as_ref();
        replace_file(path, self.to_json())
            .map_err(|error| ManifestError { doing: "write", ..ManifestError::new(error) }.in_file(path))
    }

    /// Reads a manifest from its text.
    ///
    /// # Errors
    /// If the text is not a manifest or two tools have the same name; the error names line and column.
    pub fn from_json(text: &str) -> Result<Self, ManifestError> {
        serde_json::from_str(text).map_err(ManifestError::new)
    }

    /// Returns the exact content of `tools_calls.json`.
    #[must_use]
    pub fn to_json(&self) -> String {
        to_pretty(self)
    }

    /// Returns the tool with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ToolDefinition> {
        self.tools.get(name)
    }

    /// Adds a tool and returns the previous one with the same name.
    pub fn insert(&mut self, name: impl Into<String>, tool: ToolDefinition) -> Option<ToolDefinition> {
        self.tools.insert(name.into(), tool)
    }

    /// Removes a tool and returns it.
    pub fn remove(&mut self, name: &str) -> Option<ToolDefinition> {
        self.tools.remove(name)
    }

    /// Returns the tools, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ToolDefinition)> {
        self.tools.iter().map(|(name, tool)| (name.as_str(), tool))
    }

    /// Returns the number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Returns `true` if there are no tools.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl FromIterator<(String, ToolDefinition)> for Manifest {
    fn from_iter<I: IntoIterator<Item = (String, ToolDefinition)>>(tools: I) -> Self {
        Self { tools: tools.into_iter().collect() }
    }
}

/// An error in reading or writing a manifest.
pub struct ManifestError {
    doing: &'static str,
    path: Option<PathBuf>,
    message: String,
}

impl ManifestError {
    fn new(error: impl fmt::Display) -> Self {
        Self { doing: "read", path: None, message: error.to_string() }
    }

    /// Adds the file to the error.
    pub(crate) fn in_file(self, path: impl Into<PathBuf>) -> Self {
        Self { path: Some(path.into()), ..self }
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "cannot {} the manifest {}: {}", self.doing, path.display(), self.message),
            None => write!(f, "not a manifest: {}", self.message),
        }
    }
}

/// Same as [`Display`](fmt::Display), because `main` prints a returned error with `Debug`.
impl fmt::Debug for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ManifestError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(handler: &str) -> String {
        format!(r#"{{"description": "", "handler": "{handler}", "arguments": {{}}}}"#)
    }

    /// Returns the error for an invalid manifest.
    fn refusal(text: &str) -> String {
        Manifest::from_json(text).expect_err("not a manifest").to_string()
    }

    #[test]
    fn rejects_duplicate_tools_and_names_both_handlers() {
        let text = format!(r#"{{"a": {}, "b": {}, "a": {}}}"#, entry("x::a"), entry("x::b"), entry("y::a"));
        let error = refusal(&text);
        assert!(error.contains("duplicate tool `a`: x::a and y::a"), "{error}");
    }

    #[test]
    fn rejects_duplicate_arguments() {
        let arguments = r#"{"n": {"type": "string"}, "n": {"type": "integer"}}"#;
        let text = format!(r#"{{"a": {}}}"#, entry("x::a").replace("{}", arguments));
        assert!(refusal(&text).contains("duplicate argument `n`"), "{}", refusal(&text));
        for key in ["type", "required", "description", "format"] {
            let value = if key == "required" { "true" } else { "\"string\"" };
            let argument = format!(r#"{{"n": {{"{key}": {value}, "{key}": {value}}}}}"#);
            let text = format!(r#"{{"a": {}}}"#, entry("x::a").replace("{}", &argument));
            assert!(refusal(&text).contains(&format!("duplicate key `{key}`")), "{}", refusal(&text));
        }
    }

    #[test]
    fn an_invalid_value_is_reported_with_its_position() {
        let of_argument = |argument: &str| {
            let text = format!("{{\n\"a\": {}}}", entry("x::a").replace("{}", &format!(r#"{{"n": {argument}}}"#)));
            refusal(&text)
        };
        let cases = [
            (r#"{"type": 1}"#, "`type` must be a string, not 1"),
            (r#"{"required": ["a"]}"#, "`required` must be true or false, not [\"a\"]"),
            (r#"{"description": null}"#, "`description` must be a string, not null"),
            ("3", "expected an argument: an object"),
        ];
        for (argument, expected) in cases {
            let error = of_argument(argument);
            assert!(error.contains(expected) && error.contains("line 2"), "{error}");
        }
        assert!(refusal("[]").contains("expected an object with tools by name"), "{}", refusal("[]"));
    }

    #[test]
    fn an_error_names_the_file_and_the_operation() {
        let gone = std::env::temp_dir().join("gone/tools_calls.json");
        let read = Manifest::load(&gone).expect_err("not there").to_string();
        assert!(read.starts_with("cannot read the manifest ") && read.contains("tools_calls.json: "), "{read}");
        let directory = std::env::temp_dir();
        let written = Manifest::default().save(&directory).expect_err("a directory");
        assert_eq!(
            format!("{written:?}"),
            format!("cannot write the manifest {}: it is a directory", directory.display()),
            "as `main` shows it"
        );
    }
}
