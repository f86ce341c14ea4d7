//! The configuration file that MCP clients share: `{"mcpServers": {"name": {"command": .., "args": [..]}}}`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

#[cfg(not(feature = "auth"))]
use super::endpoint::Endpoint;
use super::server_config::ServerConfig;
use super::variables::expand;

/// The error of an invalid configuration file.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigFileError {
    /// The file.
    pub path: PathBuf,
    /// The path of the key, such as `mcpServers.files.command`; empty for the file as a whole.
    pub key: String,
    /// The description of the error.
    pub message: String,
}

impl fmt::Display for ConfigFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// Same as `Display`, because `main` prints errors with `Debug`.
impl fmt::Debug for ConfigFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConfigFileError {}

fn missing_servers(file: &Value) -> String {
    let hint = match file.get("servers") {
        Some(_) => "; rename its key `servers`, which another client uses, to `mcpServers`",
        None => ", an object with a server per key",
    };
    format!("the key `mcpServers` is missing{hint}")
}

/// A key and its error.
type KeyError = (String, String);

/// Reads the enabled servers of a file.
pub(super) fn read(path: &Path) -> Result<Vec<ServerConfig>, ConfigFileError> {
    let error = |(key, message)| ConfigFileError { path: path.to_owned(), key, message };
    let text = std::fs::read_to_string(path).map_err(|io| error((String::new(), format!("cannot be read: {io}"))))?;
    parse(&text, |name| std::env::var(name).ok()).map_err(error)
}

fn parse(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Vec<ServerConfig>, KeyError> {
    let at_root = |message: String| (String::new(), message);
    let file: Value = serde_json::from_str(text).map_err(|error| at_root(format!("not valid JSON: {error}")))?;
    let servers = file.get("mcpServers").ok_or_else(|| at_root(missing_servers(&file)))?;
    let Value::Object(servers) = servers else {
        return Err(("mcpServers".to_owned(), "must be an object with a server per key".to_owned()));
    };
    let mut read = Vec::new();
    for (name, entry) in servers {
        let key = format!("mcpServers.{name}");
        let Value::Object(entry) = entry else { return Err((key, "must be an object".to_owned())) };
        let entry = ServerEntry { key, entry, variable: &variable };
        if !entry.flag("disabled")? {
            read.push(entry.server(name)?);
        }
    }
    read.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(read)
}

/// A server of a file. Unknown keys, which other clients may use, are ignored.
struct ServerEntry<'a, F> {
    key: String,
    entry: &'a Map<String, Value>,
    variable: &'a F,
}

impl<F: Fn(&str) -> Option<String>> ServerEntry<'_, F> {
    fn server(&self, name: &str) -> Result<ServerConfig, KeyError> {
        if name.is_empty() {
            return Err(self.error("", "the name of a server must not be empty"));
        }
        let (command, url) = (self.string("command")?, self.string("url")?);
        let kind = self.string("type")?;
        match (kind.as_deref(), command, url) {
            (Some("sse"), ..) => Err(self
                .error("type", "the transport `sse` is no longer part of MCP; use `http`, which most servers support")),
            (None | Some("stdio"), Some(command), None) => self.command(ServerConfig::command(name, command)),
            (None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), None, Some(url)) => {
                let headers = self.string_map("headers")?;
                let config = headers
                    .into_iter()
                    .fold(ServerConfig::http(name, url), |config, (name, value)| config.header(name, value));
                self.login(config)
            }
            (_, Some(_), Some(_)) => Err(self.error("", "`command` and `url` are mutually exclusive")),
            (_, None, None) => Err(self.error("", "needs `command` or `url`")),
            (Some(kind), ..) => {
                let message = format!("`{kind}` does not match; use `stdio` with `command`, or `http` with `url`");
                Err(self.error("type", message))
            }
        }
    }

    fn command(&self, config: ServerConfig) -> Result<ServerConfig, KeyError> {
        let mut config = config.args(self.list("args")?);
        for (name, value) in self.string_map("env")? {
            config = config.env(name, value);
        }
        Ok(match self.string("cwd")? {
            Some(directory) => config.current_dir(directory),
            None => config,
        })
    }

    /// Configures the login, which uses a browser on this machine.
    #[cfg(feature = "auth")]
    fn login(&self, config: ServerConfig) -> Result<ServerConfig, KeyError> {
        let Some(value) = self.entry.get("oauth") else { return Ok(config) };
        let Value::Object(entry) = value else { return Err(self.error("oauth", "must be an object")) };
        let entry = ServerEntry { key: format!("{}.oauth", self.key), entry, variable: self.variable };
        let server = config.name.clone();
        let show = move |url: &str| eprintln!("Log in to the server `{server}`: {url}");
        let mut oauth = super::OAuth::in_browser_at(entry.port("callbackPort")?, show).scopes(entry.list("scopes")?);
        if let Some(id) = entry.string("clientId")? {
            oauth = oauth.client_id(id);
        }
        if let Some(secret) = entry.secret("clientSecret")? {
            oauth = oauth.client_secret(secret);
        }
        if let Some(issuer) = entry.string("issuer")? {
            oauth = oauth.issuer(issuer);
        }
        Ok(config.oauth(oauth.mark_from_file()))
    }

    #[cfg(not(feature = "auth"))]
    fn login(&self, config: ServerConfig) -> Result<ServerConfig, KeyError> {
        let mut config = config;
        if let Endpoint::Http(http) = &mut config.endpoint {
            http.needs_login = self.entry.contains_key("oauth");
        }
        Ok(config)
    }

    fn error(&self, key: &str, message: impl Into<String>) -> KeyError {
        let key = if key.is_empty() { self.key.clone() } else { format!("{}.{key}", self.key) };
        (key, message.into())
    }

    fn expanded(&self, key: &str, value: &Value) -> Result<String, KeyError> {
        let text = value.as_str().ok_or_else(|| self.error(key, "must be a string"))?;
        expand(text, self.variable).map_err(|message| self.error(key, message))
    }

    fn string(&self, key: &str) -> Result<Option<String>, KeyError> {
        self.entry.get(key).map(|value| self.expanded(key, value)).transpose()
    }

    fn flag(&self, key: &str) -> Result<bool, KeyError> {
        match self.entry.get(key) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.error(key, "must be `true` or `false`")),
        }
    }

    #[cfg(feature = "auth")]
    fn port(&self, key: &str) -> Result<u16, KeyError> {
        let Some(value) = self.entry.get(key) else { return Ok(0) };
        let port = value.as_u64().and_then(|port| u16::try_from(port).ok());
        port.ok_or_else(|| self.error(key, "must be a port number"))
    }

    /// Reads a secret, which a file may contain only as a variable.
    #[cfg(feature = "auth")]
    fn secret(&self, key: &str) -> Result<Option<String>, KeyError> {
        if let Some(text) = self.entry.get(key).and_then(Value::as_str)
            && !(text.starts_with("${") && text.find('}') == Some(text.len() - 1) && !text.contains(":-"))
        {
            return Err(
                self.error(key, "secrets are not allowed in a file; write `${NAME}` and set that environment variable")
            );
        }
        self.string(key)
    }

    fn list(&self, key: &str) -> Result<Vec<String>, KeyError> {
        let Some(value) = self.entry.get(key) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(|| self.error(key, "must be an array of strings"))?;
        items.iter().enumerate().map(|(index, item)| self.expanded(&format!("{key}[{index}]"), item)).collect()
    }

    fn string_map(&self, key: &str) -> Result<BTreeMap<String, String>, KeyError> {
        let Some(value) = self.entry.get(key) else { return Ok(BTreeMap::new()) };
        let items = value.as_object().ok_or_else(|| self.error(key, "must be an object of strings"))?;
        let text = |(name, item): (&String, &Value)| Ok((name.clone(), self.expanded(&format!("{key}.{name}"), item)?));
        items.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(text: &str) -> Result<Vec<ServerConfig>, KeyError> {
        parse(text, |name| (name == "TOKEN").then(|| "t0ken".to_owned()))
    }

    #[test]
    fn reads_the_shared_format() {
        let text = r#"{"mcpServers": {
            "wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
            "files": {"command": "npx", "args": ["-y", "files", "${FOLDER:-/srv}"], "env": {"KEY": "${TOKEN}"}, "cwd": "/tmp", "alwaysAllow": []},
            "old": {"command": "old", "disabled": true}
        }, "inputs": []}"#;
        let files =
            ServerConfig::command("files", "npx").args(["-y", "files", "/srv"]).env("KEY", "t0ken").current_dir("/tmp");
        let wiki = ServerConfig::http("wiki", "https://wiki.example/mcp").header("Authorization", "Bearer t0ken");
        assert_eq!(servers(text).unwrap(), [files, wiki]);
    }

    #[test]
    fn errors_name_the_key() {
        for (text, key, why) in [
            ("{", "", "not valid JSON"),
            ("{}", "", "`mcpServers` is missing"),
            (r#"{"mcpServers": []}"#, "mcpServers", "must be an object"),
            (r#"{"mcpServers": {"a": 1}}"#, "mcpServers.a", "must be an object"),
            (r#"{"mcpServers": {"a": {"comand": "x"}}}"#, "mcpServers.a", "needs `command` or `url`"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#, "mcpServers.a", "mutually exclusive"),
            (r#"{"mcpServers": {"a": {"command": 1}}}"#, "mcpServers.a.command", "must be a string"),
            (
                r#"{"mcpServers": {"a": {"command": "x", "args": ["y", 2]}}}"#,
                "mcpServers.a.args[1]",
                "must be a string",
            ),
            (
                r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "${NO}"}}}}"#,
                "mcpServers.a.env.K",
                "variable `NO` is not set",
            ),
            (r#"{"mcpServers": {"a": {"type": "sse", "url": "x"}}}"#, "mcpServers.a.type", "no longer part"),
            (r#"{"mcpServers": {"a": {"type": "http", "command": "x"}}}"#, "mcpServers.a.type", "does not match"),
            (
                r#"{"mcpServers": {"a": {"command": "x", "disabled": "yes"}}}"#,
                "mcpServers.a.disabled",
                "must be `true`",
            ),
        ] {
            let (place, message) = servers(text).unwrap_err();
            assert!(place == key && message.contains(why), "{text}: {place}: {message}");
        }
    }

    #[cfg(feature = "auth")]
    #[test]
    fn equal_login_settings_are_equal_configurations() {
        let with = |oauth: &str| {
            let text = format!(r#"{{"mcpServers": {{"a": {{"url": "https://a.example/mcp", "oauth": {oauth}}}}}}}"#);
            servers(&text)
        };
        let settings = r#"{"clientId": "us", "clientSecret": "${TOKEN}", "scopes": ["read"], "callbackPort": 8976}"#;
        assert_eq!(with(settings).unwrap(), with(settings).unwrap());
        assert_ne!(with(settings).unwrap(), with("{}").unwrap());
        assert_ne!(with(settings).unwrap(), with(&settings.replace("8976", "8977")).unwrap());
        assert_ne!(with(r#"{"issuer": "https://login.example"}"#).unwrap(), with("{}").unwrap());
        assert_ne!(with("{}").unwrap(), [ServerConfig::http("a", "https://a.example/mcp")]);
        let shown = format!("{:?}", with(settings).unwrap());
        assert!(shown.contains("us") && shown.contains("read") && !shown.contains("t0ken"), "{shown}");
        for (oauth, key, why) in [
            ("true", "", "must be an object"),
            (r#"{"clientId": 7}"#, ".clientId", "must be a string"),
            (r#"{"scopes": "read"}"#, ".scopes", "must be an array"),
            (r#"{"callbackPort": 65536}"#, ".callbackPort", "port number"),
            (r#"{"clientSecret": "s3cret"}"#, ".clientSecret", "not allowed in a file"),
            (r#"{"clientSecret": "${TOKEN}s3cret${TOKEN}"}"#, ".clientSecret", "not allowed in a file"),
            (r#"{"clientSecret": "${NO:-s3cret}"}"#, ".clientSecret", "not allowed in a file"),
            (r#"{"clientSecret": "${NO}"}"#, ".clientSecret", "variable `NO` is not set"),
        ] {
            let (place, message) = with(oauth).unwrap_err();
            assert!(
                place == format!("mcpServers.a.oauth{key}") && message.contains(why),
                "{oauth}: {place}: {message}"
            );
            assert!(!message.contains("s3cret"), "{message}");
        }
    }
}
