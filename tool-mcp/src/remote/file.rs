//! The configuration that MCP clients share: `{"mcpServers": {"name": {"command": .., "args": [..]}}}`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::config::ServerConfig;
use super::expand::expand;
#[cfg(not(feature = "auth"))]
use super::reached::Reached;

/// A configuration file that cannot be used: which, where in it, and what is wrong.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigError {
    /// The file.
    pub path: PathBuf,
    /// The place in it, such as `mcpServers.files.command`; empty for the file as a whole.
    pub key: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)
    }
}

/// As it is displayed: `main` prints errors in this way.
impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for ConfigError {}

fn no_servers(file: &Value) -> String {
    let hint = match file.get("servers") {
        Some(_) => "; its `servers` are another client's way to say the same: call them `mcpServers`",
        None => ", an object of servers by name",
    };
    format!("it has no `mcpServers`{hint}")
}

/// What is wrong at a place.
type Wrong = (String, String);

/// The servers that a file names, those that are disabled aside.
pub(super) fn read(path: &Path) -> Result<Vec<ServerConfig>, ConfigError> {
    let error = |(key, message)| ConfigError { path: path.to_owned(), key, message };
    let text =
        std::fs::read_to_string(path).map_err(|io| error((String::new(), format!("it cannot be read: {io}"))))?;
    parse(&text, |name| std::env::var(name).ok()).map_err(error)
}

fn parse(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<Vec<ServerConfig>, Wrong> {
    let at_root = |message: String| (String::new(), message);
    let file: Value = serde_json::from_str(text).map_err(|error| at_root(format!("it is no JSON: {error}")))?;
    let servers = file.get("mcpServers").ok_or_else(|| at_root(no_servers(&file)))?;
    let Value::Object(servers) = servers else {
        return Err(("mcpServers".to_owned(), "it is no object of servers by name".to_owned()));
    };
    let mut read = Vec::new();
    for (name, entry) in servers {
        let place = format!("mcpServers.{name}");
        let Value::Object(entry) = entry else { return Err((place, "it is no object".to_owned())) };
        let entry = Entry { place, entry, variable: &variable };
        if !entry.flag("disabled")? {
            read.push(entry.server(name)?);
        }
    }
    read.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(read)
}

/// One server of a file. Keys that only other clients know are left alone.
struct Entry<'a, F> {
    place: String,
    entry: &'a Map<String, Value>,
    variable: &'a F,
}

impl<F: Fn(&str) -> Option<String>> Entry<'_, F> {
    fn server(&self, name: &str) -> Result<ServerConfig, Wrong> {
        if name.is_empty() {
            return Err(self.wrong("", "a server needs a name"));
        }
        let (command, url) = (self.text("command")?, self.text("url")?);
        let kind = self.text("type")?;
        match (kind.as_deref(), command, url) {
            (Some("sse"), ..) => {
                Err(self
                    .wrong("type", "the transport `sse` is no longer part of MCP; `http` is, and most servers have it"))
            }
            (None | Some("stdio"), Some(command), None) => self.command(ServerConfig::command(name, command)),
            (None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"), None, Some(url)) => {
                let headers = self.texts("headers")?;
                let config = headers
                    .into_iter()
                    .fold(ServerConfig::http(name, url), |config, (name, value)| config.header(name, value));
                self.login(config)
            }
            (_, Some(_), Some(_)) => Err(self.wrong("", "it has both `command` and `url`, and can have one")),
            (_, None, None) => Err(self.wrong("", "it has neither `command` nor `url`")),
            (Some(kind), ..) => {
                let message = format!("`{kind}` does not fit; write `stdio` with a `command`, or `http` with a `url`");
                Err(self.wrong("type", message))
            }
        }
    }

    fn command(&self, config: ServerConfig) -> Result<ServerConfig, Wrong> {
        let mut config = config.args(self.list("args")?);
        for (name, value) in self.texts("env")? {
            config = config.env(name, value);
        }
        Ok(match self.text("cwd")? {
            Some(folder) => config.folder(folder),
            None => config,
        })
    }

    /// How somebody logs in, where the file says so: at this machine, with a browser.
    #[cfg(feature = "auth")]
    fn login(&self, config: ServerConfig) -> Result<ServerConfig, Wrong> {
        let Some(said) = self.entry.get("oauth") else { return Ok(config) };
        let Value::Object(said) = said else { return Err(self.wrong("oauth", "it is no object")) };
        let said = Entry { place: format!("{}.oauth", self.place), entry: said, variable: self.variable };
        let server = config.name.clone();
        let show = move |url: &str| eprintln!("The server `{server}` wants somebody to log in. Open {url}");
        let mut oauth = super::OAuth::in_browser_at(said.port("callbackPort")?, show).scopes(said.list("scopes")?);
        if let Some(id) = said.text("clientId")? {
            oauth = oauth.client_id(id);
        }
        if let Some(secret) = said.secret("clientSecret")? {
            oauth = oauth.client_secret(secret);
        }
        if let Some(issuer) = said.text("issuer")? {
            oauth = oauth.issuer(issuer);
        }
        Ok(config.oauth(oauth.of_file()))
    }

    #[cfg(not(feature = "auth"))]
    fn login(&self, config: ServerConfig) -> Result<ServerConfig, Wrong> {
        let mut config = config;
        if let Reached::Http(http) = &mut config.reached {
            http.wants_login = self.entry.contains_key("oauth");
        }
        Ok(config)
    }

    fn wrong(&self, key: &str, message: impl Into<String>) -> Wrong {
        let place = if key.is_empty() { self.place.clone() } else { format!("{}.{key}", self.place) };
        (place, message.into())
    }

    fn expanded(&self, key: &str, value: &Value) -> Result<String, Wrong> {
        let text = value.as_str().ok_or_else(|| self.wrong(key, "it is no text"))?;
        expand(text, self.variable).map_err(|message| self.wrong(key, message))
    }

    fn text(&self, key: &str) -> Result<Option<String>, Wrong> {
        self.entry.get(key).map(|value| self.expanded(key, value)).transpose()
    }

    fn flag(&self, key: &str) -> Result<bool, Wrong> {
        match self.entry.get(key) {
            None => Ok(false),
            Some(value) => value.as_bool().ok_or_else(|| self.wrong(key, "it is neither `true` nor `false`")),
        }
    }

    #[cfg(feature = "auth")]
    fn port(&self, key: &str) -> Result<u16, Wrong> {
        let Some(value) = self.entry.get(key) else { return Ok(0) };
        let port = value.as_u64().and_then(|port| u16::try_from(port).ok());
        port.ok_or_else(|| self.wrong(key, "it is no number of a port"))
    }

    /// What must not stand in a file, only the variable that has it.
    #[cfg(feature = "auth")]
    fn secret(&self, key: &str) -> Result<Option<String>, Wrong> {
        if let Some(text) = self.entry.get(key).and_then(Value::as_str)
            && !(text.starts_with("${") && text.find('}') == Some(text.len() - 1) && !text.contains(":-"))
        {
            return Err(self.wrong(key, "a secret does not belong in a file: write `${NAME}`, and set that variable"));
        }
        self.text(key)
    }

    fn list(&self, key: &str) -> Result<Vec<String>, Wrong> {
        let Some(value) = self.entry.get(key) else { return Ok(Vec::new()) };
        let items = value.as_array().ok_or_else(|| self.wrong(key, "it is no list of texts"))?;
        items.iter().enumerate().map(|(index, item)| self.expanded(&format!("{key}[{index}]"), item)).collect()
    }

    fn texts(&self, key: &str) -> Result<BTreeMap<String, String>, Wrong> {
        let Some(value) = self.entry.get(key) else { return Ok(BTreeMap::new()) };
        let items = value.as_object().ok_or_else(|| self.wrong(key, "it is no object of texts"))?;
        let text = |(name, item): (&String, &Value)| Ok((name.clone(), self.expanded(&format!("{key}.{name}"), item)?));
        items.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn servers(text: &str) -> Result<Vec<ServerConfig>, Wrong> {
        parse(text, |name| (name == "TOKEN").then(|| "t0ken".to_owned()))
    }

    #[test]
    fn what_clients_share_is_understood() {
        let text = r#"{"mcpServers": {
            "wiki": {"type": "http", "url": "https://wiki.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
            "files": {"command": "npx", "args": ["-y", "files", "${FOLDER:-/srv}"], "env": {"KEY": "${TOKEN}"}, "cwd": "/tmp", "alwaysAllow": []},
            "old": {"command": "old", "disabled": true}
        }, "inputs": []}"#;
        let files =
            ServerConfig::command("files", "npx").args(["-y", "files", "/srv"]).env("KEY", "t0ken").folder("/tmp");
        let wiki = ServerConfig::http("wiki", "https://wiki.example/mcp").header("Authorization", "Bearer t0ken");
        assert_eq!(servers(text).unwrap(), [files, wiki]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_place() {
        for (text, key, why) in [
            ("{", "", "no JSON"),
            ("{}", "", "no `mcpServers`"),
            (r#"{"mcpServers": []}"#, "mcpServers", "no object"),
            (r#"{"mcpServers": {"a": 1}}"#, "mcpServers.a", "no object"),
            (r#"{"mcpServers": {"a": {"comand": "x"}}}"#, "mcpServers.a", "neither `command` nor `url`"),
            (r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#, "mcpServers.a", "both"),
            (r#"{"mcpServers": {"a": {"command": 1}}}"#, "mcpServers.a.command", "no text"),
            (r#"{"mcpServers": {"a": {"command": "x", "args": ["y", 2]}}}"#, "mcpServers.a.args[1]", "no text"),
            (
                r#"{"mcpServers": {"a": {"command": "x", "env": {"K": "${NO}"}}}}"#,
                "mcpServers.a.env.K",
                "no variable `NO`",
            ),
            (r#"{"mcpServers": {"a": {"type": "sse", "url": "x"}}}"#, "mcpServers.a.type", "no longer part"),
            (r#"{"mcpServers": {"a": {"type": "http", "command": "x"}}}"#, "mcpServers.a.type", "does not fit"),
            (r#"{"mcpServers": {"a": {"command": "x", "disabled": "yes"}}}"#, "mcpServers.a.disabled", "neither"),
        ] {
            let (place, message) = servers(text).unwrap_err();
            assert!(place == key && message.contains(why), "{text}: {place}: {message}");
        }
    }

    #[cfg(feature = "auth")]
    #[test]
    fn a_login_is_the_same_as_long_as_the_file_says_the_same() {
        let with = |oauth: &str| {
            let text = format!(r#"{{"mcpServers": {{"a": {{"url": "https://a.example/mcp", "oauth": {oauth}}}}}}}"#);
            servers(&text)
        };
        let said = r#"{"clientId": "us", "clientSecret": "${TOKEN}", "scopes": ["read"], "callbackPort": 8976}"#;
        assert_eq!(with(said).unwrap(), with(said).unwrap());
        assert_ne!(with(said).unwrap(), with("{}").unwrap());
        assert_ne!(with(said).unwrap(), with(&said.replace("8976", "8977")).unwrap());
        assert_ne!(with(r#"{"issuer": "https://login.example"}"#).unwrap(), with("{}").unwrap());
        assert_ne!(with("{}").unwrap(), [ServerConfig::http("a", "https://a.example/mcp")]);
        let shown = format!("{:?}", with(said).unwrap());
        assert!(shown.contains("us") && shown.contains("read") && !shown.contains("t0ken"), "{shown}");
        for (oauth, key, why) in [
            ("true", "", "no object"),
            (r#"{"clientId": 7}"#, ".clientId", "no text"),
            (r#"{"scopes": "read"}"#, ".scopes", "no list"),
            (r#"{"callbackPort": 65536}"#, ".callbackPort", "no number of a port"),
            (r#"{"clientSecret": "s3cret"}"#, ".clientSecret", "does not belong in a file"),
            (r#"{"clientSecret": "${TOKEN}s3cret${TOKEN}"}"#, ".clientSecret", "does not belong in a file"),
            (r#"{"clientSecret": "${NO:-s3cret}"}"#, ".clientSecret", "does not belong in a file"),
            (r#"{"clientSecret": "${NO}"}"#, ".clientSecret", "no variable `NO`"),
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
