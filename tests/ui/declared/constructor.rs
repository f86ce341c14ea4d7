use tool_runtime::tools;

tools! {
    impl std::path::PathBuf as "path" {
        /// A path.
        fn from_text(text: String) -> PathBuf;
        /// The length of the path.
        fn capacity(&self) -> usize;
    }
}

fn main() {}
