//! The console's services, called as a model calls them: through the dispatcher, on the data of this machine.

// A console with its own temporary directory.
mod fixture;

// Calls of every tool.
mod tools;

// Definitions: descriptions, bounds, flags.
mod definitions;

// Ending processes, but never the console.
mod kill;

// Sessions: the changes of a call are committed together or rolled back.
mod rollback;

// Database files of other versions.
mod store;

// The sampler, alerts and the checks of targets.
mod sampler;

// The container image.
mod dockerfile;

// Switching extensions on and off.
mod switch;

// Built-in tools that extensions and the command line enable.
mod built_ins;

// MCP servers.
mod plugins;

// Hostile log lines and process names.
mod hostile;

// The pages and their events, without a browser.
mod web;

// Access control and start-up errors.
mod access;

// The pages in a real browser.
mod browser;

// Many concurrent conversations.
mod load;

// Tools of remote workers, over a real `nats-server`.
mod remote;
