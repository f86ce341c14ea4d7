//! Readings of the machine as a whole.

use serde::Serialize;
use sysinfo::{Components, Disks, System};

use super::Machine;
use crate::clock::in_words;
use crate::listing::{megabytes, percent, rounded};

/// Names, sizes and loads of the machine.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// The machine's name.
    pub host: String,
    /// The system with its version.
    pub system: String,
    /// The kernel's version.
    pub kernel: String,
    /// The processor's architecture.
    pub architecture: String,
    /// The processor's name.
    pub processor: String,
    /// The number of cores.
    pub cores: usize,
    /// The uptime, for people.
    pub up: String,
    /// The uptime in seconds.
    pub up_seconds: u64,
    /// CPU usage of all cores, in percent.
    pub cpu_percent: f64,
    /// Load averages of 1, 5 and 15 minutes.
    pub load: [f64; 3],
    /// The memory.
    pub memory: Amount,
    /// The swap space; the total is 0 if there is none.
    pub swap: Amount,
    /// The number of processes.
    pub processes: usize,
}

/// Total and used amount of a resource.
#[derive(Clone, Debug, Serialize)]
pub struct Amount {
    /// The total in megabytes.
    pub total_mb: f64,
    /// The used amount in megabytes.
    pub used_mb: f64,
    /// The used amount in percent.
    pub used_percent: f64,
}

impl Amount {
    fn new(used: u64, total: u64) -> Self {
        Self { total_mb: megabytes(total), used_mb: megabytes(used), used_percent: percent(used, total) }
    }
}

/// A mounted file system.
#[derive(Clone, Debug, Serialize)]
pub struct Disk {
    /// The mount point.
    pub mounted_at: String,
    /// The device.
    pub device: String,
    /// Its file system.
    pub file_system: String,
    /// `true` if it is mounted read-only.
    pub read_only: bool,
    /// Its space.
    pub space: Amount,
}

/// A network interface.
#[derive(Clone, Debug, Serialize)]
pub struct Interface {
    /// Its name.
    pub name: String,
    /// Addresses with prefix lengths.
    pub addresses: Vec<String>,
    /// Received data in megabytes.
    pub received_mb: f64,
    /// Sent data in megabytes.
    pub sent_mb: f64,
    /// Damaged or lost packets.
    pub errors: u64,
}

/// The reading of a sensor.
#[derive(Clone, Debug, Serialize)]
pub struct Temperature {
    /// The name of the sensor.
    pub sensor: String,
    /// The temperature in degrees Celsius.
    pub celsius: f64,
    /// The critical temperature.
    pub critical_celsius: Option<f64>,
}

impl Machine {
    /// Returns names, sizes and loads.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut measured = self.measured();
        let system = &mut measured.system;
        system.refresh_cpu_usage();
        system.refresh_memory();
        let load = System::load_average();
        let or_unknown = |name: Option<String>| name.unwrap_or_else(|| "unknown".to_owned());
        Snapshot {
            host: or_unknown(System::host_name()),
            system: or_unknown(System::long_os_version()),
            kernel: or_unknown(System::kernel_version()),
            architecture: System::cpu_arch(),
            processor: system.cpus().first().map(|cpu| cpu.brand().trim().to_owned()).unwrap_or_default(),
            cores: system.cpus().len(),
            up: in_words(System::uptime()),
            up_seconds: System::uptime(),
            cpu_percent: rounded(system.global_cpu_usage().into()),
            load: [load.one, load.five, load.fifteen].map(rounded),
            memory: Amount::new(system.used_memory(), system.total_memory()),
            swap: Amount::new(system.used_swap(), system.total_swap()),
            processes: process_count().unwrap_or_else(|| system.processes().len()),
        }
    }

    /// Returns the file systems that store files, fullest first.
    #[must_use]
    pub fn disks(&self) -> Vec<Disk> {
        let disks = Disks::new_with_refreshed_list();
        let mut disks: Vec<Disk> = disks.list().iter().filter(|disk| disk.total_space() > 0).map(read_disk).collect();
        disks.sort_by(|a, b| b.space.used_percent.total_cmp(&a.space.used_percent));
        disks
    }

    /// Returns the network interfaces, sorted by name.
    #[must_use]
    pub fn interfaces(&self) -> Vec<Interface> {
        let mut measured = self.measured();
        measured.networks.refresh(true);
        let read = |(name, data): (&String, &sysinfo::NetworkData)| Interface {
            name: name.clone(),
            addresses: data.ip_networks().iter().map(|network| network.to_string()).collect(),
            received_mb: megabytes(data.total_received()),
            sent_mb: megabytes(data.total_transmitted()),
            errors: data.total_errors_on_received() + data.total_errors_on_transmitted(),
        };
        let mut interfaces: Vec<Interface> = measured.networks.iter().map(read).collect();
        interfaces.sort_by(|a, b| a.name.cmp(&b.name));
        interfaces
    }

    /// Returns the sensors, hottest first. Many machines have none, virtual ones in particular.
    #[must_use]
    pub fn temperatures(&self) -> Vec<Temperature> {
        let components = Components::new_with_refreshed_list();
        let read = |component: &sysinfo::Component| {
            Some(Temperature {
                sensor: component.label().to_owned(),
                celsius: rounded(component.temperature()?.into()),
                critical_celsius: component.critical().map(|celsius| rounded(celsius.into())),
            })
        };
        let mut temperatures: Vec<Temperature> = components.list().iter().filter_map(read).collect();
        temperatures.sort_by(|a, b| b.celsius.total_cmp(&a.celsius));
        temperatures
    }
}

fn read_disk(disk: &sysinfo::Disk) -> Disk {
    let used = disk.total_space().saturating_sub(disk.available_space());
    Disk {
        mounted_at: disk.mount_point().display().to_string(),
        device: disk.name().to_string_lossy().into_owned(),
        file_system: disk.file_system().to_string_lossy().into_owned(),
        read_only: disk.is_read_only(),
        space: Amount::new(used, disk.total_space()),
    }
}

/// Counts the numeric directories of `/proc`, which is faster than reading them.
fn process_count() -> Option<usize> {
    let entries = std::fs::read_dir("/proc").ok()?;
    let is_number = |name: &std::ffi::OsStr| name.as_encoded_bytes().iter().all(u8::is_ascii_digit);
    let count = entries.filter_map(Result::ok).filter(|entry| is_number(&entry.file_name())).count();
    (count > 0).then_some(count)
}
