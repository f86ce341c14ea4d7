use tool_runtime::tools;

struct Service;

impl Service {
    fn ping(&self) -> u8 {
        1
    }
}

tools! {
    impl Service as "service" {
        fn pong(&self) -> u8;
    }
}

fn main() {
    Service.ping();
}
