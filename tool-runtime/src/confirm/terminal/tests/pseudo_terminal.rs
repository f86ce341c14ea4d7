//! The real console: this test's program runs itself inside `script`, which gives it a terminal.

use std::env;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

use super::*;

const INSIDE: &str = "TOOL_RUNTIME_TEST_ASKS";
/// Longer than the reading time, on a busy machine too.
const A_WHILE: Duration = Duration::from_secs(1);

/// What runs inside: asks, and prints what was decided.
#[tokio::test]
async fn inside() {
    if env::var_os(INSIDE).is_some() {
        let asked = question(json!({"host": "web-1\x1b[2J"}));
        println!("decided: {:?}", Terminal::default().confirm(&asked).await);
    }
}

fn this_test() -> String {
    let program = env::current_exe().unwrap();
    format!("{} confirm::terminal::tests::pseudo_terminal::inside --exact --nocapture", program.display())
}

fn piped(command: &mut Command) -> std::io::Result<Child> {
    command.env(INSIDE, "1").env("NO_COLOR", "1").env_remove("VISUAL").env("EDITOR", "sed -i s/web-1/web-2/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Types each text when the prompt has been there for a while, and gives all that was on the screen. Nothing where there
/// is no `script`.
fn dialogue(typed: &[&str]) -> Option<String> {
    // Whoever runs the tests in the background may ignore Ctrl-C, and all that they start would too.
    let heeding = format!("env --default-signal=INT {}", this_test());
    let mut child = match piped(Command::new("script").args(["-qec", &heeding, "/dev/null"])) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        child => child.unwrap(),
    };
    let mut keys = child.stdin.take().unwrap();
    let mut output = child.stdout.take().unwrap();
    let mut screen = Vec::new();
    for text in typed {
        let seen = screen.len();
        while !String::from_utf8_lossy(&screen[seen..]).contains("\n> ") {
            let mut some = [0; 4096];
            let length = output.read(&mut some).unwrap();
            assert_ne!(length, 0, "{}", String::from_utf8_lossy(&screen));
            screen.extend_from_slice(&some[..length]);
        }
        sleep(A_WHILE);
        keys.write_all(text.as_bytes()).unwrap();
    }
    // The end of the input, for a program that still waits.
    drop(keys);
    output.read_to_end(&mut screen).unwrap();
    child.wait().unwrap();
    Some(String::from_utf8_lossy(&screen).into_owned())
}

#[test]
fn answers_on_a_real_terminal() {
    let table: [(&[&str], &str); 5] = [
        (&["y\n"], "decided: Run"),
        (&["n not now\n"], "decided: Refuse(Some(\"not now\"))"),
        (&["what\n", "a\n"], "decided: Abort"),
        (&["e\n", "y\n"], "decided: Edit(Object {\"host\": String(\"web-2\\u{1b}[2J\")})"),
        // Ctrl-D, the end of the input.
        (&["\u{4}"], "decided: Refuse(Some(\"the input ended before anyone had answered\"))"),
    ];
    thread::scope(|scope| {
        for (typed, expected) in table {
            scope.spawn(move || {
                let Some(screen) = dialogue(typed) else { return };
                assert!(screen.contains(expected), "{typed:?}: {screen}");
                assert!(screen.contains("web-1\\u001b[2J") && !screen.contains('\x1b'), "{screen}");
            });
        }
    });
}

#[test]
fn control_c_ends_the_program_undecided() {
    let Some(screen) = dialogue(&["\u{3}"]) else { return };
    assert!(!screen.contains("decided"), "{screen}");
}

#[test]
fn a_pipe_is_no_terminal() {
    let mut words = Command::new(env::current_exe().unwrap());
    words.args(this_test().split(' ').skip(1));
    let mut child = piped(&mut words).unwrap();
    // It may have answered already, and be gone.
    drop(child.stdin.take().unwrap().write_all(b"y\n"));
    let output = child.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout);
    assert!(output.contains("decided: Refuse(Some(\"it needs a person's consent"), "{output}");
}
