//! Landlock: writing stays inside, whatever a command does.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use serde::Serialize;
use tool_runtime::HandlerError;

/// How far writing is confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Writes {
    /// Files outside can neither be written, made, removed, renamed nor truncated.
    Confined,
    /// As above, but they can be truncated: the kernel is older than Linux 6.2.
    ConfinedButTruncation,
    /// A command can write where its user can: the kernel has no Landlock, or it is switched off.
    Free,
}

impl Writes {
    /// What this kernel offers.
    pub(in super::super) fn of_this_kernel() -> Self {
        match (is_offered(AccessFs::WriteFile), is_offered(AccessFs::Truncate)) {
            (true, true) => Self::Confined,
            (true, false) => Self::ConfinedButTruncation,
            (false, _) => Self::Free,
        }
    }
}

fn is_offered(access: AccessFs) -> bool {
    let handled = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(access);
    handled.and_then(Ruleset::create).is_ok()
}

/// The newest that is known here. Older kernels do what they can.
const NEWEST: ABI = ABI::V9;

/// Devices that are written to without leaving anything.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The rules, as the kernel takes them; nothing where it has no Landlock.
///
/// Besides the files, a command can signal no process but its own, nor talk to abstract sockets of others.
pub(in super::super) fn rules(
    workspace: BorrowedFd<'_>,
    writable: &[PathBuf],
    network: bool,
) -> Result<Option<OwnedFd>, HandlerError> {
    let writing = AccessFs::from_write(NEWEST);
    let mut rules = Ruleset::default().handle_access(writing)?.scope(Scope::from_all(NEWEST))?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST))?;
    }
    // A device is a way to everything that is on it: none is made anywhere.
    let writing = writing & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let mut rules = rules.create()?.add_rule(PathBeneath::new(workspace, writing))?;
    for path in writable {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(path)?, of(path, writing)))?;
    }
    for device in DEVICES.iter().map(Path::new).filter(|device| device.exists()) {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(device)?, of(device, writing)))?;
    }
    Ok(rules.into())
}

/// What applies to a path: files have fewer rights than folders.
fn of(path: &Path, writing: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    if path.is_dir() { writing } else { writing & AccessFs::from_file(NEWEST) }
}
