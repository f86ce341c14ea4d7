//! The console's services, called as a model calls them: through the dispatcher, on the data of this machine.

// A console in a folder of its own.
mod fixture;

// Every tool is called, and says what it should.
mod tools;

// What the definitions promise: descriptions, bounds, flags.
mod definitions;

// Ending processes: the right one, and never the console.
mod kill;

// Sessions: all of a call is kept, or nothing.
mod rollback;

// Files of other versions.
mod store;

// The sampler, alerts and the checks of targets.
mod sampler;

// Switching extensions on and off.
mod switch;

// Log lines and process names of people who mean harm.
mod hostile;

// The pages and what they are told, without a browser.
mod web;

// Who may use the console, and what keeps it from starting.
mod access;

// The pages in a real browser.
mod browser;

// Many conversations at once.
mod load;

// Tools of workers elsewhere, over a real `nats-server`.
mod remote;
