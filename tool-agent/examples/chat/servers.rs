//! The MCP servers of the chat: their status, for the user.

use tool_mcp::{ReloadReport, RemoteServers, ServerState, ServerStatus};
use tool_runtime::display::escape;

/// Describes the servers and their problems, one per line. What servers say is escaped for the terminal.
pub fn describe(servers: &RemoteServers) -> Vec<String> {
    let mut lines: Vec<String> = servers.status().iter().map(describe_server).collect();
    if lines.is_empty() {
        lines.push("No MCP server is configured.".to_owned());
    }
    lines.extend(servers.problems().iter().map(|problem| format!("Problem: {}", escape(problem))));
    lines
}

fn describe_server(server: &ServerStatus) -> String {
    let name = escape(&server.name);
    match &server.state {
        ServerState::Connected => match server.tools.len() {
            1 => format!("{name}: 1 tool"),
            count => format!("{name}: {count} tools"),
        },
        // Its problems have the reason.
        ServerState::Unavailable(_) => format!("{name}: not available"),
        ServerState::Closed => format!("{name}: closed"),
        _ => format!("{name}: connecting"),
    }
}

/// Describes what a reload has changed.
pub fn describe_reload(report: &ReloadReport) -> String {
    let parts = [("started", &report.started), ("restarted", &report.restarted), ("stopped", &report.stopped)];
    let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
    let parts: Vec<String> = parts.map(|(verb, names)| format!("{verb} {}", escape(&names.join(", ")))).collect();
    match parts.is_empty() {
        true => "The configuration of the servers has not changed.".to_owned(),
        false => format!("The servers were read again: {}.", parts.join("; ")),
    }
}

#[cfg(test)]
mod tests {
    use tool_mcp::PluginArguments;
    use tool_runtime::Dispatcher;

    use super::*;

    #[tokio::test]
    async fn shows_problems_and_changes_of_servers() -> Result<(), Box<dyn std::error::Error>> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("mcp.json");
        std::fs::write(&file, r#"{"mcpServers": {"files": {"command": "/no/such/program"}}}"#)?;
        let tools = Dispatcher::builder().allow_empty().build()?;
        let missing = directory.path().join("plugins");
        let arguments = PluginArguments { mcp: vec![file.clone()], plugins: vec![missing.clone()] };
        let servers = arguments.servers()?.expect("a file").connect(&tools.registry()).await?;
        let lines = describe(&servers).join("\n");
        assert!(lines.contains("files: not available\n") && lines.contains("cannot start /no/such/program"), "{lines}");
        assert!(lines.contains("Problem: cannot read the plugin directory"), "{lines}");

        std::fs::create_dir(&missing)?;
        std::fs::write(&file, r#"{"mcpServers": {"wiki": {"command": "/no/such/program"}}}"#)?;
        let report = servers.reload().await;
        assert_eq!(describe_reload(&report), "The servers were read again: started wiki; stopped files.");
        assert!(!describe(&servers).join("\n").contains("plugin directory"));
        assert_eq!(describe_reload(&servers.reload().await), "The configuration of the servers has not changed.");
        servers.close().await;
        Ok(())
    }
}
