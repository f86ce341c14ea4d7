//! Restrictions that the kernel enforces on a command: writes, network and capabilities.

use std::collections::BTreeMap;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset, RulesetAttr,
    RulesetCreatedAttr, Scope,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};
use serde::Serialize;
use tool_runtime::HandlerError;

use super::tree::ProcessCleanup;

/// The restrictions that this system enforces on a command. Reported by
/// [`Exec::confinement`](super::Exec::confinement) and in the metadata of each result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Confinement {
    /// The method that kills the command's descendants.
    pub tree: ProcessCleanup,
    /// The confinement of writes.
    pub writes: WriteConfinement,
    /// `true` if the command can reach the network. Unix sockets are always reachable.
    pub network: bool,
}

/// The extent to which writes are confined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteConfinement {
    /// Files outside cannot be written, created, removed, renamed or truncated.
    Confined,
    /// Like `Confined`, but files outside can be truncated: the kernel is older than Linux 6.2.
    ConfinedButTruncation,
    /// A command can write wherever its user can: Landlock is missing or disabled.
    Free,
}

impl WriteConfinement {
    /// Returns the confinement that this kernel supports.
    pub(super) fn detect() -> Self {
        match (is_supported(AccessFs::WriteFile), is_supported(AccessFs::Truncate)) {
            (true, true) => Self::Confined,
            (true, false) => Self::ConfinedButTruncation,
            (false, _) => Self::Free,
        }
    }
}

fn is_supported(access: AccessFs) -> bool {
    let handled = Ruleset::default().set_compatibility(CompatLevel::HardRequirement).handle_access(access);
    handled.and_then(Ruleset::create).is_ok()
}

/// The newest Landlock ABI used. Older kernels enforce the subset that they support.
const NEWEST_ABI: ABI = ABI::V9;

/// Devices that commands may write to.
const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// Builds the Landlock ruleset; `None` if the kernel has no Landlock.
///
/// It also keeps a command from signalling processes outside its own tree and from connecting to their abstract sockets.
pub(super) fn landlock_rules(
    workspace: BorrowedFd<'_>,
    writable: &[PathBuf],
    network: bool,
) -> Result<Option<OwnedFd>, HandlerError> {
    let writing = AccessFs::from_write(NEWEST_ABI);
    let mut rules = Ruleset::default().handle_access(writing)?.scope(Scope::from_all(NEWEST_ABI))?;
    if !network {
        rules = rules.handle_access(AccessNet::from_all(NEWEST_ABI))?;
    }
    // A device node would give access to the whole device, so none can be created anywhere.
    let writing = writing & !(AccessFs::MakeBlock | AccessFs::MakeChar);
    let mut rules = rules.create()?.add_rule(PathBeneath::new(workspace, writing))?;
    for path in writable {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(path)?, rights_for(path, writing)))?;
    }
    for device in DEVICES.iter().map(Path::new).filter(|device| device.exists()) {
        rules = rules.add_rule(PathBeneath::new(PathFd::new(device)?, rights_for(device, writing)))?;
    }
    Ok(rules.into())
}

/// Returns the access rights that apply to a path: files have fewer than directories.
fn rights_for(path: &Path, writing: BitFlags<AccessFs>) -> BitFlags<AccessFs> {
    if path.is_dir() { writing } else { writing & AccessFs::from_file(NEWEST_ABI) }
}

// Network. Landlock restricts TCP only, but DNS uses UDP. So a seccomp filter rejects sockets of every family except Unix
// sockets, and `io_uring`, which can create sockets without the `socket` system call. A command in a PID namespace also
// gets an empty network namespace.

/// Builds the seccomp filter that blocks the network. Fails on architectures that seccompiler does not support.
pub(super) fn network_filter() -> Result<BpfProgram, seccompiler::BackendError> {
    let family_is_not_local =
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, libc::AF_UNIX as u64)?;
    let refused = BTreeMap::from([
        (libc::SYS_socket, vec![SeccompRule::new(vec![family_is_not_local])?]),
        (libc::SYS_io_uring_setup, Vec::new()),
    ]);
    let refuse = SeccompAction::Errno(libc::EACCES as u32);
    let processor = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(refused, SeccompAction::Allow, refuse, processor)?.try_into()
}

// Capabilities. Root can set the clock, load kernel modules, create device nodes and inspect other processes. Neither
// Landlock nor namespaces prevent all of that. So a command keeps only the capabilities that containers grant to root:
// those that concern files, users and ports.

/// The capabilities that a command keeps, if the host has them.
const KEPT_CAPABILITIES: CapabilitySet = CapabilitySet::AUDIT_WRITE
    .union(CapabilitySet::CHOWN)
    .union(CapabilitySet::DAC_OVERRIDE)
    .union(CapabilitySet::FOWNER)
    .union(CapabilitySet::FSETID)
    .union(CapabilitySet::KILL)
    .union(CapabilitySet::NET_BIND_SERVICE)
    .union(CapabilitySet::NET_RAW)
    .union(CapabilitySet::SETFCAP)
    .union(CapabilitySet::SETGID)
    .union(CapabilitySet::SETPCAP)
    .union(CapabilitySet::SETUID)
    .union(CapabilitySet::SYS_CHROOT);

/// Drops all other capabilities for this process and its descendants. Makes system calls only.
///
/// A process that is not permitted to shrink its bounding set is harmless: `no_new_privs` keeps it from gaining
/// capabilities.
pub(super) fn drop_capabilities() -> rustix::io::Result<()> {
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if !KEPT_CAPABILITIES.contains(capability) {
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    let CapabilitySets { effective, permitted, inheritable } = capabilities(None)?;
    let kept = CapabilitySets {
        effective: effective.intersection(KEPT_CAPABILITIES),
        permitted: permitted.intersection(KEPT_CAPABILITIES),
        inheritable: inheritable.intersection(KEPT_CAPABILITIES),
    };
    set_capabilities(None, kept)
}
