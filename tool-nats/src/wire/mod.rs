//! What goes over the wire: calls with their headers, and the messages that answer them.

mod answer;
mod headers;
mod text;

pub(crate) use answer::{Answer, AnswerParts, Reply, messages};
pub(crate) use headers::{CallHeaders, JOB, PART, PROBE, REPEAT, header, room};
