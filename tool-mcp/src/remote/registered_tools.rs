//! The tools of a server in the registry.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::Tool;
use tool_runtime::{Registry, RegistryChanges};

use super::link::ServerLink;
use super::mcp_tool::{McpTool, ToolStanding, WithheldReason, local_tool};
use super::names::{NameOwners, local_name};
use super::server_config::ServerConfig;
use super::status::ToolStatus;

use crate::pins::{ApproveError, HoldReason, Pins, ToolWarning, fingerprint, pinned_fields, warnings};

/// The registered tools of one server.
pub(super) struct RegisteredTools {
    config: Arc<ServerConfig>,
    link: Arc<ServerLink>,
    registry: Registry,
    names: Arc<NameOwners>,
    pins: Option<Arc<Pins>>,
    tools: BTreeMap<String, RegisteredTool>,
    pub(super) problems: Vec<String>,
}

struct RegisteredTool {
    definition: Tool,
    /// The part that calls share.
    listed: Arc<McpTool>,
    fingerprint: String,
    warnings: Vec<ToolWarning>,
    held: Option<HoldReason>,
}

impl RegisteredTools {
    pub(super) fn new(
        config: Arc<ServerConfig>,
        link: Arc<ServerLink>,
        registry: Registry,
        names: Arc<NameOwners>,
        pins: Option<Arc<Pins>>,
    ) -> Self {
        Self { config, link, registry, names, pins, tools: BTreeMap::new(), problems: Vec::new() }
    }

    /// Updates the registry to the listed tools. A tool that cannot be registered becomes a problem.
    pub(super) fn update(&mut self, tools: Vec<Tool>, dropped: Option<String>) {
        self.problems = dropped.into_iter().collect();
        let mut next = self.assign_names(tools);
        if let Some(pins) = self.pins.clone() {
            let listed = next.values().map(|tool| (&tool.definition, !tool.warnings.is_empty()));
            match pins.hold_reasons(&self.config.name, listed) {
                Ok(held) => next.values_mut().zip(held).for_each(|(tool, held)| tool.held = held),
                // Tools that cannot be compared with their pins are held.
                Err(error) => {
                    self.problems.push(format!("its tools cannot be pinned: {error}"));
                    next.values_mut().for_each(|tool| tool.held = Some(HoldReason::Unknown));
                }
            }
        }
        self.replace(next);
    }

    /// Keeps the tools as they are, and reports a problem.
    pub(super) fn keep_unchanged(&mut self, why: &str) {
        tracing::warn!(server = self.config.name, "{why}");
        if !self.problems.iter().any(|problem| problem == why) {
            self.problems.push(why.to_owned());
        }
    }

    /// Replaces the registered tools.
    fn replace(&mut self, mut next: BTreeMap<String, RegisteredTool>) {
        self.log_changes(&next);
        // First, so that a pending call of a replaced tool cannot reach the new one.
        self.withhold(&next);
        self.apply(&mut next);
        self.update_standings(&next);
        for name in self.tools.keys().filter(|name| !next.contains_key(*name)) {
            self.names.release(name, &self.config.name);
        }
        self.tools = next;
        for problem in &self.problems {
            tracing::warn!(server = self.config.name, "{problem}");
        }
    }

    /// Assigns local names, dropping the tools that cannot have one.
    fn assign_names(&mut self, tools: Vec<Tool>) -> BTreeMap<String, RegisteredTool> {
        let mut next = BTreeMap::<String, RegisteredTool>::new();
        for tool in tools {
            let name = local_name(&self.config.name, &tool.name);
            if let Err(problem) = self.check_name(&name, &tool, next.get(&name).map(|other| &other.definition)) {
                self.problems.push(problem);
                continue;
            }
            let (fingerprint, warnings) = (fingerprint(&tool), warnings(&tool));
            // Two of the server's names may map to one local name.
            let known = self.tools.get(&name);
            let known = known.filter(|known| known.fingerprint == fingerprint && known.definition.name == tool.name);
            let listed = known.map_or_else(|| Arc::new(McpTool::new(&tool)), |known| known.listed.clone());
            next.insert(name, RegisteredTool { definition: tool, listed, fingerprint, warnings, held: None });
        }
        next
    }

    /// Updates what pending calls may do.
    fn update_standings(&self, next: &BTreeMap<String, RegisteredTool>) {
        self.standings(next).for_each(|(listed, standing)| listed.set_standing(standing));
    }

    /// Stops the pending calls of tools that were changed or removed.
    fn withhold(&self, next: &BTreeMap<String, RegisteredTool>) {
        let withheld = self.standings(next).filter(|(_, standing)| *standing != ToolStanding::Offered);
        withheld.for_each(|(listed, standing)| listed.set_standing(standing));
    }

    fn standings(&self, next: &BTreeMap<String, RegisteredTool>) -> impl Iterator<Item = (&McpTool, ToolStanding)> {
        self.tools.iter().map(|(name, known)| {
            let standing = match next.get(name) {
                None => ToolStanding::WithheldReason(WithheldReason::Gone),
                Some(tool) if tool.held.is_some() => ToolStanding::WithheldReason(WithheldReason::HoldReason),
                Some(tool) if Arc::ptr_eq(&tool.listed, &known.listed) => ToolStanding::Offered,
                Some(_) => ToolStanding::WithheldReason(WithheldReason::Changed),
            };
            (&*known.listed, standing)
        })
    }

    /// Checks that a tool is within the limits and can have its local name. `twin` is another tool with that name.
    fn check_name(&self, name: &str, tool: &Tool, twin: Option<&Tool>) -> Result<(), String> {
        let limit = self.config.limits.definition;
        let length = tool.name.len() + pinned_fields(tool).to_string().len();
        if length > limit {
            let shown: String = tool.name.chars().take(64).collect();
            return Err(format!(
                "`{shown}` was dropped: its definition has {length} bytes, over the limit of {limit} bytes"
            ));
        }
        if let Some(twin) = twin {
            return Err(format!(
                "two tools would have the name `{name}`: `{}` and `{}`; the second was dropped",
                twin.name, tool.name
            ));
        }
        let taken = self.registry.has(name) || self.registry.is_disabled(name);
        self.names.claim(name, &self.config.name, &tool.name)?;
        if taken && !self.tools.contains_key(name) {
            self.names.release(name, &self.config.name);
            return Err(format!(
                "two tools would have the name `{name}`: one of the application, and `{}` of the server; the second was \
                 dropped",
                tool.name
            ));
        }
        Ok(())
    }

    /// Logs new warnings and held tools.
    fn log_changes(&self, next: &BTreeMap<String, RegisteredTool>) {
        for (name, tool) in next {
            let known = self.tools.get(name);
            if known.is_some_and(|known| known.fingerprint == tool.fingerprint && known.held == tool.held) {
                continue;
            }
            for warning in &tool.warnings {
                tracing::warn!(server = self.config.name, tool = name, "{warning}");
            }
            if let Some(held) = &tool.held {
                tracing::warn!(server = self.config.name, tool = name, "held until it is approved: {held}");
            }
        }
    }

    /// Applies all changes at once. A tool that cannot be registered is dropped.
    fn apply(&mut self, next: &mut BTreeMap<String, RegisteredTool>) {
        while let Err(error) = self.registry.apply(self.changes(next)) {
            let before = next.len();
            for problem in error.problems() {
                for name in problem.tools.iter().filter(|name| next.remove(*name).is_some()) {
                    self.names.release(name, &self.config.name);
                }
                let tools = problem.tools.join("`, `");
                self.problems.push(format!("`{tools}` was dropped: {}", problem.message));
            }
            if next.len() == before {
                break;
            }
        }
    }

    fn changes(&self, next: &BTreeMap<String, RegisteredTool>) -> RegistryChanges {
        let gone = self.tools.keys().filter(|name| !next.contains_key(*name));
        let mut changes = gone.fold(RegistryChanges::new(), |changes, name| changes.remove(name.as_str()));
        for (name, tool) in next {
            let known = self.tools.get(name);
            let local = || local_tool(name, &self.config, &self.link, &tool.definition, &tool.listed);
            changes = match known {
                None => changes.register(local()),
                Some(known) if !Arc::ptr_eq(&known.listed, &tool.listed) => changes.replace(local()),
                Some(_) => changes,
            };
            changes = match (known.is_some_and(|known| known.held.is_some()), tool.held.is_some()) {
                (_, true) => changes.disable(name.as_str()),
                (true, false) => changes.enable(name.as_str()),
                (false, false) => changes,
            };
        }
        changes
    }

    /// Removes all tools from the registry. The pins stay.
    pub(super) fn clear(&mut self) {
        self.problems.clear();
        self.replace(BTreeMap::new());
    }

    /// Approves a held tool, if its definition is still the one with this fingerprint.
    pub(super) fn approve(&mut self, name: &str, fingerprint: &str) -> Result<(), ApproveError> {
        let tool = self.tools.get_mut(name).ok_or(ApproveError::Unknown)?;
        if tool.fingerprint != fingerprint {
            return Err(ApproveError::Changed);
        }
        if let Some(pins) = &self.pins {
            pins.approve(&self.config.name, &tool.definition)?;
        }
        if tool.held.take().is_some() {
            tool.listed.set_standing(ToolStanding::Offered);
            // Cannot fail: the tool is registered.
            drop(self.registry.enable(name));
        }
        Ok(())
    }

    pub(super) fn status(&self) -> Vec<ToolStatus> {
        let status = |(name, tool): (&String, &RegisteredTool)| ToolStatus {
            name: name.clone(),
            remote_name: tool.definition.name.to_string(),
            input_schema: serde_json::Value::Object(tool.definition.input_schema.as_ref().clone()),
            annotations: tool.definition.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()),
            warnings: tool.warnings.clone(),
            fingerprint: tool.fingerprint.clone(),
            held: tool.held.clone(),
        };
        self.tools.iter().map(status).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::task::{Context, Wake};

    use serde_json::json;
    use tool_runtime::Dispatcher;

    use super::*;

    /// A waker that runs in the middle of a registry change and checks whether a tool may be called.
    struct CheckingWaker(Arc<McpTool>, Mutex<Vec<Result<(), WithheldReason>>>);

    impl Wake for CheckingWaker {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0.check());
        }
    }

    #[test]
    fn drops_a_tool_with_the_name_or_the_alias_of_a_local_tool() {
        let local = || tool_runtime::RuntimeTool::new("run", "Runs.", |()| async {}).alias("mcp_s_exec");
        let tools: Vec<Tool> = ["exec", "say"]
            .map(|name| serde_json::from_value(json!({"name": name, "inputSchema": {"type": "object"}})).unwrap())
            .into();
        let dispatcher = Dispatcher::builder().allow_empty().tool(local()).build().unwrap();
        let config = Arc::new(ServerConfig::http("s", "http://127.0.0.1:1"));
        let link = Arc::new(ServerLink::new("s".into()));
        let mut registered = RegisteredTools::new(config, link, dispatcher.registry(), Arc::default(), None);
        registered.update(tools.clone(), None);
        assert_eq!(dispatcher.resolve("mcp_s_exec").as_deref(), Some("run"));
        assert!(dispatcher.registry().has("mcp_s_say"), "a control");
        let problem = "two tools would have the name `mcp_s_exec`: one of the application, and `exec` of the server";
        assert!(registered.problems[0].contains(problem), "{:?}", registered.problems);
        dispatcher.registry().remove("run");
        registered.update(tools, None);
        assert_eq!(dispatcher.resolve("mcp_s_exec").as_deref(), Some("mcp_s_exec"));
    }

    #[test]
    fn withholds_a_tool_before_its_replacement_is_registered() {
        let tool = |name: &str, description: &str| -> Tool {
            let tool = json!({"name": name, "description": description, "inputSchema": {"type": "object"}});
            serde_json::from_value(tool).unwrap()
        };
        for (next, expected) in [
            (vec![tool("a", "Another.")], Err(WithheldReason::Changed)),
            (Vec::new(), Err(WithheldReason::Gone)),
            // The control changes something else.
            (vec![tool("a", "One."), tool("b", "")], Ok(())),
        ] {
            let registry = Dispatcher::builder().allow_empty().build().unwrap().registry();
            let config = Arc::new(ServerConfig::http("s", "http://127.0.0.1:1"));
            let link = Arc::new(ServerLink::new("s".into()));
            let mut tools = RegisteredTools::new(config, link, registry.clone(), Arc::default(), None);
            tools.update(vec![tool("a", "One.")], None);
            let checks = Arc::new(CheckingWaker(tools.tools["mcp_s_a"].listed.clone(), Mutex::default()));
            let (mut changes, waker) = (registry.changes(), checks.clone().into());
            let mut changed = std::pin::pin!(changes.changed());
            assert!(changed.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
            tools.update(next, None);
            assert_eq!(*checks.1.lock().unwrap(), [expected]);
        }
    }
}
