#![doc = include_str!("../docs/crate.md")]

mod connection;
mod error;
mod fingerprint;
mod queue;
mod remote;
mod space;
mod wire;
mod worker;

pub use async_nats;
pub use connection::{Connect, Connection, connect};
pub use error::Error;
pub use queue::{JobId, Queue, QueueOptions, Status};
pub use remote::{Conflict, Delivery, Discover, Remote, Seen, discover};
pub use space::Space;
pub use worker::{Serve, Worker, serve};
