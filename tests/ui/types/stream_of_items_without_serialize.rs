use tool_runtime::{Stream, tool};

struct Opaque;

#[tool]
fn lines() -> impl Stream<Item = Opaque> {
    tokio_stream::iter([Opaque])
}

fn main() {}
