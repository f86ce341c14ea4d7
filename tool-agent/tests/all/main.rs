//! The agent against what stands in for its providers.

// The server that answers as each provider does.
mod server;
// One model, without the loop.
mod providers;
// The loop, and what the providers' own packages think of what it sends.
mod python;
mod scenarios;
