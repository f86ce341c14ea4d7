//! Replacing a configuration file, with a backup.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::edit::{ConfigEdit, ConfigFormat, InstallError};

/// The outcome of an installation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Applied {
    /// The entry was there already.
    Unchanged,
    /// The file was written. `backup` is a copy of the previous file, if there was one.
    Written { backup: Option<PathBuf> },
}

/// Adds an entry to a file, which is created if it does not exist.
///
/// The file is replaced atomically and keeps its permissions. A link stays a link.
pub(super) fn apply(
    file: &Path,
    format: ConfigFormat,
    edit: &ConfigEdit<'_>,
    force: bool,
) -> Result<Applied, InstallError> {
    let failed = |verb: &'static str| move |error: io::Error| InstallError::File(verb, file.to_owned(), error);
    let text = match std::fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed("read")(error)),
    };
    let edited = format.apply(text.as_deref().unwrap_or_default(), edit, force);
    let Some(edited) = edited.map_err(|error| InstallError::Edit(file.to_owned(), error))? else {
        return Ok(Applied::Unchanged);
    };
    let target = if text.is_some() { file.canonicalize().map_err(failed("read"))? } else { file.to_owned() };
    let backup = text.is_some().then(|| back_up(&target)).transpose().map_err(failed("back up"))?;
    replace(&target, &edited).map_err(failed("write"))?;
    Ok(Applied::Written { backup })
}

fn replace(file: &Path, text: &str) -> io::Result<()> {
    let directory = file.parent().filter(|directory| !directory.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)?;
    // Only the owner may read a new file: an entry can have secrets.
    let mut temporary = tempfile::NamedTempFile::new_in(directory)?;
    temporary.write_all(text.as_bytes())?;
    if let Ok(existing) = file.metadata() {
        temporary.as_file().set_permissions(existing.permissions())?;
    }
    temporary.as_file().sync_all()?;
    temporary.persist(file)?;
    Ok(())
}

/// Copies a file, with its permissions, to a name that is free: `mcp.json.bak`, `mcp.json.bak2` and so on.
fn back_up(file: &Path) -> io::Result<PathBuf> {
    for number in 1..1000 {
        let mut name = file.as_os_str().to_owned();
        name.push(if number == 1 { ".bak".to_owned() } else { format!(".bak{number}") });
        let backup = PathBuf::from(name);
        // `create_new` keeps another process from choosing the same name.
        match std::fs::OpenOptions::new().write(true).create_new(true).open(&backup) {
            Ok(_) => {
                std::fs::copy(file, &backup)?;
                return Ok(backup);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are too many backups; delete some"))
}
