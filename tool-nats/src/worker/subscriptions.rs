//! Subscriptions of a worker, kept in sync with the tools of its dispatcher.

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

use super::draining::{DrainingSubscription, PROBE_PATIENCE, probe};
use super::pace::CallPace;
use super::service::{ServiceInfo, ToolStatistics};
use super::{WorkerShared, request};
use crate::connection::ViolationSubscription;
use crate::queue::{QueueConsumer, ToolFilter};
use crate::{NatsConnection, NatsError, WorkQueue, fingerprint};

/// How often the dispatcher is polled for changes, which only compares two pointers.
const LOOK: Duration = Duration::from_secs(1);

/// How many probes are sent before a tool counts as not served.
const CHECKS: u32 = 3;

/// How long a permission violation may take to be delivered locally.
const DENIAL_PATIENCE: Duration = Duration::from_millis(100);

const VERBS: [&str; 3] = ["PING", "INFO", "STATS"];

/// A served tool.
pub(crate) struct ServedTool {
    pub(crate) name: String,
    pub(crate) subject: String,
    pub(crate) sensitive: bool,
    pub(crate) repeatable: bool,
    pub(super) statistics: ToolStatistics,
    pub(super) pace: CallPace,
}

impl ServedTool {
    /// Returns the name as an endpoint of a NATS service.
    pub(super) fn endpoint(&self) -> String {
        self.name.replace('.', "_")
    }
}

/// The subscriptions of a worker.
pub(super) struct WorkerSubscriptions {
    shared: Arc<WorkerShared>,
    /// The definitions of the last update.
    definitions: Option<Definitions>,
    tools: BTreeMap<String, ToolSubscription>,
    manifest: Option<DrainingSubscription>,
    presence: ServiceInfo,
    verbs: SelectAll<Subscriber>,
    stops: Subscriber,
    taking: Option<QueueConsumer>,
    /// The permission violations of this worker, if they are reported.
    violations: Option<ViolationSubscription>,
}

struct ToolSubscription {
    tool: Arc<ServedTool>,
    reading: DrainingSubscription,
}

impl WorkerSubscriptions {
    pub(super) async fn start(shared: Arc<WorkerShared>, connection: &NatsConnection) -> Result<Self, NatsError> {
        let violations = connection.reports_violations().then(|| connection.violations().subscribe());
        let subscribe = async |subject: String| {
            shared.client.subscribe(subject).await.map_err(NatsError::nats("subscribe to a worker's subjects"))
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
            presence: ServiceInfo { manifest_hash: String::new(), tools: Vec::new() },
            verbs: select_all(verbs),
            stops,
            taking: None,
            violations,
        })
    }

    pub(super) fn take_from(&mut self, queue: WorkQueue, queued: ToolFilter, places: usize) {
        self.taking = Some(QueueConsumer::new(queue, queued, places));
    }

    /// Serves until stopped, then announces the shutdown and reads messages in flight.
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
                        Err(error) => tracing::error!(%error, "cannot serve the changed tools of a worker"),
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

    /// Subscribes to new tools and unsubscribes from removed ones.
    pub(super) async fn update(&mut self) -> Result<(), NatsError> {
        let definitions = self.shared.dispatcher.definitions();
        let mut manifest = Manifest::default();
        let mut tools = BTreeMap::new();
        for (name, definition) in definitions.iter() {
            // The path of the handler function is not published.
            let mut announced = ToolDefinition::clone(definition);
            announced.handler = self.shared.space.handler(name);
            let subject = self.shared.space.call(name, &fingerprint::definition(&announced));
            manifest.insert(&**name, announced);
            let served = match self.tools.remove(&subject) {
                Some(served) => served,
                None => self.serve_tool(name, definition, &subject).await?,
            };
            tools.insert(subject, served);
        }
        // Drops the subscriptions of removed tools.
        self.tools = tools;
        let (hash, text) = fingerprint::manifest(&manifest);
        self.manifest = Some(self.serve_manifest(&hash, text).await?);
        self.presence =
            ServiceInfo { manifest_hash: hash, tools: self.tools.values().map(|served| served.tool.clone()).collect() };
        if let Some(taking) = &mut self.taking {
            let tools = self.tools.values().map(|served| &served.tool);
            taking.update(&self.shared, &definitions, tools);
        }
        self.definitions = Some(definitions);
        Ok(())
    }

    async fn serve_tool(
        &self,
        name: &str,
        definition: &ToolDefinition,
        subject: &str,
    ) -> Result<ToolSubscription, NatsError> {
        let tool = Arc::new(ServedTool {
            name: name.to_owned(),
            subject: subject.to_owned(),
            sensitive: definition.sensitive,
            repeatable: definition.idempotent || definition.read_only,
            statistics: ToolStatistics::default(),
            pace: CallPace::default(),
        });
        let (shared, served) = (self.shared.clone(), tool.clone());
        let reading = DrainingSubscription::start(&self.shared, subject, move |message| {
            request::take(&shared, &served, message);
            std::future::ready(())
        })
        .await?;
        Ok(ToolSubscription { tool, reading })
    }

    async fn serve_manifest(&self, hash: &str, text: String) -> Result<DrainingSubscription, NatsError> {
        const HEADER_ROOM: usize = 512;
        let text = Bytes::from(text);
        let shared = self.shared.clone();
        DrainingSubscription::start(&self.shared, &self.shared.space.manifest(hash), move |message| {
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
                    tracing::warn!(%error, "cannot send a part of a manifest");
                }
            }
        })
        .await
    }

    /// Checks that the server permits the subscriptions. Otherwise the worker would wait for calls in vain.
    pub(super) async fn check(&mut self) -> Result<(), NatsError> {
        let denied = match self.violations.take() {
            Some(violations) => self.denied(violations).await,
            None => self.unheard().await,
        };
        match &self.taking {
            _ if !denied.is_empty() => Err(NatsError::Denied(denied)),
            Some(taking) => taking.check().await,
            None => Ok(()),
        }
    }

    /// Returns the tools that the server denied. The server responds in order, so that violations precede the response to
    /// the flush; they are delivered by another task.
    async fn denied(&self, mut violations: ViolationSubscription) -> Vec<String> {
        let _ = timeout(PROBE_PATIENCE, self.shared.client.flush()).await;
        let mut denied = BTreeSet::new();
        while let Ok(no) = timeout(DENIAL_PATIENCE, violations.next()).await {
            denied.extend(self.tools.get(no.subject()).map(|served| served.tool.name.clone()));
        }
        denied.into_iter().collect()
    }

    /// Returns the tools for which no worker responds, neither this one nor another. This is the best check if permission
    /// violations are not reported.
    async fn unheard(&self) -> Vec<String> {
        let checks = self.tools.values().map(|served| async {
            for _ in 0..CHECKS {
                match timeout(PROBE_PATIENCE, probe(&self.shared.client, &served.tool.subject)).await {
                    Ok(true) => return None,
                    Ok(false) => break,
                    // Another worker that received the probe may have died.
                    Err(_) => {}
                }
            }
            Some(served.tool.name.clone())
        });
        join_all(checks).await.into_iter().flatten().collect()
    }

    /// Announces the worker and its tools.
    pub(super) async fn announce(&self) {
        self.publish(self.shared.space.here()).await;
    }

    async fn publish(&self, subject: String) {
        let presence = self.presence.answer(&self.shared, "PING").unwrap_or_default();
        if let Err(error) = self.shared.client.publish(subject, presence.into()).await {
            tracing::warn!(%error, "cannot announce a worker");
        }
    }

    /// Responds to `$SRV.PING` and other verbs.
    async fn say(&self, message: Message) {
        let verb = message.subject.split('.').nth(1).unwrap_or_default();
        let (Some(answer), Some(reply)) = (self.presence.answer(&self.shared, verb), message.reply) else { return };
        if let Err(error) = self.shared.client.publish(reply, answer.into()).await {
            tracing::warn!(%error, "cannot respond to a service request");
        }
    }

    fn stop(&self, call: &Message) {
        if let Ok(call) = std::str::from_utf8(&call.payload) {
            self.shared.running.stop(call);
        }
    }

    /// Announces the shutdown, closes the subscriptions and handles messages in flight. Calls can be cancelled meanwhile.
    async fn leave(mut self) {
        self.publish(self.shared.space.gone()).await;
        drop(self.taking.take());
        let served = std::mem::take(&mut self.tools).into_values().map(|served| served.reading);
        let readings: Vec<DrainingSubscription> = served.chain(self.manifest.take()).collect();
        let mut read = pin!(join_all(readings.into_iter().map(DrainingSubscription::end)).then(|_| async {
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
