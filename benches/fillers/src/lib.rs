//! Generates tools in a build script, for libraries whose tools cannot be created at run time.

use std::fmt::Write;

/// Writes as many tools as the variable `FILLERS` says to `fillers.rs` in `OUT_DIR`: the output of `each` per tool,
/// then the output of `all` for their number.
pub fn write(each: impl Fn(usize) -> String, all: impl Fn(usize) -> String) {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=FILLERS");
    let count = std::env::var("FILLERS").map_or(0, |count| count.parse().expect("FILLERS is a number"));
    let mut source = (0..count).map(&each).fold(String::new(), |all, one| all + &one + "\n");
    writeln!(source, "/// How many there are.\npub const FILLERS: usize = {count};\n{}", all(count))
        .expect("written to memory");
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(format!("{folder}/fillers.rs"), source).expect("the folder can be written to");
}
