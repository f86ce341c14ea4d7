//! Writing a file so that nobody ever reads half of it.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Gives a file this content, unless it has it already. Whether it was written.
///
/// The content goes into a new file beside it, which then takes its place: a reader sees the old one or the new one.
pub(crate) fn replace(path: &Path, content: &[u8]) -> io::Result<bool> {
    // What a link points to is replaced, not the link.
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::read(&path) {
        Ok(known) if known == content => return Ok(false),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let beside = beside(&path)?;
    let written = write_new(&beside, content)
        .and_then(|()| keep_permissions(&path, &beside))
        .and_then(|()| fs::rename(&beside, &path));
    if written.is_err() {
        // It may not even exist; the error that matters is the other one.
        drop(fs::remove_file(&beside));
    }
    written.map(|()| true)
}

/// A name in the same folder, since a file cannot be renamed from one disk to another.
fn beside(path: &Path) -> io::Result<PathBuf> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let Some(name) = path.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not the name of a file"));
    };
    let mut hidden = std::ffi::OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
    Ok(path.with_file_name(hidden))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    // Otherwise a crash of the machine may keep the new name and lose the content.
    file.sync_all()
}

fn keep_permissions(of: &Path, on: &Path) -> io::Result<()> {
    match fs::metadata(of) {
        Ok(known) => fs::set_permissions(on, known.permissions()),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for each test, gone when the test has passed.
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
            assert!(replace(&path, b"one").expect("written"));
            let written = fs::metadata(&path).and_then(|file| file.modified()).expect("a time");
            assert!(!replace(&path, b"one").expect("compared"));
            assert_eq!(fs::metadata(&path).and_then(|file| file.modified()).expect("a time"), written);
            assert!(replace(&path, b"two").expect("written"));
            assert_eq!(fs::read(&path).expect("there"), b"two");
            assert_eq!(files(folder), ["a.json"], "nothing is left beside it");
        });
    }

    /// Readers and writers at once: what is read is always whole.
    #[test]
    fn nobody_reads_half_of_it() {
        in_folder("half", |folder| {
            let path = folder.join("a.json");
            let contents = [vec![b'a'; 300_000], vec![b'b'; 500_000]];
            replace(&path, &contents[0]).expect("written");
            std::thread::scope(|threads| {
                let writers: Vec<_> = contents
                    .iter()
                    .map(|content| {
                        let path = &path;
                        threads.spawn(move || {
                            for _ in 0..20 {
                                replace(path, content).expect("written");
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
            assert!(replace(&folder.join("gone/a.json"), b"one").is_err(), "no such folder");
            assert!(replace(folder, b"one").is_err(), "a folder is no file");
            assert!(files(folder).is_empty(), "{:?}", files(folder));
        });
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        in_folder("links", |folder| {
            let (file, link) = (folder.join("a.json"), folder.join("link.json"));
            replace(&file, b"one").expect("written");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("changed");
            symlink(&file, &link).expect("linked");
            assert!(replace(&link, b"two").expect("written"));
            assert_eq!(fs::read(&file).expect("there"), b"two");
            assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
            assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o640);
        });
    }
}
