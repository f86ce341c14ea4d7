use tool_runtime::tool;

/// Count.
#[tool]
fn count(
    #[arg(one_of = ["1", "2"])] step: u8,
    #[arg(default = "10")] limit: Option<u32>,
    #[arg(default = 300)] small: u8,
    #[arg(default = 5)] host: &str,
    #[arg(one_of = ["a", "b"])] tags: Vec<String>,
    #[arg(default = [1, 2])] names: &[String],
    #[arg(default = "yes")] dry: bool,
    #[arg(default = 1.5)] whole: i64,
) {
    let _ = (step, limit, small, host, tags, names, dry, whole);
}

fn main() {}
