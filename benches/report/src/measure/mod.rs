//! The measurements, one per file.

mod agent;
mod arguments;
mod build;
mod calls;
mod compile;
mod dialect;
mod files;
mod load;
mod mcp;
mod scan;
mod search;
mod start;
mod time;
mod together;
mod tools;

pub use agent::AGENTS;
pub use arguments::BYTES;
use clap::ValueEnum;
pub use dialect::FORMS;
pub use files::WAYS as FILE_WAYS;
pub use load::STEPS;
pub use mcp::SERVERS;
pub use scan::{PERCENT, WAYS};
pub use search::WHAT;
pub use together::COUNTS as TOGETHER;
pub use tools::COUNTS as TOOLS;

use crate::Outcome;
use crate::figures::Figures;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Measurement {
    /// Instructions, allocations and bytes of a call
    #[value(alias = "dispatch")]
    Calls,
    /// Nanoseconds of a call
    Time,
    /// Cost of a call by the number of tools
    Tools,
    /// Cost of a call by the size of its arguments
    Arguments,
    /// Cost of a call by the number of concurrent calls
    Together,
    /// Start-up with 300 tools, and listing a thousand
    Start,
    /// Compile time and binary size per tool
    Compile,
    /// Dependencies, and a clean build
    Build,
    /// A manifest of 10,000 tools
    Load,
    /// The generator
    Scan,
    /// The built-in file tools compared with `rg`
    Files,
    /// Searching for tools
    Search,
    /// The formats of model providers
    Dialect,
    /// A turn of the agent
    Agent,
    /// MCP servers
    Mcp,
}

impl Measurement {
    /// Returns the named measurements, or all that fit into the time.
    pub fn chosen(named: &[Self], quick: bool) -> Vec<Self> {
        let all = Self::value_variants().iter().copied();
        match named {
            [] if quick => all.filter(|one| !matches!(one, Self::Build | Self::Load)).collect(),
            [] => all.collect(),
            _ => named.to_vec(),
        }
    }

    pub fn run(self, quick: bool, figures: &mut Figures) -> Outcome {
        match self {
            Self::Calls => calls::run(quick, figures),
            Self::Time => time::run(quick, figures),
            Self::Tools => tools::run(quick, figures),
            Self::Arguments => arguments::run(quick, figures),
            Self::Together => together::run(figures),
            Self::Start => start::run(figures),
            Self::Compile => compile::run(quick, figures),
            Self::Build => build::run(figures),
            Self::Load => load::run(figures),
            Self::Scan => scan::run(quick, figures),
            Self::Files => files::run(quick, figures),
            Self::Search => search::run(figures),
            Self::Dialect => dialect::run(figures),
            Self::Agent => agent::run(figures),
            Self::Mcp => mcp::run(quick, figures),
        }
    }
}
