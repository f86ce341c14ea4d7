//! Atomic replacement of files.

use std::fs::{self, File, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// The limit of symbolic links, as in Linux.
const MAX_LINKS: usize = 40;
/// The attempts to find an unused random name.
const MAX_ATTEMPTS: usize = 3;

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
        Ok(known) if known.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory")),
        // Reading a pipe first could block forever.
        Ok(_) => OpenOptions::new().write(true).open(path)?.write_all(content).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let path = resolve_dangling_links(path)?;
            if let Some(directory) = path.parent() {
                fs::create_dir_all(directory)?;
            }
            write_and_rename(&path, None, content)
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
    write_and_rename(path, Some(known), content)
}

/// Resolves dangling symbolic links.
fn resolve_dangling_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            // A relative target is relative to the link.
            Ok(target) => path = path.parent().unwrap_or(Path::new("")).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn write_and_rename(path: &Path, known: Option<&fs::Metadata>, content: &[u8]) -> io::Result<bool> {
    let (temporary, mut file) = create_temporary(path)?;
    let written = file
        .write_all(content)
        // Without this, a machine crash may keep the new name and lose the content.
        .and_then(|()| file.sync_all())
        .and_then(|()| known.map_or(Ok(()), |known| fs::set_permissions(&temporary, known.permissions())))
        .and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        // The first error is the one to report.
        drop(fs::remove_file(&temporary));
    }
    written.map(|()| true)
}

/// Creates a file in the same directory, because a rename cannot cross file systems. An attacker cannot plant a link
/// there: the name is unpredictable, and existing files are not opened.
fn create_temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it has no file name"));
    };
    let mut tried = Err(io::Error::from(io::ErrorKind::AlreadyExists));
    for _ in 0..MAX_ATTEMPTS {
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(format!(".{:016x}.new", RandomState::new().hash_one(std::process::id())));
        let temporary = path.with_file_name(hidden);
        tried = OpenOptions::new().write(true).create_new(true).open(&temporary).map(|file| (temporary, file));
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
    fn in_directory(name: &str, test: impl FnOnce(&Path)) {
        let directory = std::env::temp_dir().join(format!("replace-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        test(&directory);
        fs::remove_dir_all(directory).expect("removed");
    }

    fn files(directory: &Path) -> Vec<String> {
        let files = fs::read_dir(directory).expect("a directory");
        files.map(|file| file.expect("a file").file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn writes_only_changed_content() {
        in_directory("change", |directory| {
            let path = directory.join("a.json");
            assert!(replace_file(&path, b"one").expect("written"));
            let written = fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
            assert!(!replace_file(&path, b"one").expect("compared"));
            assert_eq!(fs::metadata(&path).and_then(|file| file.modified()).expect("a time"), written);
            assert!(replace_file(&path, b"two").expect("written"));
            assert_eq!(fs::read(&path).expect("there"), b"two");
            assert_eq!(files(directory), ["a.json"], "no temporary file is left");
        });
    }

    /// Reads and writes concurrently.
    #[test]
    fn readers_never_see_partial_content() {
        in_directory("half", |directory| {
            let path = directory.join("a.json");
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
            assert_eq!(files(directory), ["a.json"]);
        });
    }

    #[test]
    fn a_failure_keeps_the_old_content_and_leaves_no_files() {
        in_directory("fail", |directory| {
            assert!(replace_file(directory, b"one").is_err(), "a directory is not a file");
            assert!(files(directory).is_empty(), "{:?}", files(directory));
            fs::write(directory.join("a"), "a file").expect("written");
            assert!(replace_file(directory.join("a/b.json"), b"one").is_err(), "a file is not a directory");
            assert_eq!(files(directory), ["a"]);
        });
    }

    #[cfg(unix)]
    #[test]
    fn keeps_links_and_permissions() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        in_directory("links", |directory| {
            let (file, link) = (directory.join("a.json"), directory.join("link.json"));
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
    fn creates_missing_directories() {
        in_directory("made", |directory| {
            let path = directory.join("data/of/today/a.json");
            assert!(replace_file(&path, b"one").expect("written"));
            assert_eq!(fs::read(&path).expect("there"), b"one");
        });
    }

    #[test]
    fn rejects_a_read_only_file() {
        in_directory("read-only", |directory| {
            let path = directory.join("a.json");
            replace_file(&path, b"one").expect("written");
            let mut permissions = fs::metadata(&path).expect("there").permissions();
            permissions.set_readonly(true);
            fs::set_permissions(&path, permissions).expect("changed");
            assert!(!replace_file(&path, b"one").expect("there is nothing to do"));
            assert_eq!(replace_file(&path, b"two").expect_err("read-only").to_string(), "it is read-only");
            assert_eq!(fs::read(&path).expect("there"), b"one");
            assert_eq!(files(directory), ["a.json"]);
        });
    }

    #[cfg(unix)]
    #[test]
    fn creates_the_target_of_a_dangling_link() {
        use std::os::unix::fs::symlink;
        in_directory("dangling", |directory| {
            let link = directory.join("link.json");
            symlink("further.json", &link).expect("linked");
            symlink("there/a.json", directory.join("further.json")).expect("linked");
            assert!(replace_file(&link, b"one").expect("written"));
            assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
            assert_eq!(fs::read(directory.join("there/a.json")).expect("there"), b"one");
            symlink("circle.json", directory.join("circle.json")).expect("linked");
            assert!(replace_file(directory.join("circle.json"), b"one").is_err());
        });
    }

    #[cfg(unix)]
    #[test]
    fn writes_to_devices_and_pipes() {
        use std::os::unix::fs::FileTypeExt;
        assert!(replace_file("/dev/null", b"one").expect("written"));
        assert!(fs::metadata("/dev/null").expect("there").file_type().is_char_device());
        in_directory("pipe", |directory| {
            let pipe = directory.join("pipe");
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
