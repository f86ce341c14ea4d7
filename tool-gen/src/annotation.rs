//! Which items are annotated.

use proc_macro2::TokenStream;
use syn::{Attribute, Meta};

use crate::source::{ImportPath, Sources, import_path};
use crate::ty::ScopeId;

/// Our attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Annotation {
    Tool,
    Class,
}

/// The packages that have our attributes.
const OURS: [&str; 2] = ["tool-runtime", "tool-macros"];

/// Takes the annotation out of an item's attributes, with what stands between its parentheses.
///
/// As rustc does it: what a `cfg_attr` holds is in its place by then if it stands before the annotation, and not yet
/// if it stands behind.
pub(crate) fn take(
    sources: &Sources,
    scope: ScopeId,
    attributes: &mut Vec<Attribute>,
) -> Option<(Annotation, TokenStream)> {
    let cfg = &sources.crate_of(scope).cfg;
    let mut open: Vec<Attribute> = std::mem::take(attributes);
    open.reverse();
    let mut found = None;
    while let Some(attribute) = open.pop() {
        if attribute.path().is_ident("cfg_attr") {
            let mut held = vec![attribute];
            cfg.expand(&mut held);
            open.extend(held.into_iter().rev());
        } else if let Some(annotation) = kind(sources, scope, &attribute) {
            found = Some((annotation, tokens(&attribute)));
            break;
        } else {
            attributes.push(attribute);
        }
    }
    attributes.extend(open.into_iter().rev());
    found
}

fn tokens(attribute: &Attribute) -> TokenStream {
    match &attribute.meta {
        Meta::List(list) => list.tokens.clone(),
        _ => TokenStream::new(),
    }
}

fn kind(sources: &Sources, scope: ScopeId, attribute: &Attribute) -> Option<Annotation> {
    // The names in an attribute may come by `use`, under other names.
    let (path, from) = sources.origin(scope, import_path(attribute.path()))?;
    let annotation = match path.segments.last()?.as_str() {
        "tool" => Annotation::Tool,
        "tool_class" => Annotation::Class,
        _ => return None,
    };
    is_ours(sources, from, &path).then_some(annotation)
}

/// Other crates have a `#[tool]` too. One that comes from a foreign package is theirs; one that the application's own
/// crates hand on is ours.
fn is_ours(sources: &Sources, scope: ScopeId, path: &ImportPath) -> bool {
    let krate = sources.crate_of(scope);
    let is_our_package = |package: &str| OURS.contains(&package.replace('_', "-").as_str());
    if path.segments.len() == 1 {
        // By a glob: whose it is can only be told where there is nobody but the others.
        let has_ours = krate.dependencies.values().any(|dependency| is_our_package(&dependency.package));
        return has_ours || !sources.has_glob_of(scope, |krate| krate != "std" && !is_our_package(krate));
    }
    let Some(dependency) = path.segments.first().and_then(|first| krate.dependencies.get(first)) else { return true };
    dependency.path.is_some() || is_our_package(&dependency.package)
}
