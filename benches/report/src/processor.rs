//! Processor time of a program and its children.

use std::process::Command;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::Outcome;

/// Runs a command and returns its user and system time in seconds.
pub fn seconds(command: &mut Command) -> Outcome<f64> {
    let used = || -> Outcome<i64> {
        let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
        Ok(usage.user_time().num_microseconds() + usage.system_time().num_microseconds())
    };
    let before = used()?;
    let status = command.status()?;
    if !status.success() {
        return Err(format!("{command:?}: {status}").into());
    }
    Ok((used()? - before) as f64 / 1e6)
}
