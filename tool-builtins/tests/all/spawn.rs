use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tool_builtins::spawn::{Spawn, SpawnError, Spawner, Task};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Progress, ToolCall};

/// A spawner whose tasks name what to do.
#[derive(Default)]
struct Agent {
    /// The tools of the sub-agent.
    tools: OnceLock<Dispatcher>,
    /// Receives the tasks.
    tasks: Option<mpsc::UnboundedSender<Task>>,
}

impl Spawner for Agent {
    async fn run(&self, task: Task) -> Result<String, SpawnError> {
        if let Some(tasks) = &self.tasks {
            tasks.send(task.clone()).unwrap();
        }
        match task.task.as_str() {
            "nest" => {
                let call = ToolCall::new("spawn", json!({"task": "nest"})).conversation(task.conversation);
                // In a separate Tokio task, as an agent may do.
                let tools = self.tools.get().unwrap().clone();
                let below = tokio::spawn(async move { tools.call(call).await }).await.unwrap();
                Ok(format!("{} < {}", task.depth, below.output))
            }
            "wait" => {
                task.progress.report(json!("waiting"));
                std::future::pending().await
            }
            "fail" => Err(SpawnError::new("the model is not there")),
            other => Ok(format!("{other}, {}", task.context.unwrap_or_default())),
        }
    }
}

fn spawn(task: &str) -> ToolCall<'static> {
    ToolCall::new("spawn", json!({"task": task})).conversation("chat")
}

fn observed_agent() -> (Agent, mpsc::UnboundedReceiver<Task>) {
    let (sender, tasks) = mpsc::unbounded_channel();
    (Agent { tasks: Some(sender), ..Agent::default() }, tasks)
}

#[tokio::test]
async fn returns_the_answer_of_the_sub_agent() {
    let (agent, mut tasks) = observed_agent();
    let tools = Dispatcher::builder().service(Spawn::new(agent)).build().unwrap();
    let call = ToolCall::new("spawn", json!({"task": "count", "context": "to three"})).conversation("chat");
    let result = tools.call(call).timeout(Duration::from_secs(60)).await;
    assert_eq!(result.output, "count, to three");
    let task = tasks.recv().await.unwrap();
    assert_eq!((task.depth, task.parent.as_deref()), (1, Some("chat")));
    assert_eq!(result.metadata.get("conversation"), Some(&json!(task.conversation)));
    assert!(
        task.deadline.unwrap() <= std::time::Instant::now() + Duration::from_secs(60),
        "the call's deadline is first"
    );
    assert!(task.cancellation.is_cancelled(), "the token is cancelled at the end");
    assert_eq!(tools.call(spawn("fail")).await.output, "the model is not there");
    assert_eq!(tools.call(spawn("")).await.error.unwrap().kind, ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn limits_the_nesting_depth() {
    let agent = Arc::new(Agent::default());
    let service = Spawn::new(agent.clone()).max_depth(3);
    let tools = Dispatcher::builder().service(service).build().unwrap();
    assert!(agent.tools.set(tools.clone()).is_ok());
    let result = tools.call(spawn("nest")).await;
    assert_eq!(result.output, "1 < 2 < 3 < Sub-agents may nest at most 3 deep. Do the task yourself.");
}

/// With paused time, a deadlock would time out at once.
#[tokio::test(start_paused = true)]
async fn releases_its_permit_while_the_sub_agent_runs() {
    let agent = Arc::new(Agent::default());
    let tools = Dispatcher::builder().service(Spawn::new(agent.clone())).concurrency(1, 10).build().unwrap();
    assert!(agent.tools.set(tools.clone()).is_ok());
    let result = tools.call(spawn("nest")).await;
    assert!(result.output.starts_with("1 < 2 < "), "{}", result.output);
}

#[tokio::test]
async fn limits_the_number_of_running_sub_agents() {
    let (agent, mut tasks) = observed_agent();
    let tools = Dispatcher::builder().service(Spawn::new(agent).max_running(2)).build().unwrap();
    let running: Vec<_> = (0..2)
        .map(|_| {
            let tools = tools.clone();
            tokio::spawn(async move { tools.call(spawn("wait")).await })
        })
        .collect();
    for _ in &running {
        tasks.recv().await.unwrap();
    }
    let refused = tools.call(spawn("one more")).await;
    assert!(refused.output.starts_with("The limit of 2 running sub-agents is reached."), "{}", refused.output);
    for task in running {
        task.abort();
        assert!(task.await.unwrap_err().is_cancelled());
    }
    assert!(tools.call(spawn("one more")).await.success, "aborted sub-agents no longer count");
}

#[tokio::test]
async fn is_cancelled_with_its_call() {
    let (agent, mut tasks) = observed_agent();
    let tools = Dispatcher::builder().service(Spawn::new(agent)).build().unwrap();
    let token = CancellationToken::new();
    let cancelled = tools.call(spawn("wait")).cancel(token.clone());
    let cancel = async {
        let task = tasks.recv().await.unwrap();
        assert!(!task.cancellation.is_cancelled());
        token.cancel();
        task.cancellation.cancelled().await;
    };
    let (result, ()) = tokio::join!(cancelled, cancel);
    assert_eq!(result.error.unwrap().kind, ErrorKind::Cancelled);

    let dropped = tools.call(spawn("wait"));
    let task = tokio::select! {
        result = dropped => panic!("{result:?}"),
        task = tasks.recv() => task.unwrap(),
    };
    task.cancellation.cancelled().await;
}

#[tokio::test]
async fn times_out() {
    let tools = Dispatcher::builder().service(Spawn::new(Agent::default()).timeout(Duration::from_millis(20)));
    let result = tools.build().unwrap().call(spawn("wait")).await;
    assert_eq!(result.output, "The sub-agent did not finish within 20ms and was stopped.");
}

#[tokio::test]
async fn forwards_progress() {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let listener = reports.clone();
    let tools = Dispatcher::builder().service(Spawn::new(Agent::default()).timeout(Duration::from_millis(20)));
    let tools = tools.build().unwrap();
    tools.call(spawn("wait")).with(Progress::to(move |report| listener.lock().unwrap().push(report))).await;
    assert_eq!(*reports.lock().unwrap(), [json!("waiting")]);
}
