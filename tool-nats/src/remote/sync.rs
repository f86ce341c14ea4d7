//! Synchronization of the registry with the workers.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_nats::connection::State;
use async_nats::{Message, Subscriber};
use futures_util::{FutureExt, StreamExt};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use tool_runtime::{Registry, RegistryChanges};

use super::catalogue::{OfferedDefinition, forms, versions};
use super::presence::{ManifestTools, WorkerPresence, count, fetch};
use super::probes::ProbeResults;
use super::tool::{RemoteCaller, entry};
use super::{DiscoveryState, ToolConflict, WorkerInfo};
use crate::NatsError;

/// A worker is gone after it missed this many pings.
const MISSES: u32 = 2;

/// The minimum delay between pings that are triggered by failed calls, of which there may be many.
const NUDGED: Duration = Duration::from_secs(1);

/// How long to wait for further announcements, which are applied together.
const TOGETHER: Duration = Duration::from_millis(20);

const NEWER: &str = "the newer version has precedence, and within a version the greater fingerprint";
const OWN: &str = "a local tool has precedence over those of workers";
const NOT_SERVED: &str = "no worker serves the definition that a newer version announced";

/// The task that keeps the registry in sync with the workers.
pub(super) struct RegistrySync {
    caller: Arc<RemoteCaller>,
    registry: Registry,
    found: Arc<Mutex<DiscoveryState>>,
    every: Duration,
    here: Subscriber,
    gone: Subscriber,
    workers: BTreeMap<String, KnownWorker>,
    /// The tools of each manifest, by hash.
    manifests: HashMap<String, ManifestTools>,
    /// The tools registered by this task, with their fingerprints.
    registered: BTreeMap<String, String>,
    probes: ProbeResults,
    counted: Instant,
}

/// A known worker.
struct KnownWorker {
    version: String,
    manifest: String,
    misses: u32,
}

impl RegistrySync {
    pub(super) async fn start(
        caller: Arc<RemoteCaller>,
        registry: Registry,
        found: Arc<Mutex<DiscoveryState>>,
        every: Duration,
    ) -> Result<Self, NatsError> {
        let subscribe =
            async |subject| caller.client.subscribe(subject).await.map_err(NatsError::nats("subscribe to news"));
        let here = subscribe(caller.space.here()).await?;
        let gone = subscribe(caller.space.gone()).await?;
        let (workers, manifests, registered, probes) = Default::default();
        let counted = Instant::now();
        Ok(Self { caller, registry, found, every, here, gone, workers, manifests, registered, probes, counted })
    }

    pub(super) async fn follow(mut self, mut asked: mpsc::Receiver<oneshot::Sender<()>>, stop: CancellationToken) {
        let mut counts = interval(self.every);
        counts.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick completes at once; the first ping is requested by `DiscoveryBuilder::start`.
        counts.tick().await;
        loop {
            let (caller, nudged_from) = (self.caller.clone(), self.counted + NUDGED);
            let nudged = async {
                sleep_until(nudged_from).await;
                caller.nudge.notified().await;
            };
            let mut done = None;
            tokio::select! {
                () = stop.cancelled() => break,
                Some(message) = self.here.next() => {
                    self.meet(message);
                    // Many announcements at once change the registry once.
                    sleep(TOGETHER).await;
                    while let Some(Some(message)) = self.here.next().now_or_never() {
                        self.meet(message);
                    }
                }
                Some(message) = self.gone.next() => self.part(&message),
                Some(ask) = asked.recv() => {
                    self.count().await;
                    done = Some(ask);
                }
                () = nudged => {
                    self.probes.forget();
                    self.count().await;
                }
                _ = counts.tick() => self.count().await,
            }
            self.update().await;
            // The receiver may be gone.
            let _ = done.map(|done: oneshot::Sender<()>| done.send(()));
        }
        self.leave();
    }

    /// Handles the announcement of a worker that joined or changed.
    fn meet(&mut self, message: Message) {
        if let Some(presence) = WorkerPresence::read(&message.payload) {
            self.know(presence);
        }
    }

    /// Handles the announcement of a worker that leaves.
    fn part(&mut self, message: &Message) {
        if let Some(presence) = WorkerPresence::read(&message.payload) {
            self.workers.remove(&presence.id);
        }
    }

    fn know(&mut self, presence: WorkerPresence) {
        if let Some(manifest) = presence.manifest() {
            let worker = KnownWorker { version: presence.version.clone(), manifest: manifest.to_owned(), misses: 0 };
            self.workers.insert(presence.id, worker);
        }
    }

    /// Pings the workers. Does nothing without a connection, because no worker could respond.
    async fn count(&mut self) {
        let present = match count(&self.caller.client, &self.caller.space, self.workers.len()).await {
            Ok(present) if self.caller.client.connection_state() == State::Connected => present,
            Ok(_) => return,
            Err(error) => return tracing::warn!(%error, "cannot ping the workers"),
        };
        for worker in self.workers.values_mut() {
            worker.misses += 1;
        }
        for presence in present {
            self.know(presence);
        }
        self.workers.retain(|_, worker| worker.misses < MISSES);
        self.counted = Instant::now();
    }

    /// Updates the registry to what the workers offer.
    async fn update(&mut self) {
        self.fetch_manifests().await;
        let known =
            self.workers.values().filter_map(|worker| Some((&*worker.version, self.manifests.get(&worker.manifest)?)));
        let forms = forms(known);
        self.probes.ask(&self.caller, &forms).await;
        let mut conflicts = Vec::new();
        let mut chosen = BTreeMap::new();
        for (name, forms) in forms {
            if self.registry.has(&name) && !self.registered.contains_key(&name) {
                let ignored = versions(&forms);
                conflicts.push(ToolConflict { tool: name, used: None, ignored, reason: OWN });
                continue;
            }
            let (form, conflict) = self.choose(&name, forms);
            conflicts.extend(conflict);
            chosen.insert(name, form);
        }
        self.apply(chosen);
        self.tell(conflicts);
    }

    /// Fetches each manifest once, and drops those of no worker.
    async fn fetch_manifests(&mut self) {
        let wanted: BTreeSet<String> = self.workers.values().map(|worker| worker.manifest.clone()).collect();
        self.manifests.retain(|hash, _| wanted.contains(hash));
        for hash in wanted {
            if self.manifests.contains_key(&hash) {
                continue;
            }
            match fetch(&self.caller.client, &self.caller.space, &hash).await {
                Ok(offered) => drop(self.manifests.insert(hash, offered)),
                Err(error) => tracing::warn!(hash, %error, "cannot fetch the manifest of a worker"),
            }
        }
    }

    /// Chooses the definition of a tool: the first that is served.
    fn choose(&self, name: &str, mut forms: Vec<OfferedDefinition>) -> (OfferedDefinition, Option<ToolConflict>) {
        if forms.len() == 1 {
            return (forms.remove(0), None);
        }
        let first = self.probes.first(name);
        let used = forms.remove(first);
        let conflict = ToolConflict {
            tool: name.to_owned(),
            used: Some(used.version.to_string()),
            ignored: versions(&forms),
            reason: if first == 0 { NEWER } else { NOT_SERVED },
        };
        (used, Some(conflict))
    }

    /// Updates the registry: atomically, or one by one without the invalid ones.
    fn apply(&mut self, chosen: BTreeMap<String, OfferedDefinition>) {
        let gone: Vec<String> = self.registered.keys().filter(|name| !chosen.contains_key(*name)).cloned().collect();
        let is_new =
            |(name, form): &(&String, &OfferedDefinition)| self.registered.get(*name) != Some(&form.fingerprint);
        let new: Vec<(&String, &OfferedDefinition)> = chosen.iter().filter(is_new).collect();
        if gone.is_empty() && new.is_empty() {
            return;
        }
        let made = |(name, form): &(&String, &OfferedDefinition)| {
            entry(&self.caller, name, &form.definition, &form.fingerprint)
        };
        let removed = || gone.iter().fold(RegistryChanges::new(), |changes, name| changes.remove(name));
        let all = new.iter().map(made).fold(removed(), RegistryChanges::replace);
        let mut wrong = BTreeSet::new();
        if self.registry.apply(all).is_err() {
            // Removing existing tools cannot fail.
            drop(self.registry.apply(removed()));
            for tool in &new {
                if let Err(error) = self.registry.replace(made(tool)) {
                    tracing::warn!(tool = tool.0, %error, "cannot register a tool of a worker");
                    wrong.insert(tool.0.clone());
                }
            }
        }
        for name in gone {
            self.registered.remove(&name);
        }
        for (name, form) in chosen {
            if wrong.contains(&name) {
                if self.registered.remove(&name).is_some() {
                    self.registry.remove(&name);
                }
            } else {
                self.registered.insert(name, form.fingerprint);
            }
        }
    }

    /// Publishes the state. Each conflict is logged once.
    fn tell(&self, conflicts: Vec<ToolConflict>) {
        let workers = self.workers.iter().map(|(id, worker)| WorkerInfo {
            id: id.clone(),
            version: worker.version.clone(),
            manifest: worker.manifest.clone(),
        });
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for conflict in conflicts.iter().filter(|conflict| !found.conflicts.contains(conflict)) {
            tracing::warn!("{conflict}");
        }
        *found = DiscoveryState { workers: workers.collect(), conflicts };
    }

    /// Removes all registered tools.
    fn leave(&mut self) {
        let removed = self.registered.keys().fold(RegistryChanges::new(), |changes, name| changes.remove(name));
        // Removing existing tools cannot fail.
        drop(self.registry.apply(removed));
    }
}
