//! No network, by a filter of system calls.
//!
//! Landlock refuses TCP only, and names are looked up over UDP. So sockets of every family are refused but the local
//! one, and `io_uring` with them, which makes sockets without the system call. Where a command has a PID namespace it
//! has one of networks as well, with nothing in it.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule, TargetArch,
};

/// The filter; an error on processors that it is not known for.
pub(in super::super) fn filter() -> Result<BpfProgram, seccompiler::BackendError> {
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
