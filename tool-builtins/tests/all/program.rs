use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

struct Program {
    workspace: TempDir,
}

impl Program {
    fn new() -> Self {
        Self { workspace: tempfile::tempdir().unwrap() }
    }

    fn command(&self, flags: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tool-builtins"));
        command.arg("--workspace").arg(self.workspace.path()).args(flags).env_remove("RUST_LOG");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn start(&self, flags: &[&str]) -> Child {
        self.command(flags).spawn().unwrap()
    }

    fn output(&self, flags: &[&str], input: &[u8]) -> Output {
        let mut program = self.start(flags);
        let mut stdin = program.stdin.take().unwrap();
        let input = input.to_vec();
        let writing = std::thread::spawn(move || stdin.write_all(&input));
        let output = program.wait_with_output().unwrap();
        let _ = writing.join().unwrap();
        output
    }

    /// Returns the result of each line.
    fn results(&self, flags: &[&str], lines: &[&str]) -> Vec<Value> {
        let output = self.output(flags, lines.join("\n").as_bytes());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let lines = String::from_utf8(output.stdout).unwrap();
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

const ECHO: &str = r#"{"name": "run_command", "arguments": {"command": "echo hello"}}"#;

#[test]
fn writes_one_result_per_call() {
    let lines = [
        ECHO,
        "",
        r#"{"id": "a", "name": "run_command", "arguments": {"program": "false"}}"#,
        r#"{"id": 7, "name": "run_command", "arguments": "{\"command\": \"echo text\"}"}"#,
        r#"{"id": {"x": 1}, "name": "run_commando"}"#,
    ];
    let results = Program::new().results(&["--policy", "yolo"], &lines);
    assert_eq!(results.len(), 4);
    assert_eq!((&results[0]["success"], &results[0]["output"]), (&json!(true), &json!("hello\n")));
    assert_eq!((&results[0]["id"], &results[0]["error"]), (&Value::Null, &Value::Null));
    assert_eq!((&results[1]["id"], &results[1]["error"]["kind"]), (&json!("a"), &json!("failed")));
    assert_eq!(results[1]["metadata"]["command"]["exit_code"], 1);
    assert_eq!((&results[2]["id"], &results[2]["output"]), (&json!(7), &json!("text\n")));
    assert_eq!((&results[3]["id"], &results[3]["error"]["kind"]), (&json!({"x": 1}), &json!("unknown_tool")));
}

/// The keys have a fixed order, so that scripts can compare lines.
#[test]
fn results_have_a_stable_form() {
    let output = Program::new().output(&["--policy", "yolo"], br#"{"id": 1}"#);
    let message = "Line 1 is not a call: missing field `name` at line 1 column 9. \
                   Expected {\\\"name\\\": .., \\\"arguments\\\": {..}}.";
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        format!(
            "{{\"id\":1,\"success\":false,\"output\":\"{message}\",\"error\":{{\"kind\":\"malformed_call\",\
             \"message\":\"{message}\"}},\"metadata\":{{}}}}\n"
        )
    );
}

#[test]
fn continues_after_a_malformed_line() {
    let bad: [&[u8]; 8] = [
        b"not json",
        b"[]",
        b"{}",
        b"{\"name\": 1}",
        b"{\"name\": \"x\", \"argument\": {}, \"id\": 5}",
        b"\xff\xfe",
        b"null",
        b"{",
    ];
    let mut input = bad.join(&b'\n');
    input.extend_from_slice(b"\n");
    input.extend_from_slice(ECHO.as_bytes());
    let output = Program::new().output(&["--policy", "yolo"], &input);
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    let results: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(results.len(), bad.len() + 1);
    for (number, result) in results.iter().take(bad.len()).enumerate() {
        assert_eq!(result["error"]["kind"], "malformed_call");
        let begins = format!("Line {} is not a call: ", number + 1);
        assert!(result["output"].as_str().unwrap().starts_with(&begins), "{result}");
    }
    assert_eq!(results[4]["id"], 5);
    assert_eq!(results[bad.len()]["output"], "hello\n");
}

/// Runs a successful and an unknown call, and returns the log. Standard output has nothing but the results.
fn log(flags: &[&str], filter: Option<&str>) -> String {
    let program = Program::new();
    let mut command = program.command(&[&["--policy", "yolo"], flags].concat());
    filter.map(|filter| command.env("RUST_LOG", filter));
    let mut running = command.spawn().unwrap();
    writeln!(running.stdin.take().unwrap(), "{ECHO}\n{{\"name\": \"run_commando\"}}").unwrap();
    let output = running.wait_with_output().unwrap();
    let results = String::from_utf8(output.stdout).unwrap();
    let is_result = |line: &str| serde_json::from_str::<Value>(line).unwrap().get("success").is_some();
    assert!(results.lines().count() == 2 && results.lines().all(is_result), "{results}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn logs_to_stderr_what_the_environment_selects() {
    assert_eq!(log(&[], None), "");
    let text = log(&[], Some("info"));
    assert_eq!(text.matches(" INFO ").count(), 2, "{text}");
    assert!(text.contains("call finished tool=\"run_command\" outcome=\"success\""), "{text}");
    assert!(!text.contains("gen_ai.tool.description") && !text.contains('\u{1b}'), "{text}");
    assert!(log(&[], Some("tool_runtime=debug")).contains("dispatcher built"));
    let invalid = log(&[], Some("tool_runtime=loud"));
    assert!(invalid.contains("ignoring `tool_runtime=loud`"), "{invalid}");

    let json = log(&["--log", "json"], Some("info"));
    let lines: Vec<Value> = json.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{json}");
    let named = |line: &Value| (line["message"].clone(), line["tool"].clone(), line["outcome"].clone());
    assert_eq!(named(&lines[1]), (json!("call finished"), json!("run_commando"), json!("unknown_tool")));
}

#[test]
fn flags_set_the_policy_and_the_rules() {
    let program = Program::new();
    let refused = program.results(&[], &[ECHO]);
    assert_eq!(refused[0]["error"]["kind"], "refused", "there is no terminal");
    let errors = String::from_utf8(program.output(&[], ECHO.as_bytes()).stderr).unwrap();
    let advice = "in CI, use the policy `yolo` (`--policy yolo`) or a dry run";
    assert_eq!(errors.matches(advice).count(), 1, "{errors}");
    let touch = r#"{"name": "run_command", "arguments": {"command": "touch made"}}"#;
    let tried = program.results(&["--dry-run"], &[touch]);
    assert_eq!(tried[0]["success"], true);
    assert_eq!(tried[0]["metadata"]["preview"], json!({"command": "touch made"}));
    assert!(!program.workspace.path().join("made").exists());

    let line = |program: &str| json!({"name": "run_command", "arguments": {"program": program}}).to_string();
    let (yes, no) = (line("true"), line("ls"));
    let allowed = program.results(&["--policy", "yolo", "--allow-program", "true"], &[&yes, &no, ECHO]);
    assert_eq!(allowed.iter().map(|result| result["success"] == true).collect::<Vec<_>>(), [true, false, false]);
    let denied = program.results(&["--policy", "yolo", "--deny-program", "ls"], &[&yes, &no, ECHO]);
    assert_eq!(denied.iter().map(|result| result["success"] == true).collect::<Vec<_>>(), [true, false, true]);
}

#[test]
fn explains_invalid_flags() {
    let program = Program::new();
    let misspelt = program.output(&["--policy", "confirm-al"], b"");
    assert_eq!(misspelt.status.code(), Some(2));
    let message = String::from_utf8_lossy(&misspelt.stderr);
    assert!(message.contains("unknown policy `confirm-al`; did you mean `confirm-all`?"), "{message}");
    let nowhere =
        Command::new(env!("CARGO_BIN_EXE_tool-builtins")).args(["--workspace", "/no/such/directory"]).output().unwrap();
    assert_eq!(nowhere.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&nowhere.stderr).contains("/no/such/directory: No such file"));
}

#[cfg(feature = "files")]
#[test]
fn deletes_files_only_with_a_flag() {
    let write = r#"{"name": "write_file", "arguments": {"path": "a/b.txt", "content": "one\n"}}"#;
    let read = r#"{"name": "read_file", "arguments": {"path": "a/b.txt"}}"#;
    let delete = r#"{"name": "delete_file", "arguments": {"path": "a/b.txt"}}"#;
    let program = Program::new();
    let outputs = |flags: &[&str]| {
        let results = program.results(flags, &[write, read, delete, read]);
        results.iter().map(|result| result["output"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let refused = outputs(&["--policy", "yolo"]);
    assert!(refused[2].contains("delete_file") && refused[2].contains("no tool"), "{}", refused[2]);
    assert_eq!((refused[1].as_str(), refused[3].as_str()), ("one\n", "one\n"));
    let (wrote, gone) = ("Wrote a/b.txt, 1 line, 4 bytes.", "`a/b.txt` does not exist.");
    let deleted = "Deleted a/b.txt, 1 line, 4 bytes.";
    assert_eq!(outputs(&["--policy", "yolo", "--allow-delete"]), [wrote, "one\n", deleted, gone]);
}

#[cfg(feature = "files")]
#[test]
fn hides_dot_files_only_with_a_flag() {
    let program = Program::new();
    std::fs::write(program.workspace.path().join(".env"), "x").unwrap();
    let list = r#"{"name": "list_files", "arguments": {}}"#;
    let lists = |flags: &[&str]| program.results(flags, &[list])[0]["output"].as_str().unwrap().contains(".env");
    assert!(lists(&[]) && !lists(&["--hide-dot-files"]));
}

/// A search asks its provider for as many results as the flag says.
#[cfg(feature = "web")]
#[test]
fn a_flag_sets_the_number_of_search_results() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        for connection in listener.incoming().take(2) {
            let mut connection = connection.unwrap();
            BufReader::new(connection.try_clone().unwrap()).read_line(&mut String::new()).unwrap();
            let results: Vec<Value> = (0..20)
                .map(|n| json!({"title": format!("result {n}"), "url": format!("https://example.com/{n}")}))
                .collect();
            let body = json!({"results": results}).to_string();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n", body.len());
            connection.write_all((head + &body).as_bytes()).unwrap();
        }
    });
    let program = Program::new();
    for (flags, expected) in [(&["--max-results", "7"][..], 7), (&[], 5)] {
        let mut search = Command::new(env!("CARGO_BIN_EXE_tool-builtins"));
        search.arg("--workspace").arg(program.workspace.path()).args(flags);
        search.env_remove("BRAVE_API_KEY").env("SEARXNG_URL", &url).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut search = search.spawn().unwrap();
        search
            .stdin
            .take()
            .unwrap()
            .write_all(b"{\"name\": \"web_search\", \"arguments\": {\"query\": \"x\"}}\n")
            .unwrap();
        let output = search.wait_with_output().unwrap();
        let result: Value = serde_json::from_slice(&output.stdout).unwrap();
        let shown = result["output"].as_str().unwrap().matches("https://example.com/").count();
        assert_eq!(shown, expected, "{result}");
    }
    server.join().unwrap();
}

/// Tools are offered only if they can succeed.
#[cfg(all(feature = "files", feature = "web"))]
#[test]
fn does_not_offer_unusable_tools() {
    let program = Program::new();
    for (flags, search, expected) in [
        (&[][..], None, [false, false]),
        (&["--allow-delete"], None, [true, false]),
        (&[], Some("https://search.example"), [false, true]),
        (&["--allow-delete"], Some("https://search.example"), [true, true]),
    ] {
        let mut listing = Command::new(env!("CARGO_BIN_EXE_tool-builtins"));
        listing.arg("--manifest").arg("--workspace").arg(program.workspace.path()).args(flags);
        listing.env_remove("BRAVE_API_KEY").env_remove("SEARXNG_URL").envs(search.map(|url| ("SEARXNG_URL", url)));
        let output = listing.output().unwrap();
        let manifest: Value = serde_json::from_slice(&output.stdout).unwrap();
        let is_listed = |name: &str| manifest.get(name).is_some();
        assert_eq!(["delete_file", "web_search"].map(is_listed), expected, "{flags:?} {search:?}");
        assert!(is_listed("read_file") && is_listed("web_fetch") && is_listed("run_command"));
    }
}

#[cfg(feature = "web")]
#[test]
fn reaches_private_hosts_only_with_a_flag() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap().to_string();
    let server = std::thread::spawn(move || {
        let (mut connection, _) = listener.accept().unwrap();
        BufReader::new(connection.try_clone().unwrap()).read_line(&mut String::new()).unwrap();
        connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 4\r\n\r\npage").unwrap();
    });
    let call = json!({"name": "web_fetch", "arguments": {"url": format!("http://{host}/")}}).to_string();
    let program = Program::new();
    let refused = program.results(&[], &[&call]);
    assert_eq!(refused[0]["output"], "127.0.0.1 is not on the public internet: its address is loopback.");
    let reached = program.results(&["--allow-host", &host], &[&call]);
    assert!(reached[0]["output"].as_str().unwrap().ends_with("\n\npage"), "{}", reached[0]);
    server.join().unwrap();
}

/// Every tool is either read-only or sensitive.
#[test]
fn prints_its_manifest() {
    let output = Program::new().output(&["--manifest"], b"");
    let manifest: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(manifest["run_command"]["sensitive"], true);
    for (name, tool) in manifest.as_object().unwrap() {
        assert_ne!(tool.get("read_only").is_some(), tool.get("sensitive").is_some(), "{name}");
    }
}

/// Results do not depend on the account that runs the program: no file outside the workspace adds ignore rules.
#[test]
fn does_not_read_the_global_ignore_file() {
    let (program, home) = (Program::new(), tempfile::tempdir().unwrap());
    std::fs::create_dir_all(home.path().join(".config/git")).unwrap();
    std::fs::write(home.path().join(".config/git/ignore"), "*.note\n").unwrap();
    std::fs::write(home.path().join(".gitconfig"), "[core]\nexcludesFile = ~/.config/git/ignore\n").unwrap();
    std::fs::create_dir(program.workspace.path().join(".git")).unwrap();
    std::fs::write(program.workspace.path().join("a.note"), "x").unwrap();
    let listed = || {
        let mut command = program.command(&["--policy", "yolo"]);
        let mut running = command.env("HOME", home.path()).env_remove("XDG_CONFIG_HOME").spawn().unwrap();
        running.stdin.take().unwrap().write_all(br#"{"name": "list_files", "arguments": {"glob": "*.note"}}"#).unwrap();
        String::from_utf8(running.wait_with_output().unwrap().stdout).unwrap()
    };
    assert!(listed().contains("a.note"), "{}", listed());
    // Control: the workspace's own rules apply.
    std::fs::write(program.workspace.path().join(".gitignore"), "*.note\n").unwrap();
    assert!(!listed().contains("a.note"), "{}", listed());
}

/// If the program is killed during a call, everything that the call has started is killed too.
#[test]
fn no_process_outlives_the_program() {
    let program = Program::new();
    let mut running = program.start(&["--policy", "yolo"]);
    let marker = format!("{}", 40_000_000 + std::process::id());
    let command = format!("(setsid sleep {marker} &); setsid sleep {marker} & echo started >&2; touch ready; wait");
    let call = json!({"name": "run_command", "arguments": {"command": command, "timeout": 600}});
    writeln!(running.stdin.as_mut().unwrap(), "{call}").unwrap();
    while !program.workspace.path().join("ready").exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert!(!sleeping(&marker).is_empty());
    running.kill().unwrap();
    running.wait().unwrap();
    for _ in 0..3000 {
        if sleeping(&marker).is_empty() {
            let mut rest = String::new();
            BufReader::new(running.stdout.take().unwrap()).read_line(&mut rest).unwrap();
            assert_eq!(rest, "", "no other process holds the output");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    panic!("still there: {:?}", sleeping(&marker));
}

/// Returns the command lines that contain this word.
fn sleeping(marker: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| std::fs::read_to_string(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.split('\0').any(|word| word == marker)).collect()
}
