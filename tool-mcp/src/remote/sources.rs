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
}

pub(super) type Adjust = Box<dyn Fn(ServerConfig) -> ServerConfig + Send + Sync>;

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
                        "two servers are called `{name}` and `{}`: one of {other}, one of {origin}",
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
            let origin = format!("the plugins in {}", folder.display());
            servers.into_iter().for_each(|config| take(config, &origin, &mut gathered.problems));
        }
        for (name, adjust) in &self.adjustments {
            if let Some(config) = gathered.servers.get_mut(name) {
                *config = adjust(config.clone());
                config.name.clone_from(name);
            }
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
