//! Writes the manifest of the tools in this package, which `tools.rs` embeds.

fn main() -> tool_gen::Result {
    tool_gen::scan("src/lib.rs").write_to_out_dir()
}
