//! The program as a user runs it: these tests start this binary again, with the one test that is the chat.

#![allow(clippy::unwrap_used, reason = "a panic fails the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use clap::Parser;
use tempfile::TempDir;

use crate::arguments::Arguments;

const PATIENCE: Duration = Duration::from_secs(60);

/// The time after which an answer to a question is not taken for one that was typed before it.
const READING: Duration = Duration::from_millis(1500);

/// The variable with the arguments of the program, one per line.
const ARGUMENTS: &str = "CHAT_ARGUMENTS";

#[test]
#[ignore = "a process that other tests start"]
fn runs_the_chat() {
    let Ok(arguments) = std::env::var(ARGUMENTS) else { return };
    let code = crate::run(&Arguments::parse_from(["chat"].into_iter().chain(arguments.lines())));
    std::process::exit(code.into());
}

/// Sets what makes this binary a chat with these arguments, on a directory of its own.
fn set_up(command: &mut Command, folder: &TempDir, arguments: &[&str]) {
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    std::fs::write(files.join("old.md"), "x").unwrap();
    let [files, state] = [files, folder.path().join("state")].map(|path| path.display().to_string());
    let arguments = [&[files.as_str(), "--state", &state], arguments].concat().join("\n");
    command.env(ARGUMENTS, arguments).env("TERM", "dumb").env_remove("TOOL_MODEL").env_remove("TOOL_PLUGINS_DIR");
}

/// The arguments with which the test harness runs the chat only, and shows its output.
const HARNESS: [&str; 4] = ["--ignored", "--nocapture", "--exact", "program_tests::runs_the_chat"];

/// A chat on a pseudo-terminal, which `script` of util-linux provides.
struct TerminalChat {
    script: Child,
    output: Receiver<u8>,
    seen: String,
    folder: TempDir,
}

impl TerminalChat {
    /// Starts a chat. Returns `None` without `script`.
    fn start(options: &[&str]) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let command = format!("{} {}", std::env::current_exe().unwrap().display(), HARNESS.join(" "));
        let mut script = Command::new("script");
        script.args(["-qec", &command, "/dev/null"]);
        set_up(&mut script, &folder, options);
        let Ok(mut script) = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
            println!("skipped: there is no `script`");
            return None;
        };
        let (send, output) = channel();
        let stdout = BufReader::new(script.stdout.take().unwrap());
        std::thread::spawn(move || stdout.bytes().map_while(Result::ok).try_for_each(|byte| send.send(byte)));
        Some(Self { script, output, seen: String::new(), folder })
    }

    /// Waits for a text in what was shown since the last line of input.
    fn wait_for(&mut self, text: &str) {
        let (end, mut bytes) = (Instant::now() + PATIENCE, Vec::new());
        while !self.seen.contains(text) {
            let left = end.saturating_duration_since(Instant::now());
            let byte = self.output.recv_timeout(left).unwrap_or_else(|_| panic!("no `{text}` in:\n{}", self.seen));
            bytes.push(byte);
            if let Ok(part) = std::str::from_utf8(&bytes) {
                self.seen.push_str(part);
                bytes.clear();
            }
        }
    }

    fn type_line(&mut self, line: &str) {
        self.seen.clear();
        writeln!(self.script.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn end(mut self) -> (ExitStatus, TempDir) {
        (self.script.wait().unwrap(), self.folder)
    }
}

const WRITE: &str = r#"write_file path="a.md" content="x""#;

#[test]
fn aborting_a_question_ends_the_program_with_130() {
    let Some(mut chat) = TerminalChat::start(&[]) else { return };
    chat.wait_for("build> ");
    chat.type_line(WRITE);
    chat.wait_for("[a] abort");
    std::thread::sleep(READING);
    chat.type_line("a");
    let (status, folder) = chat.end();
    assert_eq!(status.code(), Some(130));
    assert!(!folder.path().join("files/a.md").exists());
}

#[test]
fn refusing_a_question_does_not_end_the_program() {
    let Some(mut chat) = TerminalChat::start(&["--policy", "confirm-all"]) else { return };
    chat.wait_for("Every call asks you first.");
    chat.wait_for("build> ");
    chat.type_line("list_files");
    chat.wait_for("[n] refuse");
    std::thread::sleep(READING);
    chat.type_line("n not now");
    chat.wait_for("was refused: not now");
    chat.wait_for("build> ");
    chat.type_line("/quit");
    assert_eq!(chat.end().0.code(), Some(0));
}

/// Starts a chat without a terminal.
fn start(folder: &TempDir, options: &[&str]) -> Child {
    let mut chat = Command::new(std::env::current_exe().unwrap());
    set_up(chat.args(HARNESS), folder, options);
    chat.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Runs a chat without a terminal. Returns its exit code, output and errors.
fn run(options: &[&str], input: &str) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut chat = start(&folder, options);
    // A chat with wrong options does not read it.
    let _ = chat.stdin.take().unwrap().write_all(input.as_bytes());
    let output = chat.wait_with_output().unwrap();
    let [text, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), text, errors)
}

#[test]
fn the_policy_decides_what_runs() {
    let (code, text, _) = run(&["--policy", "yolo"], WRITE);
    assert!(code == Some(0) && text.contains("Created a.md"), "{text}");
    let (code, text, _) = run(&["--dry-run"], WRITE);
    assert!(code == Some(0) && text.contains("Dry run: `write_file` would run"), "{text}");
    let (code, text, _) = run(&[], WRITE);
    assert!(code == Some(0) && text.contains("there is no terminal to ask on"), "{text}");
}

#[test]
fn wrong_options_are_reported() {
    let (code, _, errors) = run(&["--policy", "yoloo"], "");
    assert!(code == Some(2) && errors.contains("did you mean `yolo`?"), "{errors}");
    let (code, _, errors) = run(&["--mcp", "/no/such/mcp.json"], "");
    assert!(code == Some(1) && errors.starts_with("chat: /no/such/mcp.json: "), "{errors}");
    let (code, text, _) = run(&["--plugins", "/no/such/folder"], "/servers");
    assert!(code == Some(0) && text.contains("Problem: cannot read the plugin directory /no/such/folder"), "{text}");
}

/// The model could otherwise add a program to the MCP servers, which `/reload` would start.
#[test]
fn the_directory_must_not_contain_files_that_control_the_chat() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    std::fs::create_dir_all(at("apart/plugins")).unwrap();
    let start = |options: &[&str]| {
        let _ = std::fs::remove_dir_all(at("files"));
        let mut chat = start(&folder, options);
        drop(chat.stdin.take());
        let output = chat.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    for inside in [["--plugins", &at("files/plugins")], ["--mcp", &at("files/mcp.json")]] {
        let (code, errors) = start(&inside);
        assert!(code == Some(1) && errors.contains("move it elsewhere"), "{inside:?}: {errors}");
    }
    assert_eq!(start(&["--plugins", &at("apart/plugins")]), (Some(0), String::new()));
}

#[test]
fn conversations_are_not_stored_in_the_directory_of_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let mut chat = Command::new(std::env::current_exe().unwrap());
    set_up(chat.args(HARNESS), &folder, &[]);
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut run = |state: &str| {
        let output = chat.env(ARGUMENTS, [&at("files"), "--state", &at(state)].join("\n")).stdin(Stdio::null());
        let output = output.output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, errors) = run("files/state");
    assert!(code == Some(1) && errors.contains("with `--state`"), "{errors}");
    assert_eq!(run("state"), (Some(0), String::new()));
}

/// As in `chat | head -1`.
#[test]
fn ends_quietly_if_its_output_is_closed() {
    let folder = tempfile::tempdir().unwrap();
    let mut chat = start(&folder, &[]);
    let (mut line, mut output) = (String::new(), BufReader::with_capacity(16, chat.stdout.take().unwrap()));
    while !line.contains("offline demo model") {
        line.clear();
        assert_ne!(output.read_line(&mut line).unwrap(), 0, "the chat has ended");
    }
    drop(output);
    let _ = chat.stdin.take().unwrap().write_all(&b"/tools\n/help\n".repeat(100));
    let ended = chat.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), String::from_utf8_lossy(&ended.stderr).as_ref()), (Some(0), ""));
}
