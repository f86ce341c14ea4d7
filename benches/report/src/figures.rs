//! All that was measured: a figure for each subject and contender.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Outcome;
use crate::cargo::benches;

/// What `figures.json` holds.
#[derive(Serialize, Deserialize)]
pub struct Figures {
    /// Where they were taken: figures of two machines do not stand in one report.
    pub machine: BTreeMap<String, String>,
    /// Which measurements were made, and whether in a hurry.
    pub measured: BTreeMap<String, bool>,
    figures: BTreeMap<String, BTreeMap<String, f64>>,
}

fn path() -> PathBuf {
    benches().join("figures.json")
}

impl Figures {
    /// Those of before, if they are of this machine and this compiler.
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

    /// Notes that a measurement is complete.
    pub fn finished(&mut self, measurement: &str, quick: bool) {
        self.measured.insert(measurement.to_owned(), quick);
    }

    pub fn set(&mut self, subject: impl Into<String>, contender: &str, figure: f64) {
        self.figures.entry(subject.into()).or_default().insert(contender.to_owned(), figure);
    }

    pub fn get(&self, subject: &str, contender: &str) -> Option<f64> {
        self.figures.get(subject)?.get(contender).copied()
    }

    /// Everyone's figure of a subject.
    pub fn all(&self, subject: &str) -> Vec<(&str, f64)> {
        self.figures.get(subject).into_iter().flatten().map(|(name, figure)| (name.as_str(), *figure)).collect()
    }
}
