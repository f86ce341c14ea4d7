use std::collections::HashSet;

use tool_runtime::tools;

tools! {
    impl HashSet<String> as "set" {
        fn insert(&mut self, value: String);
    }
}

fn main() {}
