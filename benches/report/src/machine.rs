//! Description of the machine: processor, kernel, compiler. Contains no host names and no paths.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use crate::Outcome;

pub fn describe() -> Outcome<BTreeMap<String, String>> {
    let processor = fs::read_to_string("/proc/cpuinfo")?;
    let field = |name: &str| {
        let line = processor.lines().find(|line| line.starts_with(name))?;
        line.split(':').nth(1).map(|value| value.trim().to_owned())
    };
    let cores = std::thread::available_parallelism()?;
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    let model = format!(
        "{} (family {}, model {}), {cores} cores",
        field("model name").ok_or("no processor in /proc/cpuinfo")?,
        field("cpu family").unwrap_or_default(),
        field("model\t").unwrap_or_default(),
    );
    Ok(BTreeMap::from([
        ("processor".to_owned(), model),
        ("kernel".to_owned(), format!("Linux {}", kernel.trim())),
        ("compiler".to_owned(), first_line("rustc", &["--version"])?),
        ("valgrind".to_owned(), first_line("valgrind", &["--version"])?),
    ]))
}

fn first_line(program: &str, arguments: &[&str]) -> Outcome<String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("`{program}` is needed: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
