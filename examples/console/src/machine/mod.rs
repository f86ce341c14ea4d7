//! The machine the console runs on, as it can be read: through `sysinfo`, `/proc`, the package database and log files.

pub mod logs;
pub mod packages;
pub mod passwd;
pub mod processes;
pub mod programs;
pub mod readings;
pub mod signal;
pub mod sockets;
pub mod units;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sysinfo::{Networks, System};

/// Where the machine keeps what is read. Other places are for tests, and for a machine that is mounted somewhere.
#[derive(Clone, Debug)]
pub struct Places {
    /// The database of packages.
    pub dpkg: PathBuf,
    /// The record of what was installed and removed.
    pub dpkg_log: PathBuf,
    /// The folder beneath which log files are read, and none outside it.
    pub logs: PathBuf,
    /// Users, their homes and their shells.
    pub passwd: PathBuf,
    /// The names of well-known ports.
    pub ports: PathBuf,
    /// Entries of the desktop's menu.
    pub desktop: PathBuf,
    /// Folders of unit files, the first of equal names first.
    pub units: Vec<PathBuf>,
    /// Folders in which commands are found.
    pub commands: Vec<PathBuf>,
}

impl Default for Places {
    fn default() -> Self {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        Self {
            dpkg: "/var/lib/dpkg".into(),
            dpkg_log: "/var/log/dpkg.log".into(),
            logs: "/var/log".into(),
            passwd: "/etc/passwd".into(),
            ports: "/etc/services".into(),
            desktop: "/usr/share/applications".into(),
            units: paths(&["/etc/systemd/system", "/run/systemd/system", "/usr/lib/systemd/system"]),
            commands: paths(&["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"]),
        }
    }
}

/// Reads the machine. Cheap to clone; clones share what was measured before, since a rate needs two measurements.
///
/// Everything here reads files and may wait for the disk: tools that use it are `blocking`.
#[derive(Clone)]
pub struct Machine {
    inner: Arc<Inner>,
}

struct Inner {
    places: Places,
    measured: Mutex<Measured>,
}

/// What rates are measured against.
struct Measured {
    system: System,
    networks: Networks,
}

impl Machine {
    /// Measures once, so that the next measurement has something to be compared with.
    #[must_use]
    pub fn new(places: Places) -> Self {
        let measured = Measured { system: System::new_all(), networks: Networks::new_with_refreshed_list() };
        Self { inner: Arc::new(Inner { places, measured: Mutex::new(measured) }) }
    }

    /// Where it reads.
    #[must_use]
    pub fn places(&self) -> &Places {
        &self.inner.places
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.inner.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
