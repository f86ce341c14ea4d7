use std::env;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::OnceLock;
use std::thread;

/// The directory of installed packages, once a test has asked for them.
pub(crate) struct PackageDirectory {
    /// Environment variable; the value `required` means that tests must not be skipped.
    variable: &'static str,
    target: &'static str,
    /// The result of the first attempt. Failing attempts are slow, and every test would fail the same way.
    attempt: OnceLock<Result<PathBuf, String>>,
}

impl PackageDirectory {
    pub(crate) const fn new(variable: &'static str, target: &'static str) -> Self {
        Self { variable, target, attempt: OnceLock::new() }
    }

    /// Returns the directory of these packages, running `install` if it does not exist; `None` if they are skipped.
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

/// Creates a directory under a temporary name and renames it, so that concurrent tests never see a partial one.
fn make(directory: PathBuf, install: impl FnOnce(&Path) -> Result<(), String>) -> Result<PathBuf, String> {
    if directory.exists() {
        return Ok(directory);
    }
    let own = directory.with_extension(format!("{}-{:?}", process::id(), thread::current().id()));
    let made = install(&own).and_then(|()| fs::rename(&own, &directory).map_err(|error| error.to_string()));
    match made {
        Ok(()) => Ok(directory),
        Err(reason) => {
            drop(fs::remove_dir_all(&own));
            // Another process may have been faster.
            if directory.exists() { Ok(directory) } else { Err(reason) }
        }
    }
}

fn or_skipped(attempt: Result<PathBuf, String>, is_required: bool) -> Option<PathBuf> {
    match attempt {
        Ok(directory) => Some(directory),
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
    fn concurrent_requests_share_the_directory_that_was_created_first() {
        let target = tempfile::tempdir().unwrap();
        let wanted = target.path().join("npm-1");
        let install = |directory: &Path, by: &str| {
            fs::create_dir(directory)
                .and_then(|()| fs::write(directory.join(by), ""))
                .map_err(|error| error.to_string())
        };
        let quick = || make(wanted.clone(), |directory| install(directory, "quick"));
        let slow = make(wanted.clone(), |directory| {
            install(directory, "slow")?;
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
    fn an_existing_directory_is_not_created_again() {
        let target = tempfile::tempdir().unwrap();
        let directory = target.path().join("python-1");
        fs::create_dir(&directory).unwrap();
        assert_eq!(make(directory.clone(), |_| panic!("it is there")), Ok(directory));
    }

    #[test]
    fn a_failure_leaves_nothing_behind_and_is_attempted_once_per_program() {
        let target = tempfile::tempdir().unwrap();
        let fail = |directory: &Path| {
            fs::create_dir(directory).unwrap();
            Err("no network".to_owned())
        };
        assert_eq!(make(target.path().join("npm-1"), fail), Err("no network".to_owned()));
        assert!(names(target.path()).is_empty());

        let directory = PackageDirectory::new("NEVER_SET", "/nowhere");
        assert_eq!(directory.installed("npm", &["left@1"], |_| Err("no network".to_owned())), None);
        assert_eq!(directory.installed("npm", &["left@1"], |_| panic!("it was tried")), None);
    }

    #[test]
    #[should_panic(expected = "what the test needs is not at hand: no network")]
    fn required_packages_are_not_skipped() {
        or_skipped(Err("no network".to_owned()), true);
    }
}
