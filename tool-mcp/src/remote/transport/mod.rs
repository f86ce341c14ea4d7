//! Transports to remote servers. None buffers more than one message of the allowed length.

#[cfg(feature = "auth")]
mod authorized_client;
mod child;
mod handshake;
mod http;
mod http_error;
mod monitor;
mod response_parser;
mod resume;
mod server_stream;
mod sse;
mod stderr_tail;
mod streams;

pub(super) use child::start;
pub(super) use handshake::NEWEST;
pub(super) use http::connect as connect_http;
pub(super) use monitor::{
    ConnectionMonitor, LOST, MonitoredTransport, ProgressListener, SentFlag, TOO_LONG, UNREADABLE,
};
pub(super) use stderr_tail::StderrTail;
pub(crate) use streams::StreamConnector;
pub(super) use streams::streams;
