//! The subscriptions of a worker, kept like the tools of its dispatcher.

use std::collections::{BTreeMap, BTreeSet};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{HeaderMap, Message, Subscriber};
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::stream::{SelectAll, select_all};
use futures_util::{FutureExt, StreamExt};
use tokio::time::{interval, timeout};
use tokio_util::sync::CancellationToken;
use tool_runtime::manifest::Definitions;
use tool_runtime::{Manifest, ToolDefinition};

use super::pace::Pace;
use super::presence::Presence;
use super::reading::{PROBE_PATIENCE, Reading, probe};
use super::statistics::Statistics;
use super::{Shared, request};
use crate::connection::Following;
use crate::queue::{Choice, Taking};
use crate::{Connection, Error, Queue, fingerprint};

/// How often the dispatcher is asked whether its tools have changed. It costs the comparison of two pointers.
const LOOK: Duration = Duration::from_secs(1);

/// How often somebody is asked for who has a tool.
const CHECKS: u32 = 3;

/// How long it may take until it is heard here that the server has said no.
const DENIAL_PATIENCE: Duration = Duration::from_millis(100);

const VERBS: [&str; 3] = ["PING", "INFO", "STATS"];

/// A tool that is served.
pub(crate) struct Tool {
    pub(crate) name: String,
    pub(crate) subject: String,
    pub(crate) sensitive: bool,
    pub(crate) repeatable: bool,
    pub(super) statistics: Statistics,
    pub(super) pace: Pace,
}

impl Tool {
    /// Its name as NATS's services allow it.
    pub(super) fn endpoint(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// A worker's subscriptions.
pub(super) struct Serving {
    shared: Arc<Shared>,
    /// What was last looked at.
    definitions: Option<Definitions>,
    tools: BTreeMap<String, Served>,
    manifest: Option<Reading>,
    presence: Presence,
    verbs: SelectAll<Subscriber>,
    stops: Subscriber,
    taking: Option<Taking>,
    /// What the server does not let this worker do; nothing where that is not heard.
    denials: Option<Following>,
}

struct Served {
    tool: Arc<Tool>,
    reading: Reading,
}

impl Serving {
    pub(super) async fn start(shared: Arc<Shared>, connection: &Connection) -> Result<Self, Error> {
        let denials = connection.hears().then(|| connection.denials().follow());
        let subscribe = async |subject: String| {
            shared.client.subscribe(subject).await.map_err(Error::nats("subscribe to a worker's subjects"))
        };
        let stops = subscribe(shared.space.worker(&shared.id)).await?;
        let mut verbs = Vec::new();
        for subject in VERBS.iter().flat_map(|verb| shared.space.verb(verb, &shared.id)) {
            verbs.push(subscribe(subject).await?);
        }
        Ok(Self {
            shared,
            definitions: None,
            tools: BTreeMap::new(),
            manifest: None,
            presence: Presence { manifest_hash: String::new(), tools: Vec::new() },
            verbs: select_all(verbs),
            stops,
            taking: None,
            denials,
        })
    }

    pub(super) fn take_from(&mut self, queue: Queue, queued: Choice, places: usize) {
        self.taking = Some(Taking::new(queue, queued, places));
    }

    /// Serves until it is stopped; then says that it is gone, and reads what is still on its way.
    pub(super) async fn serve(mut self, stop: CancellationToken) {
        let mut look = interval(LOOK);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(call) = self.stops.next() => self.stop(&call),
                Some(message) = self.verbs.next() => self.say(message).await,
                _ = look.tick() => if self.has_changed() {
                    match self.update().await {
                        Ok(()) => self.announce().await,
                        Err(error) => tracing::error!(%error, "the tools of a worker have changed, but cannot be served"),
                    }
                }
            }
        }
        self.leave().await;
    }

    fn has_changed(&self) -> bool {
        let now = self.shared.dispatcher.definitions();
        self.definitions.as_ref().is_none_or(|known| !Arc::ptr_eq(known, &now))
    }

    /// Subscribes to what is new, and no longer to what is gone.
    pub(super) async fn update(&mut self) -> Result<(), Error> {
        let definitions = self.shared.dispatcher.definitions();
        let mut manifest = Manifest::default();
        let mut tools = BTreeMap::new();
        for (name, definition) in definitions.iter() {
            // Where a function stands in the worker's code is nobody else's business.
            let mut announced = ToolDefinition::clone(definition);
            announced.handler = self.shared.space.handler(name);
            let subject = self.shared.space.call(name, &fingerprint::of_tool(&announced));
            manifest.insert(&**name, announced);
            let served = match self.tools.remove(&subject) {
                Some(served) => served,
                None => self.serve_tool(name, definition, &subject).await?,
            };
            tools.insert(subject, served);
        }
        // What is left there is gone from the dispatcher.
        self.tools = tools;
        let (hash, text) = fingerprint::of_manifest(&manifest);
        self.manifest = Some(self.serve_manifest(&hash, text).await?);
        self.presence =
            Presence { manifest_hash: hash, tools: self.tools.values().map(|served| served.tool.clone()).collect() };
        if let Some(taking) = &mut self.taking {
            let tools = self.tools.values().map(|served| &served.tool);
            taking.update(&self.shared, &definitions, tools);
        }
        self.definitions = Some(definitions);
        Ok(())
    }

    async fn serve_tool(&self, name: &str, definition: &ToolDefinition, subject: &str) -> Result<Served, Error> {
        let tool = Arc::new(Tool {
            name: name.to_owned(),
            subject: subject.to_owned(),
            sensitive: definition.sensitive,
            repeatable: definition.idempotent || definition.read_only,
            statistics: Statistics::default(),
            pace: Pace::default(),
        });
        let (shared, served) = (self.shared.clone(), tool.clone());
        let reading = Reading::start(&self.shared, subject, move |message| {
            request::take(&shared, &served, message);
            std::future::ready(())
        })
        .await?;
        Ok(Served { tool, reading })
    }

    async fn serve_manifest(&self, hash: &str, text: String) -> Result<Reading, Error> {
        const HEADER_ROOM: usize = 512;
        let text = Bytes::from(text);
        let shared = self.shared.clone();
        Reading::start(&self.shared, &self.shared.space.manifest(hash), move |message| {
            let (shared, text) = (shared.clone(), text.clone());
            async move {
                let most = shared.client.max_payload().saturating_sub(HEADER_ROOM).max(1);
                let count = text.len().div_ceil(most).max(1);
                let asked = std::str::from_utf8(&message.payload).ok().and_then(|number| number.parse::<usize>().ok());
                let (Some(reply), Some(number)) = (message.reply, asked.filter(|&number| number < count)) else {
                    return;
                };
                let part = text.slice(number * most..text.len().min((number + 1) * most));
                let mut headers = HeaderMap::new();
                headers.insert(crate::wire::PART, format!("{number}/{count}"));
                if let Err(error) = shared.client.publish_with_headers(reply, headers, part).await {
                    tracing::warn!(%error, "a part of a manifest could not be sent");
                }
            }
        })
        .await
    }

    /// Whether this worker is heard: one that the server does not let listen would wait for calls in vain.
    pub(super) async fn check(&mut self) -> Result<(), Error> {
        let denied = match self.denials.take() {
            Some(denials) => self.denied(denials).await,
            None => self.unheard().await,
        };
        match &self.taking {
            _ if !denied.is_empty() => Err(Error::Denied(denied)),
            Some(taking) => taking.check().await,
            None => Ok(()),
        }
    }

    /// The tools to which the server has said no. It answers in order: what it says of the subscriptions comes before the
    /// answer to what is asked after them, and is passed on by another task.
    async fn denied(&self, mut denials: Following) -> Vec<String> {
        let _ = timeout(PROBE_PATIENCE, self.shared.client.flush()).await;
        let mut denied = BTreeSet::new();
        while let Ok(no) = timeout(DENIAL_PATIENCE, denials.next()).await {
            denied.extend(self.tools.get(no.subject()).map(|served| served.tool.name.clone()));
        }
        denied.into_iter().collect()
    }

    /// The tools for which nobody answers, neither this worker nor one like it. That is all that can be known where the
    /// server's word is not heard.
    async fn unheard(&self) -> Vec<String> {
        let checks = self.tools.values().map(|served| async {
            for _ in 0..CHECKS {
                match timeout(PROBE_PATIENCE, probe(&self.shared.client, &served.tool.subject)).await {
                    Ok(true) => return None,
                    Ok(false) => break,
                    // One that had it may just have died.
                    Err(_) => {}
                }
            }
            Some(served.tool.name.clone())
        });
        join_all(checks).await.into_iter().flatten().collect()
    }

    /// Says that it is there, and with which tools.
    pub(super) async fn announce(&self) {
        self.publish(self.shared.space.here()).await;
    }

    async fn publish(&self, subject: String) {
        let presence = self.presence.answer(&self.shared, "PING").unwrap_or_default();
        if let Err(error) = self.shared.client.publish(subject, presence.into()).await {
            tracing::warn!(%error, "a worker could not say that it came or goes");
        }
    }

    /// Answers `$SRV.PING` and the like.
    async fn say(&self, message: Message) {
        let verb = message.subject.split('.').nth(1).unwrap_or_default();
        let (Some(answer), Some(reply)) = (self.presence.answer(&self.shared, verb), message.reply) else { return };
        if let Err(error) = self.shared.client.publish(reply, answer.into()).await {
            tracing::warn!(%error, "a worker could not say what it is");
        }
    }

    fn stop(&self, call: &Message) {
        if let Ok(call) = std::str::from_utf8(&call.payload) {
            self.shared.running.stop(call);
        }
    }

    /// Says that it is gone and takes no more; what is on its way is taken. Calls can be stopped meanwhile.
    async fn leave(mut self) {
        self.publish(self.shared.space.gone()).await;
        drop(self.taking.take());
        let served = std::mem::take(&mut self.tools).into_values().map(|served| served.reading);
        let readings: Vec<Reading> = served.chain(self.manifest.take()).collect();
        let mut read = pin!(join_all(readings.into_iter().map(Reading::end)).then(|_| async {
            self.shared.calls.close();
            self.shared.calls.wait().await;
        }));
        loop {
            tokio::select! {
                () = &mut read => return,
                Some(call) = self.stops.next() => {
                    if let Ok(call) = std::str::from_utf8(&call.payload) {
                        self.shared.running.stop(call);
                    }
                }
            }
        }
    }
}
