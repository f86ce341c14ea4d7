//! The services of the monitor: ordinary Rust types with one attribute on each `impl` that makes its methods tools.
//!
//! A service is created for each call. Its fields are injected: the machine, the settings, and the session of the call,
//! which is committed when the call succeeds and rolled back when it fails.

pub mod applications;
pub mod applications_system;
pub mod classification;
pub mod extensions;
pub mod internet_events;
pub mod internet_metrics;
pub mod logs;
pub mod metrics;
pub mod processes;
pub mod service_discovery;
pub mod system;
pub mod system_alerts;
pub mod system_packages;
pub mod system_simple;
pub mod users;
