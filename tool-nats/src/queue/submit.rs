//! How a job gets into the queue.

use std::borrow::Cow;

use async_nats::header::NATS_MESSAGE_ID;
use bytes::Bytes;

use super::record::State;
use super::{JobId, Queue};
use crate::wire::{CallHeaders, JOB, REPEAT, room};
use crate::{Error, fingerprint};

/// A call that is to be done.
pub(crate) struct Job<'a> {
    pub(crate) tool: &'a str,
    pub(crate) headers: CallHeaders<'a>,
    pub(crate) arguments: Bytes,
    /// Whether it may run again when its worker is lost.
    pub(crate) repeat: bool,
}

impl Job<'_> {
    /// What tells it from other calls of its tool, also when it is submitted again: the conversation and the id.
    fn known_by(&self) -> Option<(&str, &str)> {
        Some((self.headers.conversation.as_deref()?, self.headers.id.as_deref()?))
    }
}

/// What became of a submission.
pub(crate) enum Submitted {
    /// It is in the queue.
    Yes,
    /// It is not.
    No(Error),
    /// It may be.
    Unknown(Error),
}

impl Queue {
    /// The id of a job: the same for the same call of the same conversation.
    pub(crate) fn id_of(&self, job: &Job<'_>) -> JobId {
        let Some((conversation, id)) = job.known_by() else {
            let inbox = self.store.connection.client().new_inbox();
            return JobId::new(job.tool, inbox.rsplit('.').next().unwrap_or_default());
        };
        // As JSON, so that no two calls are written alike.
        let arguments = String::from_utf8_lossy(&job.arguments);
        let call = serde_json::json!([conversation, id, job.tool, arguments]).to_string();
        JobId::new(job.tool, &fingerprint::of_text(&call)[..32])
    }

    /// Puts a job into the queue, unless it is there already.
    ///
    /// Its record comes first: a message without a record could run twice. One that is there without a message, because
    /// whoever submitted it died in between, gets it when it is submitted again, and the server and the record keep a
    /// second message from doing anything.
    pub(crate) async fn submit(&self, id: &JobId, job: &Job<'_>) -> Submitted {
        let mut headers = job.headers.clone();
        if headers.conversation.is_none() {
            // So that a journal knows the job.
            headers.conversation = Some(Cow::Owned(format!("job:{id}")));
        }
        if headers.id.is_none() {
            headers.id = Some(Cow::Borrowed(id.as_str()));
        }
        let mut headers = headers.write();
        headers.insert(NATS_MESSAGE_ID, id.as_str());
        headers.insert(JOB, id.as_str());
        if job.repeat {
            headers.insert(REPEAT, "yes");
        }
        let (bytes, limit) = (job.arguments.len(), room(self.store.connection.client(), &headers));
        if bytes > limit {
            return Submitted::No(Error::TooLong { bytes, limit });
        }
        match self.store.create(id).await {
            Ok(true) => {}
            Ok(false) => match self.store.read(id).await {
                // A server that does not have the record yet is behind the one that has.
                Ok(Some((State::Waiting, _)) | None) => {}
                Ok(Some(_)) => return Submitted::Yes,
                Err(error) => return failed(error),
            },
            // Without a record there is no job, unless it was submitted before.
            Err(error) if job.known_by().is_none() => return Submitted::No(error),
            Err(error) => return failed(error),
        }
        match self.store.put(id, headers, job.arguments.clone()).await {
            Ok(()) => Submitted::Yes,
            Err(error) => failed(error),
        }
    }
}

/// What is not allowed is not done; of anything else that fails it is not known.
fn failed(error: Error) -> Submitted {
    match error {
        Error::Forbidden { .. } => Submitted::No(error),
        _ => Submitted::Unknown(error),
    }
}
