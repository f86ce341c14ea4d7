use tool_runtime::tools;

struct Service;

impl Service {
    fn ping(&self, times: u8) -> u8 {
        times
    }
}

tools! {
    impl Service as "service" {
        fn ping(&self, times: String) -> u8;
    }
}

fn main() {
    Service.ping(1);
}
