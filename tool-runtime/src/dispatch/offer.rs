//! The tools on offer, which a new manifest replaces as a whole.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::FxBuildHasher;
use tool_model::{Registration, nearest};

use super::BoundTool;
use crate::{ErrorKind, ToolError};

pub(crate) type Tools = HashMap<String, Arc<BoundTool>, FxBuildHasher>;

/// What a dispatcher offers at one moment.
pub(crate) struct Offer {
    pub(crate) tools: Tools,
    pub(crate) not_offered: Vec<&'static Registration>,
}

impl Offer {
    /// What a model is told that asks for a tool which is not on offer.
    #[cold]
    pub(crate) fn unknown_tool(&self, name: &str) -> ToolError {
        let mut names: Vec<&str> = self.tools.keys().map(String::as_str).collect();
        names.sort_unstable();
        let near = nearest(name, names.iter().copied());
        let quoted = |names: &[&str]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let hint = match near.as_slice() {
            [] if names.is_empty() => "There are no tools.".to_owned(),
            [] if names.len() <= 20 => format!("The tools are {}.", quoted(&names)),
            [] => format!("There are {} tools, none with a similar name.", names.len()),
            near => format!("Did you mean {}?", quoted(near)),
        };
        let shown: String = name.chars().take(128).collect();
        ToolError::new(ErrorKind::UnknownTool, format!("There is no tool `{shown}`. {hint}"))
    }
}
