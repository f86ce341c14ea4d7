//! Looking up programs, and rules on which may run.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use tool_runtime::display::excerpt;

/// The shell that runs command lines.
pub(super) const SHELL: &str = "/bin/sh";

/// Finds the executable of a program: a name on the search path, or a path relative to a directory.
pub(super) fn find(program: &str, path: &OsStr, directory: &Path) -> Option<PathBuf> {
    if program.contains('/') {
        return Some(directory.join(program)).filter(|file| is_program(file));
    }
    std::env::split_paths(path).map(|directory| directory.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    file.metadata().is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

/// Allowed and denied programs. Without any rules, every program may run.
#[derive(Clone, Debug, Default)]
pub(super) struct ProgramRules {
    allowed: Option<BTreeSet<String>>,
    denied: BTreeSet<String>,
}

impl ProgramRules {
    pub fn allow(&mut self, program: String) {
        self.allowed.get_or_insert_default().insert(program);
    }

    pub fn deny(&mut self, program: String) {
        self.denied.insert(program);
    }

    /// Checks that a program may run, and returns the file to execute. With an allow list that is the listed file
    /// itself, not a link to it, which could have been changed since.
    pub fn check(&self, asked: &str, found: &Path, path: &OsStr) -> Result<PathBuf, String> {
        let real = found.canonicalize().unwrap_or_else(|_| found.to_owned());
        if let Some(rule) = self.denied.iter().find(|rule| matches(rule, asked, found, &real, path)) {
            return Err(format!("`{rule}` may not be run here."));
        }
        match &self.allowed {
            Some(allowed) if !allowed.iter().any(|rule| allows(rule, asked, &real, path)) => {
                let allowed = allowed.iter().map(|rule| format!("`{rule}`")).collect::<Vec<_>>().join(", ");
                Err(format!("`{}` may not be run here. Allowed programs: {allowed}.", excerpt(asked)))
            }
            Some(_) => Ok(real),
            None => Ok(found.to_owned()),
        }
    }

    /// Checks that a line may be passed to the shell.
    ///
    /// A shell can run any program, so with an allow list the shell itself must be listed. Denied programs are searched
    /// for among the words of the line; a disguised name is not recognized.
    pub fn check_line(&self, line: &str, path: &OsStr) -> Result<(), String> {
        let shell = Path::new(SHELL);
        let may_run_shell = self.check("sh", shell, path);
        if self.allowed.is_some() && may_run_shell.is_err() {
            return Err("Shell command lines may not be run here; pass `program` and `arguments`.".to_owned());
        }
        may_run_shell?;
        match self.denied.iter().find(|rule| words(line).any(|word| file_name(&word) == file_name(rule))) {
            Some(rule) => Err(format!("`{rule}` may not be run here, and the line contains that word.")),
            None => Ok(()),
        }
    }
}

/// Returns `true` if a rule refers to exactly this file.
fn is_same_file(rule: &str, real: &Path, path: &OsStr) -> bool {
    real_path(rule, path).is_some_and(|allowed| allowed == real)
}

/// Returns `true` if a rule allows this program: same file, and same name if the file serves several programs.
fn allows(rule: &str, asked: &str, real: &Path, path: &OsStr) -> bool {
    is_same_file(rule, real, path) && (!is_multi_call(real) || file_name(asked) == file_name(rule))
}

/// Returns `true` if a rule matches this program by its requested name, its file name or its real file.
fn matches(rule: &str, asked: &str, found: &Path, real: &Path, path: &OsStr) -> bool {
    let rule_name = file_name(rule);
    file_name(asked) == rule_name
        || [found, real].iter().any(|file| file.file_name() == Some(OsStr::new(rule_name)))
        || (!is_multi_call(real) && is_same_file(rule, real, path))
}

/// Returns `true` for a multi-call binary, whose behaviour depends on the name it is called by.
fn is_multi_call(real: &Path) -> bool {
    ["busybox", "coreutils", "toybox", "rustup"].iter().any(|&name| real.file_name() == Some(OsStr::new(name)))
}

fn real_path(rule: &str, path: &OsStr) -> Option<PathBuf> {
    find(rule, path, Path::new("/"))?.canonicalize().ok()
}

fn file_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// Splits a line into words, ignoring quotes and escapes. An approximation of what the shell does.
fn words(line: &str) -> impl Iterator<Item = String> {
    let separates = |c: char| c.is_whitespace() || ";|&()<>{}`$=,!".contains(c);
    let plain = |word: &str| word.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect::<String>();
    line.split(separates).map(plain).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(allowed: &[&str], denied: &[&str]) -> ProgramRules {
        let mut rules = ProgramRules::default();
        allowed.iter().for_each(|program| rules.allow((*program).to_owned()));
        denied.iter().for_each(|program| rules.deny((*program).to_owned()));
        rules
    }

    fn may_run(rules: &ProgramRules, program: &str) -> bool {
        let path = OsStr::new("/usr/bin:/bin");
        rules.check(program, &find(program, path, Path::new("/")).unwrap(), path).is_ok()
    }

    fn may_run_line(rules: &ProgramRules, line: &str) -> bool {
        rules.check_line(line, OsStr::new("/usr/bin:/bin")).is_ok()
    }

    #[test]
    fn allows_everything_without_rules() {
        assert!(may_run(&rules(&[], &[]), "ls"));
        assert!(may_run_line(&rules(&[], &[]), "ls | wc"));
    }

    #[test]
    fn allows_exactly_one_file_per_name() {
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
    fn distinguishes_programs_of_a_multi_call_binary_by_name() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let shared = directory.path().join("busybox");
        std::fs::write(&shared, "").unwrap();
        std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o755)).unwrap();
        let (cat, rm) = (directory.path().join("cat"), directory.path().join("rm"));
        std::os::unix::fs::symlink("busybox", &cat).unwrap();
        std::os::unix::fs::symlink("busybox", &rm).unwrap();
        let path = directory.path().as_os_str();
        assert!(rules(&["cat"], &[]).check("cat", &cat, path).is_ok());
        assert!(rules(&["cat"], &[]).check("rm", &rm, path).is_err());
        assert!(rules(&[], &["rm"]).check("cat", &cat, path).is_ok());
        assert!(rules(&[], &["rm"]).check("rm", &rm, path).is_err());
    }

    #[test]
    fn an_allow_list_disables_the_shell_unless_listed() {
        assert!(!may_run_line(&rules(&["cat"], &[]), "cat x"));
        assert!(may_run_line(&rules(&["cat", "sh"], &[]), "ls x"));
        assert!(!may_run_line(&rules(&[], &["sh"]), "cat x"));
    }

    #[test]
    fn recognizes_a_denied_program_by_its_names() {
        let rules = rules(&[], &["rm", "/usr/bin/env"]);
        assert!(!may_run(&rules, "rm"));
        assert!(!may_run(&rules, "/bin/rm"));
        assert!(!may_run(&rules, "env"));
        assert!(may_run(&rules, "ls"));
        for line in ["rm x", "ls; rm x", "/bin/rm x", "a=$(rm x)", "'rm' x", "r\\m x", "env ls", "x|rm"] {
            assert!(!may_run_line(&rules, line), "{line}");
        }
        assert!(may_run_line(&rules, "ls arm farm/ rmdir"));
        // As documented: a name assembled at run time is not recognized.
        assert!(may_run_line(&rules, "a=r; b=m; ${a}${b} x"));
    }

    #[test]
    fn recognizes_a_link_to_a_denied_program() {
        let other = tempfile::tempdir().unwrap();
        let link = other.path().join("harmless");
        std::os::unix::fs::symlink("/bin/cat", &link).unwrap();
        let path = OsStr::new("/usr/bin:/bin");
        assert!(rules(&[], &["cat"]).check("harmless", &link, path).is_err());
    }
}
