use tool_runtime::tools;

struct Service;

impl Service {
    fn ping(&self) {}
}

tools! {
    #[derive(Clone)]
    impl Service as "service" {
        fn ping(&self);
    }
}

fn main() {
    Service.ping();
}
