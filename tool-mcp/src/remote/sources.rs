//! The sources of server configurations: code, files and directories.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::names::sanitize;
use super::server_config::ServerConfig;
use super::{config_file, plugins};

/// The sources of server configurations.
#[derive(Default)]
pub(super) struct ConfigSources {
    pub(super) code: Vec<ServerConfig>,
    /// Files, each with its last valid content.
    pub(super) files: Vec<(PathBuf, Vec<ServerConfig>)>,
    pub(super) directories: Vec<PathBuf>,
    pub(super) adjustments: Vec<(String, AdjustFn)>,
    /// Shows login URLs for servers from files and directories.
    #[cfg(feature = "auth")]
    pub(super) show_login: Option<ShowLoginFn>,
}

pub(super) type AdjustFn = Box<dyn Fn(ServerConfig) -> ServerConfig + Send + Sync>;

/// Takes the name of a server and its login URL.
#[cfg(feature = "auth")]
pub(super) type ShowLoginFn = std::sync::Arc<dyn Fn(&str, &str) + Send + Sync>;

/// The configurations of all sources.
pub(super) struct GatheredServers {
    pub(super) servers: BTreeMap<String, ServerConfig>,
    /// Errors of the application.
    pub(super) contradictions: Vec<String>,
    /// Problems of files and directories; what they concern was skipped.
    pub(super) problems: Vec<String>,
}

impl ConfigSources {
    pub(super) fn gather(&mut self) -> GatheredServers {
        let mut gathered =
            GatheredServers { servers: BTreeMap::new(), contradictions: Vec::new(), problems: Vec::new() };
        let mut origins = BTreeMap::<String, (String, String)>::new();
        let mut take = |config: ServerConfig, origin: &str, problems: &mut Vec<String>| {
            if config.name.is_empty() {
                return problems.push(format!("a server from {origin} has no name"));
            }
            // `a.b` and `a_b` would have the same tool names.
            match origins.get(&sanitize(&config.name)) {
                Some((name, other)) => {
                    problems.push(format!(
                        "the server names `{name}` (from {other}) and `{}` (from {origin}) collide; the first is used, rename \
                         the second",
                        config.name
                    ));
                }
                None => {
                    origins.insert(sanitize(&config.name), (config.name.clone(), origin.to_owned()));
                    gathered.servers.insert(config.name.clone(), config);
                }
            }
        };
        for config in &self.code {
            take(config.clone(), "the application", &mut gathered.contradictions);
        }
        for (path, known) in &mut self.files {
            match config_file::read(path) {
                Ok(servers) => *known = servers,
                Err(error) => gathered.problems.push(format!("{error}; its servers are kept as they were")),
            }
            let origin = path.display().to_string();
            known.iter().for_each(|config| take(config.clone(), &origin, &mut gathered.contradictions));
        }
        for directory in &self.directories {
            let (servers, problems) = plugins::scan(directory);
            gathered.problems.extend(problems);
            for (path, config) in servers {
                take(config, &path.display().to_string(), &mut gathered.problems);
            }
        }
        #[cfg(feature = "auth")]
        if let Some(show) = &self.show_login {
            gathered.servers.values_mut().for_each(|config| config.show_login(show));
        }
        for (name, adjust) in &self.adjustments {
            if let Some(config) = gathered.servers.get_mut(name) {
                *config = adjust(config.clone());
                config.name.clone_from(name);
            }
        }
        for (name, config) in &gathered.servers {
            let unsupported = config.unsupported().map(|why| format!("the server `{name}`: {why}"));
            gathered.problems.extend(unsupported);
        }
        gathered
    }

    /// Returns an error for each `configure` of an unknown server.
    pub(super) fn unused_adjustments(&self, servers: &BTreeMap<String, ServerConfig>) -> Vec<String> {
        // A plugin may be added later.
        let unknown =
            self.adjustments.iter().filter(|(name, _)| self.directories.is_empty() && !servers.contains_key(name));
        unknown.map(|(name, _)| format!("`configure` names the unknown server `{name}`")).collect()
    }
}

#[cfg(all(test, not(feature = "auth")))]
mod tests {
    use super::*;

    #[test]
    fn an_unsupported_login_is_a_problem_of_its_server() {
        let directory = tempfile::tempdir().unwrap();
        let file = r#"{"mcpServers": {
            "wiki": {"url": "https://wiki.example/mcp", "oauth": {}}, "open": {"url": "https://open.example/mcp"}
        }}"#;
        std::fs::write(directory.path().join("mcp.json"), file).unwrap();
        let files = vec![(directory.path().join("mcp.json"), Vec::new())];
        let in_file = ConfigSources { files, ..ConfigSources::default() }.gather();
        let in_directory =
            ConfigSources { directories: vec![directory.path().to_owned()], ..ConfigSources::default() }.gather();
        for gathered in [in_file, in_directory] {
            assert_eq!(gathered.servers.keys().map(String::as_str).collect::<Vec<_>>(), ["open", "wiki"]);
            let [problem] = &*gathered.problems else { panic!("{:?}", gathered.problems) };
            assert!(problem.contains("`wiki`") && problem.contains("the feature `auth`"), "{problem}");
        }
    }
}
