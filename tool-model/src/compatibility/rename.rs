//! Detection of renamed tools and properties.

use super::{takes, tool};
use crate::{ToolDefinition, nearest};

/// The similarity of two items with different names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Likeness {
    Different,
    Similar,
    Same,
}

/// Removes the likely pairs from both lists: items with similar names and similar schemas, or else the only removed and
/// the only added item, if they are equal.
pub(super) fn pairs<'n>(
    gone: &mut Vec<&'n str>,
    added: &mut Vec<&'n str>,
    likeness: impl Fn(&str, &str) -> Likeness,
) -> Vec<(&'n str, &'n str)> {
    let mut found = Vec::new();
    for floor in [Likeness::Same, Likeness::Similar] {
        gone.retain(|was| {
            let near = nearest(was, added.iter().copied());
            let Some(is) = near.into_iter().find(|is| likeness(was, is) >= floor) else { return true };
            added.retain(|name| *name != is);
            found.push((*was, is));
            false
        });
    }
    if let ([was], [is]) = (gone.as_slice(), added.as_slice())
        && likeness(was, is) == Likeness::Same
    {
        found.push((was, is));
        gone.clear();
        added.clear();
    }
    found
}

type Named<'a> = (&'a str, &'a ToolDefinition);

/// Removes the likely pairs of tools from both lists: those whose old name is an alias now, those with the same handler,
/// or with the same arguments and a similar name.
pub(super) fn tools<'a>(gone: &mut Vec<Named<'a>>, added: &mut Vec<Named<'a>>) -> Vec<(Named<'a>, Named<'a>)> {
    let mut found = Vec::new();
    gone.retain(|was| {
        let by_alias = added.iter().position(|is| takes(is.1, was.0));
        let by_handler = || added.iter().position(|is| was.1.handler == is.1.handler);
        let Some(index) = by_alias.or_else(by_handler) else { return true };
        found.push((*was, added.remove(index)));
        false
    });
    let names = |tools: &[Named<'a>]| tools.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let tool = |tools: &[Named<'a>], name: &str| tools.iter().copied().find(|(known, _)| *known == name);
    let (old, new) = (gone.clone(), added.clone());
    let by_shape = pairs(&mut names(gone), &mut names(added), |was, is| {
        let (Some(was), Some(is)) = (tool(&old, was), tool(&new, is)) else { return Likeness::Different };
        likeness(was.1, is.1)
    });
    for (was, is) in by_shape {
        found.extend(tool(gone, was).zip(tool(added, is)));
        gone.retain(|(name, _)| *name != was);
        added.retain(|(name, _)| *name != is);
    }
    found
}

/// Compares two tools. Tools without arguments all have the same schema, so they also need the same description.
fn likeness(was: &ToolDefinition, is: &ToolDefinition) -> Likeness {
    let same_words = was.description == is.description && !was.description.is_empty();
    let same_shape = tool::has_same_schemas(was, is);
    match (same_shape, same_words || !was.arguments.is_empty()) {
        (true, true) => Likeness::Same,
        _ if same_words => Likeness::Similar,
        _ => Likeness::Different,
    }
}
