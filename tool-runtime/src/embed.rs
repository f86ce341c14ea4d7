//! `manifest!`, which puts a manifest into the program.

/// The manifest that the build script wrote, as part of the program.
///
/// Alone, it is the `tools_calls.json` in the build script's `OUT_DIR`; with a path, a file of the package, relative
/// to its `Cargo.toml`. Either way it is an [`EmbeddedManifest`](crate::EmbeddedManifest), which a dispatcher takes:
///
/// ```ignore
/// let tools = Dispatcher::builder().manifest(tool_runtime::manifest!()).build()?;
/// let tools = Dispatcher::builder().manifest(tool_runtime::manifest!("tools_calls.json")).build()?;
/// ```
///
/// The text is read when the dispatcher is built, and `build()` reports one that is no manifest. A build script that
/// writes it has one line:
///
/// ```ignore
/// // build.rs, with `tool-gen` among the build-dependencies
/// fn main() -> tool_gen::Result {
///     tool_gen::scan("src/lib.rs").write_to_out_dir()
/// }
/// ```
///
/// Or, where the tools are those of other crates, which are then build-dependencies, too:
///
/// ```ignore
/// // build.rs
/// use the_services as _;
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     println!("cargo::rerun-if-changed=build.rs");
///     let folder = std::path::PathBuf::from(std::env::var("OUT_DIR")?);
///     tool_runtime::Manifest::linked().save(folder.join("tools_calls.json"))?;
///     Ok(())
/// }
/// ```
#[macro_export]
macro_rules! manifest {
    () => {
        $crate::EmbeddedManifest::new(
            "$OUT_DIR/tools_calls.json",
            ::core::include_str!(::core::concat!(
                ::core::env!(
                    "OUT_DIR",
                    "`manifest!()` embeds what the build script wrote, and this package has none. Add a `build.rs` with \
                     `fn main() -> tool_gen::Result { tool_gen::scan(\"src/lib.rs\").write_to_out_dir() }` and \
                     `tool-gen` under `[build-dependencies]`, or name a file: `manifest!(\"tools_calls.json\")`"
                ),
                "/tools_calls.json"
            )),
        )
    };
    ($path:literal $(,)?) => {
        $crate::EmbeddedManifest::new(
            $path,
            ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path)),
        )
    };
}
