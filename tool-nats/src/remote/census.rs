//! Which workers there are, and what they offer.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_nats::Client;
use bytes::Bytes;
use futures_util::StreamExt;
use serde::Deserialize;
use tokio::time::{Instant, timeout, timeout_at};
use tool_runtime::{Manifest, ToolDefinition};

use crate::wire::{PART, header};
use crate::{Error, Space, fingerprint};

/// After so long without another answer all workers have answered, if there are as many as there were.
const QUIET: Duration = Duration::from_millis(250);

/// And after so long if there are not: those that are missing may be busy.
const MISSING: Duration = Duration::from_secs(1);

/// How long a count takes at most.
const LONGEST: Duration = Duration::from_secs(3);

/// How long a part of a manifest may take.
const PART_PATIENCE: Duration = Duration::from_secs(5);

/// The longest manifest that is fetched.
const MOST_BYTES: usize = 256 << 20;

/// What a worker says of itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Presence {
    pub(super) id: String,
    pub(super) version: String,
    #[serde(default)]
    pub(super) metadata: HashMap<String, String>,
}

impl Presence {
    pub(super) fn read(json: &[u8]) -> Option<Self> {
        serde_json::from_slice(json).ok()
    }

    /// The hash of its manifest; nothing if it is a service of another kind.
    pub(super) fn manifest(&self) -> Option<&str> {
        let hash = self.metadata.get("manifest")?;
        (hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash)
    }
}

/// Asks who is there, where so many were before. The server says at once if nobody is.
pub(super) async fn count(client: &Client, space: &Space, before: usize) -> Result<Vec<Presence>, Error> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await.map_err(Error::nats("subscribe to presence"))?;
    let ping = format!("$SRV.PING.{}", space.name());
    client.publish_with_reply(ping, inbox, Bytes::new()).await.map_err(Error::nats("ask who is there"))?;
    let latest = Instant::now() + LONGEST;
    let mut present: Vec<Presence> = Vec::new();
    loop {
        let patience = match present.len() {
            0 => LONGEST,
            there if there < before => MISSING,
            _ => QUIET,
        };
        match timeout_at(latest.min(Instant::now() + patience), answers.next()).await {
            Ok(Some(message)) if message.status.is_none() => present.extend(Presence::read(&message.payload)),
            _ => return Ok(present),
        }
    }
}

/// The tools of a manifest, each with its definition and its fingerprint.
pub(super) type Offered = Arc<Vec<(String, Arc<ToolDefinition>, String)>>;

/// Fetches a manifest, in parts, from whichever worker has it.
pub(super) async fn fetch(client: &Client, space: &Space, hash: &str) -> Result<Offered, Error> {
    let mut text = Vec::new();
    let mut number = 0;
    loop {
        let request = client.request(space.manifest(hash), number.to_string().into());
        let message = timeout(PART_PATIENCE, request)
            .await
            .map_err(Error::nats("wait for a manifest"))?
            .map_err(Error::nats("ask for a manifest"))?;
        let part = header(message.headers.as_ref(), PART);
        let count = part.and_then(|part| part.split_once('/')).and_then(|(_, count)| count.parse::<usize>().ok());
        text.extend_from_slice(&message.payload);
        number += 1;
        if text.len() > MOST_BYTES {
            return Err(wrong("it is too long"));
        }
        if number >= count.ok_or_else(|| wrong("a part does not say which it is"))? {
            break;
        }
    }
    let text = String::from_utf8(text).map_err(Error::nats("read a manifest"))?;
    // It came from whoever listens to the subject: only the hash says that it is what was announced.
    if fingerprint::of_text(&text) != hash {
        return Err(wrong("it is not the one that was announced"));
    }
    let manifest = Manifest::from_json(&text).map_err(Error::nats("read a manifest"))?;
    let tools = manifest
        .iter()
        .map(|(name, definition)| (name.to_owned(), Arc::new(definition.clone()), fingerprint::of_tool(definition)));
    Ok(Arc::new(tools.collect()))
}

fn wrong(why: &'static str) -> Error {
    Error::Nats { doing: "read a manifest", source: why.into() }
}
