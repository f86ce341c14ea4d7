//! Instructions, which do not depend on who else uses the machine.

use std::process::{Command, Stdio};

use crate::Outcome;

/// How many instructions a program takes from start to end.
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
        valgrind.env(name, value.ok_or("a variable is unset, which valgrind is not told")?);
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

/// What one of many takes: the difference of two numbers of them, so that start and end do not count; the median of some
/// rounds, since the seeds of hash tables and the state of the heap change from process to process.
pub fn each(rounds: usize, few: usize, many: usize, command: impl Fn(usize) -> Command) -> Outcome<f64> {
    let mut taken = Vec::new();
    for _ in 0..rounds {
        let difference = instructions(&command(many))? - instructions(&command(few))?;
        taken.push(difference / (many - few) as f64);
    }
    taken.sort_by(f64::total_cmp);
    Ok(taken[rounds / 2])
}
