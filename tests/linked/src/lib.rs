//! An application that uses the tools of another crate.

use linked_services as _;
use tool_runtime::{BuildError, Dispatcher};

/// The tools of the services, as the build script found them.
pub fn tools() -> Result<Dispatcher, BuildError> {
    Dispatcher::builder().manifest(tool_runtime::manifest!()).build()
}

/// The same tools, from the manifest that the author of the services committed.
pub fn committed_tools() -> Result<Dispatcher, BuildError> {
    Dispatcher::builder().manifest(tool_runtime::manifest!("services/tools_calls.json")).build()
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use tool_runtime::{Manifest, ToolCall};

    use super::*;

    #[test]
    fn the_build_script_finds_the_tools_of_the_services() {
        let tools = tools().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(tools.manifest(), Manifest::linked());
        assert_eq!(tool_runtime::manifest!().text(), Manifest::linked().to_json());
        assert_eq!(tools.manifest().len(), 2);

        let call = pin!(tools.call(ToolCall::from_text("greet.hello", r#"{"name": "Ada"}"#)));
        let Poll::Ready(result) = call.poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
        assert_eq!(result.output, "Hello, Ada!");
    }

    #[test]
    fn the_committed_manifest_has_the_same_tools() {
        let committed = committed_tools().unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(committed.manifest(), Manifest::linked());
    }
}
