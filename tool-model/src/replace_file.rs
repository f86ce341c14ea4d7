//! Atomic replacement of files.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The limit of symbolic links, as in Linux.
const MOST_LINKS: usize = 40;
/// The attempts to find an unused random name.
const MOST_NAMES: usize = 3;

/// Replaces the content of a file atomically. Returns `false` if the file already had this content.
///
/// The content is written to a temporary file in the same directory, which is then renamed: a reader sees either the
/// old file or the new one. Missing directories are created. A symbolic link is kept and its target replaced. Devices
/// and pipes cannot be replaced and are written to directly.
///
/// # Errors
/// If the file cannot be written, is a directory or is read-only. The old content is kept.
pub fn replace_file(path: impl AsRef<Path>, content: impl AsRef<[u8]>) -> io::Result<bool> {
    let (path, content) = (path.as_ref(), content.as_ref());
    match fs::metadata(path) {
        Ok(known) if known.is_file() => replace_known(&fs::canonicalize(path)?, &known, content),
        Ok(known) if known.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder")),
        // Reading a pipe first could block forever.
        Ok(_) => OpenOptions::new().write(true).open(path)?.write_all(content).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let path = behind_links(path)?;
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            put(&path, None, content)
        }
        Err(error) => Err(error),
    }
}

fn replace_known(path: &Path, known: &fs::Metadata, content: &[u8]) -> io::Result<bool> {
    if fs::read(path)? == content {
        return Ok(false);
    }
    // The directory's permissions would allow a rename, but the file is protected deliberately.
    if known.permissions().readonly() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    put(path, Some(known), content)
}

/// Resolves dangling symbolic links.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            // A relative target is relative to the link.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("its links lead in a circle"))
}

fn put(path: &Path, known: Option<&fs::Metadata>, content: &[u8]) -> io::Result<bool> {
    let (beside, mut file) = new_beside(path)?;
    let written = file
        .write_all(content)
        // Without this, a machine crash may keep the new name and lose the content.
        .and_then(|()| file.sync_all())
        .and_then(|()| known.map_or(Ok(()), |known| fs::set_permissions(&beside, known.permissions())))
        .and_then(|()| fs::rename(&beside, path));
    if written.is_err() {
        // The first error is the one to report.
        drop(fs::remove_file(&beside));
    }
    written.map(|()| true)
}

/// Creates a file in the same directory, because a rename cannot cross file systems. An attacker cannot plant a link
/// there: the name is unpredictable, and existing files are not opened.
fn new_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file"));
    };
    let mut tried = Err(io::Error::from(io::ErrorKind::AlreadyExists));
    for _ in 0..MOST_NAMES {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{:016x}.new", RandomState::new().hash_one(std::process::id())));
        let beside = path.with_file_name(hidden);
        tried = OpenOptions::new().write(true).create_new(true).open(&beside).map(|file| (beside, file));
        if !matches!(&tried, Err(error) if error.kind() == io::ErrorKind::AlreadyExists) {
            break;
        }
    }
    tried
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a test in its own directory and removes it if the test passes.
    fn in_folder(name: &str, test: impl FnOnce(&Path)) {
        let folder = std::env::temp_dir().join(format!("replace-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        test(&folder);
        fs::remove_dir_all(folder).expect("removed");
    }

    fn files(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder).expect("a folder");
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn it_is_written_only_when_it_changes() {
        in_folder("change", |folder| {
            let path = folder.join("a.json");
            assert!(replace_file(&path, b"one").expect("written"));
            let written = fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
            assert!(!replace_file(&path, b"one").expect("compared"));
            assert_eq!(fs::metadata(&path).and_then(|file| file.modified()).expect("a time"), written);
            assert!(replace_file(&path, b"two").expect("written"));
            assert_eq!(fs::read(&path).expect("there"), b"two");
            assert_eq!(files(folder), ["a.json"], "nothing is left beside it");
        });
    }

    /// Reads and writes concurrently.
    #[test]
    fn nobody_reads_half_of_it() {
        in_folder("half", |folder| {
            let path = folder.join("a.json");
            let contents = [vec![b'a'; 300_000], vec![b'b'; 500_000]];
            replace_file(&path, &contents[0]).expect("written");
            std::thread::scope(|threads| {
                let writers: Vec<_> = contents
                    .iter()
                    .map(|content| {
                        let path = &path;
                        threads.spawn(move || {
                            for _ in 0..20 {
                                replace_file(path, content).expect("written");
                            }
                        })
                    })
                    .collect();
                while writers.iter().any(|writer| !writer.is_finished()) {
                    assert!(contents.contains(&fs::read(&path).expect("always there")));
                }
            });
            assert_eq!(files(folder), ["a.json"]);
        });
    }

    #[test]
    fn what_cannot_be_replaced_stays_and_nothing_is_left() {
        in_folder("fail", |folder| {
            assert!(replace_file(folder, b"one").is_err(), "a folder is no file");
            assert!(files(folder).is_empty(), "{:?}", files(folder));
            fs::write(folder.join("a"), "a file").expect("written");
            assert!(replace_file(folder.join("a/b.json"), b"one").is_err(), "a file is no folder");
            assert_eq!(files(folder), ["a"]);
        });
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        in_folder("links", |folder| {
            let (file, link) = (folder.join("a.json"), folder.join("link.json"));
            replace_file(&file, b"one").expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("changed");
            symlink(&file, &link).expect("linked");
            assert!(replace_file(&link, b"two").expect("written"));
            assert_eq!(fs::read(&file).expect("there"), b"two");
            assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
            assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        });
    }

    #[test]
    fn missing_folders_are_made() {
        in_folder("made", |folder| {
            let path = folder.join("data/of/today/a.json");
            assert!(replace_file(&path, b"one").expect("written"));
            assert_eq!(fs::read(&path).expect("there"), b"one");
        });
    }

    #[test]
    fn a_read_only_file_stays() {
        in_folder("read-only", |folder| {
            let path = folder.join("a.json");
            replace_file(&path, b"one").expect("written");
            let mut permissions = fs::metadata(&path).expect("there").permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&path, permissions).expect("changed");
            assert!(!replace_file(&path, b"one").expect("there is nothing to do"));
            assert_eq!(replace_file(&path, b"two").expect_err("read-only").to_string(), "it is read-only");
            assert_eq!(fs::read(&path).expect("there"), b"one");
            assert_eq!(files(folder), ["a.json"]);
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_stays() {
        use std::os::unix::fs::symlink;
        in_folder("dangling", |folder| {
            let link = folder.join("link.json");
            symlink("further.json", &link).expect("linked");
            symlink("there/a.json", folder.join("further.json")).expect("linked");
            assert!(replace_file(&link, b"one").expect("written"));
            assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
            assert_eq!(fs::read(folder.join("there/a.json")).expect("there"), b"one");
            symlink("circle.json", folder.join("circle.json")).expect("linked");
            assert!(replace_file(folder.join("circle.json"), b"one").is_err());
        });
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_written_to() {
        use std::os::unix::fs::FileTypeExt;
        assert!(replace_file("/dev/null", b"one").expect("written"));
        assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
        in_folder("pipe", |folder| {
            let pipe = folder.join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status();
            if !made.is_ok_and(|status| status.success()) {
                return;
            }
            let read = std::thread::spawn({
                let pipe = pipe.clone();
                move || fs::read(pipe)
            });
            assert!(replace_file(&pipe, b"one").expect("written"));
            assert_eq!(read.join().expect("no panic").expect("read"), b"one");
            assert!(fs::metadata(&pipe).expect("there").file_type().is_fifo());
        });
    }
}
