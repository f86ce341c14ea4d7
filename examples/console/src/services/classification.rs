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
    assigned: CategoryRepository,
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
pub struct Classification {
    /// The program.
    pub program: String,
    /// The category.
    pub category: Category,
    /// The reason for the category.
    pub because: String,
}

/// The running programs of a category.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CategoryUsage {
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
        Self { machine, assigned: CategoryRepository::new(session) }
    }

    /// Returns the category of a program, with the reason.
    #[tool(read_only)]
    pub async fn classify(
        &self,
        /// The program's name, such as `nginx`.
        #[arg(min_length = 1, max_length = 255)]
        program: &str,
    ) -> Result<Classification, HandlerError> {
        Ok(classify(program, &self.assigned.all().await?))
    }

    /// Returns the number of processes and their memory for each category of programs.
    #[tool(read_only)]
    pub async fn overview(&self) -> Result<BTreeMap<Category, CategoryUsage>, HandlerError> {
        let machine = self.machine.clone();
        let processes = tokio::task::spawn_blocking(move || machine.processes()).await?;
        let assigned = self.assigned.all().await?;
        let mut usages: BTreeMap<Category, CategoryUsage> = BTreeMap::new();
        for process in processes {
            let program = process.application();
            let usage = usages.entry(classify(program, &assigned).category).or_default();
            usage.processes += 1;
            usage.memory_mb = rounded(usage.memory_mb + process.memory_mb);
            if usage.programs.len() < 10 && !usage.programs.iter().any(|known| known == program) {
                usage.programs.push(program.to_owned());
            }
        }
        Ok(usages)
    }

    /// Assigns a category to a program that the rules do not know or classify wrongly.
    #[tool(idempotent, tags = ["write"])]
    pub async fn assign(
        &self,
        /// The program's name, such as `billing-worker`.
        #[arg(min_length = 1, max_length = 255)]
        program: &str,
        /// The category.
        category: Category,
    ) -> Result<Classification, HandlerError> {
        let name = json!(category);
        self.assigned.assign(program, name.as_str().unwrap_or_default()).await?;
        Ok(classify(program, &self.assigned.all().await?))
    }

    /// Removes the assigned category of a program, so that the rules apply again.
    #[tool(idempotent, tags = ["write"])]
    pub async fn forget(
        &self,
        /// The program's name.
        #[arg(min_length = 1, max_length = 255)]
        program: &str,
    ) -> Result<Classification, HandlerError> {
        if !self.assigned.forget(program).await? {
            return Err(HandlerError::retry(format!("No category was assigned to `{program}`.")));
        }
        Ok(classify(program, &self.assigned.all().await?))
    }
}

fn classify(program: &str, assigned: &BTreeMap<String, String>) -> Classification {
    let by_user = assigned.get(program).and_then(|category| serde_json::from_value(json!(category)).ok());
    let (category, because) = match by_user {
        Some(category) => (category, "assigned by a user".to_owned()),
        None => match category_of(program) {
            (category, Some(part)) => (category, format!("its name is or begins with `{part}`")),
            (category, None) => (category, "no rule fits its name".to_owned()),
        },
    };
    Classification { program: program.to_owned(), category, because }
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
