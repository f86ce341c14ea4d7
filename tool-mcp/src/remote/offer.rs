//! Which of a server's tools stand in the registry.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Tool;
use tool_runtime::{Changes, Registry};

use super::config::ServerConfig;
use super::link::Link;
use super::listed::{Listed, Standing, Withheld};
use super::status::ToolStatus;
use super::tool::{local_name, local_tool};
use crate::pins::{Held, PinError, Pins, Warning, fingerprint, said, warnings};

/// Whose tool a name stands for, over all servers.
#[derive(Default)]
pub(super) struct Names {
    owners: Mutex<HashMap<String, (String, String)>>,
}

impl Names {
    /// Takes a name for a tool of a server, or says in words who has it.
    fn claim(&self, name: &str, server: &str, tool: &str) -> Result<(), String> {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        let owner = owners.entry(name.to_owned()).or_insert_with(|| (server.to_owned(), tool.to_owned()));
        if owner.0 == server {
            return Ok(());
        }
        Err(format!(
            "`{name}` would be the name of two tools: `{}` of the server `{}`, which has it, and `{tool}` of the server \
             `{server}`, which was left out; give one of the servers another name",
            owner.1, owner.0
        ))
    }

    fn release(&self, name: &str, server: &str) {
        let mut owners = self.owners.lock().unwrap_or_else(PoisonError::into_inner);
        if owners.get(name).is_some_and(|owner| owner.0 == server) {
            owners.remove(name);
        }
    }
}

/// The tools of one server in the registry.
pub(super) struct Offer {
    config: Arc<ServerConfig>,
    link: Arc<Link>,
    registry: Registry,
    names: Arc<Names>,
    pins: Option<Arc<Pins>>,
    shown: BTreeMap<String, Shown>,
    pub(super) problems: Vec<String>,
}

struct Shown {
    tool: Tool,
    /// What calls have of it.
    listed: Arc<Listed>,
    fingerprint: String,
    warnings: Vec<Warning>,
    held: Option<Held>,
}

impl Offer {
    pub(super) fn new(
        config: Arc<ServerConfig>,
        link: Arc<Link>,
        registry: Registry,
        names: Arc<Names>,
        pins: Option<Arc<Pins>>,
    ) -> Self {
        Self { config, link, registry, names, pins, shown: BTreeMap::new(), problems: Vec::new() }
    }

    /// Brings the registry to what the server lists now. What cannot be offered is a problem; the rest is offered.
    pub(super) fn show(&mut self, tools: Vec<Tool>, left_out: Option<String>) {
        self.problems = left_out.into_iter().collect();
        let mut next = self.named(tools);
        if let Some(pins) = self.pins.clone() {
            let listed = next.values().map(|shown| (&shown.tool, !shown.warnings.is_empty()));
            match pins.held(&self.config.name, listed) {
                Ok(held) => next.values_mut().zip(held).for_each(|(shown, held)| shown.held = held),
                // What cannot be compared is not offered.
                Err(error) => {
                    self.problems.push(format!("its tools cannot be pinned: {error}"));
                    next.values_mut().for_each(|shown| shown.held = Some(Held::New));
                }
            }
        }
        self.tell(&next);
        self.apply(&mut next);
        self.settle(&next);
        for name in self.shown.keys().filter(|name| !next.contains_key(*name)) {
            self.names.release(name, &self.config.name);
        }
        self.shown = next;
        for problem in &self.problems {
            tracing::warn!(server = self.config.name, "{problem}");
        }
    }

    /// The tools by their names here, those aside that cannot have one.
    fn named(&mut self, tools: Vec<Tool>) -> BTreeMap<String, Shown> {
        let mut next = BTreeMap::<String, Shown>::new();
        for tool in tools {
            let name = local_name(&self.config.name, &tool.name);
            if let Err(problem) = self.fits(&name, &tool, next.get(&name).map(|other| &other.tool)) {
                self.problems.push(problem);
                continue;
            }
            let (fingerprint, warnings) = (fingerprint(&tool), warnings(&tool));
            // Two names of the server's may be the same here.
            let known = self.shown.get(&name);
            let known = known.filter(|known| known.fingerprint == fingerprint && known.tool.name == tool.name);
            let listed = known.map_or_else(|| Arc::new(Listed::new(&tool)), |known| known.listed.clone());
            next.insert(name, Shown { tool, listed, fingerprint, warnings, held: None });
        }
        next
    }

    /// Says to the calls that are under way what became of their tools.
    fn settle(&self, next: &BTreeMap<String, Shown>) {
        for (name, known) in &self.shown {
            known.listed.stands(match next.get(name) {
                None => Standing::Withheld(Withheld::Gone),
                Some(shown) if shown.held.is_some() => Standing::Withheld(Withheld::Held),
                Some(shown) if Arc::ptr_eq(&shown.listed, &known.listed) => Standing::Offered,
                Some(_) => Standing::Withheld(Withheld::Changed),
            });
        }
    }

    fn fits(&self, name: &str, tool: &Tool, twin: Option<&Tool>) -> Result<(), String> {
        let longest = self.config.limits.definition;
        let length = tool.name.len() + said(tool).to_string().len();
        if length > longest {
            let shown: String = tool.name.chars().take(64).collect();
            return Err(format!(
                "`{shown}` is described in {length} bytes, and {longest} are allowed; it was left out"
            ));
        }
        if let Some(twin) = twin {
            return Err(format!(
                "`{name}` would be the name of two tools, `{}` and `{}`; the second was left out",
                twin.name, tool.name
            ));
        }
        let taken = self.registry.has(name) || self.registry.is_disabled(name);
        self.names.claim(name, &self.config.name, &tool.name)?;
        if taken && !self.shown.contains_key(name) {
            self.names.release(name, &self.config.name);
            return Err(format!(
                "`{name}` would be the name of two tools: one of this application, and `{}` of the server; the second \
                 was left out",
                tool.name
            ));
        }
        Ok(())
    }

    /// Logs what somebody should look at, once.
    fn tell(&self, next: &BTreeMap<String, Shown>) {
        for (name, shown) in next {
            let known = self.shown.get(name);
            if known.is_some_and(|known| known.fingerprint == shown.fingerprint && known.held == shown.held) {
                continue;
            }
            for warning in &shown.warnings {
                tracing::warn!(server = self.config.name, tool = name, "{warning}");
            }
            if let Some(held) = &shown.held {
                tracing::warn!(server = self.config.name, tool = name, "not offered until it is approved: {held}");
            }
        }
    }

    /// Makes the changes as one; a tool that cannot be registered is left out.
    fn apply(&mut self, next: &mut BTreeMap<String, Shown>) {
        while let Err(error) = self.registry.apply(self.changes(next)) {
            let before = next.len();
            for problem in error.problems() {
                for name in problem.tools.iter().filter(|name| next.remove(*name).is_some()) {
                    self.names.release(name, &self.config.name);
                }
                let tools = problem.tools.join("`, `");
                self.problems.push(format!("`{tools}` was left out: {}", problem.message));
            }
            if next.len() == before {
                break;
            }
        }
    }

    fn changes(&self, next: &BTreeMap<String, Shown>) -> Changes {
        let gone = self.shown.keys().filter(|name| !next.contains_key(*name));
        let mut changes = gone.fold(Changes::new(), |changes, name| changes.remove(name.as_str()));
        for (name, shown) in next {
            let known = self.shown.get(name);
            let local = || local_tool(name, &self.config, &self.link, &shown.tool, &shown.listed);
            changes = match known {
                None => changes.register(local()),
                Some(known) if !Arc::ptr_eq(&known.listed, &shown.listed) => changes.replace(local()),
                Some(_) => changes,
            };
            changes = match (known.is_some_and(|known| known.held.is_some()), shown.held.is_some()) {
                (_, true) => changes.disable(name.as_str()),
                (true, false) => changes.enable(name.as_str()),
                (false, false) => changes,
            };
        }
        changes
    }

    /// Takes everything out.
    pub(super) fn clear(&mut self) {
        self.show(Vec::new(), None);
    }

    /// Offers a tool that was held, from now on as it is. Whether there is one of that name.
    pub(super) fn approve(&mut self, name: &str) -> Result<bool, PinError> {
        let Some(shown) = self.shown.get_mut(name) else { return Ok(false) };
        if let Some(pins) = &self.pins {
            pins.approve(&self.config.name, &shown.tool)?;
        }
        if shown.held.take().is_some() {
            shown.listed.stands(Standing::Offered);
            // It was registered with the others, and can only be there.
            drop(self.registry.enable(name));
        }
        Ok(true)
    }

    pub(super) fn status(&self) -> Vec<ToolStatus> {
        let status = |(name, shown): (&String, &Shown)| ToolStatus {
            name: name.clone(),
            remote_name: shown.tool.name.to_string(),
            input_schema: serde_json::Value::Object(shown.tool.input_schema.as_ref().clone()),
            annotations: shown.tool.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()),
            warnings: shown.warnings.clone(),
            held: shown.held.clone(),
        };
        self.shown.iter().map(status).collect()
    }
}
