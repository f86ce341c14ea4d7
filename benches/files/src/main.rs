//! The file tools compared with ripgrep, and with the work they avoid.
//!
//! `files make FOLDER` creates a tree of 100,000 files; `files compare FOLDER RG` lists and searches it, alternating
//! with ripgrep, and prints the least time of each; `files large FOLDER` reads in the middle of 1 GB and edits 50 MB.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, iter};

use serde_json::{Value, json};
use tokio::runtime::Runtime;
use tool_builtins::files::Files;
use tool_runtime::{Dispatcher, Policy, ToolCall};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const FOLDERS: usize = 1_000;
const FILES: usize = 100;
const TURNS: usize = 15;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["make", folder] => make(Path::new(folder)),
        ["compare", folder, ripgrep] => compare(Path::new(folder), ripgrep),
        ["large", folder] => large(Path::new(folder)),
        _ => Err("see the head of this file".into()),
    }
}

/// Creates files like those of a program: a few dozen lines each, two levels of directories, some ignore rules.
fn make(folder: &Path) -> Outcome<()> {
    fs::create_dir_all(folder.join(".git"))?;
    fs::write(folder.join(".gitignore"), "*.log\n/build/\n*.tmp\n!keep.tmp\n")?;
    for outer in 0..FOLDERS / 20 {
        for inner in 0..20 {
            let path = folder.join(format!("part{outer:02}/module{inner:02}"));
            fs::create_dir_all(&path)?;
            if inner == 0 {
                fs::write(path.join(".gitignore"), "/generated_*\n")?;
            }
            for file in 0..FILES {
                let number = (outer * 20 + inner) * FILES + file;
                let lines =
                    (0..20 + number % 60).map(|line| format!("    let value_{line} = compute({number}, {line})?;\n"));
                let needle = (number % 1_000 == 0).then(|| "    // the needle in the haystack\n".to_owned());
                fs::write(path.join(format!("file{file:03}.rs")), lines.chain(needle).collect::<String>())?;
            }
        }
    }
    Ok(())
}

struct FileTools {
    tools: Dispatcher,
    runtime: Runtime,
}

impl FileTools {
    fn new(folder: &Path) -> Outcome<Self> {
        let tools = Dispatcher::builder().service(Files::new(folder)?).policy(Policy::Yolo).build()?;
        Ok(Self { tools, runtime: Runtime::new()? })
    }

    fn call(&self, name: &str, arguments: Value) -> Outcome<(String, Duration)> {
        let start = Instant::now();
        let result = self.runtime.block_on(self.tools.call(ToolCall::new(name, arguments)));
        let took = start.elapsed();
        if result.success { Ok((result.output, took)) } else { Err(result.output.into()) }
    }
}

/// Both include hidden files, and exclude `.git` and `node_modules`; both sort where the tool does.
fn compare(folder: &Path, ripgrep: &str) -> Outcome<()> {
    let tools = FileTools::new(folder)?;
    let common = ["--hidden", "--no-config", "--glob=!.git", "--glob=!node_modules"];
    let search = |pattern: &'static str| ("search_files", json!({"pattern": pattern}), vec!["--line-number", pattern]);
    let list = ("list_files", json!({"recursive": true}), vec!["--files"]);
    let some = ("list_files", json!({"glob": "**/file00*.rs"}), vec!["--files", "--glob=**/file00*.rs"]);
    let cases = [
        ("a word in few files", search("needle in the haystack")),
        ("a class of words", search(r"compute\(9\d+7, 4\d\)")),
        ("all files", list),
        ("some files", some),
    ];
    for (what, (tool, arguments, own)) in cases {
        let (mut ours, mut sorted, mut theirs) = (Duration::MAX, Duration::MAX, Duration::MAX);
        let mut processor = [0; 2];
        for _ in 0..TURNS {
            let before = ticks()?;
            ours = ours.min(tools.call(tool, arguments.clone())?.1);
            theirs = theirs.min(run(ripgrep, folder, common.iter().chain(&own).copied())?);
            let after = ticks()?;
            processor = [processor[0] + after[0] - before[0], processor[1] + after[1] - before[1]];
            sorted =
                sorted.min(run(ripgrep, folder, common.iter().chain(&own).copied().chain(iter::once("--sort=path")))?);
        }
        let processor = processor[0] as f64 / processor[1] as f64;
        let ratio = |other: Duration| ours.as_secs_f64() / other.as_secs_f64();
        println!(
            "  {what:<20} {:>7.1} ms  rg {:>7.1} ms x{:.2}  rg --sort path {:>7.1} ms x{:.2}  processor time x{processor:.2}",
            milliseconds(ours),
            milliseconds(theirs),
            ratio(theirs),
            milliseconds(sorted),
            ratio(sorted)
        );
    }
    Ok(())
}

fn run<'a>(program: &str, folder: &Path, arguments: impl Iterator<Item = &'a str>) -> Outcome<Duration> {
    let start = Instant::now();
    let output =
        Command::new(program).args(arguments).arg(".").current_dir(folder).stderr(Stdio::inherit()).output()?;
    let took = start.elapsed();
    if output.status.success() { Ok(took) } else { Err(format!("{program} failed").into()) }
}

fn large(folder: &Path) -> Outcome<()> {
    let line = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";
    let mut file = File::create(folder.join("gigabyte"))?;
    let block = line.repeat(16 * 1024);
    for _ in 0..1024 {
        file.write_all(block.as_bytes())?;
    }
    let half = 50_000_000 / 2 / line.len();
    fs::write(folder.join("edited"), line.repeat(half) + "the needle\n" + &line.repeat(half))?;
    let tools = FileTools::new(folder)?;
    for (part, offset) in [("the beginning", 0), ("the middle", 8 << 20), ("the end", (16 << 20) - 100)] {
        let arguments = json!({"path": "gigabyte", "offset": offset, "limit": 100});
        let read = bytes_read()?;
        let took = tools.call("read_file", arguments.clone())?.1;
        let read = (bytes_read()? - read) / (1 << 20);
        println!("  100 lines at {part} of 1 GB: {:.1} ms, {read} MB read", milliseconds(took));
    }
    let texts = ["the needle\n", "another needle\n"];
    for (old, new) in [(0, 1), (1, 0)] {
        let arguments = json!({"path": "edited", "old_string": texts[old], "new_string": texts[new]});
        println!("  one edit in 50 MB: {:.1} ms", milliseconds(tools.call("edit_file", arguments)?.1));
    }
    let (path, copy) = (folder.join("edited"), folder.join("copy"));
    let start = Instant::now();
    let text = fs::read_to_string(path)?.replacen(texts[0], texts[1], 1);
    let mut file = File::create(copy)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    println!("  the same by hand, with `str::replacen`: {:.1} ms", milliseconds(start.elapsed()));
    Ok(())
}

/// Returns the processor time of this process and of its children, in hundredths of a second.
fn ticks() -> Outcome<[u64; 2]> {
    let text = fs::read_to_string("/proc/self/stat")?;
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |index: usize| -> Outcome<u64> { Ok(fields.get(index).ok_or("no such field")?.parse()?) };
    Ok([field(11)? + field(12)?, field(13)? + field(14)?])
}

/// Returns the number of bytes that this process has read so far, whether from disk or from the cache.
fn bytes_read() -> Outcome<u64> {
    let counters = fs::read_to_string("/proc/self/io")?;
    let line = counters.lines().find_map(|line| line.strip_prefix("rchar: ")).ok_or("no counter")?;
    Ok(line.parse()?)
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}
