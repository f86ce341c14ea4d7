use tool_runtime::Dispatcher;

fn main() {
    drop(Dispatcher::builder().manifest(tool_runtime::manifest!()).build());
}
