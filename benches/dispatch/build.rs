//! Writes a thousand more tools, for `--features many`.

use std::fmt::Write;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let mut source = String::new();
    for number in 0..1000 {
        writeln!(source, "/// One of many.\n#[tool_runtime::tool(name = \"many.tool_{number}\")]\nfn tool_{number}(a: i64) -> i64 {{ a + {number} }}").expect("written to memory");
    }
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(format!("{folder}/many.rs"), source).expect("the folder can be written to");
}
