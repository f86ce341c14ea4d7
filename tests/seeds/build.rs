//! Writes the manifest of the annotated services.

fn main() -> tool_gen::Result {
    tool_gen::scan("src/lib.rs").write_to_out_dir()
}
