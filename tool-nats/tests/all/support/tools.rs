//! The tools of the workers in these tests.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use tool_runtime::{Builder, Dispatcher, RuntimeTool, Scope};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    a: i64,
    #[schemars(range(min = 0, max = 100))]
    b: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    milliseconds: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    bytes: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Line {
    line: String,
    milliseconds: u64,
}

/// The effects of calls: lines in a file in this directory.
#[derive(Clone)]
pub struct Effects(PathBuf);

impl Effects {
    pub fn new(folder: &Path) -> Self {
        Self(folder.join("effects"))
    }

    pub fn add(&self, line: &str) {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0).unwrap();
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    pub fn lines(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.0).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}

pub fn worker_tools(effects: Effects) -> Builder {
    let crashing = effects.clone();
    let crash = move |line: Line| {
        let effects = crashing.clone();
        async move {
            effects.add(&line.line);
            end_process()
        }
    };
    let leave = move |then: &'static str| {
        let effects = effects.clone();
        move |line: Line| {
            let effects = effects.clone();
            async move {
                effects.add(&line.line);
                pause(line.milliseconds).await;
                effects.add(&format!("{} {then}", line.line));
                line.line
            }
        }
    };
    Dispatcher::builder()
        .tool(RuntimeTool::new("math.add", "Add two numbers.", |sum: Sum| async move { json!(sum.a + sum.b) }))
        .tool(RuntimeTool::scoped("slow.wait", "Wait.", wait))
        .tool(RuntimeTool::new("big.text", "A long text.", |size: Size| async move {
            "long line\n".repeat(size.bytes / 10)
        }))
        .tool(RuntimeTool::scoped("context.show", "Where a call comes from.", show))
        .tool(RuntimeTool::new("data.purge", "Delete everything.", |(): ()| async { "gone" }).sensitive())
        .tool(RuntimeTool::new("effect.leave", "Leave a line.", leave("done")))
        .tool(RuntimeTool::new("effect.crash", "Leave a line, and take the worker along.", crash).idempotent())
        .tool(RuntimeTool::new("effect.repeat", "Leave a line, which harms nobody.", leave("done")).idempotent())
}

fn end_process() -> String {
    std::process::exit(1)
}

/// Waits in steps, so that a call that is not polled regularly falls behind.
async fn pause(milliseconds: u64) {
    for _ in 0..milliseconds.div_ceil(100) {
        tokio::time::sleep(Duration::from_millis(100.min(milliseconds))).await;
    }
}

async fn wait(wait: Wait, scope: Scope) -> String {
    for step in 0..wait.milliseconds.div_ceil(100) {
        scope.progress().report(json!({"step": step}));
        tokio::time::sleep(Duration::from_millis(100.min(wait.milliseconds))).await;
    }
    "waited".to_owned()
}

async fn show((): (), scope: Scope) -> serde_json::Value {
    let context = scope.context();
    json!({
        "id": context.call_id(), "conversation": context.conversation(), "channel": context.channel(),
        "chat": context.chat(), "trace": context.trace_parent(), "has_deadline": scope.deadline().at().is_some(),
    })
}
