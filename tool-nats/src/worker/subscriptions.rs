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

use super::draining::{DrainingSubscription, PROBE_TIMEOUT, probe};
use super::pace::CallPace;
use super::service::{ServiceInfo, ToolStatistics};
use super::{WorkerShared, request};
use crate::connection::ViolationSubscription;
use crate::queue::{QueueConsumer, ToolFilter};
use crate::{NatsConnection, NatsError, WorkQueue, fingerprint};

/// The interval at which the dispatcher is polled for changes, which only compares two pointers.
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// The number of probes after which a tool counts as not served.
const MAX_PROBES: u32 = 3;

/// The time in which a permission violation is delivered locally.
const DELIVERY_TIME: Duration = Duration::from_millis(100);

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
    service: ServiceInfo,
    verbs: SelectAll<Subscriber>,
    cancellations: Subscriber,
    consumer: Option<QueueConsumer>,
    /// The permission violations of this worker, if they are reported.
    violations: Option<ViolationSubscription>,
}

struct ToolSubscription {
    tool: Arc<ServedTool>,
    subscription: DrainingSubscription,
}

impl WorkerSubscriptions {
    pub(super) async fn start(shared: Arc<WorkerShared>, connection: &NatsConnection) -> Result<Self, NatsError> {
        let violations = connection.reports_violations().then(|| connection.violations().subscribe());
        let subscribe = async |subject: String| {
            shared.client.subscribe(subject).await.map_err(NatsError::nats("subscribe to a worker's subjects"))
        };
        let cancellations = subscribe(shared.space.worker(&shared.id)).await?;
        let mut verbs = Vec::new();
        for subject in VERBS.iter().flat_map(|verb| shared.space.verb(verb, &shared.id)) {
            verbs.push(subscribe(subject).await?);
        }
        Ok(Self {
            shared,
            definitions: None,
            tools: BTreeMap::new(),
            manifest: None,
            service: ServiceInfo { manifest_hash: String::new(), tools: Vec::new() },
            verbs: select_all(verbs),
            cancellations,
            consumer: None,
            violations,
        })
    }

    pub(super) fn consume(&mut self, queue: WorkQueue, queued: ToolFilter, concurrency: usize) {
        self.consumer = Some(QueueConsumer::new(queue, queued, concurrency));
    }

    /// Serves until stopped, then announces the shutdown and reads messages in flight.
    pub(super) async fn serve(mut self, stop: CancellationToken) {
        let mut poll = interval(POLL_INTERVAL);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(call) = self.cancellations.next() => self.cancel(&call),
                Some(message) = self.verbs.next() => self.respond(message).await,
                _ = poll.tick() => if self.has_changed() {
                    match self.update().await {
                        Ok(()) => self.announce().await,
                        Err(error) => tracing::error!(%error, "cannot serve the changed tools of a worker"),
                    }
                }
            }
        }
        self.shut_down().await;
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
        self.service =
            ServiceInfo { manifest_hash: hash, tools: self.tools.values().map(|served| served.tool.clone()).collect() };
        if let Some(consumer) = &mut self.consumer {
            let tools = self.tools.values().map(|served| &served.tool);
            consumer.update(&self.shared, &definitions, tools);
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
        let subscription = DrainingSubscription::start(&self.shared, subject, move |message| {
            request::handle(&shared, &served, message);
            std::future::ready(())
        })
        .await?;
        Ok(ToolSubscription { tool, subscription })
    }

    async fn serve_manifest(&self, hash: &str, text: String) -> Result<DrainingSubscription, NatsError> {
        const HEADER_SPACE: usize = 512;
        let text = Bytes::from(text);
        let shared = self.shared.clone();
        DrainingSubscription::start(&self.shared, &self.shared.space.manifest(hash), move |message| {
            let (shared, text) = (shared.clone(), text.clone());
            async move {
                let max_size = shared.client.max_payload().saturating_sub(HEADER_SPACE).max(1);
                let count = text.len().div_ceil(max_size).max(1);
                let asked = std::str::from_utf8(&message.payload).ok().and_then(|number| number.parse::<usize>().ok());
                let (Some(reply), Some(number)) = (message.reply, asked.filter(|&number| number < count)) else {
                    return;
                };
                let part = text.slice(number * max_size..text.len().min((number + 1) * max_size));
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
            Some(violations) => self.denied_tools(violations).await,
            None => self.unserved_tools().await,
        };
        match &self.consumer {
            _ if !denied.is_empty() => Err(NatsError::Denied(denied)),
            Some(consumer) => consumer.check().await,
            None => Ok(()),
        }
    }

    /// Returns the tools that the server denied. The server responds in order, so that violations precede the response
    /// to the flush; they are delivered by another task.
    async fn denied_tools(&self, mut violations: ViolationSubscription) -> Vec<String> {
        let _ = timeout(PROBE_TIMEOUT, self.shared.client.flush()).await;
        let mut denied = BTreeSet::new();
        while let Ok(violation) = timeout(DELIVERY_TIME, violations.next()).await {
            denied.extend(self.tools.get(violation.subject()).map(|served| served.tool.name.clone()));
        }
        denied.into_iter().collect()
    }

    /// Returns the tools for which no worker responds, neither this one nor another. This is the best check if
    /// permission violations are not reported.
    async fn unserved_tools(&self) -> Vec<String> {
        let checks = self.tools.values().map(|served| async {
            for _ in 0..MAX_PROBES {
                match timeout(PROBE_TIMEOUT, probe(&self.shared.client, &served.tool.subject)).await {
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
        let announcement = self.service.response(&self.shared, "PING").unwrap_or_default();
        if let Err(error) = self.shared.client.publish(subject, announcement.into()).await {
            tracing::warn!(%error, "cannot announce a worker");
        }
    }

    /// Responds to `$SRV.PING` and other verbs.
    async fn respond(&self, message: Message) {
        let verb = message.subject.split('.').nth(1).unwrap_or_default();
        let (Some(answer), Some(reply)) = (self.service.response(&self.shared, verb), message.reply) else { return };
        if let Err(error) = self.shared.client.publish(reply, answer.into()).await {
            tracing::warn!(%error, "cannot respond to a service request");
        }
    }

    fn cancel(&self, call: &Message) {
        if let Ok(call) = std::str::from_utf8(&call.payload) {
            self.shared.running.cancel(call);
        }
    }

    /// Announces the shutdown, closes the subscriptions and handles messages in flight. Calls can be cancelled
    /// meanwhile.
    async fn shut_down(mut self) {
        self.publish(self.shared.space.gone()).await;
        drop(self.consumer.take());
        let served = std::mem::take(&mut self.tools).into_values().map(|served| served.subscription);
        let subscriptions: Vec<DrainingSubscription> = served.chain(self.manifest.take()).collect();
        let mut read = pin!(join_all(subscriptions.into_iter().map(DrainingSubscription::close)).then(|_| async {
            self.shared.calls.close();
            self.shared.calls.wait().await;
        }));
        loop {
            tokio::select! {
                () = &mut read => return,
                Some(call) = self.cancellations.next() => {
                    if let Ok(call) = std::str::from_utf8(&call.payload) {
                        self.shared.running.cancel(call);
                    }
                }
            }
        }
    }
}
