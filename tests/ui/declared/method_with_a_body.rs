use tool_runtime::tools;

struct Service;

tools! {
    impl Service as "service" {
        fn ping(&self) {}
    }
}

fn main() {
    let _ = Service;
}
