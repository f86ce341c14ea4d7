//! MCP clients: where their configuration is and what an entry looks like.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::edit::{ConfigFormat, InstallError};
use super::server_entry::{Launch, ServerEntry};

/// An MCP client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code.
    ClaudeCode,
    /// Cursor.
    Cursor,
    /// Visual Studio Code.
    #[value(name = "vscode")]
    VsCode,
    /// Gemini CLI.
    Gemini,
    /// goose.
    Goose,
}

/// The directories that configuration files are in.
#[derive(Clone, Debug)]
pub(super) struct BaseDirectories {
    platform: Platform,
    home: Option<PathBuf>,
    /// `XDG_CONFIG_HOME` on Linux and macOS, `APPDATA` on Windows.
    config: Option<PathBuf>,
}

/// The operating systems whose directories differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Platform {
    Linux,
    MacOs,
    Windows,
}

impl BaseDirectories {
    pub(super) fn from_env() -> Self {
        let platform = match std::env::consts::OS {
            "macos" => Platform::MacOs,
            "windows" => Platform::Windows,
            _ => Platform::Linux,
        };
        let variable = if platform == Platform::Windows { "APPDATA" } else { "XDG_CONFIG_HOME" };
        // The specification of XDG says to ignore relative paths.
        let config = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
        Self { platform, home: std::env::home_dir().filter(|home| !home.as_os_str().is_empty()), config }
    }

    fn home(&self) -> Result<&Path, InstallError> {
        self.home.as_deref().ok_or(InstallError::NoHome)
    }

    /// `~/.config`, or `%APPDATA%` on Windows.
    fn config(&self) -> Result<PathBuf, InstallError> {
        match (&self.config, self.platform) {
            (Some(directory), _) => Ok(directory.clone()),
            (None, Platform::Windows) => Ok(self.home()?.join("AppData").join("Roaming")),
            (None, _) => Ok(self.home()?.join(".config")),
        }
    }

    /// The directory of desktop applications: that of [`config`](Self::config), except on macOS.
    fn applications(&self) -> Result<PathBuf, InstallError> {
        match self.platform {
            Platform::MacOs => Ok(self.home()?.join("Library").join("Application Support")),
            _ => self.config(),
        }
    }
}

impl Client {
    /// Returns the name that users know.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::ClaudeDesktop => "Claude Desktop",
            Self::ClaudeCode => "Claude Code",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Gemini => "Gemini CLI",
            Self::Goose => "goose",
        }
    }

    pub(super) fn format(self) -> ConfigFormat {
        if self == Self::Goose { ConfigFormat::Yaml } else { ConfigFormat::Json }
    }

    /// Returns the key of the object with a server per key.
    pub(super) fn section(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Goose => "extensions",
            _ => "mcpServers",
        }
    }

    /// Returns the key of a server. goose looks extensions up in lower case.
    pub(super) fn key(self, name: &str) -> String {
        if self == Self::Goose { name.to_ascii_lowercase() } else { name.to_owned() }
    }

    /// Returns the path of the user's configuration file, or of a project's.
    pub(super) fn file(self, base: &BaseDirectories, project: Option<&Path>) -> Result<PathBuf, InstallError> {
        if let Some(project) = project {
            let file = match self {
                Self::ClaudeCode => ".mcp.json",
                Self::Cursor => ".cursor/mcp.json",
                Self::VsCode => ".vscode/mcp.json",
                Self::Gemini => ".gemini/settings.json",
                Self::ClaudeDesktop | Self::Goose => return Err(InstallError::NoProjects(self.title())),
            };
            if !project.is_dir() {
                return Err(InstallError::NoProject(project.to_owned()));
            }
            return Ok(project.join(file));
        }
        Ok(match self {
            Self::ClaudeDesktop => base.applications()?.join("Claude").join("claude_desktop_config.json"),
            Self::ClaudeCode => base.home()?.join(".claude.json"),
            Self::Cursor => base.home()?.join(".cursor").join("mcp.json"),
            Self::VsCode => base.applications()?.join("Code").join("User").join("mcp.json"),
            Self::Gemini => base.home()?.join(".gemini").join("settings.json"),
            Self::Goose if base.platform == Platform::Windows => {
                base.config()?.join("Block").join("goose").join("config").join("config.yaml")
            }
            Self::Goose => base.config()?.join("goose").join("config.yaml"),
        })
    }

    /// Returns the entry of a server.
    pub(super) fn entry(self, server: &ServerEntry) -> Result<Value, InstallError> {
        match &server.launch {
            Launch::Command { program, arguments, environment } => Ok(match self {
                Self::Goose => json!({
                    "enabled": true,
                    "type": "stdio",
                    "name": server.name,
                    "description": "",
                    "cmd": program,
                    "args": arguments,
                    "envs": environment,
                    "timeout": 300,
                }),
                Self::VsCode | Self::ClaudeCode => {
                    with_map(json!({"type": "stdio", "command": program, "args": arguments}), "env", environment)
                }
                _ => with_map(json!({"command": program, "args": arguments}), "env", environment),
            }),
            Launch::Http { url, headers, .. } => Ok(match self {
                // Its configuration file has local programs only.
                Self::ClaudeDesktop => return Err(InstallError::NoUrls),
                Self::ClaudeCode | Self::VsCode => with_map(json!({"type": "http", "url": url}), "headers", headers),
                Self::Cursor => with_map(json!({"url": url}), "headers", headers),
                Self::Gemini => with_map(json!({"httpUrl": url}), "headers", headers),
                Self::Goose => json!({
                    "enabled": true,
                    "type": "streamable_http",
                    "name": server.name,
                    "description": "",
                    "uri": url,
                    "headers": headers,
                    "timeout": 300,
                }),
            }),
        }
    }
}

/// Adds a map to an entry unless it is empty.
fn with_map(mut entry: Value, key: &str, map: &Map<String, Value>) -> Value {
    if !map.is_empty() {
        entry[key] = Value::Object(map.clone());
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_platform_has_its_paths() {
        let base = |platform, config: Option<&str>| BaseDirectories {
            platform,
            home: Some("/home/ada".into()),
            config: config.map(PathBuf::from),
        };
        let linux = base(Platform::Linux, None);
        let mac = base(Platform::MacOs, None);
        let windows = base(Platform::Windows, Some("/roaming"));
        for (client, base, expected) in [
            (Client::ClaudeDesktop, &linux, "/home/ada/.config/Claude/claude_desktop_config.json"),
            (Client::ClaudeDesktop, &mac, "/home/ada/Library/Application Support/Claude/claude_desktop_config.json"),
            (Client::ClaudeDesktop, &windows, "/roaming/Claude/claude_desktop_config.json"),
            (Client::ClaudeCode, &linux, "/home/ada/.claude.json"),
            (Client::ClaudeCode, &windows, "/home/ada/.claude.json"),
            (Client::Cursor, &mac, "/home/ada/.cursor/mcp.json"),
            (Client::VsCode, &linux, "/home/ada/.config/Code/User/mcp.json"),
            (Client::VsCode, &mac, "/home/ada/Library/Application Support/Code/User/mcp.json"),
            (Client::VsCode, &windows, "/roaming/Code/User/mcp.json"),
            (Client::VsCode, &base(Platform::Linux, Some("/xdg")), "/xdg/Code/User/mcp.json"),
            (Client::Gemini, &linux, "/home/ada/.gemini/settings.json"),
            (Client::Goose, &linux, "/home/ada/.config/goose/config.yaml"),
            (Client::Goose, &mac, "/home/ada/.config/goose/config.yaml"),
            (Client::Goose, &windows, "/roaming/Block/goose/config/config.yaml"),
            (Client::Goose, &base(Platform::Windows, None), "/home/ada/AppData/Roaming/Block/goose/config/config.yaml"),
        ] {
            assert_eq!(client.file(base, None).unwrap(), Path::new(expected), "{client:?} {base:?}");
        }
    }

    #[test]
    fn a_missing_home_directory_is_an_error() {
        let base = BaseDirectories { platform: Platform::Linux, home: None, config: None };
        for client in Client::value_variants() {
            assert!(matches!(client.file(&base, None), Err(InstallError::NoHome)), "{client:?}");
        }
    }

    #[test]
    fn projects_have_files_of_their_own() {
        let directory = tempfile::tempdir().unwrap();
        let base = BaseDirectories { platform: Platform::Linux, home: None, config: None };
        let file = |client: Client| client.file(&base, Some(directory.path()));
        assert_eq!(file(Client::VsCode).unwrap(), directory.path().join(".vscode/mcp.json"));
        assert!(matches!(file(Client::Goose), Err(InstallError::NoProjects("goose"))));
        let missing = Client::Cursor.file(&base, Some(&directory.path().join("missing")));
        assert!(matches!(missing, Err(InstallError::NoProject(_))));
    }

    #[test]
    fn entries_have_the_form_of_their_client() {
        let environment = [("KEY".to_owned(), "value".to_owned())];
        let local = |client: Client| {
            let launch = Launch::command("server", &["mcp".to_owned()], &environment);
            client.entry(&ServerEntry::new(Some("Notes"), launch).unwrap()).unwrap()
        };
        let plain = json!({"command": "server", "args": ["mcp"], "env": {"KEY": "value"}});
        let typed = json!({"type": "stdio", "command": "server", "args": ["mcp"], "env": {"KEY": "value"}});
        for (client, expected) in [
            (Client::ClaudeDesktop, &plain),
            (Client::Cursor, &plain),
            (Client::Gemini, &plain),
            (Client::ClaudeCode, &typed),
            (Client::VsCode, &typed),
        ] {
            assert_eq!(&local(client), expected, "{client:?}");
        }
        assert_eq!(
            (local(Client::Goose)["cmd"].as_str(), Client::Goose.key("Notes")),
            (Some("server"), "notes".into())
        );

        let remote = |client: Client| {
            let url = url::Url::parse("https://example.com/mcp").unwrap();
            client.entry(&ServerEntry::new(None, Launch::http(&url, &environment).unwrap()).unwrap())
        };
        let headers = json!({"KEY": "value"});
        for (client, key) in [
            (Client::ClaudeCode, "url"),
            (Client::VsCode, "url"),
            (Client::Cursor, "url"),
            (Client::Gemini, "httpUrl"),
            (Client::Goose, "uri"),
        ] {
            let entry = remote(client).unwrap();
            assert_eq!((&entry[key], &entry["headers"]), (&json!("https://example.com/mcp"), &headers), "{client:?}");
        }
        assert!(matches!(remote(Client::ClaudeDesktop), Err(InstallError::NoUrls)));
    }
}
