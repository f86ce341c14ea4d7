//! Storage of all measurements: one figure per subject and contender.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::cargo::benches;

/// The contents of `figures.json`.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    /// The machine; a report never mixes figures of two machines.
    pub machine: BTreeMap<String, String>,
    /// Completed measurements, with `true` for `--quick`.
    pub measured: BTreeMap<String, bool>,
    figures: BTreeMap<String, BTreeMap<String, f64>>,
}

fn path() -> PathBuf {
    benches().join("figures.json")
}

impl Figures {
    /// Loads earlier figures, if they are from this machine and compiler.
    pub fn load(machine: BTreeMap<String, String>) -> Outcome<Self> {
        let known = match fs::read_to_string(path()) {
            Ok(text) => serde_json::from_str::<Self>(&text).map_err(|error| format!("figures.json: {error}"))?,
            Err(_) => Self { machine: machine.clone(), measured: BTreeMap::new(), figures: BTreeMap::new() },
        };
        if known.machine == machine {
            return Ok(known);
        }
        eprintln!("figures.json is of another machine or compiler: starting anew");
        Ok(Self { machine, measured: BTreeMap::new(), figures: BTreeMap::new() })
    }

    pub fn save(&self) -> Outcome {
        Ok(fs::write(path(), serde_json::to_string_pretty(self)? + "\n")?)
    }

    /// Records that a measurement is complete.
    pub fn finished(&mut self, measurement: &str, quick: bool) {
        self.measured.insert(measurement.to_owned(), quick);
    }

    pub fn set(&mut self, subject: impl Into<String>, contender: &str, figure: f64) {
        self.figures.entry(subject.into()).or_default().insert(contender.to_owned(), figure);
    }

    pub fn get(&self, subject: &str, contender: &str) -> Option<f64> {
        self.figures.get(subject)?.get(contender).copied()
    }

    /// Returns the figures of all contenders for a subject.
    pub fn all(&self, subject: &str) -> Vec<(&str, f64)> {
        self.figures.get(subject).into_iter().flatten().map(|(name, figure)| (name.as_str(), *figure)).collect()
    }
}
