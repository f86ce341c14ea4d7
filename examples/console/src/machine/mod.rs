//! Readings of the local machine from `sysinfo`, `/proc`, the package database and log files.

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

/// Paths of the files to read. Tests use other paths, and so does a machine that is mounted elsewhere.
#[derive(Clone, Debug)]
pub struct MachinePaths {
    /// The package database.
    pub dpkg: PathBuf,
    /// The log of the package manager.
    pub dpkg_log: PathBuf,
    /// The log directory. No files outside are read.
    pub logs: PathBuf,
    /// The user database.
    pub passwd: PathBuf,
    /// The names of well-known ports.
    pub ports: PathBuf,
    /// The desktop entries.
    pub desktop: PathBuf,
    /// Directories of unit files, in order of precedence.
    pub units: Vec<PathBuf>,
    /// Directories of commands.
    pub commands: Vec<PathBuf>,
}

impl Default for MachinePaths {
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

/// Reads the machine. Cheap to clone; clones share the previous measurements, since a rate needs two.
///
/// All methods read files and may block, so tools that use them are `blocking`.
#[derive(Clone)]
pub struct Machine {
    inner: Arc<MachineState>,
}

struct MachineState {
    places: MachinePaths,
    measured: Mutex<PreviousReadings>,
}

/// The previous measurements.
struct PreviousReadings {
    system: System,
    networks: Networks,
}

impl Machine {
    /// Measures once, so that the next measurement can compute rates.
    #[must_use]
    pub fn new(places: MachinePaths) -> Self {
        let measured = PreviousReadings { system: System::new_all(), networks: Networks::new_with_refreshed_list() };
        Self { inner: Arc::new(MachineState { places, measured: Mutex::new(measured) }) }
    }

    /// Returns the paths.
    #[must_use]
    pub fn places(&self) -> &MachinePaths {
        &self.inner.places
    }

    fn measured(&self) -> MutexGuard<'_, PreviousReadings> {
        self.inner.measured.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
