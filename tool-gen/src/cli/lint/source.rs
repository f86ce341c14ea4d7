//! Where a finding's tool stands in the source.
//!
//! A manifest does not say it. The handler's name does, if there is only one function of that name in all files.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tool_gen::Place;

use super::Finding;
use crate::cli::scanning::Tools;

pub(super) fn locate(findings: &mut [Finding], tools: &Tools) {
    let mut places: BTreeMap<String, Option<Place>> = BTreeMap::new();
    let sources: Vec<(&PathBuf, String)> = match findings {
        [] => Vec::new(),
        _ => tools.files.iter().filter_map(|file| Some((file, fs::read_to_string(file).ok()?))).collect(),
    };
    for finding in findings {
        let handler = tools.manifest.get(&finding.tool).map(|tool| tool.handler.as_str()).unwrap_or_default();
        let function = handler.rsplit("::").next().unwrap_or_default();
        if !function.is_empty() {
            let place = places.entry(function.to_owned()).or_insert_with(|| only_function(function, &sources));
            finding.place.clone_from(place);
        }
    }
}

fn only_function(name: &str, sources: &[(&PathBuf, String)]) -> Option<Place> {
    let mut found = sources.iter().flat_map(|(file, text)| {
        text.lines().enumerate().filter_map(move |(index, line)| {
            let column = column_of(name, line)?;
            let width = name.chars().count();
            Some(Place { file: (*file).clone(), line: index + 1, column, width, text: line.to_owned() })
        })
    });
    found.next().filter(|_| found.next().is_none())
}

/// Where `fn name` begins with its name, counted in characters from 1.
fn column_of(name: &str, line: &str) -> Option<usize> {
    let (before, after) = line.split_once("fn ")?;
    let apart = before.is_empty() || before.ends_with([' ', '\t']);
    let rest = after.strip_prefix("r#").unwrap_or(after).strip_prefix(name)?;
    let ends = rest.starts_with(['(', '<', ' ']) || rest.is_empty();
    let start = line.len() - rest.len() - name.len();
    (apart && ends && !before.trim_start().starts_with("//")).then(|| line[..start].chars().count() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_function_of_that_name() {
        assert_eq!(column_of("ping", "    pub async fn ping(&self) {"), Some(18));
        assert_eq!(column_of("ping", "fn ping<T>("), Some(4));
        assert_eq!(column_of("ping", "fn pings("), None);
        assert_eq!(column_of("ping", "    // fn ping("), None);
        assert_eq!(column_of("ping", "let fn_ping = 1;"), None);
    }
}
