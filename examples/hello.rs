//! A function becomes a tool that a language model can call.
//!
//! ```sh
//! cargo run -p examples --example hello
//! ```

use tool_runtime::dialect::Dialect;
use tool_runtime::{Dispatcher, ToolCall, tool};

// The documentation is the description that the model reads. The signature becomes the schema of the arguments.
/// Greet a person by name.
#[tool(read_only)]
async fn greet(
    /// The person's first name.
    name: &str,
    /// The number of times to say hello.
    #[arg(default = 1, min = 1, max = 3)]
    times: usize,
) -> String {
    format!("{}{name}!", "Hello, ".repeat(times))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A dispatcher offers every tool that is linked into the binary.
    let tools = Dispatcher::builder().build()?;

    // The definitions, in the format of a provider: put them into `tools` of a request.
    println!("{:#}\n", tools.offer(Dialect::OpenAiChat)?.definitions());

    // A call of the model: the name of a tool, and the arguments as the JSON text that the model wrote.
    let result = tools.call(ToolCall::from_text("greet", r#"{"name": "Ada"}"#)).await;
    println!("{}\n", result.output);

    // A failed call is a result as well. The model reads what was wrong and can call again.
    let result = tools.call(ToolCall::from_text("greet", r#"{"times": 9}"#)).await;
    println!("{}", result.output);
    Ok(())
}
