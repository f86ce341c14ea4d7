//! Searches 10,000 tools a number of times, to be counted by callgrind: `search <rare|common|definitions> <times>`.
//!
//! `rare` is a query of three words that few tools contain, `common` one of three words that all contain, which is the
//! worst case. `definitions` requests the definitions of a selection that has not changed.

use std::hint::black_box;

use serde_json::json;
use tool_runtime::{Dispatcher, RegistryChanges, RuntimeTool, Selection};

const TOOLS: usize = 10_000;

const VERBS: [&str; 10] = ["create", "list", "delete", "update", "send", "read", "copy", "move", "find", "count"];
const NOUNS: [&str; 10] = ["issue", "mail", "file", "user", "host", "report", "page", "order", "image", "table"];

/// A typical tool with a name, a description and two arguments. Each description contains a unique word.
fn tool(number: usize) -> RuntimeTool {
    let (verb, noun) = (VERBS[number % 10], NOUNS[number / 10 % 10]);
    let schema = json!({"type": "object", "properties": {
        "name": {"type": "string", "description": format!("The name of the {noun} to {verb}.")},
        "limit": {"type": "integer", "minimum": 1, "maximum": 100},
    }, "required": ["name"]});
    let description = format!("Use this tool to {verb} the {noun} of project{number} in the service that keeps it.");
    let name = format!("service{}.{verb}_{noun}_{number}", number / 100);
    RuntimeTool::from_schema(name, description, &schema, |_, _| async {})
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, what, times] = arguments.as_slice() else { panic!("search <what> <times>") };
    let times: u32 = times.parse().expect("a number");
    let tools = Dispatcher::builder().build().expect("nothing is missing");
    tools.registry().apply((0..TOOLS).map(tool).collect::<RegistryChanges>()).expect("their names differ");
    let selected = tools.select(Selection::new().name_glob("service*")).expect("a selection");
    // Fill the caches before the measured loop.
    assert_eq!(selected.definitions().len(), TOOLS);
    assert_eq!(selected.search("tools", usize::MAX).len(), TOOLS);
    for _ in 0..times {
        match what.as_str() {
            "rare" => drop(black_box(selected.search(black_box("project4711 issue 4711"), 8))),
            "common" => drop(black_box(selected.search(black_box("tool service project"), 8))),
            "definitions" => drop(black_box(selected.definitions())),
            other => panic!("no search {other}"),
        }
    }
}
