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

async fn run(words: &[&str]) -> Report {
    let command = Tools::try_parse_from([&["tools"], words].concat()).unwrap();
    Cli::new(tools()).execute(command.what, CancellationToken::new).await
}

#[tokio::test]
async fn a_value_is_what_its_argument_is() {
    let report = run(&["call", "mail.send", "to=7", "count=3", "tags=a", "tags=[", "more={\"x\": 1}"]).await;
    assert_eq!(report.exit, Exit::Fine, "{report:?}");
    let sent: Value = serde_json::from_str(&report.out).unwrap();
    assert_eq!(sent, json!({"to": "7", "count": 3, "tags": ["a", "["], "more": {"x": 1}}));
    let report = run(&["call", "mail.send", "--json", r#"{"to": "a=b", "tags": ["x"]}"#, "tags=[\"y\"]"]).await;
    assert_eq!(serde_json::from_str::<Value>(&report.out).unwrap(), json!({"to": "a=b", "tags": ["x", "y"]}));
}

#[tokio::test]
async fn each_end_has_its_code() {
    assert_eq!(run(&["call", "mail.send", "to=nobody"]).await.exit, Exit::Failed);
    assert_eq!(run(&["call", "mail.purge"]).await.exit, Exit::Aborted, "somebody aborts");
    assert_eq!(run(&["call", "mail.purge", "--dry-run"]).await.exit, Exit::Fine, "nobody is asked");
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
        assert_eq!((report.exit, report.out.as_str()), (Exit::WrongUse, ""), "{wrong:?}");
        assert!(!report.err.is_empty(), "{wrong:?}");
    }
    assert_eq!(Exit::Aborted as u8, 130);
}

#[tokio::test]
async fn tools_are_listed_and_shown() {
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
async fn a_result_can_be_read_by_programs() {
    let report = run(&["call", "mail.send", "to=nobody", "--format", "json"]).await;
    let result: crate::ToolResult = serde_json::from_str(&report.out).unwrap();
    assert_eq!((result.output.as_str(), report.exit), ("there is nobody", Exit::Failed));
}

#[test]
fn the_command_is_well_made() {
    Cli::command().debug_assert();
}

#[test]
fn what_another_program_says_of_its_tools_is_not_obeyed() {
    let tool = RuntimeTool::new("a", "\x1b[2J\u{202e}Harmless.", |(): ()| async {}).instructions("\x07\nRing.");
    let tools = Dispatcher::builder().tool(tool.handler("\x1b[1m")).build().unwrap();
    let reports = [
        list::run(&tools, &command::List::default()),
        show::run(&tools, &command::Show { name: "a".to_owned(), format: command::Format::Text }),
        show::explain(&tools, None),
        show::explain(&tools, Some("a")),
    ];
    for report in reports {
        let text = report.unwrap().out;
        assert!(!text.contains(['\x1b', '\x07', '\u{202e}']) && text.contains("\\u{1b}["), "{text}");
    }
}

/// A real process and a real signal: this test's program runs itself.
#[cfg(unix)]
mod interrupted {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::process::ExitStatusExt;
    use std::process::{Child, Command, Stdio};
    use std::time::Duration;

    use super::*;
    use crate::inject::InjectError;
    use crate::tool;

    const INSIDE: &str = "TOOL_RUNTIME_TEST_CALLS";
    const STARTED: &str = "the tool has started";
    const ROLLING_BACK: &str = "rolling back";
    /// Longer than any test should take, and short enough to end a process that a failed test leaves behind.
    const VERY_LONG: Duration = Duration::from_secs(300);

    struct Stuck;

    #[crate::tool_class(crate = crate, manual, prefix = "stuck")]
    impl Stuck {
        /// Block a thread that may block.
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

        /// Block a thread for longer than there is time.
        #[tool(blocking, timeout = "500ms")]
        fn late(&self) {
            std::thread::sleep(VERY_LONG);
        }
    }

    async fn roll_back(_: u32, _: crate::CallOutcome) {
        eprintln!("{ROLLING_BACK}");
        tokio::time::sleep(VERY_LONG).await;
    }

    /// What runs inside: the `main` of a program.
    #[test]
    fn inside() {
        let Ok(tool) = std::env::var(INSIDE) else { return };
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
        command.args(["cli::tests::interrupted::inside", "--exact", "--nocapture"]).env(INSIDE, tool);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        (child, lines.map(|line| line.unwrap()))
    }

    fn send_interrupt(child: &Child) {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    }

    /// Interrupts a call at each of these lines, and gives its exit code and what it said last.
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
    fn a_tool_that_blocks_its_thread_does_not_keep_the_program() {
        let (code, said) = interrupt("stuck.thread", &[STARTED]);
        assert_eq!(code, Some(130));
        assert_eq!(said, "`stuck.thread` was cancelled, but could not be stopped: it may still take effect.");
    }

    /// The first Ctrl-C cannot be heeded, or takes long.
    #[test]
    fn a_second_ctrl_c_waits_for_nothing() {
        assert_eq!(interrupt("stuck.rollback", &[STARTED, ROLLING_BACK]).0, Some(130));
        let (mut child, mut said) = start("stuck.runtime");
        assert!(said.any(|said| said.contains(STARTED)));
        // Two signals that come at once are one.
        while child.try_wait().unwrap().is_none() {
            Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(child.wait().unwrap().code(), Some(130));
    }

    /// Returns `true` if SIGINT is ignored here, as in a job that a shell has put into the background. Programs inherit
    /// that.
    fn is_interrupt_ignored() -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        ignored.is_some_and(|mask| mask & 0b10 != 0)
    }

    /// Nothing runs yet that could be rolled back.
    #[test]
    fn a_ctrl_c_while_the_arguments_are_read_ends_the_program() {
        if is_interrupt_ignored() {
            return println!("skipped: this process was started with SIGINT ignored, and so is the program");
        }
        let (mut child, _said) = start("stuck.thread --json -");
        let mut input = child.stdin.take().unwrap();
        // More than fits into a pipe: it is written once the program reads.
        input.write_all(&[b' '; 1 << 20]).unwrap();
        send_interrupt(&child);
        drop(input);
        let status = child.wait().unwrap();
        assert_eq!((status.signal(), status.code()), (Some(2), None));
    }

    /// Without a Ctrl-C, too.
    #[test]
    fn a_call_that_cannot_be_stopped_in_time_does_not_keep_the_program() {
        let (code, said) = interrupt("stuck.late", &[]);
        assert_eq!(code, Some(1));
        assert!(said.contains("could not be stopped"), "{said}");
    }
}
