//! The tools on offer, which a new manifest replaces as a whole.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwap;
use rustc_hash::FxBuildHasher;
use tool_model::{Manifest, Registration, ToolDefinition, nearest};

use super::BoundTool;
use crate::{ErrorKind, ToolError};

pub(crate) type Tools = HashMap<String, Arc<BoundTool>, FxBuildHasher>;

/// What a dispatcher offers at one moment.
pub(crate) struct Offer {
    pub(crate) tools: Tools,
    pub(crate) not_offered: Vec<&'static Registration>,
}

/// The offer that counts now.
///
/// Most programs never load a second manifest, and reading what can be replaced costs some ninety instructions, a
/// twentieth of a small call. So the first offer stands by itself, and stays as long as the dispatcher does.
pub(crate) struct CurrentOffer {
    first: Offer,
    later: OnceLock<ArcSwap<Offer>>,
}

impl CurrentOffer {
    pub(super) fn new(first: Offer) -> Self {
        Self { first, later: OnceLock::new() }
    }

    /// Looks at what is offered at this moment.
    #[inline]
    pub(crate) fn with<T>(&self, look: impl FnOnce(&Offer) -> T) -> T {
        match self.later.get() {
            None => look(&self.first),
            Some(later) => look_later(later, look),
        }
    }

    /// Offers something else from now on.
    pub(super) fn replace(&self, offer: Offer) {
        let offer = Arc::new(offer);
        self.later.get_or_init(|| ArcSwap::new(offer.clone())).store(offer);
    }
}

/// Apart, so that the usual way stays as short as if there were no other.
#[cold]
#[inline(never)]
fn look_later<T>(later: &ArcSwap<Offer>, look: impl FnOnce(&Offer) -> T) -> T {
    look(&later.load())
}

impl Offer {
    pub(crate) fn manifest(&self) -> Manifest {
        self.tools.iter().map(|(name, tool)| (name.clone(), ToolDefinition::clone(tool.definition()))).collect()
    }

    /// The tools with their definitions, sorted by name.
    pub(crate) fn definitions(&self) -> Vec<(String, Arc<ToolDefinition>)> {
        let tools = self.tools.iter().map(|(name, tool)| (name.clone(), tool.definition().clone()));
        let mut all: Vec<_> = tools.collect();
        all.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        all
    }

    pub(crate) fn definition(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.tools.get(name).map(|tool| tool.definition().clone())
    }

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
