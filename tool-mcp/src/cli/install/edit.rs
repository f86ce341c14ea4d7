//! Adding an entry to the text of a configuration file.

use std::fmt;
use std::path::PathBuf;

use serde_json::{Map, Value};

use super::{json, yaml};

/// An entry and its place.
#[derive(Debug)]
pub(super) struct ConfigEdit<'a> {
    /// The key of the object with a server per key.
    pub(super) section: &'static str,
    /// The key of the server.
    pub(super) name: String,
    pub(super) entry: &'a Value,
}

/// The format of a configuration file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConfigFormat {
    /// JSON, with comments and trailing commas.
    Json,
    Yaml,
}

impl ConfigFormat {
    /// Returns a file with this entry only.
    pub(super) fn render(self, edit: &ConfigEdit<'_>) -> String {
        match self {
            Self::Json => json::render(edit),
            Self::Yaml => yaml::render(edit),
        }
    }

    /// Returns the text with the entry, or `None` if the entry is there already.
    ///
    /// The result is parsed again: it must have the entry, and everything else must be the same.
    pub(super) fn apply(self, text: &str, edit: &ConfigEdit<'_>, force: bool) -> Result<Option<String>, EditError> {
        let parse = |text: &str| match self {
            Self::Json => json::parse(text),
            Self::Yaml => yaml::parse(text),
        };
        let before = match parse(text).map_err(EditError::Syntax)? {
            Value::Null => Map::new(),
            Value::Object(file) => file,
            _ => return Err(EditError::NotObject(None)),
        };
        let mut servers = match before.get(edit.section) {
            None | Some(Value::Null) => Map::new(),
            Some(Value::Object(servers)) => servers.clone(),
            Some(_) => return Err(EditError::NotObject(Some(edit.section))),
        };
        match servers.get(&edit.name) {
            Some(existing) if existing == edit.entry => return Ok(None),
            Some(_) if !force => return Err(EditError::Different(edit.name.clone())),
            _ => servers.insert(edit.name.clone(), edit.entry.clone()),
        };
        let edited = match self {
            Self::Json => json::insert(text, edit),
            Self::Yaml => yaml::insert(text, edit),
        };
        let mut expected = before;
        expected.insert(edit.section.to_owned(), Value::Object(servers));
        match edited {
            Some(edited) if parse(&edited) == Ok(Value::Object(expected)) => Ok(Some(edited)),
            _ => Err(EditError::Layout(self.render(edit))),
        }
    }
}

/// The reason why a text was not edited.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum EditError {
    /// The text is not valid.
    Syntax(String),
    /// The file, or its section, is not an object.
    NotObject(Option<&'static str>),
    /// Another entry has the same name.
    Different(String),
    /// The layout cannot be edited. Has the entry to add by hand.
    Layout(String),
}

impl fmt::Display for EditError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(error) => write!(f, "{error}; correct the file and run the command again"),
            Self::NotObject(None) => f.write_str("the file is not an object"),
            Self::NotObject(Some(section)) => write!(f, "`{section}` is not an object"),
            Self::Different(name) => {
                write!(f, "`{name}` exists with other settings; replace it with `--force`, or choose another `--name`")
            }
            Self::Layout(entry) => {
                write!(f, "the entry cannot be inserted without changing others; add it by hand:\n{entry}")
            }
        }
    }
}

/// The error of an installation.
#[derive(Debug)]
pub(crate) enum InstallError {
    /// Neither a command nor a URL was given.
    NoServer,
    /// A name with characters that clients do not accept.
    Name(String),
    /// A URL of another scheme.
    Url(String),
    /// Claude Desktop with a URL.
    NoUrls,
    /// A client without files per project.
    NoProjects(&'static str),
    /// The project is not a directory.
    NoProject(PathBuf),
    /// The home directory is unknown.
    NoHome,
    /// The file was not edited.
    Edit(PathBuf, EditError),
    /// The file could not be read or written: verb, path, error.
    File(&'static str, PathBuf, std::io::Error),
    /// The output could not be written.
    Output(std::io::Error),
}

impl fmt::Display for InstallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoServer => f.write_str("no server: pass `--url`, or a command after `--`"),
            Self::Name(name) => {
                write!(f, "`{name}` is not a server name: use letters, digits, `-` and `_`, with `--name`")
            }
            Self::Url(url) => write!(f, "{url} is not the URL of an MCP server: use http or https"),
            Self::NoUrls => f.write_str(
                "the configuration of Claude Desktop has local commands only; add the URL under Settings, Connectors",
            ),
            Self::NoProjects(client) => write!(f, "{client} has no configuration per project; leave out `--project`"),
            Self::NoProject(directory) => write!(f, "{} is not a directory", directory.display()),
            Self::NoHome => f.write_str("the home directory is unknown; pass the file with `--config`"),
            Self::Edit(file, error) => write!(f, "{} is unchanged: {error}", file.display()),
            Self::File(verb, file, error) => write!(f, "cannot {verb} {}: {error}", file.display()),
            Self::Output(error) => write!(f, "cannot print: {error}"),
        }
    }
}

impl std::error::Error for InstallError {}
