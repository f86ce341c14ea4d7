//! Command-line arguments that commands share.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// The format of results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum OutputFormat {
    #[default]
    Text,
    Json,
}

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum ColourChoice {
    #[default]
    Auto,
    Always,
    Never,
}

impl ColourChoice {
    /// Applies the choice to everything that is printed from now on.
    pub(super) fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

/// The packages to read, selected as in Cargo.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Packages")]
pub(super) struct PackageChoice {
    /// Path to Cargo.toml; by default the nearest one
    #[arg(long, value_name = "PATH")]
    pub(super) manifest_path: Option<PathBuf>,

    /// Package of the workspace to read; can be repeated
    #[arg(short, long = "package", value_name = "NAME")]
    pub(super) packages: Vec<String>,

    /// Read all packages of the workspace into one manifest
    #[arg(long, conflicts_with = "packages")]
    pub(super) workspace: bool,

    /// Include all tools of a dependency, or of one of its classes: `tool-builtins::Files`; can be repeated
    #[arg(long, value_name = "CRATE[::CLASS]")]
    pub(super) with: Vec<String>,

    #[command(flatten)]
    pub(super) build: BuildChoice,
}

/// The build configuration of the packages.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Configuration")]
pub(super) struct BuildChoice {
    /// Features to enable, separated by commas or spaces
    #[arg(short = 'F', long, value_name = "FEATURES")]
    pub(super) features: Vec<String>,

    /// Enable all features
    #[arg(long)]
    pub(super) all_features: bool,

    /// Disable the default features
    #[arg(long)]
    pub(super) no_default_features: bool,

    /// Evaluate `#[cfg]` for this target
    #[arg(long, value_name = "TRIPLE")]
    pub(super) target: Option<String>,

    /// Set a `cfg`, such as `tokio_unstable` or `backend="sqlite"`; can be repeated
    #[arg(long = "cfg", value_name = "CFG")]
    pub(super) cfgs: Vec<String>,
}

/// The source of the tools: Rust sources, or an existing manifest.
#[derive(Args, Clone, Debug, Default)]
pub(super) struct ToolSource {
    /// Read this manifest instead of the sources
    #[arg(long, value_name = "FILE", conflicts_with_all = ["manifest_path", "packages", "workspace", "with"])]
    pub(super) from: Option<PathBuf>,

    #[command(flatten)]
    pub(super) choice: PackageChoice,
}
