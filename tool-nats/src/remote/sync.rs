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
use super::presence::{ManifestTools, WorkerPresence, fetch, ping};
use super::probes::ProbeResults;
use super::tool::{RemoteCaller, registration};
use super::{DiscoveryState, ToolConflict, WorkerInfo};
use crate::NatsError;

/// A worker is gone after it missed this many pings.
const MAX_MISSED_PINGS: u32 = 2;

/// The minimum delay between pings that are triggered by failed calls, of which there may be many.
const MIN_PING_DELAY: Duration = Duration::from_secs(1);

/// The time to wait for further announcements, which are applied together.
const BATCH_DELAY: Duration = Duration::from_millis(20);

const NEWER: &str = "the newer version has precedence, and within a version the greater fingerprint";
const OWN: &str = "a local tool has precedence over those of workers";
const NOT_SERVED: &str = "no worker serves the definition that a newer version announced";

/// The task that keeps the registry in sync with the workers.
pub(super) struct RegistrySync {
    caller: Arc<RemoteCaller>,
    registry: Registry,
    state: Arc<Mutex<DiscoveryState>>,
    ping_interval: Duration,
    here: Subscriber,
    gone: Subscriber,
    workers: BTreeMap<String, KnownWorker>,
    /// The tools of each manifest, by hash.
    manifests: HashMap<String, ManifestTools>,
    /// The tools registered by this task.
    registered: BTreeMap<String, RegisteredForm>,
    probes: ProbeResults,
    last_ping: Instant,
}

/// A known worker.
struct KnownWorker {
    version: String,
    manifest: String,
    misses: u32,
}

/// The form in which a tool is registered.
#[derive(PartialEq)]
struct RegisteredForm {
    fingerprint: String,
    /// The aliases that no other tool has.
    aliases: Vec<String>,
}

impl From<&OfferedDefinition> for RegisteredForm {
    fn from(form: &OfferedDefinition) -> Self {
        Self { fingerprint: form.fingerprint.clone(), aliases: form.definition.aliases.clone() }
    }
}

impl RegistrySync {
    pub(super) async fn start(
        caller: Arc<RemoteCaller>,
        registry: Registry,
        state: Arc<Mutex<DiscoveryState>>,
        ping_interval: Duration,
    ) -> Result<Self, NatsError> {
        let subscribe = async |subject| {
            caller.client.subscribe(subject).await.map_err(NatsError::nats("subscribe to announcements"))
        };
        let here = subscribe(caller.space.here()).await?;
        let gone = subscribe(caller.space.gone()).await?;
        let (workers, manifests, registered, probes) = Default::default();
        let last_ping = Instant::now();
        Ok(Self {
            caller,
            registry,
            state,
            ping_interval,
            here,
            gone,
            workers,
            manifests,
            registered,
            probes,
            last_ping,
        })
    }

    pub(super) async fn run(mut self, mut refreshes: mpsc::Receiver<oneshot::Sender<()>>, stop: CancellationToken) {
        let mut pings = interval(self.ping_interval);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick completes at once; the first ping is requested by `DiscoveryBuilder::start`.
        pings.tick().await;
        loop {
            let (caller, earliest_ping) = (self.caller.clone(), self.last_ping + MIN_PING_DELAY);
            let ping_requested = async {
                sleep_until(earliest_ping).await;
                caller.ping_soon.notified().await;
            };
            let mut done = None;
            tokio::select! {
                () = stop.cancelled() => break,
                Some(message) = self.here.next() => {
                    self.handle_joined(message);
                    // Many announcements at once change the registry once.
                    sleep(BATCH_DELAY).await;
                    while let Some(Some(message)) = self.here.next().now_or_never() {
                        self.handle_joined(message);
                    }
                }
                Some(message) = self.gone.next() => self.handle_left(&message),
                Some(ask) = refreshes.recv() => {
                    self.ping().await;
                    done = Some(ask);
                }
                () = ping_requested => {
                    self.probes.clear();
                    self.ping().await;
                }
                _ = pings.tick() => self.ping().await,
            }
            self.update().await;
            // The receiver may be gone.
            let _ = done.map(|done: oneshot::Sender<()>| done.send(()));
        }
        self.remove_all();
    }

    /// Handles the announcement of a worker that joined or changed.
    fn handle_joined(&mut self, message: Message) {
        if let Some(presence) = WorkerPresence::parse(&message.payload) {
            self.add_worker(presence);
        }
    }

    /// Handles the announcement of a worker that leaves.
    fn handle_left(&mut self, message: &Message) {
        if let Some(presence) = WorkerPresence::parse(&message.payload) {
            self.workers.remove(&presence.id);
        }
    }

    fn add_worker(&mut self, presence: WorkerPresence) {
        if let Some(manifest) = presence.manifest() {
            let worker = KnownWorker { version: presence.version.clone(), manifest: manifest.to_owned(), misses: 0 };
            self.workers.insert(presence.id, worker);
        }
    }

    /// Pings the workers. Does nothing without a connection, because no worker could respond.
    async fn ping(&mut self) {
        let present = match ping(&self.caller.client, &self.caller.space, self.workers.len()).await {
            Ok(present) if self.caller.client.connection_state() == State::Connected => present,
            Ok(_) => return,
            Err(error) => return tracing::warn!(%error, "cannot ping the workers"),
        };
        for worker in self.workers.values_mut() {
            worker.misses += 1;
        }
        for presence in present {
            self.add_worker(presence);
        }
        self.workers.retain(|_, worker| worker.misses < MAX_MISSED_PINGS);
        self.last_ping = Instant::now();
    }

    /// Updates the registry to what the workers offer.
    async fn update(&mut self) {
        self.fetch_manifests().await;
        let known =
            self.workers.values().filter_map(|worker| Some((&*worker.version, self.manifests.get(&worker.manifest)?)));
        let forms = forms(known);
        self.probes.update(&self.caller, &forms).await;
        let mut conflicts = Vec::new();
        let mut chosen = BTreeMap::new();
        for (name, forms) in forms {
            if self.is_local(&name) {
                let ignored = versions(&forms);
                conflicts.push(ToolConflict { tool: name, used: None, ignored, reason: OWN });
                continue;
            }
            let (form, conflict) = self.choose(&name, forms);
            conflicts.extend(conflict);
            chosen.insert(name, form);
        }
        self.remove_taken_aliases(&mut chosen);
        self.apply(chosen);
        self.publish_state(conflicts);
    }

    /// Returns `true` if a local tool has this name or alias.
    fn is_local(&self, name: &str) -> bool {
        let is_own = |name: &str| !self.registered.contains_key(name);
        self.registry.resolve(name).is_some_and(|owner| is_own(&owner))
            || (self.registry.is_disabled(name) && is_own(name))
    }

    /// Removes the aliases that local tools have, and those that other tools of workers have. Otherwise a worker could
    /// take over the calls of another tool.
    fn remove_taken_aliases(&self, chosen: &mut BTreeMap<String, OfferedDefinition>) {
        let mut taken: BTreeSet<String> = chosen.keys().cloned().collect();
        for (name, form) in chosen {
            let is_free = |alias: &String| !self.is_local(alias) && taken.insert(alias.clone());
            let (free, removed): (Vec<String>, Vec<String>) =
                form.definition.aliases.iter().cloned().partition(is_free);
            if removed.is_empty() {
                continue;
            }
            Arc::make_mut(&mut form.definition).aliases = free;
            if self.registered.get(name) != Some(&RegisteredForm::from(&*form)) {
                tracing::warn!(
                    tool = name,
                    "a tool of a worker cannot have aliases that other tools have: {removed:?}"
                );
            }
        }
    }

    /// Fetches each manifest once, and drops manifests without a worker.
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
        let first = self.probes.first_served(name);
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
        let is_new = |(name, form): &(&String, &OfferedDefinition)| {
            self.registered.get(*name) != Some(&RegisteredForm::from(*form))
        };
        let mut new: Vec<(&String, &OfferedDefinition)> = chosen.iter().filter(is_new).collect();
        // Changed tools first: a new tool may have an alias that one of them had.
        new.sort_by_key(|(name, _)| !self.registered.contains_key(*name));
        if gone.is_empty() && new.is_empty() {
            return;
        }
        // A new tool is refused if a local tool has its name by now.
        let add = |changes: RegistryChanges, (name, form): &(&String, &OfferedDefinition)| {
            let tool = registration(&self.caller, name, &form.definition, &form.fingerprint);
            if self.registered.contains_key(*name) { changes.replace(tool) } else { changes.register(tool) }
        };
        let removed = || gone.iter().fold(RegistryChanges::new(), |changes, name| changes.remove(name));
        let all = new.iter().fold(removed(), add);
        let mut invalid = BTreeSet::new();
        if self.registry.apply(all).is_err() {
            // Removing existing tools cannot fail.
            drop(self.registry.apply(removed()));
            for tool in &new {
                if let Err(error) = self.registry.apply(add(RegistryChanges::new(), tool)) {
                    tracing::warn!(tool = tool.0, %error, "cannot register a tool of a worker");
                    invalid.insert(tool.0.clone());
                }
            }
        }
        for name in gone {
            self.registered.remove(&name);
        }
        for (name, form) in chosen {
            if invalid.contains(&name) {
                if self.registered.remove(&name).is_some() {
                    self.registry.remove(&name);
                }
            } else {
                self.registered.insert(name, RegisteredForm::from(&form));
            }
        }
    }

    /// Publishes the state. Each conflict is logged once.
    fn publish_state(&self, conflicts: Vec<ToolConflict>) {
        let workers = self.workers.iter().map(|(id, worker)| WorkerInfo {
            id: id.clone(),
            version: worker.version.clone(),
            manifest: worker.manifest.clone(),
        });
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        for conflict in conflicts.iter().filter(|conflict| !state.conflicts.contains(conflict)) {
            tracing::warn!("{conflict}");
        }
        *state = DiscoveryState { workers: workers.collect(), conflicts };
    }

    /// Removes all registered tools.
    fn remove_all(&mut self) {
        let removed = self.registered.keys().fold(RegistryChanges::new(), |changes, name| changes.remove(name));
        // Removing existing tools cannot fail.
        drop(self.registry.apply(removed));
    }
}
