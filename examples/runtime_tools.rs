//! Tools that are registered and removed while the program runs, from a closure or from a configuration.
//!
//! ```sh
//! cargo run -p examples --example runtime_tools
//! ```

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tool_runtime::{Dispatcher, RuntimeTool, ToolCall, ToolResult};

/// The arguments of a tool. The documentation of a field is the description of its argument.
#[derive(Deserialize, JsonSchema)]
struct Place {
    /// The name of the town.
    town: String,
    /// The number of days to look ahead.
    #[schemars(range(min = 1, max = 7))]
    days: Option<u32>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // No tool is linked, and all come later: without `allow_empty` that is an error.
    let tools = Dispatcher::builder().allow_empty().build()?;
    let registry = tools.registry();

    // From a closure with typed arguments.
    let forecast = RuntimeTool::new("weather.forecast", "Forecast the weather.", |place: Place| async move {
        format!("rain in {} for {} days", place.town, place.days.unwrap_or(1))
    });
    registry.register(forecast.read_only())?;

    // From a configuration with JSON Schemas, such as the endpoints of another system.
    let config = json!([
        {"name": "door.open", "description": "Open a door.", "schema": door()},
        {"name": "door.lock", "description": "Lock a door.", "schema": door()}
    ]);
    for entry in config.as_array().into_iter().flatten() {
        let text = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
        let name = text("name");
        let tool =
            RuntimeTool::from_schema(text("name"), text("description"), &entry["schema"], move |arguments, _| {
                // A real handler sends the arguments to the other system. They have been validated.
                let output = format!("{name} {}", Value::Object(arguments));
                async move { ToolResult::success(output) }
            });
        registry.register(tool)?;
    }
    println!("{}", tools.catalogue());

    for (tool, arguments) in [
        ("weather.forecast", r#"{"town": "Bergen", "days": 14}"#),
        ("door.open", r#"{"number": 3}"#),
        ("door.open", r#"{"number": "the left one"}"#),
    ] {
        println!("{tool}: {}", tools.call(ToolCall::from_text(tool, arguments)).await.output);
    }

    // Calls in progress finish. Later calls read that the tool does not exist.
    registry.remove("door.open");
    println!("door.open: {}", tools.call(ToolCall::from_text("door.open", r#"{"number": 3}"#)).await.output);
    Ok(())
}

fn door() -> Value {
    json!({"type": "object", "properties": {"number": {"type": "integer", "minimum": 1}}, "required": ["number"]})
}
