use tool_runtime::output::Stream;
use tool_runtime::tool;

#[tool(blocking)]
fn lines() -> impl Stream<Item = String> {
    tokio_stream::empty()
}

fn main() {}
