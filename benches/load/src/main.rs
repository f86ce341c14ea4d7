//! Loads a manifest up to a step, to be counted by cachegrind: `load <step> <file>`. `write` creates the file.
//!
//! Nothing is freed at the end: the benchmark measures how long an application waits for its tools.

mod tools {
    include!(concat!(env!("OUT_DIR"), "/tools.rs"));
}

use std::collections::HashMap;
use std::mem::forget;

use serde::Deserialize;
use tool_model::{difference, registrations};
use tool_runtime::{Dispatcher, Manifest};

/// An order.
#[derive(Deserialize, schemars::JsonSchema)]
pub struct Order {
    /// Who ordered.
    pub customer: String,
    pub items: Vec<Item>,
    pub note: Option<String>,
}

/// One thing that is ordered.
#[derive(Deserialize, schemars::JsonSchema)]
pub struct Item {
    /// The number in the catalogue.
    pub sku: String,
    pub count: u32,
}

#[derive(Deserialize, schemars::JsonSchema)]
pub enum Sorting {
    Name,
    Price,
    Newest,
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, step, file] = arguments.as_slice() else { panic!("load <step> <file>") };
    if step == "write" {
        Manifest::linked().save(file).expect("written");
        return;
    }
    let text = std::fs::read_to_string(file).expect("written before");
    let manifest = || Manifest::from_json(&text).expect("a manifest");
    match step.as_str() {
        "nothing" => {}
        "value" => forget(serde_json::from_slice::<serde_json::Value>(text.as_bytes()).expect("JSON")),
        "manifest" => forget(manifest()),
        "compare" => forget(compare(manifest())),
        "build" => forget(Dispatcher::builder().manifest(manifest()).build().expect("the tools are complete")),
        "linked" => forget(Dispatcher::builder().build().expect("the tools are complete")),
        "count" => println!("{}", manifest().len()),
        other => panic!("no step {other}"),
    }
    forget(text);
}

/// Only compares the manifest, as `build()` does; the linked definitions are kept for the calls.
fn compare(manifest: Manifest) -> Manifest {
    let linked: HashMap<_, _> = registrations().into_iter().map(|tool| (tool.name, tool)).collect();
    for (name, entry) in manifest.iter() {
        let definition = linked[name].definition();
        assert!(difference(entry, &definition).is_empty());
        forget(definition);
    }
    manifest
}
