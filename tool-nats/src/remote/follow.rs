//! Follows workers as they come, go and change, and keeps the registry like that.

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

use super::catalogue::{Form, forms, versions};
use super::census::{Offered, Presence, count, fetch};
use super::probes::Probes;
use super::tool::{Caller, entry};
use super::{Conflict, Found, Seen};
use crate::Error;

/// After so many counts without an answer a worker is gone.
const MISSES: u32 = 2;

/// How long after a count another is made because a call found nobody: many calls may find that at once.
const NUDGED: Duration = Duration::from_secs(1);

/// How long to wait for others that come with the first.
const TOGETHER: Duration = Duration::from_millis(20);

const NEWER: &str = "the newer version goes first, and of the same one the greater fingerprint";
const OWN: &str = "a tool of this program goes before those of workers";
const NOT_SERVED: &str = "nobody serves what a newer version has announced";

/// Follows workers.
pub(super) struct Follower {
    caller: Arc<Caller>,
    registry: Registry,
    found: Arc<Mutex<Found>>,
    every: Duration,
    here: Subscriber,
    gone: Subscriber,
    workers: BTreeMap<String, Worker>,
    /// What manifests say, by their hashes.
    manifests: HashMap<String, Offered>,
    /// The tools that are in the registry because of this, with their fingerprints.
    registered: BTreeMap<String, String>,
    probes: Probes,
    counted: Instant,
}

struct Worker {
    version: String,
    manifest: String,
    misses: u32,
}

impl Follower {
    pub(super) async fn start(
        caller: Arc<Caller>,
        registry: Registry,
        found: Arc<Mutex<Found>>,
        every: Duration,
    ) -> Result<Self, Error> {
        let subscribe =
            async |subject| caller.client.subscribe(subject).await.map_err(Error::nats("subscribe to news"));
        let here = subscribe(caller.space.here()).await?;
        let gone = subscribe(caller.space.gone()).await?;
        let (workers, manifests, registered, probes) = Default::default();
        let counted = Instant::now();
        Ok(Self { caller, registry, found, every, here, gone, workers, manifests, registered, probes, counted })
    }

    pub(super) async fn follow(mut self, mut asked: mpsc::Receiver<oneshot::Sender<()>>, stop: CancellationToken) {
        let mut counts = interval(self.every);
        counts.set_missed_tick_behavior(MissedTickBehavior::Delay);
        // The first tick comes at once, and so does the first question.
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
                    // Where many come at once the registry changes once.
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
            // Whoever has asked may have gone.
            let _ = done.map(|done: oneshot::Sender<()>| done.send(()));
        }
        self.leave();
    }

    /// A worker came or changed.
    fn meet(&mut self, message: Message) {
        if let Some(presence) = Presence::read(&message.payload) {
            self.know(presence);
        }
    }

    /// A worker leaves.
    fn part(&mut self, message: &Message) {
        if let Some(presence) = Presence::read(&message.payload) {
            self.workers.remove(&presence.id);
        }
    }

    fn know(&mut self, presence: Presence) {
        if let Some(manifest) = presence.manifest() {
            let worker = Worker { version: presence.version.clone(), manifest: manifest.to_owned(), misses: 0 };
            self.workers.insert(presence.id, worker);
        }
    }

    /// Counts the workers. Where there is no connection nobody can answer, and nobody is taken to be gone for it.
    async fn count(&mut self) {
        let present = match count(&self.caller.client, &self.caller.space, self.workers.len()).await {
            Ok(present) if self.caller.client.connection_state() == State::Connected => present,
            Ok(_) => return,
            Err(error) => return tracing::warn!(%error, "workers could not be counted"),
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

    /// Brings the registry up to what the workers offer.
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
                let passed_over = versions(&forms);
                conflicts.push(Conflict { tool: name, used: None, passed_over, reason: OWN });
                continue;
            }
            let (form, conflict) = self.choose(&name, forms);
            conflicts.extend(conflict);
            chosen.insert(name, form);
        }
        self.apply(chosen);
        self.tell(conflicts);
    }

    /// Fetches each manifest once, and forgets those that no worker has any more.
    async fn fetch_manifests(&mut self) {
        let wanted: BTreeSet<String> = self.workers.values().map(|worker| worker.manifest.clone()).collect();
        self.manifests.retain(|hash, _| wanted.contains(hash));
        for hash in wanted {
            if self.manifests.contains_key(&hash) {
                continue;
            }
            match fetch(&self.caller.client, &self.caller.space, &hash).await {
                Ok(offered) => drop(self.manifests.insert(hash, offered)),
                Err(error) => tracing::warn!(hash, %error, "the tools of a worker cannot be had"),
            }
        }
    }

    /// The form of a tool that is used: where there are several, the first that is served.
    fn choose(&self, name: &str, mut forms: Vec<Form>) -> (Form, Option<Conflict>) {
        if forms.len() == 1 {
            return (forms.remove(0), None);
        }
        let first = self.probes.first(name);
        let used = forms.remove(first);
        let conflict = Conflict {
            tool: name.to_owned(),
            used: Some(used.version.to_string()),
            passed_over: versions(&forms),
            reason: if first == 0 { NEWER } else { NOT_SERVED },
        };
        (used, Some(conflict))
    }

    /// Changes the registry where it is not like this: all at once, or if a tool is wrong, all but that one.
    fn apply(&mut self, chosen: BTreeMap<String, Form>) {
        let gone: Vec<String> = self.registered.keys().filter(|name| !chosen.contains_key(*name)).cloned().collect();
        let is_new = |(name, form): &(&String, &Form)| self.registered.get(*name) != Some(&form.fingerprint);
        let new: Vec<(&String, &Form)> = chosen.iter().filter(is_new).collect();
        if gone.is_empty() && new.is_empty() {
            return;
        }
        let made = |(name, form): &(&String, &Form)| entry(&self.caller, name, &form.definition, &form.fingerprint);
        let removed = || gone.iter().fold(RegistryChanges::new(), |changes, name| changes.remove(name));
        let all = new.iter().map(made).fold(removed(), RegistryChanges::replace);
        let mut wrong = BTreeSet::new();
        if self.registry.apply(all).is_err() {
            // Taking out what is there cannot fail.
            drop(self.registry.apply(removed()));
            for tool in &new {
                if let Err(error) = self.registry.replace(made(tool)) {
                    tracing::warn!(tool = tool.0, %error, "a tool of a worker cannot be offered");
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

    /// Says what was found; a conflict is logged once.
    fn tell(&self, conflicts: Vec<Conflict>) {
        let workers = self.workers.iter().map(|(id, worker)| Seen {
            id: id.clone(),
            version: worker.version.clone(),
            manifest: worker.manifest.clone(),
        });
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        for conflict in conflicts.iter().filter(|conflict| !found.conflicts.contains(conflict)) {
            tracing::warn!("{conflict}");
        }
        *found = Found { workers: workers.collect(), conflicts };
    }

    /// Takes its tools out.
    fn leave(&mut self) {
        let removed = self.registered.keys().fold(RegistryChanges::new(), |changes, name| changes.remove(name));
        // Taking out what is there cannot fail.
        drop(self.registry.apply(removed));
    }
}
