//! Random services: the scanned manifest equals the linked one, byte by byte.

use std::path::Path;
use std::str::FromStr;
use std::{env, fmt, fs};

use parity_tests::build::{Build, CRATE};
use parity_tests::compare::{Difference, differences};
use parity_tests::render::Sources;
use parity_tests::{coverage, generate, render};

/// Number of differences to show: the first tells most.
const SHOWN: usize = 5;

/// Reads a number from the environment.
fn setting<T: FromStr<Err: fmt::Debug>>(name: &str, default: T) -> T {
    env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error:?}")))
}

#[test]
fn scanned_random_services_equal_the_linked_ones() {
    let seed = setting("PARITY_SEED", 1_u64);
    let services = setting("PARITY_SERVICES", 300_usize);
    let shown = setting("PARITY_SHOWN", SHOWN);
    let again = format!("PARITY_SEED={seed} PARITY_SERVICES={services} cargo test -p parity-tests services");

    let sources = render::render(&generate::project(seed, services), seed, CRATE);
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let target = scratch.parent().expect("the target folder");
    let build = Build::write(&scratch.join("random-services"), target, &sources).expect("the crate can be written");
    let linked = build.linked().unwrap_or_else(|error| panic!("{error}\n{again}"));
    let missing = coverage::missing(&linked);
    assert!(services < 100 || missing.is_empty(), "the services are poor: {missing:#?}\n{again}");

    let scanned = tool_gen::scan(build.root()).run().unwrap_or_else(|error| panic!("{error}\n{again}"));
    let scanned_text = scanned.manifest.to_json();
    // For inspection beside the sources.
    fs::write(scratch.join("random-services/linked.json"), &linked).expect("the folder can be written");
    fs::write(scratch.join("random-services/scanned.json"), &scanned_text).expect("the folder can be written");
    let messages: String = scanned.diagnostics.iter().map(|diagnostic| format!("{diagnostic}\n")).collect();
    fs::write(scratch.join("random-services/diagnostics.txt"), messages).expect("the folder can be written");

    // Where only the program can tell which fields are required, the scanned part is `any`, which matches what is linked.
    let (vague, differences): (Vec<_>, Vec<_>) = differences(&linked, &scanned_text)
        .into_iter()
        .partition(|difference| matches_linked(&difference.tool, &linked, &scanned.manifest));
    let tools = parity_tests::compare::entries(&linked).len();
    assert!(vague.len() * 50 <= tools, "{} of {tools} tools are only described in part\n{again}", vague.len());
    let report: Vec<String> =
        differences.iter().take(shown).map(|difference| show(difference, &sources, &build)).collect();
    assert!(
        differences.is_empty(),
        "{} of {tools} tools differ (- linked, + scanned):\n\n{}\n{again}",
        differences.len(),
        report.join("\n")
    );
}

/// Returns `true` if a scanned tool differs from the linked one only by parts that are `any`.
fn matches_linked(tool: &str, linked: &str, scanned: &tool_model::Manifest) -> bool {
    let linked: tool_model::Manifest = serde_json::from_str(linked).expect("a manifest");
    match (scanned.get(tool), linked.get(tool)) {
        (Some(scanned), Some(linked)) => tool_model::difference(scanned, linked).is_empty(),
        _ => false,
    }
}

/// Formats a difference with the source of its tool.
fn show(difference: &Difference, sources: &Sources, build: &Build) -> String {
    let Difference { tool, handler, diff } = difference;
    let source = match sources.items.get(handler) {
        Some(item) => format!("{}:\n{}", build.root().with_file_name(&item.file).display(), item.text),
        None => format!("no item of the source is {handler}\n"),
    };
    format!("== {tool}\n{source}--\n{diff}")
}
