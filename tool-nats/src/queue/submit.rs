//! How a job gets into the queue.

use std::borrow::Cow;

use async_nats::header::NATS_MESSAGE_ID;
use async_nats::jetstream::kv::CreateErrorKind;
use bytes::Bytes;

use super::record::{Record, State};
use super::{JobId, Queue};
use crate::remote::Place;
use crate::wire::{CallHeaders, JOB, NOTIFY, REPEAT};
use crate::{Error, fingerprint};

/// A call that is to be done.
pub(crate) struct Job<'a> {
    pub(crate) tool: &'a str,
    pub(crate) headers: CallHeaders<'a>,
    pub(crate) arguments: Bytes,
    /// Whether it may run again when its worker is lost.
    pub(crate) repeat: bool,
}

/// What became of a submission.
pub(crate) enum Submitted {
    /// It is in the queue; the place hears when it is over.
    Yes(Place),
    /// It is not.
    No(Error),
    /// It may be.
    Unknown(Error),
}

impl Queue {
    /// The id of a job: the same for the same call of the same conversation.
    pub(crate) fn id_of(&self, job: &Job<'_>) -> JobId {
        let (Some(conversation), Some(id)) = (&job.headers.conversation, &job.headers.id) else {
            let inbox = self.inner.client.new_inbox();
            return JobId(inbox.rsplit('.').next().unwrap_or_default().to_owned());
        };
        // As JSON, so that no two calls are written alike.
        let arguments = String::from_utf8_lossy(&job.arguments);
        let call = serde_json::json!([conversation, id, job.tool, arguments]).to_string();
        JobId(fingerprint::of_text(&call)[..32].to_owned())
    }

    /// Puts a job into the queue, unless it is there already.
    ///
    /// Its record comes first: a message without a record could run twice. One that is there without a message, because
    /// whoever submitted it died in between, gets it when it is submitted again, and the server and the record keep a
    /// second message from doing anything.
    pub(crate) async fn submit(&self, id: &JobId, job: &Job<'_>) -> Submitted {
        let place = self.inner.inbox.place(None);
        let subject = self.inner.options.space.job(job.tool);
        let (bytes, limit) = (job.arguments.len(), self.inner.client.max_payload());
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
        headers.insert(NOTIFY, place.subject().as_str());
        if job.repeat {
            headers.insert(REPEAT, "yes");
        }
        if bytes + 1_024 > limit {
            return Submitted::No(Error::TooLong { bytes, limit: limit - 1_024 });
        }
        let record = Record { tool: job.tool.to_owned(), state: State::Waiting };
        let json = match serde_json::to_vec(&record) {
            Ok(json) => json,
            Err(error) => return Submitted::No(Error::nats("write the record of a job")(error)),
        };
        match self.inner.states.create(id.as_str(), json.into()).await {
            Ok(_) => {}
            Err(error) if error.kind() == CreateErrorKind::AlreadyExists => match self.read(id).await {
                Ok(Some((Record { state: State::Waiting, .. }, _))) => {}
                Ok(_) => return Submitted::Yes(place),
                Err(error) => return Submitted::No(error),
            },
            Err(error) => return Submitted::No(Error::nats("record a job")(error)),
        }
        let published = self.inner.context.publish_with_headers(subject, headers, job.arguments.clone()).await;
        let acknowledged = match published {
            Ok(acknowledged) => acknowledged.await,
            Err(error) => Err(error),
        };
        match acknowledged {
            Ok(_) => Submitted::Yes(place),
            Err(error) => Submitted::Unknown(Error::nats("put a job into the queue")(error)),
        }
    }
}
