//! The folder that nothing leaves.
//!
//! Everything is opened through the descriptor of the workspace (`openat2` with `RESOLVE_BENEATH` where the kernel has
//! it): the kernel resolves a path and refuses one that leads out, in one step. A path is never checked and opened
//! afterwards, since whoever swaps a folder for a symbolic link in between would win.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Component, Path, PathBuf};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, Metadata, OpenOptions};
use tool_runtime::HandlerError;
use tool_runtime::display::escape;

use super::controls::escaped_char;
use super::entry::Entry;
use super::failure::{Outcome, explain, quoted, retry};
use super::kind::{FileRule, describe};

/// How many symbolic links a name may lead through, as in Linux.
const MOST_LINKS: usize = 40;

/// A folder, its descriptor and what may be done with the files in it.
#[derive(Debug)]
pub(super) struct Workspace {
    dir: Dir,
    /// Where relative paths begin.
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

    /// The whole file system, with relative paths beginning at `root`.
    #[cfg(unix)]
    pub(super) fn unconfined(root: &Path) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let dir = Dir::open_ambient_dir("/", ambient_authority())?;
        Ok(Self { dir, root, confined: false, rule: FileRule { hard_links: true } })
    }

    /// A path as seen from the descriptor. Nothing is decided here: what leads out is refused when it is opened.
    ///
    /// A path that begins with the workspace's own is taken as relative to it, because models repeat what they read. For
    /// the same reason the escapes are read in which [`shown`](Self::shown) writes unusual names.
    fn relative(&self, path: &str, last: FollowSymlinks) -> Outcome<PathBuf> {
        if path.is_empty() {
            return retry("The path is empty; `.` is the workspace.");
        }
        let literal = self.beneath(path, Path::new(path), last)?;
        Ok(match self.unescaped(&literal) {
            None => literal,
            Some(meant) if self.confined => meant,
            Some(meant) => self.anywhere(&Path::new("/").join(meant), last),
        })
    }

    /// Returns a path with the escapes read of those names that exist only so; `None` if there is no such name.
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
            // The separator at the end, which is no component.
            meant.push("");
        }
        is_other.then_some(meant)
    }

    fn beneath(&self, path: &str, given: &Path, last: FollowSymlinks) -> Outcome<PathBuf> {
        if !self.confined {
            return Ok(self.anywhere(given, last));
        }
        match given.strip_prefix(&self.root) {
            Ok(inside) if inside.as_os_str().is_empty() => Ok(PathBuf::from(".")),
            Ok(inside) => Ok(inside.to_owned()),
            Err(_) if given.is_absolute() => {
                retry(format!("{} is outside the workspace; give a path relative to it.", quoted(path)))
            }
            Err(_) => Ok(given.to_owned()),
        }
    }

    /// A path from the root of the file system. Links are followed as anybody would; there is nothing to keep in.
    fn anywhere(&self, path: &Path, last: FollowSymlinks) -> PathBuf {
        let whole = self.root.join(path);
        // A link that is meant itself is not followed; those on the way to it are.
        let kept = usize::from(last == FollowSymlinks::No);
        let found = whole.ancestors().skip(kept).find_map(|ancestor| Some((ancestor, ancestor.canonicalize().ok()?)));
        let whole = match found {
            Some((ancestor, real)) => real.join(whole.strip_prefix(ancestor).unwrap_or(Path::new(""))),
            None => whole,
        };
        let inside = whole.strip_prefix("/").unwrap_or(&whole);
        if inside.as_os_str().is_empty() { PathBuf::from(".") } else { inside.to_owned() }
    }

    /// A path as seen from where relative paths begin, for patterns to be compared with.
    pub(super) fn relative_to_base(&self, path: &str) -> PathBuf {
        let given = Path::new(path);
        normal(given.strip_prefix(&self.root).unwrap_or(given))
    }

    /// A regular file, opened to be read.
    pub(super) fn file(&self, path: &str) -> Outcome<(File, Metadata)> {
        let inside = self.relative(path, FollowSymlinks::Yes)?;
        let opened = open_file(&self.dir, &inside, FollowSymlinks::Yes);
        let (file, metadata) = opened.map_err(|error| self.explain(path, &inside, &error))?;
        self.rule.check(path, &metadata)?;
        Ok((file, metadata))
    }

    /// The path of a folder as seen from the descriptor, with the links in it followed; empty for the workspace itself.
    pub(super) fn folder(&self, path: &str) -> Outcome<PathBuf> {
        let inside = self.relative(path, FollowSymlinks::Yes)?;
        let opened = self.dir.read_dir(&inside).and_then(|_| self.dir.canonicalize(&inside));
        let folder = opened.map_err(|error| match error.kind() {
            io::ErrorKind::NotADirectory => HandlerError::retry(format!("{} is no folder.", quoted(path))),
            _ => self.explain(path, &inside, &error),
        })?;
        Ok(normal(&folder))
    }

    /// Whether a path leads to a folder, for the choice between two ways of opening it.
    pub(super) fn is_folder(&self, path: &str) -> bool {
        let inside = self.relative(path, FollowSymlinks::Yes);
        inside.is_ok_and(|inside| self.dir.metadata(inside).is_ok_and(|found| found.is_dir()))
    }

    /// What is known of something met on a walk. A link is not followed.
    pub(super) fn metadata_met(&self, path: &Path) -> io::Result<Metadata> {
        self.dir.symlink_metadata(path)
    }

    /// A path met on a walk as the model is to write it, on one line. What is not UTF-8 in it is shown as numbers.
    pub(super) fn shown(&self, path: &Path) -> String {
        let path = if self.confined { Cow::Borrowed(path) } else { Cow::Owned(self.seen_from_base(path)) };
        let shown = escaped(path.as_os_str());
        if shown.is_empty() { ".".to_owned() } else { shown }
    }

    fn seen_from_base(&self, path: &Path) -> PathBuf {
        let whole = Path::new("/").join(path);
        whole.strip_prefix(&self.root).map(Path::to_owned).unwrap_or(whole)
    }

    /// A folder met on a walk. A link in its place is not followed.
    pub(super) fn folder_met(&self, path: &Path) -> io::Result<Dir> {
        if path.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir_nofollow(path) }
    }

    /// The file that a path names or would name, with the links that it leads through followed. Nothing if its folder
    /// may be lacking, and is.
    pub(super) fn entry(&self, path: &str, parents: Parents) -> Outcome<Option<Entry>> {
        let mut inside = self.relative(path, FollowSymlinks::Yes)?;
        for _ in 0..MOST_LINKS {
            let Some((parent, name)) = split(&inside) else {
                return retry(format!("{} is a folder, not a file.", quoted(path)));
            };
            let Some(folder) = self.parent(path, &parent, parents)? else { return Ok(None) };
            match folder.symlink_metadata(&name) {
                Ok(found) if found.is_symlink() => inside = self.target(path, &inside)?,
                Ok(found) => {
                    self.rule.check(path, &found)?;
                    return Ok(Some(Entry::new(folder, name, path, Some(found), self.rule)));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Ok(Some(Entry::new(folder, name, path, None, self.rule)));
                }
                Err(error) => return Err(explain(path, &error)),
            }
        }
        retry(format!("{} leads through symbolic links in a circle.", quoted(path)))
    }

    /// The last name of a path and the folder it is in, whatever it names: a link is not followed.
    pub(super) fn name(&self, path: &str, parents: Parents) -> Outcome<Option<(Dir, OsString)>> {
        let inside = self.relative(path, FollowSymlinks::No)?;
        let Some((parent, name)) = split(&inside) else {
            return retry(format!("{} ends in no name.", quoted(path)));
        };
        Ok(self.parent(path, &parent, parents)?.map(|folder| (folder, name)))
    }

    /// The folder of a path's last name.
    fn parent(&self, path: &str, parent: &Path, parents: Parents) -> Outcome<Option<Dir>> {
        let error = match self.open_parent(parent) {
            Ok(folder) => return Ok(Some(folder)),
            Err(error) => error,
        };
        match parents {
            Parents::MayLack if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Parents::Make if error.kind() == io::ErrorKind::NotFound => {
                let made = self.dir.create_dir_all(parent).and_then(|()| self.open_parent(parent));
                made.map(Some).map_err(|error| explain(path, &error))
            }
            _ => Err(self.explain(path, parent, &error)),
        }
    }

    /// What a symbolic link leads to in the end.
    fn target(&self, path: &str, link: &Path) -> Outcome<PathBuf> {
        self.dir.canonicalize(link).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => HandlerError::retry(format!("{} is a symbolic link to nothing.", quoted(path))),
            _ => explain(path, &error),
        })
    }

    /// The folders on the way to a path that do not exist, the outermost first.
    pub(super) fn missing_folders(&self, path: &str) -> Vec<PathBuf> {
        let Ok(inside) = self.relative(path, FollowSymlinks::Yes) else { return Vec::new() };
        let folders = inside.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty());
        let mut missing: Vec<PathBuf> =
            folders.take_while(|folder| !self.dir.exists(folder)).map(Path::to_owned).collect();
        missing.reverse();
        missing
    }

    /// Removes folders that turned out not to be needed. One with something in it stays.
    pub(super) fn remove_empty(&self, folders: &[PathBuf]) {
        for folder in folders.iter().rev() {
            if let Err(error) = self.dir.remove_dir(folder) {
                tracing::debug!(?folder, %error, "a folder stays");
            }
        }
    }

    fn open_parent(&self, parent: &Path) -> io::Result<Dir> {
        if parent.as_os_str().is_empty() { self.dir.try_clone() } else { self.dir.open_dir(parent) }
    }

    /// That there is no such file, with names that nearly fit.
    pub(super) fn lacking(&self, path: &str) -> HandlerError {
        let inside = self.relative(path, FollowSymlinks::Yes).unwrap_or_default();
        self.explain(path, &inside, &io::ErrorKind::NotFound.into())
    }

    /// As [`explain`], with names that nearly fit where there is no such file.
    fn explain(&self, path: &str, inside: &Path, error: &io::Error) -> HandlerError {
        if error.kind() == io::ErrorKind::NotFound {
            let near = self.near_names(inside);
            if !near.is_empty() {
                return HandlerError::retry(format!("There is no {}. Did you mean {}?", quoted(path), near.join(", ")));
            }
        }
        // A socket or a pipe without a writer cannot be opened at all; only the words depend on what it is.
        if let Ok(found) = self.dir.symlink_metadata(inside)
            && !found.is_file()
            && !found.is_dir()
            && !found.is_symlink()
        {
            let kind = describe(found.file_type());
            return HandlerError::retry(format!("{} is {kind}, not a regular file.", quoted(path)));
        }
        explain(path, error)
    }

    /// Names in the same folder that differ little from the last one of a path.
    fn near_names(&self, inside: &Path) -> Vec<String> {
        const MOST_ENTRIES: usize = 10_000;
        const MOST_SHOWN: usize = 3;
        let Some((parent, name)) = split(inside) else { return Vec::new() };
        let Some(name) = name.to_str().map(str::to_lowercase) else { return Vec::new() };
        let Ok(entries) = self.open_parent(&parent).and_then(|folder| folder.entries()) else { return Vec::new() };
        let names = entries.take(MOST_ENTRIES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let mut near: Vec<(usize, String)> = names
            .map(|found| (strsim::damerau_levenshtein(&name, &found.to_lowercase()), found))
            .filter(|(distance, _)| *distance <= 1 + name.chars().count() / 4)
            .collect();
        near.sort();
        near.into_iter().take(MOST_SHOWN).map(|(_, found)| quoted(&parent.join(found).to_string_lossy())).collect()
    }
}

/// What becomes of folders that a path leads through and that do not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Parents {
    /// They are made.
    Make,
    /// They must exist.
    Need,
    /// They may be lacking; then there is no such entry.
    MayLack,
}

/// Opens a file without waiting for a pipe's other end, and says what was opened.
pub(super) fn open_file(dir: &Dir, path: &Path, follow: FollowSymlinks) -> io::Result<(File, Metadata)> {
    open_with(dir, path, OpenOptions::new().read(true).follow(follow))
}

/// As [`open_file`], if the file may be written as well. A link is not followed.
pub(super) fn open_to_change(dir: &Dir, path: &Path) -> io::Result<(File, Metadata)> {
    open_with(dir, path, OpenOptions::new().read(true).write(true).follow(FollowSymlinks::No))
}

fn open_with(dir: &Dir, path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    let file = dir.open_with(path, options.nonblock(true))?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// The folder and the last name of a path; nothing if it ends in no name.
fn split(path: &Path) -> Option<(PathBuf, OsString)> {
    // `a/.` and `a/` mean the folder itself: a file's path ends in its name.
    let text = path.as_os_str().as_encoded_bytes();
    if text.ends_with(b"/") || text.ends_with(b"/.") {
        return None;
    }
    let name = path.file_name()?.to_owned();
    Some((path.parent().map(Path::to_owned).unwrap_or_default(), name))
}

/// Writes a name on one line, with numbers for what is not UTF-8 in it.
fn escaped(name: &OsStr) -> String {
    let mut shown = String::new();
    for chunk in name.as_encoded_bytes().utf8_chunks() {
        shown.push_str(&escape(chunk.valid()));
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02X}")));
    }
    shown
}

/// Returns the name that [`escaped`] writes so; `None` if that is the name itself. Nothing else can be escaped, so that
/// a rule about paths, such as one for `.env`, holds for every spelling.
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
        let (c, length) = escaped_char(rest).unwrap_or(('\\', 1));
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

/// A path without `.` in it, as walks show it. `..` stays: what it means is for the kernel to say.
fn normal(path: &Path) -> PathBuf {
    path.components().filter(|component| !matches!(component, Component::CurDir)).collect()
}
