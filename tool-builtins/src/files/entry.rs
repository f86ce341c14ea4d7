//! A directory entry, and reading, replacing and removing its file.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;

use cap_fs_ext::MetadataExt;
use cap_std::fs::{Dir, File, Metadata};
use cap_tempfile::TempFile;
use tool_runtime::HandlerError;
use tool_runtime::display::thousands;

use super::change::FileContent;
use super::errors::{FileResult, explain, quote_path};
use super::file_rule::FileRule;
use super::workspace::open_to_change;
use crate::count::format_count;

/// A name in an open directory. Changes of the path leading there do not affect it.
#[derive(Debug)]
pub(super) struct FileEntry {
    directory: Dir,
    name: OsString,
    /// The path as requested.
    pub(super) shown: String,
    /// The metadata of the file, or `None` if it does not exist.
    found: Option<Metadata>,
    rule: FileRule,
}

impl FileEntry {
    pub(super) fn new(directory: Dir, name: OsString, shown: &str, found: Option<Metadata>, rule: FileRule) -> Self {
        Self { directory, name, shown: shown.to_owned(), found, rule }
    }

    pub(super) fn exists(&self) -> bool {
        self.found.is_some()
    }

    /// Returns the metadata of the file, if it exists.
    pub(super) fn found(&self) -> Option<&Metadata> {
        self.found.as_ref()
    }

    /// Returns a key that is equal only for the same entry, however its path was written.
    pub(super) fn identity(&self) -> FileResult<(u64, u64, &OsStr)> {
        let directory = self.directory.dir_metadata().map_err(|error| explain(&self.shown, &error))?;
        Ok((directory.dev(), directory.ino(), &self.name))
    }

    /// Opens the file for reading. Fails if it may not be written, because replacing it by a rename would not check that.
    fn open(&self) -> FileResult<(File, Metadata)> {
        let opened = open_to_change(&self.directory, Path::new(&self.name));
        let (file, metadata) = opened.map_err(|error| explain(&self.shown, &error))?;
        self.rule.check(&self.shown, &metadata)?;
        Ok((file, metadata))
    }

    /// Returns the content for display. Content longer than `limit` bytes is replaced by its size.
    pub(super) fn content(&self, limit: u64) -> FileResult<FileContent> {
        if self.found.is_none() {
            return Ok(FileContent::Nothing);
        }
        match self.open()? {
            (_, metadata) if metadata.len() > limit => {
                Ok(FileContent::Other { kind: "application/octet-stream", bytes: metadata.len() })
            }
            _ => self.read(limit).map(FileContent::from_bytes),
        }
    }

    /// Reads the whole file. Fails if it is longer than `limit` bytes.
    pub(super) fn read(&self, limit: u64) -> FileResult<Vec<u8>> {
        let (file, metadata) = self.open()?;
        let too_long = |bytes: u64| {
            HandlerError::failed(format!(
                "{} has {}, more than the limit of {} for changes.",
                quote_path(&self.shown),
                format_count(bytes, "byte"),
                thousands(limit)
            ))
        };
        if metadata.len() > limit {
            return Err(too_long(metadata.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        // The file may grow while it is read.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| explain(&self.shown, &error))?;
        if bytes.len() as u64 > limit { Err(too_long(bytes.len() as u64)) } else { Ok(bytes) }
    }

    /// Replaces the content atomically: readers see the old content or the new one. On failure the old content stays.
    pub(super) fn replace(&self, content: &[u8]) -> FileResult<()> {
        self.stage(content, &FilePermissions::default())?.commit()
    }

    /// Writes content to a temporary file beside the entry and syncs it to disk, so that it only has to be renamed.
    pub(super) fn stage(&self, content: &[u8], permissions: &FilePermissions) -> FileResult<StagedFile<'_>> {
        self.try_stage(content, permissions).map_err(|error| explain(&self.shown, &error))
    }

    fn try_stage(&self, content: &[u8], permissions: &FilePermissions) -> io::Result<StagedFile<'_>> {
        let mut file = TempFile::new(&self.directory)?;
        permissions.set(file.as_file(), self.found.as_ref())?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        Ok(StagedFile { entry: self, file })
    }

    /// Removes the file.
    pub(super) fn remove(&self) -> FileResult<()> {
        self.directory.remove_file(&self.name).map_err(|error| explain(&self.shown, &error))
    }
}

/// A file that has been written but not renamed into place yet.
#[derive(Debug)]
pub(super) struct StagedFile<'a> {
    entry: &'a FileEntry,
    file: TempFile<'a>,
}

impl StagedFile<'_> {
    /// Renames the file into place. Dropping it instead deletes it.
    pub(super) fn commit(self) -> FileResult<()> {
        self.file.replace(&self.entry.name).map_err(|error| explain(&self.entry.shown, &error))
    }
}

/// The permissions of a file to be written. By default, those of the file that it replaces.
#[derive(Clone, Debug, Default)]
pub(super) struct FilePermissions {
    /// The file whose permissions and owner to copy, instead of those of the replaced file.
    pub(super) like: Option<Metadata>,
    /// `true` makes it executable for everyone who may read it, `false` removes that for everyone.
    pub(super) executable: Option<bool>,
}

impl FilePermissions {
    #[cfg(unix)]
    fn set(&self, file: &File, replaced: Option<&Metadata>) -> io::Result<()> {
        use cap_std::fs::{MetadataExt, PermissionsExt};
        let own = file.metadata()?;
        let like = self.like.as_ref().or(replaced).unwrap_or(&own);
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            let (user, group) = (rustix::fs::Uid::from_raw(like.uid()), rustix::fs::Gid::from_raw(like.gid()));
            // Only root may change the owner. Writing the content matters more, so the error is ignored.
            let _ = rustix::fs::fchown(file, Some(user), Some(group));
        }
        // Drops setuid and setgid, because the content changes.
        let mode = like.mode() & 0o777;
        let mode = match self.executable {
            None => mode,
            Some(true) => mode | (mode & 0o444) >> 2,
            Some(false) => mode & !0o111,
        };
        file.set_permissions(cap_std::fs::Permissions::from_mode(mode))
    }

    #[cfg(not(unix))]
    fn set(&self, file: &File, replaced: Option<&Metadata>) -> io::Result<()> {
        match self.like.as_ref().or(replaced) {
            Some(like) => file.set_permissions(like.permissions()),
            None => Ok(()),
        }
    }
}
