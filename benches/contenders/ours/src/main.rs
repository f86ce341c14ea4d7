//! tool-runtime: sync and async tools, each with default settings, with a deadline, and bare.

mod tools;
mod fillers {
    include!(concat!(env!("OUT_DIR"), "/fillers.rs"));
}

use std::marker::PhantomData;
use std::time::Duration;

use contest::{Contender, Entries};
use tool_runtime::{Builder, Dispatcher, Manifest, Policy, ToolCall};

/// The enabled features of the dispatcher.
trait Setting: Send + Sync + 'static {
    fn apply(builder: Builder) -> Builder;
}

/// Default settings: validation, repair, policy, scope, panic guard.
struct DefaultSetting;
/// Default settings and a deadline.
struct DeadlineSetting;
/// No repair, no policy.
struct BareSetting;

impl Setting for DefaultSetting {
    fn apply(builder: Builder) -> Builder {
        builder
    }
}

impl Setting for DeadlineSetting {
    fn apply(builder: Builder) -> Builder {
        builder.timeout(Duration::from_secs(30))
    }
}

impl Setting for BareSetting {
    fn apply(builder: Builder) -> Builder {
        builder.repair(false).policy(Policy::Yolo)
    }
}

/// A dispatcher with a setting, and whether its sync or its async tools are called.
struct OwnDispatcher<S, const ASYNC: bool>(Dispatcher, PhantomData<S>);

/// Uses all linked tools, or fewer through a manifest.
fn dispatcher<S: Setting>(wanted: usize) -> Dispatcher {
    assert!(wanted <= fillers::FILLERS, "build with FILLERS={wanted}");
    let mut builder = S::apply(Dispatcher::builder());
    if wanted < fillers::FILLERS {
        let number = |name: &str| name.strip_prefix("filler_").and_then(|number| number.parse().ok());
        let linked = Manifest::linked();
        let chosen = linked.iter().filter(|(name, _)| number(name).is_none_or(|number: usize| number < wanted));
        builder = builder.manifest(chosen.map(|(name, tool)| (name.to_owned(), tool.clone())).collect::<Manifest>());
    }
    builder.build().expect("the tools are complete")
}

impl<S: Setting, const ASYNC: bool> Contender for OwnDispatcher<S, ASYNC> {
    async fn start(fillers: usize) -> Self {
        Self(dispatcher::<S>(fillers), PhantomData)
    }

    async fn call(&self, tool: &str, arguments: &str) -> String {
        let name = match (ASYNC, tool) {
            (true, "add") => "add_async",
            (true, "search") => "search_async",
            (true, "order") => "order_async",
            _ => tool,
        };
        let result = self.0.call(ToolCall::from_text(name, arguments)).await;
        assert!(result.success, "{}", result.output);
        result.output
    }

    fn list(&self) -> Option<String> {
        let definitions = self.0.definitions();
        let described: Vec<_> = definitions.iter().map(|(name, tool)| (name, &**tool)).collect();
        Some(serde_json::to_string(&described).expect("JSON"))
    }
}

fn main() {
    Entries::new()
        .enter::<OwnDispatcher<DefaultSetting, false>>("sync")
        .enter::<OwnDispatcher<DefaultSetting, true>>("async")
        .enter::<OwnDispatcher<DeadlineSetting, false>>("sync-deadline")
        .enter::<OwnDispatcher<DeadlineSetting, true>>("async-deadline")
        .enter::<OwnDispatcher<BareSetting, false>>("sync-bare")
        .enter::<OwnDispatcher<BareSetting, true>>("async-bare")
        .run();
}
