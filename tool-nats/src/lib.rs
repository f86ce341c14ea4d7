#![doc = include_str!("../README.md")]
#![doc = include_str!("../docs/crate.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod connection;
mod error;
mod fingerprint;
mod queue;
mod remote;
mod space;
mod wire;
mod worker;

pub use async_nats;
pub use connection::{ConnectionBuilder, NatsConnection, connect};
pub use error::NatsError;
pub use queue::{JobId, JobStatus, QueueOptions, WorkQueue};
pub use remote::{DeliveryMode, DiscoveryBuilder, RemoteTools, ToolConflict, WorkerInfo, discover};
pub use space::Space;
pub use worker::{Worker, WorkerBuilder, serve};
