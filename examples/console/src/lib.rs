//! An example application: a monitor of the local machine whose services a language model can call, with web pages for
//! the user.
//!
//! [`services`] are ordinary Rust types with one attribute on each `impl`; [`machine`] is what they read, [`store`]
//! what they write. [`tools`] registers them while the extension `ai_chat` is enabled in the [`settings`].

pub mod app;
pub mod background;
pub mod built_ins;
pub mod clock;
pub mod internet;
pub mod listing;
pub mod machine;
pub mod model;
pub mod options;
pub mod plugins;
pub mod sampler;
pub mod secret;
pub mod services;
pub mod settings;
pub mod store;
pub mod tools;
pub mod web;
mod workers;
pub mod workspace;
