//! systemd services, from their unit files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::Machine;
use crate::listing::clip;

/// Maximum number of bytes read of a unit file.
const UNIT: u64 = 64_000;

/// A systemd service.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unit {
    /// Its name, such as `ssh.service`.
    pub name: String,
    /// A short description.
    pub about: Option<String>,
    /// The command.
    pub command: Option<String>,
    /// `true` if the unit starts with the system.
    pub enabled: bool,
}

impl Machine {
    /// Returns the services of the unit files, sorted by name; none without systemd.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        let mut units = BTreeMap::new();
        let mut wanted = BTreeSet::new();
        for folder in &self.places().units {
            for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.ends_with(".wants") || name.ends_with(".requires") {
                    wanted.extend(names(&entry.path()));
                } else if name.ends_with(".service") && !units.contains_key(&name) {
                    let text = super::logs::end_of_file(&entry.path(), UNIT).unwrap_or_default();
                    units.insert(name.clone(), read(name, &text));
                }
            }
        }
        units.into_values().map(|unit| Unit { enabled: wanted.contains(&unit.name), ..unit }).collect()
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn read(name: String, text: &str) -> Unit {
    let value =
        |key: &str| text.lines().find_map(|line| Some(clip(line.strip_prefix(key)?.strip_prefix('=')?.trim(), 200)));
    Unit { name, about: value("Description"), command: value("ExecStart"), enabled: false }
}
