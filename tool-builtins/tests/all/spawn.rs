use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::json;
use tokio::sync::mpsc;
use tool_builtins::spawn::{Spawn, SpawnError, Spawner, Task};
use tool_runtime::{CancellationToken, Dispatcher, ErrorKind, Progress, ToolCall};

/// A sub-agent that does what its task says.
#[derive(Default)]
struct Agent {
    /// The tools that it has itself.
    tools: OnceLock<Dispatcher>,
    /// Whoever wants to know of its tasks.
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
                // In a task of its own, as an agent may do.
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

fn watched() -> (Agent, mpsc::UnboundedReceiver<Task>) {
    let (sender, tasks) = mpsc::unbounded_channel();
    (Agent { tasks: Some(sender), ..Agent::default() }, tasks)
}

#[tokio::test]
async fn it_answers_what_the_sub_agent_answers() {
    let (agent, mut tasks) = watched();
    let tools = Dispatcher::builder().service(Spawn::new(agent)).build().unwrap();
    let call = ToolCall::new("spawn", json!({"task": "count", "context": "to three"})).conversation("chat");
    let result = tools.call(call).timeout(Duration::from_secs(60)).await;
    assert_eq!(result.output, "count, to three");
    let task = tasks.recv().await.unwrap();
    assert_eq!((task.depth, task.parent.as_deref()), (1, Some("chat")));
    assert_eq!(result.metadata.get("conversation"), Some(&json!(task.conversation)));
    assert!(task.deadline.unwrap() <= std::time::Instant::now() + Duration::from_secs(60), "the call's comes first");
    assert!(task.cancellation.is_cancelled(), "whatever it has left running hears that it is over");
    assert_eq!(tools.call(spawn("fail")).await.output, "the model is not there");
    assert_eq!(tools.call(spawn("")).await.error.unwrap().kind, ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn they_nest_only_so_deep() {
    let agent = Arc::new(Agent::default());
    let service = Spawn::new(agent.clone()).max_depth(3);
    let tools = Dispatcher::builder().service(service).build().unwrap();
    assert!(agent.tools.set(tools.clone()).is_ok());
    let result = tools.call(spawn("nest")).await;
    assert_eq!(result.output, "1 < 2 < 3 < Sub-agents may nest at most 3 deep. Do the task yourself.");
}

/// Time stands still: it goes on when nothing else does.
#[tokio::test(start_paused = true)]
async fn one_that_waits_for_its_sub_agent_leaves_its_place_to_it() {
    let agent = Arc::new(Agent::default());
    let tools = Dispatcher::builder().service(Spawn::new(agent.clone())).concurrency(1, 10).build().unwrap();
    assert!(agent.tools.set(tools.clone()).is_ok());
    let result = tools.call(spawn("nest")).await;
    assert!(result.output.starts_with("1 < 2 < "), "{}", result.output);
}

#[tokio::test]
async fn only_so_many_run() {
    let (agent, mut tasks) = watched();
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
    assert!(tools.call(spawn("one more")).await.success, "there is room again");
}

#[tokio::test]
async fn it_is_cancelled_with_its_parent() {
    let (agent, mut tasks) = watched();
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
async fn it_has_its_time() {
    let tools = Dispatcher::builder().service(Spawn::new(Agent::default()).timeout(Duration::from_millis(20)));
    let result = tools.build().unwrap().call(spawn("wait")).await;
    assert_eq!(result.output, "The sub-agent did not finish within 20ms and was stopped.");
}

#[tokio::test]
async fn its_progress_is_that_of_the_call() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let listener = heard.clone();
    let tools = Dispatcher::builder().service(Spawn::new(Agent::default()).timeout(Duration::from_millis(20)));
    let tools = tools.build().unwrap();
    tools.call(spawn("wait")).with(Progress::to(move |report| listener.lock().unwrap().push(report))).await;
    assert_eq!(*heard.lock().unwrap(), [json!("waiting")]);
}
