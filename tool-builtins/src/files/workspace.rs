//! The workspace, a directory that paths cannot leave.
//!
//! Everything is opened through the workspace's descriptor, using `openat2` with `RESOLVE_BENEATH` where available. The
//! kernel resolves a path and rejects one that leads out in a single step. Checking a path before opening it would be a
//! race: a directory could be swapped for a symbolic link in between.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use tool_runtime::HandlerError;
use tool_runtime::display::escape;

#[cfg(unix)]
use super::controls::parse_escape;
use super::entry::FileEntry;
use super::errors::{FileResult, explain, quote_path, retry};
use super::file_rule::{FileRule, describe};

/// The maximum number of symbolic links in a path, as in Linux.
const MAX_LINKS: usize = 40;

/// An open directory, and the rule on the files in it.
#[derive(Debug)]
pub(super) struct Workspace {
    dir: Dir,
    /// The base of relative paths.
    root: PathBuf,
    confined: bool,
    pub(super) rule: FileRule,
}

impl Workspace {
    pub(super) fn confined(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let dir = Dir::open_ambient_dir(&root, ambient_authority())?;
        Ok(Self { dir, root, confined: true, rule: FileRule { hard_links: false } })
    }

    /// Opens the whole file system, with relative paths based at `root`.
    #[cfg(unix)]
    pub(super) fn unconfined(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let dir = Dir::open_ambient_dir("/", ambient_authority())?;
        Ok(Self { dir, root, confined: false, rule: FileRule { hard_links: true } })
    }

    /// Converts a path to be relative to the descriptor. Does not check it; a path that leads out fails when opened.
    ///
    /// Models repeat what they read. So a path that begins with the workspace's own path is accepted, and so are the
    /// escapes in which [`display`](Self::display) writes unusual names.
    fn relative(&self, path: &str, last: FollowSymlinks) -> FileResult<PathBuf> {
        if path.is_empty() {
            return retry("The path is empty; use `.` for the workspace.");
        }
        let literal = self.beneath(path, Path::new(path), last)?;
        Ok(match self.unescaped(&literal) {
            None => literal,
            Some(meant) if self.confined => meant,
            Some(meant) => self.resolve_unconfined(&Path::new("/").join(meant), last),
        })
    }

    /// Decodes the escapes of names that exist only in their decoded form. Returns `None` if there are none.
    fn unescaped(&self, path: &Path) -> Option<PathBuf> {
        let is_missing =
            |path: &Path| self.dir.symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound);
        let mut meant = PathBuf::new();
        let mut is_other = false;
        for name in path.components() {
            let literal = meant.join(name);
            let other = unescaped(name.as_os_str()).map(|name| meant.join(name));
            let other = other.filter(|other| is_missing(&literal) && self.dir.symlink_metadata(other).is_ok());
            is_other |= other.is_some();
            meant = other.unwrap_or(literal);
        }
        if split(path).is_none() {
            // Keep the trailing separator, which is not a component.
            meant.push("");
        }
        is_other.then_some(meant)
    }

    fn beneath(&self, path: &str, given: &Path, last: FollowSymlinks) -> FileResult<PathBuf> {
        if !self.confined {
            return Ok(self.resolve_unconfined(given, last));
        }
        match given.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => Ok(PathBuf::from(".")),
            Ok(inside) => Ok(inside.to_owned()),
            Err(_) if given.is_absolute() => {
                retry(format!("{} is outside the workspace; pass a path relative to it.", quote_path(path)))
            }
            Err(_) => Ok(given.to_owned()),
        }
    }

    /// Converts a path to be relative to the root of the file system, following symbolic links.
    fn resolve_unconfined(&self, path: &Path, last: FollowSymlinks) -> PathBuf {
        let whole = self.root.join(path);
        // The last link is kept if it is not to be followed.
        let kept = usize::from(last == FollowSymlinks::No);
        let found = whole.ancestors().skip(kept).find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
        let whole = match found {
            Some((ancestor, real)) => real.join(whole.strip_prefix(ancestor).unwrap_or(Path::new(""))),
            None => whole,
        };
        let inside = whole.strip_prefix("/").unwrap_or(&whole);
        if inside.as_os_str().is_empty() { PathBuf::from(".") } else { inside.to_owned() }
    }

    /// Converts a path to be relative to the base, for matching patterns.
    pub(super) fn relative_to_base(&self, path: &str) -> PathBuf {
        let given = Path::new(path);
        normal(given.strip_prefix(&self.root).unwrap_or(given))
    }

    /// Opens a regular file for reading.
    pub(super) fn file(&self, path: &str) -> FileResult<(File, Metadata)> {
        let inside = self.relative(path, FollowSymlinks::Yes)?;
        let opened = open_file(&self.dir, &inside, FollowSymlinks::Yes);
        let (file, metadata) = opened.map_err(|error| self.explain(path, &inside, &error))?;
        self.rule.check(path, &metadata)?;
        Ok((file, metadata))
    }

    /// Resolves the path of a directory, relative to the descriptor. Empty for the workspace itself.
    pub(super) fn directory(&self, path: &str) -> FileResult<PathBuf> {
        let inside = self.relative(path, FollowSymlinks::Yes)?;
        let opened = self.dir.read_dir(&inside).and_then(|_| self.dir.canonicalize(&inside));
        let directory = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => HandlerError::retry(format!("{} is not a directory.", quote_path(path))),
            _ => self.explain(path, &inside, &error),
        })?;
        Ok(normal(&directory))
    }

    /// Returns `true` if a path leads to a directory. Only a hint for how to open it.
    pub(super) fn is_directory(&self, path: &str) -> bool {
        let inside = self.relative(path, FollowSymlinks::Yes);
        inside.is_ok_and(|inside| self.dir.metadata(inside).is_ok_and(|found| found.is_dir()))
    }

    /// Returns the metadata of an entry found by a walk. Does not follow symbolic links.
    pub(super) fn entry_metadata(&self, path: &Path) -> io::Result<Metadata> {
        self.dir.symlink_metadata(path)
    }

    /// Formats a path found by a walk for the model, on one line. Bytes that are not UTF-8 are shown as `\xFF` escapes.
    pub(super) fn display(&self, path: &Path) -> String {
        let path = if self.confined { Cow::Borrowed(path) } else { Cow::Owned(self.relative_to_root(path)) };
        let shown = escaped(path.as_os_str());
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    fn relative_to_root(&self, path: &Path) -> PathBuf {
        let whole = Path::new("/").join(path);
        whole.strip_prefix(&self.root).map(Path::to_owned).unwrap_or(whole)
    }

    /// Opens a directory found by a walk. Does not follow symbolic links.
    pub(super) fn open_directory(&self, path: &Path) -> io::Result<Dir> {
        if path.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir_nofollow(path) }
    }

    /// Returns the entry that a path refers to, following symbolic links; its file need not exist. Returns `None` if a
    /// parent directory is missing and may be.
    pub(super) fn entry(&self, path: &str, parents: MissingParents) -> FileResult<Option<FileEntry>> {
        let mut inside = self.relative(path, FollowSymlinks::Yes)?;
        for _ in 0..MAX_LINKS {
            let Some((parent, name)) = split(&inside) else {
                return retry(format!("{} is a directory, not a file.", quote_path(path)));
            };
            let Some(directory) = self.parent(path, &parent, parents)? else { return Ok(None) };
            match directory.symlink_metadata(&name) {
                Ok(found) if found.is_symlink() => inside = self.target(path, &inside)?,
                Ok(found) => {
                    self.rule.check(path, &found)?;
                    return Ok(Some(FileEntry::new(directory, name, path, Some(found), self.rule)));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Some(FileEntry::new(directory, name, path, None, self.rule)));
                }
                Err(error) => return Err(explain(path, &error)),
            }
        }
        retry(format!("{} leads through a loop of symbolic links.", quote_path(path)))
    }

    /// Returns the last name of a path and its parent directory. Does not follow a symbolic link of that name.
    pub(super) fn name(&self, path: &str, parents: MissingParents) -> FileResult<Option<(Dir, OsString)>> {
        let inside = self.relative(path, FollowSymlinks::No)?;
        let Some((parent, name)) = split(&inside) else {
            return retry(format!("{} does not end in a name.", quote_path(path)));
        };
        Ok(self.parent(path, &parent, parents)?.map(|directory| (directory, name)))
    }

    /// Opens or creates the parent directory of a path.
    fn parent(&self, path: &str, parent: &Path, parents: MissingParents) -> FileResult<Option<Dir>> {
        let error = match self.open_parent(parent) {
            Ok(directory) => return Ok(Some(directory)),
            Err(error) => error,
        };
        let is_missing = error.kind() == io::ErrorKind::NotFound;
        // The kernel refuses `missing/..`. Creating `missing` only to leave it would keep a directory that nobody wants.
        if is_missing && parent.components().any(|component| component == Component::ParentDir) {
            let path = quote_path(path);
            return retry(format!("{path} leads through a directory that does not exist; pass the path without `..`."));
        }
        match parents {
            MissingParents::Allow if is_missing => Ok(None),
            MissingParents::Create if is_missing => {
                let made = self.dir.create_dir_all(parent).and_then(|()| self.open_parent(parent));
                made.map(Some).map_err(|error| explain(path, &error))
            }
            _ => Err(self.explain(path, parent, &error)),
        }
    }

    /// Resolves a symbolic link completely.
    fn target(&self, path: &str, link: &Path) -> FileResult<PathBuf> {
        self.dir.canonicalize(link).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => HandlerError::retry(format!("{} is a broken symbolic link.", quote_path(path))),
            _ => explain(path, &error),
        })
    }

    /// Returns the missing parent directories of a path, the outermost first.
    pub(super) fn missing_directories(&self, path: &str) -> Vec<PathBuf> {
        let Ok(inside) = self.relative(path, FollowSymlinks::Yes) else { return Vec::new() };
        let directories = inside.ancestors().skip(1).filter(|directory| !directory.as_os_str().is_empty());
        let mut missing: Vec<PathBuf> =
            directories.take_while(|directory| !self.dir.exists(directory)).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Removes directories that turned out not to be needed, if they are empty.
    pub(super) fn remove_empty(&self, directories: &[PathBuf]) {
        for directory in directories.iter().rev() {
            if let Err(error) = self.dir.remove_dir(directory) {
                tracing::debug!(?directory, %error, "cannot remove a directory");
            }
        }
    }

    fn open_parent(&self, parent: &Path) -> io::Result<Dir> {
        if parent.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir(parent) }
    }

    /// Returns the error for a missing file, with similar names.
    pub(super) fn not_found(&self, path: &str) -> HandlerError {
        let inside = self.relative(path, FollowSymlinks::Yes).unwrap_or_default();
        self.explain(path, &inside, &io::ErrorKind::NotFound.into())
    }

    /// Like [`explain`], with similar names if the file does not exist.
    fn explain(&self, path: &str, inside: &Path, error: &io::Error) -> HandlerError {
        if error.kind() == io::ErrorKind::NotFound {
            let similar = self.similar_names(inside);
            if !similar.is_empty() {
                return HandlerError::retry(format!(
                    "{} does not exist. Did you mean {}?",
                    quote_path(path),
                    similar.join(", ")
                ));
            }
        }
        // A socket, or a pipe without a writer, cannot be opened at all. Only the message depends on its type.
        if let Ok(found) = self.dir.symlink_metadata(inside)
            && !found.is_file()
            && !found.is_dir()
            && !found.is_symlink()
        {
            let kind = describe(found.file_type());
            return HandlerError::retry(format!("{} is {kind}, not a regular file.", quote_path(path)));
        }
        explain(path, error)
    }

    /// Returns names in the same directory that are similar to the last name of a path.
    fn similar_names(&self, inside: &Path) -> Vec<String> {
        const MAX_ENTRIES: usize = 10_000;
        const MAX_SHOWN: usize = 3;
        let Some((parent, name)) = split(inside) else { return Vec::new() };
        let Some(name) = name.to_str().map(str::to_lowercase) else { return Vec::new() };
        let Ok(entries) = self.open_parent(&parent).and_then(|directory| directory.entries()) else {
            return Vec::new();
        };
        let names = entries.take(MAX_ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut similar: Vec<(usize, String)> = names
            .map(|found| (strsim::damerau_levenshtein(&name, &found.to_lowercase()), found))
            .filter(|(distance, _)| *distance <= 1 + name.chars().count() / 4)
            .collect();
        similar.sort();
        similar
            .into_iter()
            .take(MAX_SHOWN)
            .map(|(_, found)| quote_path(&parent.join(found).to_string_lossy()))
            .collect()
    }
}

/// The treatment of missing parent directories of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MissingParents {
    /// They are created.
    Create,
    /// They are an error.
    Require,
    /// They are allowed; there is no entry then.
    Allow,
}

/// Opens a file without blocking on a pipe, and returns its metadata.
pub(super) fn open_file(dir: &Dir, path: &Path, follow: FollowSymlinks) -> io::Result<(File, Metadata)> {
    open_with(dir, path, OpenOptions::new().read(true).follow(follow))
}

/// Like [`open_file`], but fails if the file may not be written. Does not follow symbolic links.
pub(super) fn open_to_change(dir: &Dir, path: &Path) -> io::Result<(File, Metadata)> {
    open_with(dir, path, OpenOptions::new().read(true).write(true).follow(FollowSymlinks::No))
}

fn open_with(dir: &Dir, path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    let file = dir.open_with(path, options.nonblock(true))?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// Splits a path into its parent and its last name. Returns `None` if it does not end in a name.
fn split(path: &Path) -> Option<(PathBuf, OsString)> {
    // `a/.` and `a/` refer to the directory itself.
    let text = path.as_os_str().as_encoded_bytes();
    if text.ends_with(b"/") || text.ends_with(b"/.") {
        return None;
    }
    let name = path.file_name()?.to_owned();
    Some((path.parent().map(Path::to_owned).unwrap_or_default(), name))
}

/// Formats a name on one line, with escapes for bytes that are not UTF-8.
fn escaped(name: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        shown.push_str(&escape(chunk.valid()));
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    shown
}

/// Reverts [`escaped`]. Returns `None` if the name has no such escapes. Accepts no other escapes, so that a rule about
/// paths, such as one for `.env`, holds for every spelling.
#[cfg(unix)]
fn unescaped(shown: &OsStr) -> Option<OsString> {
    use std::os::unix::ffi::OsStringExt;
    let shown = shown.to_str().filter(|shown| shown.contains('\\'))?;
    let byte = |text: &str| u8::from_str_radix(text.strip_prefix(r"\x")?.get(..2)?, 16).ok();
    let mut bytes = Vec::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        rest = &rest[at..];
        if let Some(byte) = byte(rest) {
            bytes.push(byte);
            rest = &rest[r"\xFF".len()..];
            continue;
        }
        // A backslash itself is not escaped.
        let (c, length) = parse_escape(rest).unwrap_or(('\\', 1));
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        rest = &rest[length..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(OsString::from_vec(bytes)).filter(|name| name != shown && escaped(name) == shown)
}

#[cfg(not(unix))]
fn unescaped(_: &OsStr) -> Option<OsString> {
    None
}

/// Removes `.` from a path. Keeps `..`, whose meaning depends on the file system.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|component| !matches!(component, Component::CurDir)).collect()
}
