//! Generates the server, whose tools are in one `impl`, with `FILLERS` more of them.

fn main() {
    let server = |count: usize| {
        let more: String = (0..count)
            .map(|number| {
                format!("/// One of many.\n#[tool]\nasync fn filler_{number}(&self, a: i64) -> McpResult<i64> {{ Ok(a + {number}) }}\n")
            })
            .collect();
        include_str!("src/server.rs.in").replace("// MORE", &more)
    };
    println!("cargo::rerun-if-changed=src/server.rs.in");
    fillers::write(|_| String::new(), server);
}
