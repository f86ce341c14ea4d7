//! Instruction counts, which do not depend on other load on the machine.

use std::process::{Command, Stdio};

use crate::Outcome;

/// Returns the number of instructions that a program executes.
pub fn instructions(command: &Command) -> Outcome<f64> {
    let log = crate::cargo::target().join(format!("valgrind-{}.log", std::process::id()));
    let mut valgrind = Command::new("valgrind");
    valgrind
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(format!("--log-file={}", log.display()))
        .arg(command.get_program())
        .args(command.get_args())
        .stdout(Stdio::null());
    for (name, value) in command.get_envs() {
        valgrind.env(name, value.ok_or("cannot run valgrind with a removed environment variable")?);
    }
    if let Some(folder) = command.get_current_dir() {
        valgrind.current_dir(folder);
    }
    let status = valgrind.status()?;
    if !status.success() {
        return Err(format!("{command:?}: {status}").into());
    }
    let text = std::fs::read_to_string(&log)?;
    let count = text.lines().find_map(|line| line.split("refs:").nth(1)).ok_or("valgrind has not counted")?;
    Ok(count.trim().replace(',', "").parse()?)
}

/// Returns the cost of one of many: the difference of two counts, so that start and end cancel out. Takes the median of
/// some rounds, because hash seeds and the state of the heap vary between processes.
pub fn each(rounds: usize, few: usize, many: usize, command: impl Fn(usize) -> Command) -> Outcome<f64> {
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let difference = instructions(&command(many))? - instructions(&command(few))?;
        taken.push(difference / (many - few) as f64);
    }
    taken.sort_by(f64::total_cmp);
    Ok(taken[rounds / 2])
}
