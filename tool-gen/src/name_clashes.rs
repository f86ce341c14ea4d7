//! Names and aliases that two tools have.

use std::collections::BTreeMap;
use std::path::Path;

use crate::tools::FoundTool;
use crate::{Diagnostic, Severity, SourcePlace};

/// Reports two tools with one name: a model could not choose between them.
pub(crate) fn duplicate(first: &FoundTool, second: &FoundTool) -> Diagnostic {
    let at = &first.place;
    if first.definition.handler == second.definition.handler && at == &second.place {
        return duplicate_file(&at.file);
    }
    let message = format!(
        "two tools have the name `{}`: {} ({}:{}) and {}",
        first.name,
        first.definition.handler,
        at.file.display(),
        at.line,
        second.definition.handler
    );
    Diagnostic {
        severity: Severity::Error,
        message,
        help: Some("rename one with `#[tool(name = \"..\")]` or `prefix`".to_owned()),
        place: Some(second.place.clone()),
        compile_error: false,
    }
}

/// Reports aliases that are also the name or an alias of another tool, as `build()` does.
pub(crate) fn alias_clashes(found: &[FoundTool]) -> Vec<Diagnostic> {
    let mut known: BTreeMap<&str, &FoundTool> = BTreeMap::new();
    let names: BTreeMap<&str, &FoundTool> = found.iter().map(|tool| (&*tool.name, tool)).collect();
    let mut clashes = Vec::new();
    for tool in found {
        for alias in &tool.definition.aliases {
            let is_other = |other: &&&FoundTool| other.name != tool.name;
            let message = match (names.get(&**alias).filter(is_other), known.get(&**alias).filter(is_other)) {
                (Some(named), _) => format!("the name of {}", named.definition.handler),
                (None, Some(other)) => format!("an alias of `{}`, {}", other.name, other.definition.handler),
                (None, None) => {
                    known.insert(alias, tool);
                    continue;
                }
            };
            clashes.push(Diagnostic {
                severity: Severity::Error,
                message: format!("the alias `{alias}` of `{}` is also {message}", tool.name),
                help: Some("remove the alias, or rename one of the tools".to_owned()),
                place: Some(tool.place.clone()),
                compile_error: false,
            });
        }
    }
    clashes
}

/// Reports a file once: all of its tools are duplicates.
fn duplicate_file(file: &Path) -> Diagnostic {
    Diagnostic {
        severity: Severity::Error,
        message: "this file is a module of both the library and the binary, which duplicates its tools".to_owned(),
        help: Some("declare it in the library only, and use the library in main.rs".to_owned()),
        place: Some(SourcePlace { file: file.to_owned(), line: 0, column: 0, width: 0, text: String::new() }),
        compile_error: false,
    }
}
