//! `watch`

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use crate::project::{Project, TOOLS};

/// A watcher, ended with the test.
struct Watcher {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Watcher {
    fn over(project: &Project) -> Self {
        let mut command = project.command();
        let mut child =
            command.args(["watch", "--format", "json"]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next result that fits. A change may be noticed in two steps.
    fn until(&mut self, fits: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        self.lines.by_ref().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).find(fits).unwrap()
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

#[test]
fn what_changes_is_written() {
    let project = Project::with(TOOLS);
    let mut watcher = Watcher::over(&project);
    watcher.until(|result| result["written"] == true && result["tools"] == 2);

    project.edit("src/lib.rs", "max = 100", "max = 50");
    let changed = watcher.until(|result| result["written"] == true);
    assert_eq!(changed["changes"][0]["path"], "arguments.limit");
    assert!(project.read("tools_calls.json").contains("\"maximum\": 50"));

    // Broken for a while: nothing is written, and nothing ends.
    let whole = project.read("src/lib.rs");
    project.write("src/lib.rs", &whole.replace("pub fn purge(", "pub fn purge((("));
    let broken = watcher.until(|result| result["diagnostics"][0]["severity"] == "error");
    assert_eq!(broken["written"], false);
    assert!(project.read("tools_calls.json").contains("metrics.purge"));

    // A new module in a new folder.
    project.write("src/more/mod.rs", "/// More.\n#[tool_runtime::tool]\npub fn more() {}\n");
    project.write("src/lib.rs", &format!("{whole}\nmod more;\n"));
    watcher.until(|result| result["written"] == true && result["tools"] == 3);
    project.edit("src/more/mod.rs", "More.", "Still more.");
    let deep = watcher.until(|result| result["written"] == true);
    assert_eq!(deep["changes"][0]["kind"], "text");
}
