//! Manifests: loading, embedding and watching `tools_calls.json`.
//!
//! A manifest lists the offered tools and the texts that models read about them, so that descriptions can be edited
//! without recompiling. [`Builder::manifest`](crate::Builder::manifest) takes a [`Manifest`] from a file, or one that
//! [`manifest!`](crate::manifest!) embeds in the program; [`Dispatcher::watch`](crate::Dispatcher::watch) reloads a file
//! when it changes. Without a manifest, all linked tools are offered.

use tool_model::Manifest;
pub use tool_model::{Argument, EmbeddedManifest, ManifestError};

pub use crate::dispatch::{Definitions, ManifestWatch};

/// An argument of [`Builder::manifest`](crate::Builder::manifest) and [`Dispatcher::reload`](crate::Dispatcher::reload): a
/// [`Manifest`], the result of [`Manifest::load`], or what [`manifest!()`](crate::manifest!) gives.
#[diagnostic::on_unimplemented(
    message = "a dispatcher takes a manifest, not `{Self}`",
    note = "`Manifest::load(path)` reads a file, `Manifest::from_json(text)` a text, and `tool_runtime::manifest!()` is what the build script wrote"
)]
pub trait IntoManifest: private::Sealed {
    /// Returns the manifest, or the error of loading it.
    #[doc(hidden)]
    fn into_manifest(self) -> Result<Manifest, ManifestError>;
}

mod private {
    /// Implemented in this module only.
    pub trait Sealed {}
}

/// Returns the crate of a handler.
pub(crate) fn crate_of(handler: &str) -> &str {
    handler.split("::").next().unwrap_or(handler)
}

/// Returns the crate and the type of a method's handler, `tool_builtins::Files`, as `tool-gen write --with` takes it.
pub(crate) fn class_path(handler: &str) -> Option<String> {
    let (class, _) = split_last(handler)?;
    let (_, class) = split_last(class)?;
    Some(format!("{}::{class}", crate_of(handler)))
}

/// Splits a path at its last `::` that is not inside of `<..>`.
fn split_last(path: &str) -> Option<(&str, &str)> {
    let mut depth = 0_usize;
    for (at, byte) in path.bytes().enumerate().rev() {
        match byte {
            b'>' if !path[..at].ends_with('-') => depth += 1,
            b'<' => depth = depth.saturating_sub(1),
            b':' if depth == 0 && path[..at].ends_with(':') => return Some((&path[..at - 1], &path[at + 1..])),
            _ => {}
        }
    }
    None
}

impl private::Sealed for Manifest {}
impl private::Sealed for EmbeddedManifest {}
impl private::Sealed for Result<Manifest, ManifestError> {}

impl IntoManifest for Manifest {
    fn into_manifest(self) -> Result<Manifest, ManifestError> {
        Ok(self)
    }
}

impl IntoManifest for EmbeddedManifest {
    fn into_manifest(self) -> Result<Manifest, ManifestError> {
        self.try_into()
    }
}

impl IntoManifest for Result<Manifest, ManifestError> {
    fn into_manifest(self) -> Result<Manifest, ManifestError> {
        self
    }
}

/// Embeds the manifest that the build script wrote.
///
/// Without an argument, embeds `tools_calls.json` from the build script's `OUT_DIR`. With a path, embeds a file of the
/// package, relative to its `Cargo.toml`. Returns an [`EmbeddedManifest`](crate::manifest::EmbeddedManifest) for a
/// dispatcher. Its text is parsed when the dispatcher is built, and `build()` reports an invalid one.
///
/// ```standalone_crate
/// use tool_runtime::{Dispatcher, manifest, tool};
///
/// /// Greet someone.
/// #[tool]
/// fn greet(name: &str) -> String {
///     format!("Hello, {name}!")
/// }
///
/// fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let tools = Dispatcher::builder().manifest(manifest!("docs/tools_calls.json")).build()?;
///     assert_eq!(tools.manifest().len(), 1);
///     Ok(())
/// }
/// ```
///
/// A build script that writes it from the source of this package has one line:
///
/// ```ignore
/// // build.rs, with `tool-gen` under `[build-dependencies]`
/// fn main() -> tool_gen::Result {
///     tool_gen::scan("src/lib.rs").write_to_out_dir()
/// }
/// ```
///
/// If the tools are in other crates, these crates must be build-dependencies too. The build script then writes the tools
/// that are linked into it. Build-dependencies are compiled for the host, with the features listed there:
///
/// ```no_run,standalone_crate
/// // build.rs, with `the_services` and `tool-runtime` under `[build-dependencies]`
/// # extern crate tool_runtime as the_services;
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
        $crate::manifest::EmbeddedManifest::new(
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
        $crate::manifest::EmbeddedManifest::new(
            $path,
            ::core::include_str!(::core::concat!(::core::env!("CARGO_MANIFEST_DIR"), "/", $path)),
        )
    };
}

#[cfg(test)]
mod tests {
    use super::class_path;

    #[test]
    fn class_paths_keep_the_types_of_a_generic_class() {
        for (handler, class) in [
            ("app::store::Files::read", Some("app::Files")),
            ("app::store::Store<models::User>::get", Some("app::Store<models::User>")),
            ("app::Store<Pair<a::B, c::D>>::get", Some("app::Store<Pair<a::B, c::D>>")),
            ("app::Store<fn() -> a::B>::get", Some("app::Store<fn() -> a::B>")),
            ("read", None),
        ] {
            assert_eq!(class_path(handler).as_deref(), class);
        }
    }
}
