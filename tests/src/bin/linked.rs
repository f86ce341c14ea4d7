//! Prints the names of the tools that the linker kept.

use tool_tests as _;

fn main() {
    for (name, _) in tool_runtime::Manifest::linked().iter() {
        println!("{name}");
    }
}
