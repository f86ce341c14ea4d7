//! Wire format: calls with their headers, and replies.

mod headers;
mod percent;
mod reply;

pub(crate) use headers::{CallHeaders, JOB, PART, PROBE, REPEAT, header, payload_space};
pub(crate) use reply::{CallReply, ReceivedReply, ReplyParts, messages};
