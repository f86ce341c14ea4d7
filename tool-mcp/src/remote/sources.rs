//! Where servers come from: the application, files, folders.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::config::ServerConfig;
use super::tool::plain;
use super::{file, plugins};

/// Where servers come from.
#[derive(Default)]
pub(super) struct Sources {
    pub(super) code: Vec<ServerConfig>,
    /// Files, with what they said when they last made sense.
    pub(super) files: Vec<(PathBuf, Vec<ServerConfig>)>,
    pub(super) folders: Vec<PathBuf>,
    pub(super) adjustments: Vec<(String, Adjust)>,
    /// How people are shown where they log in to the servers of files and folders, if the application has a way.
    #[cfg(feature = "auth")]
    pub(super) show_login: Option<ShowLogin>,
}

pub(super) type Adjust = Box<dyn Fn(ServerConfig) -> ServerConfig + Send + Sync>;

/// Is given the name of a server, and the address to log in at.
#[cfg(feature = "auth")]
pub(super) type ShowLogin = std::sync::Arc<dyn Fn(&str, &str) + Send + Sync>;

/// What all sources say together.
pub(super) struct Gathered {
    pub(super) servers: BTreeMap<String, ServerConfig>,
    /// What the application itself has wrong.
    pub(super) contradictions: Vec<String>,
    /// What is wrong with what was found, and was skipped.
    pub(super) problems: Vec<String>,
}

impl Sources {
    pub(super) fn gather(&mut self) -> Gathered {
        let mut gathered = Gathered { servers: BTreeMap::new(), contradictions: Vec::new(), problems: Vec::new() };
        let mut origins = BTreeMap::<String, (String, String)>::new();
        let mut take = |config: ServerConfig, origin: &str, wrong: &mut Vec<String>| {
            if config.name.is_empty() {
                return wrong.push(format!("a server of {origin} has no name"));
            }
            // `a.b` and `a_b` would give their tools the same names.
            match origins.get(&plain(&config.name)) {
                Some((name, other)) => {
                    wrong.push(format!(
                        "two servers are called `{name}` and `{}`, one of {other}, one of {origin}: the first is used; give \
                         the second another name",
                        config.name
                    ));
                }
                None => {
                    origins.insert(plain(&config.name), (config.name.clone(), origin.to_owned()));
                    gathered.servers.insert(config.name.clone(), config);
                }
            }
        };
        for config in &self.code {
            take(config.clone(), "the application", &mut gathered.contradictions);
        }
        for (path, known) in &mut self.files {
            match file::read(path) {
                Ok(servers) => *known = servers,
                Err(error) => gathered.problems.push(format!("{error}; its servers stay as they were")),
            }
            let origin = path.display().to_string();
            known.iter().for_each(|config| take(config.clone(), &origin, &mut gathered.contradictions));
        }
        for folder in &self.folders {
            let (servers, problems) = plugins::scan(folder);
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
            let impossible = config.impossible().map(|why| format!("the server `{name}`: {why}"));
            gathered.problems.extend(impossible);
        }
        gathered
    }

    pub(super) fn adjusted_in_vain(&self, servers: &BTreeMap<String, ServerConfig>) -> Vec<String> {
        // A plugin may come later.
        let unknown =
            self.adjustments.iter().filter(|(name, _)| self.folders.is_empty() && !servers.contains_key(name));
        unknown.map(|(name, _)| format!("`configure` names the server `{name}`, and there is none")).collect()
    }
}

#[cfg(all(test, not(feature = "auth")))]
mod tests {
    use super::*;

    #[test]
    fn a_login_that_nobody_can_make_is_a_problem_of_its_server() {
        let folder = tempfile::tempdir().unwrap();
        let file = r#"{"mcpServers": {
            "wiki": {"url": "https://wiki.example/mcp", "oauth": {}}, "open": {"url": "https://open.example/mcp"}
        }}"#;
        std::fs::write(folder.path().join("mcp.json"), file).unwrap();
        let files = vec![(folder.path().join("mcp.json"), Vec::new())];
        let in_file = Sources { files, ..Sources::default() }.gather();
        let in_folder = Sources { folders: vec![folder.path().to_owned()], ..Sources::default() }.gather();
        for gathered in [in_file, in_folder] {
            assert_eq!(gathered.servers.keys().map(String::as_str).collect::<Vec<_>>(), ["open", "wiki"]);
            let [problem] = &*gathered.problems else { panic!("{:?}", gathered.problems) };
            assert!(problem.contains("`wiki`") && problem.contains("the feature `auth`"), "{problem}");
        }
    }
}
