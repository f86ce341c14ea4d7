//! `watch`

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use crate::project::{Project, TOOLS};

/// A running watcher, which is killed on drop.
struct Watcher {
    child: Child,
    lines: Receiver<String>,
}

impl Watcher {
    fn over(project: &Project) -> Self {
        let mut command = project.command();
        let mut child =
            command.args(["watch", "--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Self { child, lines }
    }

    /// Waits for the next matching result. A change may be noticed in two steps.
    fn until(&self, what: &str, fits: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("never: {what}"));
            let result = serde_json::from_str(&line).unwrap();
            if fits(&result) {
                return result;
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn writes_the_manifest_after_a_change() {
    let project = Project::with(TOOLS);
    let watcher = Watcher::over(&project);
    watcher.until("the first manifest", |result| result["written"] == true && result["tools"] == 2);

    project.edit("src/lib.rs", "max = 100", "max = 50");
    let changed = watcher.until("a tighter bound", |result| result["written"] == true);
    assert_eq!(changed["changes"][0]["path"], "arguments.limit");
    assert!(project.read("tools_calls.json").contains("\"maximum\": 50"));

    // With an error nothing is written, and the watcher continues.
    let whole = project.read("src/lib.rs");
    project.write("src/lib.rs", &whole.replace("pub fn purge(", "pub fn purge((("));
    let broken = watcher.until("a broken source", |result| result["diagnostics"][0]["severity"] == "error");
    assert_eq!(broken["error"], "nothing was written because of 1 error");
    assert!(project.read("tools_calls.json").contains("metrics.purge"));

    // A new module in a new directory.
    project.write("src/more/mod.rs", "/// More.\n#[tool_runtime::tool]\npub fn more() {}\n");
    project.write("src/lib.rs", &format!("{whole}\nmod more;\n"));
    watcher.until("a module more", |result| result["written"] == true && result["tools"] == 3);
    project.edit("src/more/mod.rs", "More.", "Still more.");
    let deep = watcher.until("a change in it", |result| result["written"] == true);
    assert_eq!(deep["changes"][0]["kind"], "text");
}

/// A module is declared first and written later, its directory before its file.
#[test]
fn waits_for_a_module_that_does_not_exist_yet() {
    let project = Project::with(TOOLS);
    let watcher = Watcher::over(&project);
    watcher.until("the first manifest", |result| result["tools"] == 2);
    std::fs::create_dir(project.path("src/sub")).unwrap();
    project.edit("src/lib.rs", "use tool_runtime::tool;", "mod sub;\nuse tool_runtime::tool;");
    watcher.until("a module without a file", |result| result["error"].is_string());
    project.write("src/sub/mod.rs", "/// More.\n#[tool_runtime::tool]\npub fn more() {}\n");
    watcher.until("its file", |result| result["written"] == true && result["tools"] == 3);
}

#[test]
fn reports_the_end_of_an_error() {
    let project = Project::with(TOOLS);
    project.run(&["write"]);
    let mut child = project.command().arg("watch").stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let (sender, lines) = mpsc::channel();
    std::thread::spawn(move || stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
    let watcher = Watcher { child, lines };
    let until = |expected: &str| {
        let mut seen = String::new();
        while !seen.contains(expected) {
            let line = watcher.lines.recv_timeout(Duration::from_secs(60));
            seen.push_str(&line.unwrap_or_else(|_| panic!("never: {expected}, but {seen}")));
        }
        seen
    };
    until("✓ tools_calls.json is up to date, 2 tools");
    assert!(until("Watching ").contains("src"));
    let whole = project.read("src/lib.rs");
    project.write("src/lib.rs", &whole.replace("pub fn purge(", "pub fn purge((("));
    until("nothing was written because of 1 error");
    project.write("src/lib.rs", &whole);
    let seen = until("✓ tools_calls.json is up to date, 2 tools");
    assert!(!seen.contains("Watching"), "once is enough: {seen}");
}
