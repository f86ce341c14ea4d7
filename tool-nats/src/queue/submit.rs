//! Submission of jobs.

use std::borrow::Cow;

use async_nats::header::NATS_MESSAGE_ID;
use bytes::Bytes;

use super::job::JobState;
use super::{JobId, WorkQueue};
use crate::wire::{CallHeaders, JOB, REPEAT, payload_space};
use crate::{NatsError, fingerprint};

/// A call to be queued.
pub(crate) struct QueuedCall<'a> {
    pub(crate) tool: &'a str,
    pub(crate) headers: CallHeaders<'a>,
    pub(crate) arguments: Bytes,
    /// Set if it may run again when its worker is lost.
    pub(crate) repeat: bool,
}

impl QueuedCall<'_> {
    /// Returns the conversation and id of the call, which identify it when it is submitted again.
    fn identity(&self) -> Option<(&str, &str)> {
        Some((self.headers.conversation.as_deref()?, self.headers.id.as_deref()?))
    }
}

/// The result of a submission.
pub(crate) enum Submission {
    /// The job is in the queue.
    Yes,
    /// The job is not in the queue.
    No(NatsError),
    /// The job may be in the queue.
    Unknown(NatsError),
}

impl WorkQueue {
    /// Returns the id of a job, which is the same for the same call of the same conversation.
    pub(crate) fn job_id(&self, job: &QueuedCall<'_>) -> JobId {
        let Some((conversation, id)) = job.identity() else {
            let inbox = self.store.connection.client().new_inbox();
            return JobId::new(job.tool, inbox.rsplit('.').next().unwrap_or_default());
        };
        // JSON, so that different calls never have the same text.
        let arguments = String::from_utf8_lossy(&job.arguments);
        let call = serde_json::json!([conversation, id, job.tool, arguments]).to_string();
        JobId::new(job.tool, &fingerprint::text(&call)[..32])
    }

    /// Adds a job to the queue, unless it is there already.
    ///
    /// The record is created first, because a message without a record could run twice. A record without a message,
    /// left by a submitter that died in between, gets its message when the job is submitted again. Deduplication on the
    /// server and the record make a second message harmless.
    pub(crate) async fn submit(&self, id: &JobId, job: &QueuedCall<'_>) -> Submission {
        let mut headers = job.headers.clone();
        if headers.conversation.is_none() {
            // The journal identifies a call by its conversation and id.
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
        let (bytes, limit) = (job.arguments.len(), payload_space(self.store.connection.client(), &headers));
        if bytes > limit {
            return Submission::No(NatsError::TooLong { bytes, limit });
        }
        match self.store.create(id).await {
            Ok(true) => {}
            Ok(false) => match self.store.read(id).await {
                // A replica without the record lags behind.
                Ok(Some((JobState::Waiting, _)) | None) => {}
                Ok(Some(_)) => return Submission::Yes,
                Err(error) => return failed(error),
            },
            // Without a record there is no job, unless it was submitted before.
            Err(error) if job.identity().is_none() => return Submission::No(error),
            Err(error) => return failed(error),
        }
        match self.store.publish(id, headers, job.arguments.clone()).await {
            Ok(()) => Submission::Yes,
            Err(error) => failed(error),
        }
    }
}

/// Classifies a failed submission: a denied one was not done, any other may have been.
fn failed(error: NatsError) -> Submission {
    match error {
        NatsError::Forbidden { .. } => Submission::No(error),
        _ => Submission::Unknown(error),
    }
}
