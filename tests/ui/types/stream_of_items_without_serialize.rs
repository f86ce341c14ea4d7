use tool_runtime::output::Stream;
use tool_runtime::tool;

struct Opaque;

#[tool]
fn lines() -> impl Stream<Item = Opaque> {
    tokio_stream::iter([Opaque])
}

fn main() {}
