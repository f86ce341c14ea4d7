use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use test_packages::run;

use crate::published::{NPM, example};

/// The example `conformance`, stopped when dropped.
struct Fixture {
    process: Child,
    url: String,
}

impl Fixture {
    fn start() -> Self {
        let mut process = Command::new(example("conformance")).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { process, url: url.trim().replace("127.0.0.1", "localhost") }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

/// All required scenarios of a revision pass. Others are not scored, such as the tasks extension, which is not declared.
#[test]
fn passes_every_required_scenario() {
    let Some(node) = NPM.installed() else { return };
    let fixture = Fixture::start();
    for (revision, required) in [("2025-11-25", 30), ("2026-07-28", 37)] {
        let command = &mut node.command("conformance");
        let output = run(command.args(["server", "--url", &fixture.url, "--requirements", revision]));
        let output = output.unwrap_or_else(|error| panic!("{error}"));
        let (_, summary) = output.split_once("=== SUMMARY ===").expect("a summary");
        let (scenarios, unscored) = summary.split_once("Not scored").expect("the unscored scenarios");
        let failed: Vec<&str> = scenarios.lines().filter(|line| line.starts_with('✗')).collect();
        let is_scored = |line: &&&str| {
            let name = line.trim_start_matches("✗ ").split(':').next().unwrap_or_default();
            !unscored.contains(&format!("✗ {name} "))
        };
        assert_eq!(failed.iter().filter(is_scored).collect::<Vec<_>>(), Vec::<&&str>::new(), "{revision}");
        // Of the unscored scenarios, only those of the missing extension may fail.
        let others: Vec<_> = failed.iter().filter(|line| !line.starts_with("✗ tasks-")).collect();
        assert!(others.is_empty(), "{revision}: {others:?}");
        let passed = scenarios.lines().filter(|line| line.starts_with('✓')).count();
        assert!(passed >= required, "{revision}: only {passed} scenarios passed");
        println!("{revision}: {}", scenarios.lines().find(|line| line.starts_with("Total")).unwrap_or_default());
    }
}

/// The control of the test above.
#[test]
fn the_suite_fails_without_a_server() {
    let Some(node) = NPM.installed() else { return };
    let unused = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).unwrap();
    let url = format!("http://{unused}/mcp");
    let ran = run(node.command("conformance").args(["server", "--url", &url, "--scenario", "tools-list"]));
    assert!(ran.is_err(), "{ran:?}");
}
