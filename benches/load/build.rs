//! Generates as many tools as `LOAD_TOOLS` says, alternating between five kinds.

use std::fmt::Write;

/// The parameters of each kind: numbers and strings, rules and defaults, lists, a struct, an enum.
const KINDS: [&str; 5] = [
    "/// The name of the thing.\nname: String,\n/// How many of them.\ncount: u32,\n/// What to leave out.\nskip: Option<String>",
    "/// Host name, such as `web-1`.\nhost: &str,\n/// How many at most.\n#[arg(default = 10, min = 1, max = 100)] limit: u32,\nsince: Option<i64>",
    "/// Words that all must occur.\nwords: Vec<String>,\n/// From where to where.\nrange: Option<Vec<f64>>",
    "/// What is ordered.\norder: crate::Order,\n/// Whether it is only tried.\ndry: bool",
    "/// In which order.\nsorting: crate::Sorting,\n/// The page.\npage: u16",
];

fn main() {
    println!("cargo::rerun-if-env-changed=LOAD_TOOLS");
    let count = std::env::var("LOAD_TOOLS").map_or(1_000, |count| count.parse().expect("a number"));
    let mut source = String::new();
    for number in 0..count {
        let parameters = KINDS[number % KINDS.len()];
        writeln!(
            source,
            "/// Tool number {number} does something useful with what it is given.\n\
             #[tool_runtime::tool(name = \"service_{}.tool_{number}\")]\n\
             pub fn tool_{number}({parameters}) -> u32 {{ let _ = ({}); {number} }}",
            number / 50,
            names(parameters)
        )
        .expect("written to memory");
    }
    let folder = std::env::var("OUT_DIR").expect("cargo sets it");
    std::fs::write(format!("{folder}/tools.rs"), source).expect("the folder can be written to");
}

/// Returns the names of the parameters, so that the body can use each.
fn names(parameters: &str) -> String {
    let lines = parameters.lines().filter(|line| !line.starts_with("///"));
    let names = lines.filter_map(|line| line.rsplit("] ").next()?.split(':').next());
    names.fold(String::new(), |names, name| names + name + ",")
}
