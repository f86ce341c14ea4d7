/// Limits on what a command can do.
mod confinement;
/// Endless output.
mod output_flood;
/// Processes that try to outlive the command.
mod process_escapes;
/// Arguments, results and previews.
mod run_command;
/// Memory use of supervisors.
mod supervisor_memory;
/// Helpers for the other modules.
mod support;
/// Behaviour on kernels without Landlock.
mod without_landlock;
