//! Tests on a real terminal: the test binary runs itself inside `script`.

use std::env;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;

use super::*;

const CHILD_ASKS: &str = "TOOL_RUNTIME_TEST_ASKS";
/// Longer than the reading time, even on a busy machine.
const TYPING_DELAY: Duration = Duration::from_secs(1);

/// The `main` of the child process: asks, and prints the decision. Does nothing in a normal test run.
#[tokio::test]
async fn child_main() {
    if env::var_os(CHILD_ASKS).is_some() {
        let asked = question(json!({"host": "web-1\x1b[2J"}));
        println!("decided: {:?}", Terminal::default().confirm(&asked).await);
    }
}

fn this_test() -> String {
    let program = env::current_exe().unwrap();
    format!("{} confirm::terminal::tests::pseudo_terminal::child_main --exact --nocapture", program.display())
}

fn piped(command: &mut Command) -> std::io::Result<Child> {
    command.env(CHILD_ASKS, "1").env("NO_COLOR", "1").env_remove("VISUAL").env("EDITOR", "sed -i s/web-1/web-2/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

/// Types each text some time after the prompt, and returns the contents of the screen. Returns `None` if `script` is not
/// installed.
fn dialogue(typed: &[&str]) -> Option<String> {
    // Background jobs of a shell ignore SIGINT, and their children inherit that.
    let with_default_sigint = format!("env --default-signal=INT {}", this_test());
    let mut child = match piped(Command::new("script").args(["-qec", &with_default_sigint, "/dev/null"])) {
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
        sleep(TYPING_DELAY);
        keys.write_all(text.as_bytes()).unwrap();
    }
    // Ends the input of a program that still waits.
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
        (&["\u{4}"], "decided: Refuse(Some(\"the input ended before the user answered\"))"),
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
fn ctrl_c_ends_the_process_without_a_decision() {
    let Some(screen) = dialogue(&["\u{3}"]) else { return };
    assert!(!screen.contains("decided"), "{screen}");
}

#[test]
fn refuses_if_the_input_is_a_pipe() {
    let mut words = Command::new(env::current_exe().unwrap());
    words.args(this_test().split(' ').skip(1));
    let mut child = piped(&mut words).unwrap();
    // The child may have exited already.
    drop(child.stdin.take().unwrap().write_all(b"y\n"));
    let output = child.wait_with_output().unwrap();
    let output = String::from_utf8_lossy(&output.stdout);
    assert!(output.contains("decided: Refuse(Some(\"it needs the user's approval"), "{output}");
}
