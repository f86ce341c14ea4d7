use clap::Parser;
use serde_json::{Value, json};

use super::*;
use crate::RuntimeTool;
use crate::confirm::{self, Decision, Question};

fn tools() -> Dispatcher {
    let schema = json!({"type": "object", "properties": {
        "to": {"type": "string"},
        "count": {"type": "integer", "default": 1},
        "tags": {"type": "array", "items": {"type": "string"}},
        "more": {},
    }, "required": ["to"]});
    let send = RuntimeTool::from_schema("mail.send", "Send a mail.", &schema, |arguments, _| async move {
        if arguments["to"] == "nobody" { Err("there is nobody") } else { Ok(Value::Object(arguments)) }
    });
    let purge = RuntimeTool::new("mail.purge", "Delete all mails.", |(): ()| async {}).sensitive().tags(["danger"]);
    let decide = |question: Question| async move {
        if question.conversation.is_some() { Decision::Run } else { Decision::Abort }
    };
    Dispatcher::builder().confirm(confirm::from_fn(decide)).tool(send).tool(purge).build().unwrap()
}

async fn run(words: &[&str]) -> CommandReport {
    let command = ToolsCommand::try_parse_from([&["tools"], words].concat()).unwrap();
    Cli::new(tools()).execute(command.action, CancellationToken::new).await
}

#[tokio::test]
async fn parses_values_by_the_type_of_their_argument() {
    let report = run(&["call", "mail.send", "to=7", "count=3", "tags=a", "tags=[", "more={\"x\": 1}"]).await;
    assert_eq!(report.exit, CliExit::Success, "{report:?}");
    let sent: Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(sent, json!({"to": "7", "count": 3, "tags": ["a", "["], "more": {"x": 1}}));
    let report = run(&["call", "mail.send", "--json", r#"{"to": "a=b", "tags": ["x"]}"#, "tags=[\"y\"]"]).await;
    assert_eq!(serde_json::from_str::<Value>(&report.out).unwrap(), json!({"to": "a=b", "tags": ["x", "y"]}));
}

#[tokio::test]
async fn exits_with_a_code_per_outcome() {
    assert_eq!(run(&["call", "mail.send", "to=nobody"]).await.exit, CliExit::Failed);
    assert_eq!(run(&["call", "mail.purge"]).await.exit, CliExit::Aborted, "the confirmer aborts");
    assert_eq!(run(&["call", "mail.purge", "--dry-run"]).await.exit, CliExit::Success, "a dry run is not confirmed");
    for wrong in [
        &["call", "mail.sned"][..],
        &["call", "mail.send"],
        &["call", "mail.send", "to"],
        &["call", "mail.send", "to=a", "to=b"],
        &["call", "mail.send", "--json", "[1]"],
        &["call", "mail.send", "--json", r#"{"to": "a", "to": "b"}"#],
        &["call", "mail.send", "to=a", r#"more={"x": 1, "\u0078": 2}"#],
        &["call", "mail.send", "to=a", "more=18446744073709551616"],
        &["show", "mail.sned"],
        &["explain", "mail.sned"],
    ] {
        let report = run(wrong).await;
        assert_eq!((report.exit, report.out.as_str()), (CliExit::WrongUsage, ""), "{wrong:?}");
        assert!(!report.err.is_empty(), "{wrong:?}");
    }
    assert_eq!(CliExit::Aborted as u8, 130);
}

#[tokio::test]
async fn lists_and_shows_tools() {
    let all = run(&["list"]).await.out;
    assert!(all.contains("mail.send(to: string, count?: integer = 1, more?: any, tags?: [string])\n"), "{all}");
    assert!(all.contains("\n2 tools, about "), "{all}");
    let some = run(&["list", "--tag", "danger"]).await.out;
    assert!(some.starts_with("mail.purge()  [sensitive]\n    Delete all mails.\n"), "{some}");
    let found: Value =
        serde_json::from_str(&run(&["list", "--search", "sending", "--format", "json"]).await.out).unwrap();
    assert_eq!((found[0]["name"].as_str(), found.as_array().unwrap().len()), (Some("mail.send"), 1));
    let shown = run(&["show", "mail.send"]).await.out;
    assert!(shown.contains("  to: string\n  count: integer, optional, default 1\n"), "{shown}");
    assert!(run(&["explain", "mail.purge"]).await.out.contains("tool-runtime/src/cli/tests.rs:"));
}

#[tokio::test]
async fn prints_results_as_json() {
    let report = run(&["call", "mail.send", "to=nobody", "--format", "json"]).await;
    let result: crate::ToolResult = serde_json::from_str(&report.out).unwrap();
    assert_eq!((result.output.as_str(), report.exit), ("there is nobody", CliExit::Failed));
}

#[test]
fn the_clap_command_is_valid() {
    Cli::command().debug_assert();
}

#[test]
fn escapes_control_sequences_in_definitions() {
    let tool = RuntimeTool::new("a", "\x1b[2J\u{202e}Harmless.", |(): ()| async {}).instructions("\x07\nRing.");
    let tools = Dispatcher::builder().tool(tool.handler("\x1b[1m")).build().unwrap();
    let reports = [
        list_command::run(&tools, &command::ListCommand::default()),
        show_command::run(&tools, &command::ShowCommand { name: "a".to_owned(), format: command::ReportFormat::Text }),
        show_command::explain(&tools, None),
        show_command::explain(&tools, Some("a")),
    ];
    for report in reports {
        let text = report.unwrap().out;
        assert!(!text.contains(['\x1b', '\x07', '\u{202e}']) && text.contains("\\u{1b}["), "{text}");
    }
}

/// Tests with a real process and a real signal: the test binary runs itself.
#[cfg(unix)]
mod interrupted {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::inject::InjectError;
    use crate::tool;

    const CHILD_CALL: &str = "TOOL_RUNTIME_TEST_CALLS";
    const STARTED: &str = "the tool has started";
    const ROLLING_BACK: &str = "rolling back";
    /// Longer than any test takes. It bounds the life of a process that a failed test leaves behind.
    const VERY_LONG: Duration = Duration::from_secs(300);

    struct Stuck;

    #[crate::tool_class(crate = crate, manual, prefix = "stuck")]
    impl Stuck {
        /// Block a thread of the blocking pool.
        #[tool(blocking)]
        fn thread(&self) {
            eprintln!("{STARTED}");
            std::thread::sleep(VERY_LONG);
        }

        /// Block the runtime.
        #[tool]
        async fn runtime(&self) {
            eprintln!("{STARTED}");
            std::thread::sleep(VERY_LONG);
        }

        /// Wait, with a value whose rollback takes long.
        #[tool]
        async fn rollback(&self, #[inject] number: &u32) {
            eprintln!("{STARTED} with {number}");
            std::future::pending().await
        }

        /// Block a thread beyond the timeout.
        #[tool(blocking, timeout = "500ms")]
        fn late(&self) {
            std::thread::sleep(VERY_LONG);
        }
    }

    async fn roll_back(_: u32, _: crate::CallOutcome) {
        eprintln!("{ROLLING_BACK}");
        tokio::time::sleep(VERY_LONG).await;
    }

    /// The `main` of the child process. Does nothing in a normal test run.
    #[test]
    fn child_main() {
        let Ok(tool) = std::env::var(CHILD_CALL) else { return };
        let main = async {
            let tools = Dispatcher::builder()
                .service(Stuck)
                .provide("number", |_| async { Ok::<_, InjectError>(7_u32) })
                .finish("number", roll_back);
            let words = ["app", "tools", "call"].into_iter().chain(tool.split(' '));
            Cli::new(tools.build().unwrap()).run_with(words).await
        };
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let exit = runtime.block_on(main);
        drop(runtime);
        println!("{exit:?}");
    }

    fn start(tool: &str) -> (Child, impl Iterator<Item = String>) {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["cli::tests::interrupted::child_main", "--exact", "--nocapture"]).env(CHILD_CALL, tool);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        (child, lines.map(|line| line.unwrap()))
    }

    fn send_interrupt(child: &Child) {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    }

    /// Interrupts a call at each of these lines. Returns its exit code and its last line.
    fn interrupt(tool: &str, at: &[&str]) -> (Option<i32>, String) {
        let (mut child, mut said) = start(tool);
        for line in at {
            assert!(said.any(|said| said.contains(line)), "{tool} ended before {line:?}");
            send_interrupt(&child);
        }
        let last = said.last().unwrap_or_default();
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), None, "{tool}: {last}");
        (status.code(), last)
    }

    #[test]
    fn exits_while_a_tool_blocks_its_thread() {
        let (code, said) = interrupt("stuck.thread", &[STARTED]);
        assert_eq!(code, Some(130));
        assert_eq!(said, "`stuck.thread` was cancelled, but could not be stopped: it may still take effect.");
    }

    /// The first Ctrl-C has no effect, or starts a slow rollback.
    #[test]
    fn a_second_ctrl_c_exits_at_once() {
        assert_eq!(interrupt("stuck.rollback", &[STARTED, ROLLING_BACK]).0, Some(130));
        let (mut child, mut said) = start("stuck.runtime");
        assert!(said.any(|said| said.contains(STARTED)));
        // Signals that arrive together are merged into one.
        while child.try_wait().unwrap().is_none() {
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }

    /// Returns `true` if SIGINT is ignored, as in a background job of a shell. Child processes inherit that.
    fn is_interrupt_ignored() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask & 0b10 != 0)
    }

    /// Nothing has started that could be rolled back.
    #[test]
    fn ctrl_c_while_reading_arguments_ends_the_process() {
        if is_interrupt_ignored() {
            return println!("skipped: SIGINT is ignored in this process and its children");
        }
        let (mut child, _said) = start("stuck.thread --json -");
        let mut input = child.stdin.take().unwrap();
        // More than a pipe holds, so the write returns only once the child reads.
        input.write_all(&[b' '; 1 << 20]).unwrap();
        send_interrupt(&child);
        drop(input);
        let status = child.wait().unwrap();
        assert_eq!((status.signal(), status.code()), (Some(2), None));
    }

    #[test]
    fn exits_after_a_call_that_ignores_its_timeout() {
        let (code, said) = interrupt("stuck.late", &[]);
        assert_eq!(code, Some(1));
        assert!(said.contains("could not be stopped"), "{said}");
    }
}
