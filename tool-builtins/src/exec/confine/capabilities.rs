//! What a command of a superuser may not do either.
//!
//! Whoever runs as root can set the clock, load a module into the kernel, make a device for a disk and look into other
//! processes, and neither Landlock nor namespaces keep it from all of that. So a command keeps what programs need to
//! deal with files, users and ports, which is what containers give to root, and no more.

use rustix::io;
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, remove_capability_from_bounding_set, set_capabilities,
};

/// What a command keeps, if the host has it.
const KEPT: CapabilitySet = CapabilitySet::AUDIT_WRITE
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

/// Gives up everything else, for this process and all that it starts. It makes system calls only.
///
/// A process that may not lower its bounds has nothing to gain from them: it cannot gain privileges any more.
pub(in super::super) fn give_up() -> io::Result<()> {
    for number in 0..u64::BITS {
        let capability = CapabilitySet::from_bits_retain(1 << number);
        if !KEPT.contains(capability) {
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    let CapabilitySets { effective, permitted, inheritable } = capabilities(None)?;
    let kept = CapabilitySets {
        effective: effective.intersection(KEPT),
        permitted: permitted.intersection(KEPT),
        inheritable: inheritable.intersection(KEPT),
    };
    set_capabilities(None, kept)
}
