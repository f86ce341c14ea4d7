mod arguments;
mod filters;
mod hidden;
mod properties;

use crate::{BuildError, Dispatcher, RuntimeTool, Selection};

fn tool(name: &str) -> RuntimeTool {
    let own = name.to_owned();
    RuntimeTool::new(name, "", move |(): ()| {
        let own = own.clone();
        async move { own }
    })
}

fn tools() -> Dispatcher {
    Dispatcher::builder()
        .tool(tool("mail.send").tags(["mail", "write"]).sensitive().category("talk"))
        .tool(tool("mail.newest").tags(["mail"]).read_only().category("talk"))
        .tool(tool("mail.purge_all").tags(["mail", "write"]).destructive().not_sensitive().sequential())
        .tool(tool("clock.now").read_only().idempotent())
        .build()
        .unwrap()
}

fn names(tools: &Dispatcher) -> String {
    let definitions = tools.definitions();
    definitions.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" ")
}

fn selected(selection: Selection) -> String {
    names(&tools().select(selection).unwrap())
}

fn from_json(json: &str) -> Selection {
    serde_json::from_str(json).unwrap()
}

fn refusal(selection: Selection) -> BuildError {
    tools().select(selection).unwrap_err()
}
