use tool_runtime::{Stream, tool};

#[tool(blocking)]
fn lines() -> impl Stream<Item = String> {
    tokio_stream::empty()
}

fn main() {}
