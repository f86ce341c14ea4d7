use tool_runtime::tool;

type Text<'a> = &'a str;

#[tool]
fn greet(name: Text<'_>) -> String {
    format!("Hello, {name}")
}

fn main() {
    greet("you");
}
