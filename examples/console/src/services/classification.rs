//! The tools `classification.*`: categories of programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_runtime::{HandlerError, tool, tool_class};

use crate::listing::rounded;
use crate::machine::Machine;
use crate::store::{CategoryRepository, Session};

/// Categories of programs.
pub struct ClassificationService {
    machine: Machine,
    said: CategoryRepository,
}

/// A category of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Databases.
    Database,
    /// Web servers.
    WebServer,
    /// Language runtimes.
    Runtime,
    /// Development tools.
    Development,
    /// Shells and terminals.
    Shell,
    /// Desktop programs.
    Desktop,
    /// System services.
    System,
    /// Unknown programs.
    Other,
}

/// Name prefixes with their categories. The first match wins.
const RULES: &[(Category, &[&str])] = &[
    (Category::Database, &["postgres", "mysqld", "mariadbd", "redis-server", "mongod", "sqlite", "memcached", "etcd"]),
    (Category::WebServer, &["nginx", "apache2", "httpd", "caddy", "haproxy", "traefik", "lighttpd"]),
    (Category::Development, &["cargo", "rustc", "gcc", "cc1", "clang", "make", "ninja", "git", "ld", "gdb"]),
    (Category::Runtime, &["python", "node", "java", "ruby", "perl", "php", "deno", "dotnet", "beam.smp"]),
    (Category::Shell, &["bash", "zsh", "fish", "dash", "sh", "sshd", "ssh", "tmux", "screen"]),
    (Category::Desktop, &["chromium", "chrome", "firefox", "xorg", "wayland", "gnome", "kwin", "plasmashell"]),
    (Category::System, &["systemd", "init", "cron", "dbus", "rsyslogd", "journald", "udevd", "kworker", "agetty"]),
];

/// The category of a program.
#[derive(Clone, Debug, Serialize)]
pub struct Classified {
    /// The program.
    pub program: String,
    /// The category.
    pub category: Category,
    /// The reason for the category.
    pub because: String,
}

/// The running programs of a category.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Kind {
    /// The number of processes.
    pub processes: usize,
    /// Their memory.
    pub memory_mb: f64,
    /// Some of the programs.
    pub programs: Vec<String>,
}

#[tool_class(prefix = "classification", category = "processes")]
impl ClassificationService {
    /// Creates the service for one call, in its session.
    #[must_use]
    pub fn new(machine: Machine, session: Session) -> Self {
        Self { machine, said: CategoryRepository::new(session) }
    }

    /// The kind of program that something is, and the reason.
    #[tool(read_only)]
    pub async fn classify(
        &self,
        /// The program's name, such as `nginx`.
        #[arg(min_length = 1, max_length = 255)]
        program: &str,
    ) -> Result<Classified, HandlerError> {
        Ok(classify(program, &self.said.all().await?))
    }

    /// What this machine is busy with: processes and memory for each kind of program.
    #[tool(read_only)]
    pub async fn overview(&self) -> Result<BTreeMap<Category, Kind>, HandlerError> {
        let machine = self.machine.clone();
        let processes = tokio::task::spawn_blocking(move || machine.processes()).await?;
        let said = self.said.all().await?;
        let mut kinds: BTreeMap<Category, Kind> = BTreeMap::new();
        for process in processes {
            let program = process.application();
            let kind = kinds.entry(classify(program, &said).category).or_default();
            kind.processes += 1;
            kind.memory_mb = rounded(kind.memory_mb + process.memory_mb);
            if kind.programs.len() < 10 && !kind.programs.iter().any(|known| known == program) {
                kind.programs.push(program.to_owned());
            }
        }
        Ok(kinds)
    }

    /// Say what kind of program something is, where the rules do not know or are wrong.
    #[tool(idempotent, tags = ["write"])]
    pub async fn assign(
        &self,
        /// The program's name, such as `billing-worker`.
        #[arg(min_length = 1, max_length = 255)]
        program: &str,
        /// The category.
        category: Category,
    ) -> Result<Classified, HandlerError> {
        let name = json!(category);
        self.said.assign(program, name.as_str().unwrap_or_default()).await?;
        Ok(classify(program, &self.said.all().await?))
    }

    /// Forget what was said of a program: the rules decide again.
    #[tool(idempotent, tags = ["write"])]
    pub async fn forget(
        &self,
        /// The program's name.
        #[arg(min_length = 1, max_length = 255)]
        program: &str,
    ) -> Result<Classified, HandlerError> {
        if !self.said.forget(program).await? {
            return Err(HandlerError::retry(format!("Nobody has said anything of `{program}`.")));
        }
        Ok(classify(program, &self.said.all().await?))
    }
}

fn classify(program: &str, said: &BTreeMap<String, String>) -> Classified {
    let of_people = said.get(program).and_then(|category| serde_json::from_value(json!(category)).ok());
    let (category, because) = match of_people {
        Some(category) => (category, "somebody said so".to_owned()),
        None => match category_of(program) {
            (category, Some(part)) => (category, format!("its name is or begins with `{part}`")),
            (category, None) => (category, "no rule fits its name".to_owned()),
        },
    };
    Classified { program: program.to_owned(), category, because }
}

/// Returns the category of a program by the rules, with the matched part of its name. Short parts match whole names
/// only: `sh` does not match `shotwell`.
#[must_use]
pub fn category_of(program: &str) -> (Category, Option<&'static str>) {
    let program = program.to_lowercase();
    let fits = |part: &&str| if part.len() < 5 { program == *part } else { program.starts_with(*part) };
    let fitting = RULES.iter().find_map(|(category, parts)| Some((*category, Some(*parts.iter().find(|p| fits(p))?))));
    fitting.unwrap_or((Category::Other, None))
}
