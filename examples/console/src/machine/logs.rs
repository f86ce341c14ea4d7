//! Log files beneath one directory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};
use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Machine;

/// Maximum depth of the search for files.
const DEPTH: usize = 3;

/// Maximum number of files.
const FILES: usize = 2000;

/// A log file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LogFile {
    /// The path, relative to the log directory.
    pub file: String,
    /// Its size.
    pub bytes: u64,
    /// When it was last written to.
    pub written: Option<DateTime<Utc>>,
}

impl Machine {
    /// Lists the log files that are text, newest first.
    ///
    /// # Errors
    /// If the directory cannot be opened.
    pub fn log_files(&self) -> io::Result<Vec<LogFile>> {
        let mut files = Vec::new();
        collect(&self.log_folder()?, "", DEPTH, &mut files);
        files.sort_by(|a, b| b.written.cmp(&a.written).then_with(|| a.file.cmp(&b.file)));
        Ok(files)
    }

    /// Reads the end of a log file: whole lines of at most some bytes. Invalid UTF-8 becomes `�`.
    ///
    /// # Errors
    /// If the file does not exist beneath the directory, or is compressed or binary.
    pub fn log_end(&self, file: &str, bytes: u64) -> io::Result<String> {
        self.log_part(file, None, bytes).map(|(text, _)| text)
    }

    /// Reads the text appended to a log file after an offset, and returns the new offset; without an offset, reads the
    /// end.
    ///
    /// # Errors
    /// As [`log_end`](Self::log_end).
    pub fn log_part(&self, file: &str, from: Option<u64>, bytes: u64) -> io::Result<(String, u64)> {
        if is_packed(file) {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is packed; only plain text is read"));
        }
        let mut options = OpenOptions::new();
        options.read(true);
        // Does not block on a pipe.
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::custom_flags(&mut options, rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
        let file = self.log_folder()?.open_with(file, &options)?.into_std();
        if !file.metadata()?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no file"));
        }
        part(file, from, bytes)
    }

    /// Opens the directory. Files opened through it are beneath it, even if they are links.
    fn log_folder(&self) -> io::Result<Dir> {
        let path = &self.places().logs;
        Dir::open_ambient_dir(path, ambient_authority()).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot open the log directory {}: {error}", path.display()))
        })
    }
}

/// Reads the end of a system file.
pub(super) fn end_of_file(path: &Path, bytes: u64) -> io::Result<String> {
    Ok(part(File::open(path)?, None, bytes)?.0)
}

fn part(mut file: File, from: Option<u64>, bytes: u64) -> io::Result<(String, u64)> {
    let size = file.metadata()?.len();
    // A file that has become shorter was truncated: read from its start.
    let wanted = from.map_or_else(|| size.saturating_sub(bytes), |from| if from > size { 0 } else { from });
    file.seek(SeekFrom::Start(wanted))?;
    let mut content = Vec::new();
    file.take(bytes).read_to_end(&mut content)?;
    if content.contains(&0) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "it is binary; only plain text is read"));
    }
    let end = wanted + content.len() as u64;
    let is_cut = from.is_none() && wanted > 0;
    let begin = if is_cut { content.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1) } else { 0 };
    Ok((String::from_utf8_lossy(&content[begin..]).into_owned(), end))
}

fn collect(folder: &Dir, prefix: &str, depth: usize, files: &mut Vec<LogFile>) {
    for entry in folder.entries().into_iter().flatten().filter_map(Result::ok) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let Ok(kind) = entry.file_type() else { continue };
        if files.len() >= FILES {
            return;
        }
        if kind.is_dir() && depth > 1 {
            if let Ok(folder) = entry.open_dir() {
                collect(&folder, &format!("{prefix}{name}/"), depth - 1, files);
            }
        } else if kind.is_file() && !is_packed(&name) {
            let Ok(data) = entry.metadata() else { continue };
            let written = data.modified().ok().map(|time| time.into_std().into());
            files.push(LogFile { file: format!("{prefix}{name}"), bytes: data.len(), written });
        }
    }
}

fn is_packed(name: &str) -> bool {
    [".gz", ".xz", ".bz2", ".zst", ".journal"].iter().any(|ending| name.ends_with(ending))
}
