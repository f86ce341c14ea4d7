use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::thread;

/// The folder in which packages are installed, once a test has asked for them.
pub(crate) struct Folder {
    /// Says `required` where nothing may be skipped.
    variable: &'static str,
    target: &'static str,
    /// What came of the first attempt: those that fail are slow, and all tests would fail alike.
    attempt: OnceLock<Result<PathBuf, String>>,
}

impl Folder {
    pub(crate) const fn new(variable: &'static str, target: &'static str) -> Self {
        Self { variable, target, attempt: OnceLock::new() }
    }

    /// The folder of these packages, made by `install` unless it is there; nothing, if they are skipped.
    pub(crate) fn installed(
        &self,
        kind: &str,
        packages: &[&str],
        install: impl FnOnce(&Path) -> Result<(), String>,
    ) -> Option<PathBuf> {
        let attempt = self.attempt.get_or_init(|| {
            let mut hasher = DefaultHasher::new();
            packages.hash(&mut hasher);
            make(Path::new(self.target).join(format!("{kind}-{:016x}", hasher.finish())), install)
        });
        let is_required = env::var_os(self.variable).is_some_and(|wanted| wanted == "required");
        or_skipped(attempt.clone(), is_required)
    }
}

/// Makes a folder under another name and renames it, so that nobody finds it half made, however many want it at once.
fn make(folder: PathBuf, install: impl FnOnce(&Path) -> Result<(), String>) -> Result<PathBuf, String> {
    if folder.exists() {
        return Ok(folder);
    }
    let own = folder.with_extension(format!("{}-{:?}", process::id(), thread::current().id()));
    let made = install(&own).and_then(|()| fs::rename(&own, &folder).map_err(|error| error.to_string()));
    match made {
        Ok(()) => Ok(folder),
        Err(reason) => {
            drop(fs::remove_dir_all(&own));
            // Somebody else may have been quicker.
            if folder.exists() { Ok(folder) } else { Err(reason) }
        }
    }
}

fn or_skipped(attempt: Result<PathBuf, String>, is_required: bool) -> Option<PathBuf> {
    match attempt {
        Ok(folder) => Some(folder),
        Err(reason) if is_required => panic!("what the test needs is not at hand: {reason}"),
        Err(reason) => {
            println!("skipped, what the test needs is not at hand: {reason}");
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(target: &Path) -> Vec<String> {
        let entries = fs::read_dir(target).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn of_two_that_want_a_folder_at_once_the_quicker_gives_it_to_both() {
        let target = tempfile::tempdir().unwrap();
        let wanted = target.path().join("npm-1");
        let install = |folder: &Path, by: &str| {
            fs::create_dir(folder).and_then(|()| fs::write(folder.join(by), "")).map_err(|error| error.to_string())
        };
        let quick = || make(wanted.clone(), |folder| install(folder, "quick"));
        let slow = make(wanted.clone(), |folder| {
            install(folder, "slow")?;
            assert!(!wanted.exists(), "it is seen half made");
            let quick = thread::scope(|scope| scope.spawn(quick).join());
            assert_eq!(quick.unwrap(), Ok(wanted.clone()));
            Ok(())
        });
        assert_eq!(slow, Ok(wanted.clone()));
        assert_eq!(names(&wanted), ["quick"]);
        assert_eq!(names(target.path()), ["npm-1"], "the slow one left nothing");
    }

    #[test]
    fn what_is_there_is_not_made_again() {
        let target = tempfile::tempdir().unwrap();
        let folder = target.path().join("python-1");
        fs::create_dir(&folder).unwrap();
        assert_eq!(make(folder.clone(), |_| panic!("it is there")), Ok(folder));
    }

    #[test]
    fn what_fails_leaves_nothing_and_is_tried_once_by_all_tests_of_a_program() {
        let target = tempfile::tempdir().unwrap();
        let fail = |folder: &Path| {
            fs::create_dir(folder).unwrap();
            Err("no network".to_owned())
        };
        assert_eq!(make(target.path().join("npm-1"), fail), Err("no network".to_owned()));
        assert!(names(target.path()).is_empty());

        let folder = Folder::new("NOBODY_SETS_THIS", "/nowhere");
        assert_eq!(folder.installed("npm", &["left@1"], |_| Err("no network".to_owned())), None);
        assert_eq!(folder.installed("npm", &["left@1"], |_| panic!("it was tried")), None);
    }

    #[test]
    #[should_panic(expected = "what the test needs is not at hand: no network")]
    fn what_is_required_is_not_skipped() {
        or_skipped(Err("no network".to_owned()), true);
    }
}
