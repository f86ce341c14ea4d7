use tool_runtime::Dispatcher;

fn main() {
    drop(Dispatcher::builder().manifest("tools_calls.json").build());
}
