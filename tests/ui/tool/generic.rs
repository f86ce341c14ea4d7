use tool_runtime::tool;

trait Progress {}

#[tool]
fn count<T: serde::de::DeserializeOwned>(items: Vec<T>) -> usize {
    items.len()
}

#[tool]
fn run<P>(progress: &P)
where
    P: Progress + Send + ?Sized,
{
    let _ = progress;
}

fn main() {
    count(vec![1]);
    run(&Silent);
}

struct Silent;

impl Progress for Silent {}
