//! The console: a monitor of the machine it runs on whose services a language model can call, and the pages on which a
//! person meets both.
//!
//! [`services`] are ordinary Rust with one attribute on each `impl`; [`machine`] is what they read, [`store`] what they
//! keep. [`tools`] offers them to a model as long as the extension `ai_chat` is enabled in the [`settings`].

pub mod app;
pub mod background;
pub mod clock;
pub mod internet;
pub mod listing;
pub mod machine;
pub mod model;
pub mod options;
pub mod sampler;
pub mod secret;
pub mod services;
pub mod settings;
pub mod store;
pub mod tools;
pub mod web;
mod workers;
pub mod workspace;
