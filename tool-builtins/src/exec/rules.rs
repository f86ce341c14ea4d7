//! Which programs may be run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::program::{SHELL, find};

/// Allowed and denied programs. Without any, every program may be run.
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    allowed: Option<BTreeSet<String>>,
    denied: BTreeSet<String>,
}

impl Rules {
    pub fn allow(&mut self, program: String) {
        self.allowed.get_or_insert_default().insert(program);
    }

    pub fn deny(&mut self, program: String) {
        self.denied.insert(program);
    }

    /// Whether a program may be run, which was found under this path, and the file to run. Beside a list of allowed
    /// programs that is the very file on the list, and no link that could be another one by now.
    pub fn check(&self, asked: &str, found: &Path, path: &OsStr) -> Result<PathBuf, String> {
        let real = found.canonicalize().unwrap_or_else(|_| found.to_owned());
        if let Some(rule) = self.denied.iter().find(|rule| names(rule, asked, found, &real, path)) {
            return Err(format!("`{rule}` may not be run here."));
        }
        match &self.allowed {
            Some(allowed) if !allowed.iter().any(|rule| allows(rule, asked, &real, path)) => {
                let allowed = allowed.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(", ");
                Err(format!("`{asked}` is not among the programs that may be run here: {allowed}."))
            }
            Some(_) => Ok(real),
            None => Ok(found.to_owned()),
        }
    }

    /// Whether a line may be given to the shell.
    ///
    /// A shell can run anything under any name, so beside a list of allowed programs there is no shell, unless the
    /// list has it. A denied program is looked for among the line's words; one that is well hidden is not found.
    pub fn check_line(&self, line: &str, path: &OsStr) -> Result<(), String> {
        let shell = Path::new(SHELL);
        let may_run_shell = self.check("sh", shell, path);
        if self.allowed.is_some() && may_run_shell.is_err() {
            return Err("A line for the shell may not be run here; give `program` and `arguments`.".to_owned());
        }
        may_run_shell?;
        match self.denied.iter().find(|rule| words(line).any(|word| file_name(&word) == file_name(rule))) {
            Some(rule) => Err(format!("`{rule}` may not be run here, and the line has that word.")),
            None => Ok(()),
        }
    }
}

/// Whether a rule is about exactly this file.
fn is(rule: &str, real: &Path, path: &OsStr) -> bool {
    real_path(rule, path).is_some_and(|allowed| allowed == real)
}

/// Whether a rule allows this program: it is that file and, where one file is many programs, has that name.
fn allows(rule: &str, asked: &str, real: &Path, path: &OsStr) -> bool {
    is(rule, real, path) && (!is_shared(real) || file_name(asked) == file_name(rule))
}

/// Whether a rule is about this program in any way: by its name, by what was asked for, by what it really is.
fn names(rule: &str, asked: &str, found: &Path, real: &Path, path: &OsStr) -> bool {
    let rule_name = file_name(rule);
    file_name(asked) == rule_name
        || [found, real].iter().any(|file| file.file_name() == Some(OsStr::new(rule_name)))
        || (!is_shared(real) && is(rule, real, path))
}

/// One file that is many programs, told apart by the name that they are called by.
fn is_shared(real: &Path) -> bool {
    ["busybox", "coreutils", "toybox", "rustup"].iter().any(|&name| real.file_name() == Some(OsStr::new(name)))
}

fn real_path(rule: &str, path: &OsStr) -> Option<PathBuf> {
    find(rule, path, Path::new("/"))?.canonicalize().ok()
}

fn file_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The words of a line, without what the shell does to them, as far as that can be told.
fn words(line: &str) -> impl Iterator<Item = String> {
    let separates = |c: char| c.is_whitespace() || ";|&()<>{}`$=,!".contains(c);
    let plain = |word: &str| word.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect::<String>();
    line.split(separates).map(plain).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allowed: &[&str], denied: &[&str]) -> Rules {
        let mut rules = Rules::default();
        allowed.iter().for_each(|program| rules.allow((*program).to_owned()));
        denied.iter().for_each(|program| rules.deny((*program).to_owned()));
        rules
    }

    fn may_run(rules: &Rules, program: &str) -> bool {
        let path = OsStr::new("/usr/bin:/bin");
        rules.check(program, &find(program, path, Path::new("/")).unwrap(), path).is_ok()
    }

    fn may_run_line(rules: &Rules, line: &str) -> bool {
        rules.check_line(line, OsStr::new("/usr/bin:/bin")).is_ok()
    }

    #[test]
    fn without_rules_everything_may_be_run() {
        assert!(may_run(&rules(&[], &[]), "ls"));
        assert!(may_run_line(&rules(&[], &[]), "ls | wc"));
    }

    #[test]
    fn an_allowed_program_is_one_file() {
        let rules = rules(&["cat"], &[]);
        assert!(may_run(&rules, "cat"));
        assert!(may_run(&rules, "/bin/../bin/cat"));
        assert!(!may_run(&rules, "ls"));
        let other = tempfile::tempdir().unwrap();
        let impostor = other.path().join("cat");
        std::fs::write(&impostor, "#!/bin/sh\n").unwrap();
        let path = OsStr::new("/usr/bin:/bin");
        assert!(rules.check(&impostor.to_string_lossy(), &impostor, path).is_err());
        let link = other.path().join("anything");
        std::os::unix::fs::symlink("/bin/cat", &link).unwrap();
        assert!(rules.check("anything", &link, path).is_ok(), "it is the same file");
    }

    #[test]
    fn a_file_that_is_many_programs_is_told_apart_by_name() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let shared = folder.path().join("busybox");
        std::fs::write(&shared, "").unwrap();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (cat, rm) = (folder.path().join("cat"), folder.path().join("rm"));
        std::os::unix::fs::symlink("busybox", &cat).unwrap();
        std::os::unix::fs::symlink("busybox", &rm).unwrap();
        let path = folder.path().as_os_str();
        assert!(rules(&["cat"], &[]).check("cat", &cat, path).is_ok());
        assert!(rules(&["cat"], &[]).check("rm", &rm, path).is_err());
        assert!(rules(&[], &["rm"]).check("cat", &cat, path).is_ok());
        assert!(rules(&[], &["rm"]).check("rm", &rm, path).is_err());
    }

    #[test]
    fn a_list_of_allowed_programs_has_no_shell_unless_it_says_so() {
        assert!(!may_run_line(&rules(&["cat"], &[]), "cat x"));
        assert!(may_run_line(&rules(&["cat", "sh"], &[]), "ls x"));
        assert!(!may_run_line(&rules(&[], &["sh"]), "cat x"));
    }

    #[test]
    fn a_denied_program_is_found_under_its_names() {
        let rules = rules(&[], &["rm", "/usr/bin/env"]);
        assert!(!may_run(&rules, "rm"));
        assert!(!may_run(&rules, "/bin/rm"));
        assert!(!may_run(&rules, "env"));
        assert!(may_run(&rules, "ls"));
        for line in ["rm x", "ls; rm x", "/bin/rm x", "a=$(rm x)", "'rm' x", "r\\m x", "env ls", "x|rm"] {
            assert!(!may_run_line(&rules, line), "{line}");
        }
        assert!(may_run_line(&rules, "ls arm farm/ rmdir"));
        // As the documentation says: a name that is put together is not seen.
        assert!(may_run_line(&rules, "a=r; b=m; ${a}${b} x"));
    }

    #[test]
    fn a_link_to_a_denied_program_is_that_program() {
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("harmless");
        std::os::unix::fs::symlink("/bin/cat", &link).unwrap();
        let path = OsStr::new("/usr/bin:/bin");
        assert!(rules(&[], &["cat"]).check("harmless", &link, path).is_err());
    }
}
