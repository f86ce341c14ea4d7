//! Installed programs: commands and desktop entries.

use std::fs;
use std::io;
use std::path::PathBuf;

use serde::Serialize;

use super::Machine;
use crate::listing::clip;

/// Maximum number of bytes read of a desktop entry.
const ENTRY: u64 = 64_000;

/// A desktop entry.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DesktopEntry {
    /// The file name without its extension.
    pub id: String,
    /// The displayed name.
    pub name: String,
    /// A short description.
    pub about: Option<String>,
    /// The command.
    pub command: Option<String>,
    /// The menu categories.
    pub categories: Vec<String>,
}

impl Machine {
    /// Returns the desktop entries, sorted by name; none if there is no desktop.
    ///
    /// # Errors
    /// If the directory exists and cannot be read.
    pub fn desktop_entries(&self) -> io::Result<Vec<DesktopEntry>> {
        let folder = match fs::read_dir(&self.places().desktop) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            folder => folder?,
        };
        let mut entries = Vec::new();
        for file in folder {
            let path = file?.path();
            let Some(id) = path.file_name().and_then(|name| name.to_str()?.strip_suffix(".desktop")) else { continue };
            if let Ok(text) = super::logs::end_of_file(&path, ENTRY) {
                entries.extend(read(id, &text));
            }
        }
        entries.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        Ok(entries)
    }

    /// Returns the file of a command. A name with a slash is not a command.
    #[must_use]
    pub fn command(&self, name: &str) -> Option<PathBuf> {
        if name.is_empty() || name.contains('/') || name == ".." {
            return None;
        }
        self.places().commands.iter().map(|folder| folder.join(name)).find(|path| path.is_file())
    }
}

fn read(id: &str, text: &str) -> Option<DesktopEntry> {
    let own =
        text.lines().skip_while(|line| *line != "[Desktop Entry]").skip(1).take_while(|line| !line.starts_with('['));
    let value = |key: &str| own.clone().find_map(|line| Some(line.strip_prefix(key)?.strip_prefix('=')?.trim()));
    if value("NoDisplay") == Some("true") {
        return None;
    }
    Some(DesktopEntry {
        id: id.to_owned(),
        name: clip(value("Name")?, 100),
        about: value("Comment").map(|text| clip(text, 200)),
        command: value("Exec").map(|text| clip(text, 200)),
        categories: value("Categories")
            .unwrap_or_default()
            .split(';')
            .filter(|c| !c.is_empty())
            .map(str::to_owned)
            .collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn an_entry_is_its_own_section_only() {
        let text = "[Desktop Entry]\nName=Vim\nName[de]=Wim\nExec=vim %F\nCategories=Utility;TextEditor;\n\
                    [Desktop Action new]\nName=Other\nComment=of the action\n";
        let entry = read("vim", text).expect("an entry");
        assert_eq!((entry.name.as_str(), entry.about), ("Vim", None));
        assert_eq!(entry.categories, ["Utility", "TextEditor"]);
        assert!(read("x", "[Desktop Entry]\nName=Hidden\nNoDisplay=true\n").is_none());
        assert!(read("x", "no entry at all").is_none());
    }
}
