//! What a command prints: read, put in order, limited, reported.

mod lines;
mod progress;
mod reading;
mod transcript;

pub(super) use reading::Reading;
pub(super) use transcript::{Stream, Transcript};
