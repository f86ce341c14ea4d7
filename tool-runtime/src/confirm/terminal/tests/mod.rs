//! Dialogues with scripted users.

#[cfg(target_os = "linux")]
mod pseudo_terminal;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard};
use std::time::Duration;

use serde_json::{Value, json};
use tool_model::{Argument, ToolDefinition};

use super::*;

/// A user who types these lines and saves these texts in an editor.
#[derive(Clone, Default)]
struct ScriptedUser(Arc<StdMutex<ScriptState>>);

#[derive(Default)]
struct ScriptState {
    lines: VecDeque<String>,
    saved: Option<VecDeque<io::Result<String>>>,
    opened: Vec<String>,
    screen: String,
    no_terminal: bool,
    colours: bool,
    reading_time: Duration,
    broken: bool,
}

impl ScriptedUser {
    fn types(input: &str) -> Self {
        let script = Self::default();
        script.state().lines = input.split_inclusive('\n').map(str::to_owned).collect();
        script
    }

    fn saves<const N: usize>(self, texts: [&str; N]) -> Self {
        self.state().saved = Some(texts.into_iter().map(|text| Ok(text.to_owned())).collect());
        self
    }

    fn state(&self) -> MutexGuard<'_, ScriptState> {
        self.0.lock().unwrap()
    }

    async fn answers(&self, question: &Question) -> Decision {
        Terminal::on(self.clone()).confirm(question).await
    }
}

impl DialogueScreen for ScriptedUser {
    fn is_terminal(&self) -> bool {
        !self.state().no_terminal
    }

    fn has_colours(&self) -> bool {
        self.state().colours
    }

    fn show(&mut self, text: &str) -> io::Result<()> {
        self.state().screen.push_str(text);
        if self.state().broken { Err(io::ErrorKind::BrokenPipe.into()) } else { Ok(()) }
    }

    fn read_line(&mut self) -> io::Result<String> {
        let mut state = self.state();
        let line = state.lines.pop_front().unwrap_or_default();
        state.screen.push_str(&line);
        Ok(line)
    }

    fn edit(&mut self, text: &str) -> Option<io::Result<String>> {
        let mut state = self.state();
        state.opened.push(text.to_owned());
        state.saved.as_mut().map(|saved| saved.pop_front().unwrap_or_else(|| Ok(String::new())))
    }

    fn reading_time(&self) -> Duration {
        self.state().reading_time
    }
}

/// Returns a tool with these arguments, of which `password` is secret.
fn definition(arguments: &Value) -> ToolDefinition {
    let mut definition = ToolDefinition::default();
    definition.description = "Delete all points of a host.".to_owned();
    (definition.sensitive, definition.destructive) = (true, true);
    for name in arguments.as_object().unwrap().keys() {
        let mut argument = Argument::new("any", true);
        if name == "password" {
            argument.keywords.insert("writeOnly".to_owned(), true.into());
        }
        definition.arguments.insert(name.clone(), argument);
    }
    definition
}

fn question(arguments: Value) -> Question {
    Question::new("metrics.purge", Arc::new(definition(&arguments)), arguments)
}

fn purge() -> Question {
    question(json!({"host": "web-1"}))
}

#[tokio::test]
async fn shows_the_whole_question() {
    let script = ScriptedUser::types("y\n");
    let mut asked = purge();
    asked.conversation = Some("c-1".to_owned());
    asked.channel = Some("telegram".to_owned());
    asked.chat = Some("42".to_owned());
    asked.repairs = vec![
        json!({"path": "host", "from": "web-1,", "to": "web-1", "why": "not_quite"}),
        json!({"path": "count", "from": "null", "to": "", "why": "null"}),
        json!(["something else"]),
    ];
    asked.preview = Some(json!({"statement": "delete from points\nwhere host = 'web-1'"}));
    assert_eq!(script.answers(&asked).await, Decision::Run);
    let expected = r#"
metrics.purge wants to run
  in conversation c-1
  by channel telegram
  in chat 42
  destructive, sensitive
  │ Delete all points of a host.
  arguments
  │ {
  │   "host": "web-1"
  │ }
  repaired
  │ host: web-1, → web-1 (not quite)
  │ count: null → left out (null)
  │ ["something else"]
  statement
  │ delete from points
  │ where host = 'web-1'
[y] run  [n] refuse  [a] abort everything  [e] edit
> y
"#;
    assert_eq!(script.state().screen, expected);
}

#[tokio::test]
async fn maps_each_key_to_its_decision() {
    let table = [
        ("y\n", Decision::Run),
        (" YES \n", Decision::Run),
        ("y\r\n", Decision::Run),
        ("n\n", Decision::Refuse(None)),
        ("no\n", Decision::Refuse(None)),
        ("n wrong host, take web-2\n", Decision::refuse("wrong host, take web-2")),
        ("a\n", Decision::Abort),
        ("\u{3}\n", Decision::Abort),
        ("y\u{3}\n", Decision::Abort),
        ("\n\nyy\ny please\nok\n\u{feff}y\ny\n", Decision::Run),
        ("maybe\nn\n", Decision::Refuse(None)),
    ];
    for (typed, expected) in table {
        assert_eq!(ScriptedUser::types(typed).answers(&purge()).await, expected, "{typed:?}");
    }
}

#[tokio::test]
async fn the_end_of_the_input_is_no_approval() {
    for typed in ["", "y", "what\ny", "e\n", "e\n{\"host\": \"web-2\"}", "e\n{\"host\": \"web-2\"}\ny"] {
        let decision = ScriptedUser::types(typed).answers(&purge()).await;
        assert_eq!(decision, Decision::refuse("the input ended before the user answered"), "{typed:?}");
    }
}

#[tokio::test]
async fn refuses_without_a_terminal() {
    let script = ScriptedUser::types("y\n");
    script.state().no_terminal = true;
    let reason = "it needs the user's approval, and there is no terminal to ask on; continue without it";
    assert_eq!(script.answers(&purge()).await, Decision::refuse(reason));
    let hint = "`metrics.purge` was refused: there is no terminal to ask on; in CI, use the policy `yolo` (`--policy yolo`) \
                or a dry run (`--dry-run`)\n";
    assert_eq!(script.state().screen, hint);
    assert_eq!(script.state().lines.len(), 1);
}

#[tokio::test]
async fn refuses_if_the_screen_cannot_be_written() {
    let script = ScriptedUser::types("y\n");
    script.state().broken = true;
    assert!(matches!(script.answers(&purge()).await, Decision::Refuse(Some(_))));
}

#[tokio::test]
async fn ignores_input_typed_ahead() {
    let script = ScriptedUser::types("y\ny\n");
    script.state().reading_time = Duration::from_secs(3600);
    assert!(matches!(script.answers(&purge()).await, Decision::Refuse(Some(_))));
    assert_eq!(script.state().screen.matches("typed before").count(), 2);
}

#[tokio::test]
async fn reads_edited_arguments_from_one_line() {
    let script = ScriptedUser::types("e\n{\"host\": \n[1]\n\"\\u001b[2J\"\n{\"host\": \"web-2\"}\ny\n");
    let mut asked = purge();
    asked.preview = Some(json!({"command": "purge web-1"}));
    assert_eq!(script.answers(&asked).await, Decision::Edit(json!({"host": "web-2"})));
    let screen = &script.state().screen;
    assert_eq!(screen.matches("Invalid arguments: not a JSON object").count(), 3, "{screen}");
    // The edited arguments are asked about again, without the old preview.
    let (_, again) = screen.split_once("arguments, edited").unwrap();
    assert!(again.contains("\"host\": \"web-2\"") && !again.contains("purge web-1"), "{again}");
    assert!(!screen.contains('\u{1b}'));
}

#[tokio::test]
async fn reads_edited_arguments_from_an_editor() {
    let script = ScriptedUser::types("e\ny\n").saves(["{\"host\":", "{\"host\": \"web-2\"}"]);
    let asked = question(json!({"host": "\u{202e}1-bew"}));
    assert_eq!(script.answers(&asked).await, Decision::Edit(json!({"host": "web-2"})));
    // The editor gets escaped text too, and is opened again with the invalid text.
    assert_eq!(script.state().opened, ["{\n  \"host\": \"\\u202e1-bew\"\n}", "{\"host\":"]);
}

/// Neither the screen nor the edited file contains the secret, but the edited arguments do.
#[tokio::test]
async fn hides_secrets_and_keeps_them_across_an_edit() {
    let asked = question(json!({"host": "web-1", "password": "hunter2"}));
    let marked = "{\n  \"host\": \"web-1\",\n  \"password\": \"*** 1\"\n}";
    let script = ScriptedUser::types("f\ne\nf\ny\n").saves([&marked.replace("web-1", "web-2")]);
    let expected = json!({"host": "web-2", "password": "hunter2"});
    assert_eq!(script.answers(&asked).await, Decision::Edit(expected));
    assert_eq!(script.state().opened, [marked]);
    let screen = &script.state().screen;
    assert!(!screen.contains("hunter2") && screen.matches("\"password\": \"*** 1\"").count() == 4, "{screen}");
}

#[tokio::test]
async fn rejects_an_ambiguous_edit() {
    let twice = r#"{"host": "web-1", "host": "web-2"}"#;
    let script = ScriptedUser::types(&format!("e\n{twice}\n\nn\n"));
    assert_eq!(script.answers(&purge()).await, Decision::Refuse(None));
    let screen = &script.state().screen;
    assert!(screen.contains("Invalid arguments: duplicate key `host`."), "{screen}");
}

#[tokio::test]
async fn an_unchanged_edit_is_no_approval() {
    let unchanged = "{\n  \"host\": \"web-1\"\n}";
    assert_eq!(ScriptedUser::types("e\nn\n").saves([unchanged]).answers(&purge()).await, Decision::Refuse(None));
    assert_eq!(ScriptedUser::types("e\n\ny\n").answers(&purge()).await, Decision::Run);
    // Saving the invalid text again gives up.
    assert_eq!(ScriptedUser::types("e\ny\n").saves(["{", "{"]).answers(&purge()).await, Decision::Run);
    let script = ScriptedUser::types("e\ny\n");
    script.state().saved = Some([Err(io::Error::other("no such program"))].into());
    assert_eq!(script.answers(&purge()).await, Decision::Run);
    assert!(script.state().screen.contains("The editor failed: no such program"));
}

#[tokio::test]
async fn untrusted_text_cannot_imitate_the_prompt() {
    let prompt = "[y] run  [n] refuse";
    let nasty = format!("\x1b[2J\x1b]0;title\x07\u{202e}\u{200b}\r\n{prompt}\n> ");
    let arguments = json!({&nasty: [&nasty, {"x": &nasty}]});
    let mut definition = definition(&arguments);
    definition.description = nasty.clone();
    let mut asked = Question::new(nasty.clone(), Arc::new(definition), arguments);
    asked.conversation = Some(nasty.clone());
    asked.channel = Some(nasty.clone());
    asked.chat = Some("x".repeat(100));
    asked.repairs = vec![json!(nasty), json!({"path": nasty, "from": nasty, "to": nasty, "why": nasty})];
    let padded = format!("{}{prompt}", " ".repeat(80));
    let diff = |path: &str, after: &str| json!({"diff": {"path": path, "before": nasty, "after": after}});
    let previews = [
        diff(&nasty, &padded),
        diff(&"x".repeat(100), &nasty),
        json!({"command": nasty}),
        json!({"text": padded}),
        json!(nasty),
        json!([nasty]),
        json!({&nasty: 1}),
    ];
    for preview in previews {
        asked.preview = Some(preview);
        let script = ScriptedUser::types("f\nn\n");
        script.answers(&asked).await;
        let screen = &script.state().screen;
        assert!(screen.chars().all(|c| c == '\n' || crate::display::is_visible(c)), "{screen:?}");
        let lines: Vec<_> = screen.lines().collect();
        assert_eq!(lines.iter().filter(|line| line.starts_with(prompt)).count(), 2, "{screen}");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{screen}");
    }
}

#[tokio::test]
async fn folds_long_texts_and_shows_them_on_request() {
    let script = ScriptedUser::types("f\ny\n");
    let asked = question(json!({"text": format!("{}end", "x".repeat(4709)), "many": vec![7; 100]}));
    assert_eq!(script.answers(&asked).await, Decision::Run);
    let screen = script.state().screen.clone();
    let (first, full) = screen.split_once("[f] in full\n> f\n").unwrap();
    assert!(first.contains("… 82 more lines"), "{first}");
    let full = full.replace("\n  ┊ ", "");
    assert!(!first.contains("end\"") && full.contains("xend\""), "{full}");
    assert_eq!((full.matches("│     7").count(), full.contains("[f]")), (100, false));

    // A long argument does not hide another.
    let script = ScriptedUser::types("n\n");
    let asked = question(json!({"a": vec![7; 1000], "b": {"c": vec![8; 1000]}, "to": "the one that matters"}));
    script.answers(&asked).await;
    let screen = script.state().screen.clone();
    assert!(screen.contains("\"to\": \"the one that matters\"\n") && screen.lines().count() < 50, "{screen}");
    assert_eq!(screen.matches(" more lines\n").count(), 2, "{screen}");

    let script = ScriptedUser::types("n\n");
    script.answers(&question(json!({"text": "x".repeat(4712)}))).await;
    let screen = script.state().screen.replace("\n  ┊ ", "");
    assert!(screen.contains("x\" … 4,312 more characters\n"), "{screen}");
}

#[tokio::test]
async fn colours_a_diff() {
    let mut asked = purge();
    let by_texts = json!({"diff": {"path": "notes.txt", "before": "same\nold\n", "after": "same\nnew\x1b[0m\n"}});
    let as_text = json!("--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\x1b[0m\n");
    for preview in [by_texts, json!({"text": as_text}), as_text] {
        asked.preview = Some(preview);
        let script = ScriptedUser::types("y\n");
        script.state().colours = true;
        script.answers(&asked).await;
        let screen = &script.state().screen;
        assert!(
            screen.contains("│ \x1b[31m-old\x1b[0m\n") && screen.contains("│ \x1b[32m+new\\u{1b}[0m\x1b[0m\n"),
            "{screen}"
        );
    }
}

/// Of ten concurrent calls, each is decided before the next one is shown.
#[tokio::test(flavor = "multi_thread")]
async fn asks_one_question_at_a_time() {
    let script = ScriptedUser::types(&"y\n".repeat(10));
    let terminal = Terminal::on(script.clone());
    let asking: Vec<_> = (0..10)
        .map(|number| {
            let terminal = terminal.clone();
            tokio::spawn(async move { terminal.confirm(&question(json!({"number": number}))).await })
        })
        .collect();
    for task in asking {
        assert_eq!(task.await.unwrap(), Decision::Run);
    }
    let screen = script.state().screen.clone();
    let dialogues: Vec<_> = screen.split_terminator("> y\n").collect();
    assert_eq!(dialogues.len(), 10);
    assert!(dialogues.iter().all(|text| text.matches("\"number\":").count() == 1), "{screen}");
}

/// The answer to a dropped call must not answer the next question.
#[tokio::test]
async fn discards_the_answer_to_a_withdrawn_question() {
    struct SlowScreen(ScriptedUser, std::sync::mpsc::Receiver<()>);
    impl DialogueScreen for SlowScreen {
        fn is_terminal(&self) -> bool {
            true
        }
        fn has_colours(&self) -> bool {
            false
        }
        fn show(&mut self, text: &str) -> io::Result<()> {
            self.0.show(text)
        }
        fn read_line(&mut self) -> io::Result<String> {
            self.1.recv().map_err(io::Error::other)?;
            self.0.read_line()
        }
        fn edit(&mut self, _: &str) -> Option<io::Result<String>> {
            None
        }
        fn reading_time(&self) -> Duration {
            Duration::ZERO
        }
    }

    let script = ScriptedUser::types("y\nn\n");
    let (press, pressed) = std::sync::mpsc::channel();
    let terminal = Terminal::on(SlowScreen(script.clone(), pressed));
    let first = tokio::time::timeout(Duration::from_millis(50), terminal.confirm(&purge()).into_future()).await;
    assert!(first.is_err());
    press.send(()).unwrap();
    press.send(()).unwrap();
    assert_eq!(terminal.confirm(&purge()).await, Decision::Refuse(None));
    assert!(script.state().screen.contains("> y\nThat call has ended; nothing was run.\n"));
}
