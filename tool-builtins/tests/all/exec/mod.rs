/// What a command cannot do.
mod confined;
/// Output without end.
mod flood;
/// Processes that do not want to end.
mod leaving;
/// What a command answers.
mod running;
/// What the processes around a command cost.
mod supervisors;
/// What the other modules need.
mod support;
/// Where the system cannot keep it from doing so.
mod unconfined;
