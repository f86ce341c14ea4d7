//! One name in a folder, and the file that it names or will name.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::path::Path;

use cap_fs_ext::MetadataExt;
use cap_std::fs::{Dir, File, Metadata};
use cap_tempfile::TempFile;
use tool_runtime::HandlerError;
use tool_runtime::display::thousands;

use super::change::Content;
use super::failure::{Outcome, explain, quoted};
use super::kind::FileRule;
use super::workspace::open_to_change;
use crate::count::counted;

/// A name in a folder that is held by its descriptor: whatever happens to the path meanwhile, it stays this one.
#[derive(Debug)]
pub(super) struct Entry {
    folder: Dir,
    name: OsString,
    /// The path as it was asked for.
    pub(super) shown: String,
    /// The file as it was found; nothing if there is none.
    found: Option<Metadata>,
    rule: FileRule,
}

impl Entry {
    pub(super) fn new(folder: Dir, name: OsString, shown: &str, found: Option<Metadata>, rule: FileRule) -> Self {
        Self { folder, name, shown: shown.to_owned(), found, rule }
    }

    pub(super) fn exists(&self) -> bool {
        self.found.is_some()
    }

    /// The file as it was found, if there is one.
    pub(super) fn found(&self) -> Option<&Metadata> {
        self.found.as_ref()
    }

    /// What tells it from every other entry, however its path was written.
    pub(super) fn place(&self) -> Outcome<(u64, u64, &OsStr)> {
        let folder = self.folder.dir_metadata().map_err(|error| explain(&self.shown, &error))?;
        Ok((folder.dev(), folder.ino(), &self.name))
    }

    /// The file, opened to be read. It must be one that may be written, too: a rename would not ask.
    fn open(&self) -> Outcome<(File, Metadata)> {
        let opened = open_to_change(&self.folder, Path::new(&self.name));
        let (file, metadata) = opened.map_err(|error| explain(&self.shown, &error))?;
        self.rule.check(&self.shown, &metadata)?;
        Ok((file, metadata))
    }

    /// What the file holds, as it is shown: not all of it if it is longer than `limit` bytes.
    pub(super) fn content(&self, limit: u64) -> Outcome<Content> {
        if self.found.is_none() {
            return Ok(Content::Nothing);
        }
        match self.open()? {
            (_, metadata) if metadata.len() > limit => {
                Ok(Content::Other { kind: "application/octet-stream", bytes: metadata.len() })
            }
            _ => self.read(limit).map(Content::of),
        }
    }

    /// Everything in the file, unless it is longer than `limit` bytes.
    pub(super) fn read(&self, limit: u64) -> Outcome<Vec<u8>> {
        let (file, metadata) = self.open()?;
        let too_long = |bytes: u64| {
            HandlerError::failed(format!(
                "{} has {}, more than the {} that can be changed at once.",
                quoted(&self.shown),
                counted(bytes, "byte"),
                thousands(limit)
            ))
        };
        if metadata.len() > limit {
            return Err(too_long(metadata.len()));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or(0) + 1);
        // It may grow while it is read.
        file.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| explain(&self.shown, &error))?;
        if bytes.len() as u64 > limit { Err(too_long(bytes.len() as u64)) } else { Ok(bytes) }
    }

    /// Puts other content in the file's place, at once: whoever reads it sees the old one or the new one, and if it
    /// cannot be written the old one stays.
    pub(super) fn replace(&self, content: &[u8]) -> Outcome<()> {
        self.stage(content, &Permissions::default())?.commit()
    }

    /// Writes content beside the file, on the disk and with its permissions, so that it only has to be renamed.
    pub(super) fn stage(&self, content: &[u8], permissions: &Permissions) -> Outcome<Staged<'_>> {
        self.try_stage(content, permissions).map_err(|error| explain(&self.shown, &error))
    }

    fn try_stage(&self, content: &[u8], permissions: &Permissions) -> io::Result<Staged<'_>> {
        let mut file = TempFile::new(&self.folder)?;
        permissions.set(file.as_file(), self.found.as_ref())?;
        file.write_all(content)?;
        file.as_file().sync_all()?;
        Ok(Staged { entry: self, file })
    }

    /// Removes the name.
    pub(super) fn remove(&self) -> Outcome<()> {
        self.folder.remove_file(&self.name).map_err(|error| explain(&self.shown, &error))
    }
}

/// Content that is written and waits for its name.
#[derive(Debug)]
pub(super) struct Staged<'a> {
    entry: &'a Entry,
    file: TempFile<'a>,
}

impl Staged<'_> {
    /// Puts it in its place. Dropped instead, it is gone.
    pub(super) fn commit(self) -> Outcome<()> {
        self.file.replace(&self.entry.name).map_err(|error| explain(&self.entry.shown, &error))
    }
}

/// The permissions of a file that is written: those of the file that it replaces, unless this says otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Permissions {
    /// The file whose permissions and owner it gets, if it comes from another one.
    pub(super) like: Option<Metadata>,
    /// `true` makes it executable for everyone who may read it, `false` for no one.
    pub(super) executable: Option<bool>,
}

impl Permissions {
    #[cfg(unix)]
    fn set(&self, file: &File, replaced: Option<&Metadata>) -> io::Result<()> {
        use cap_std::fs::{MetadataExt, PermissionsExt};
        let own = file.metadata()?;
        let like = self.like.as_ref().or(replaced).unwrap_or(&own);
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            let (user, group) = (rustix::fs::Uid::from_raw(like.uid()), rustix::fs::Gid::from_raw(like.gid()));
            // Only a superuser may give a file away; the content matters more.
            let _ = rustix::fs::fchown(file, Some(user), Some(group));
        }
        // What ran with the rights of another user does not any more: its content is another.
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
