//! Which of a server's tools stand in the registry.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::Tool;
use tool_runtime::{Registry, RegistryChanges};

use super::config::ServerConfig;
use super::link::Link;
use super::listed::{Listed, Standing, Withheld};
use super::names::Names;
use super::status::ToolStatus;
use super::tool::{local_name, local_tool};
use crate::pins::{ApproveError, Held, Pins, Warning, fingerprint, said, warnings};

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
                    next.values_mut().for_each(|shown| shown.held = Some(Held::Unknown));
                }
            }
        }
        self.bring_to(next);
    }

    /// Leaves the tools as they are for now, and says why.
    pub(super) fn keep(&mut self, why: &str) {
        tracing::warn!(server = self.config.name, "{why}");
        if !self.problems.iter().any(|problem| problem == why) {
            self.problems.push(why.to_owned());
        }
    }

    /// Brings the registry to these tools.
    fn bring_to(&mut self, mut next: BTreeMap<String, Shown>) {
        self.tell(&next);
        // Before anything else is offered: who still holds the tool that was there does not get through to the new one.
        self.withhold(&next);
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
        self.standings(next).for_each(|(listed, standing)| listed.stands(standing));
    }

    /// Says so to those of them that must not go on.
    fn withhold(&self, next: &BTreeMap<String, Shown>) {
        let withheld = self.standings(next).filter(|(_, standing)| *standing != Standing::Offered);
        withheld.for_each(|(listed, standing)| listed.stands(standing));
    }

    fn standings(&self, next: &BTreeMap<String, Shown>) -> impl Iterator<Item = (&Listed, Standing)> {
        self.shown.iter().map(|(name, known)| {
            let standing = match next.get(name) {
                None => Standing::Withheld(Withheld::Gone),
                Some(shown) if shown.held.is_some() => Standing::Withheld(Withheld::Held),
                Some(shown) if Arc::ptr_eq(&shown.listed, &known.listed) => Standing::Offered,
                Some(_) => Standing::Withheld(Withheld::Changed),
            };
            (&*known.listed, standing)
        })
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

    fn changes(&self, next: &BTreeMap<String, Shown>) -> RegistryChanges {
        let gone = self.shown.keys().filter(|name| !next.contains_key(*name));
        let mut changes = gone.fold(RegistryChanges::new(), |changes, name| changes.remove(name.as_str()));
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

    /// Takes everything out. That says nothing of the server's tools, and pins are not asked.
    pub(super) fn clear(&mut self) {
        self.problems.clear();
        self.bring_to(BTreeMap::new());
    }

    /// Offers a tool that was held, if it still is what somebody saw.
    pub(super) fn approve(&mut self, name: &str, fingerprint: &str) -> Result<(), ApproveError> {
        let shown = self.shown.get_mut(name).ok_or(ApproveError::Unknown)?;
        if shown.fingerprint != fingerprint {
            return Err(ApproveError::Changed);
        }
        if let Some(pins) = &self.pins {
            pins.approve(&self.config.name, &shown.tool)?;
        }
        if shown.held.take().is_some() {
            shown.listed.stands(Standing::Offered);
            // It was registered with the others, and can only be there.
            drop(self.registry.enable(name));
        }
        Ok(())
    }

    pub(super) fn status(&self) -> Vec<ToolStatus> {
        let status = |(name, shown): (&String, &Shown)| ToolStatus {
            name: name.clone(),
            remote_name: shown.tool.name.to_string(),
            input_schema: serde_json::Value::Object(shown.tool.input_schema.as_ref().clone()),
            annotations: shown.tool.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()),
            warnings: shown.warnings.clone(),
            fingerprint: shown.fingerprint.clone(),
            held: shown.held.clone(),
        };
        self.shown.iter().map(status).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::task::{Context, Wake};

    use serde_json::json;
    use tool_runtime::Dispatcher;

    use super::*;

    /// Is woken in the middle of a change, and looks whether a tool may be called.
    struct Looks(Arc<Listed>, Mutex<Vec<Result<(), Withheld>>>);

    impl Wake for Looks {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0.check());
        }
    }

    #[test]
    fn a_tool_is_withheld_before_another_is_offered() {
        let tool = |name: &str, description: &str| -> Tool {
            let tool = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
            serde_json::from_value(tool).unwrap()
        };
        for (next, expected) in [
            (vec![tool("a", "Another.")], Err(Withheld::Changed)),
            (Vec::new(), Err(Withheld::Gone)),
            // The control changes something else.
            (vec![tool("a", "One."), tool("b", "")], Ok(())),
        ] {
            let registry = Dispatcher::builder().build().unwrap().registry();
            let config = Arc::new(ServerConfig::http("s", "http://127.0.0.1:1"));
            let link = Arc::new(Link::new("s".into()));
            let mut offer = Offer::new(config, link, registry.clone(), Arc::default(), None);
            offer.show(vec![tool("a", "One.")], None);
            let looks = Arc::new(Looks(offer.shown["mcp_s_a"].listed.clone(), Mutex::default()));
            let (mut changes, waker) = (registry.changes(), looks.clone().into());
            let mut changed = std::pin::pin!(changes.changed());
            assert!(changed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            offer.show(next, None);
            assert_eq!(*looks.1.lock().unwrap(), [expected]);
        }
    }
}
