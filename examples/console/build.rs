//! Writes the manifest of the tools in this package and of the built-in tools, which `tools.rs` embeds.

fn main() -> tool_gen::Result {
    tool_gen::scan("src/lib.rs").with("tool-builtins").write_to_out_dir()
}
