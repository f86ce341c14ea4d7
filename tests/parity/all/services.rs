//! Random services: the scanner's manifest is the linked one, byte by byte.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{env, fmt};

use parity_tests::build::{Build, CRATE};
use parity_tests::{coverage, generate, render};
use tool_model::Manifest;

/// A number from the environment.
fn setting<T: FromStr<Err: fmt::Debug>>(name: &str, default: T) -> T {
    env::var(name).map_or(default, |text| text.parse().unwrap_or_else(|error| panic!("{name}={text}: {error:?}")))
}

fn target() -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().expect("the target folder").to_owned()
}

#[test]
fn random_services_are_read_as_they_are_compiled() {
    let seed = setting("PARITY_SEED", 1_u64);
    let services = setting("PARITY_SERVICES", 300_usize);
    let project = generate::project(seed, services);
    let sources = render::render(&project, seed, CRATE);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random-services");
    let build = Build::write(&folder, &target(), &sources).expect("the crate can be written");
    let linked = build.linked().unwrap_or_else(|error| panic!("PARITY_SEED={seed}: {error}"));
    let linked = Manifest::from_json(&linked).expect("a manifest");
    eprintln!("{} tools: {:#?}", linked.len(), coverage::count(&linked));
}
