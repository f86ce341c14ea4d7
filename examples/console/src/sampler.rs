//! Periodic measurement of the machine and checks of the targets.

use std::fmt;
use std::time::Duration;

use chrono::Utc;
use tokio::task::JoinSet;

use crate::background::{Failures, attempt};
use crate::clock::hours_before;
use crate::internet::{TargetCheck, Targets, keep};
use crate::machine::Machine;
use crate::settings::{Extension, Settings, SettingsFile};
use crate::store::{AlertRepository, MetricPoint, MetricPointRepository, Session, Store};

/// Measures the machine and checks the targets. A measurement adds one point to each metric, so that two settings limit
/// the stored data: interval and retention.
#[derive(Clone)]
pub struct Sampler {
    machine: Machine,
    settings: SettingsFile,
    store: Store,
    targets: Targets,
    failures: Failures,
}

/// A periodic job.
#[derive(Clone, Copy, Debug)]
enum Job {
    Sample,
    CheckTargets,
}

impl Job {
    fn extension(self) -> Extension {
        match self {
            Self::Sample => Extension::Sampler,
            Self::CheckTargets => Extension::Internet,
        }
    }

    fn interval(self, settings: &Settings) -> Duration {
        let seconds = match self {
            Self::Sample => settings.sampler.every_seconds,
            Self::CheckTargets => settings.internet.every_seconds,
        };
        Duration::from_secs(seconds.into())
    }
}

impl Sampler {
    /// Creates a sampler of a machine and targets.
    #[must_use]
    pub fn new(machine: Machine, settings: SettingsFile, store: Store, targets: Targets) -> Self {
        Self { machine, settings, store, targets, failures: Failures::default() }
    }

    /// Returns the failures of the jobs.
    #[must_use]
    pub fn failures(&self) -> Failures {
        self.failures.clone()
    }

    /// Runs the jobs until the tasks are dropped.
    #[must_use]
    pub fn start(self) -> JoinSet<()> {
        [Job::Sample, Job::CheckTargets].into_iter().map(|job| self.clone().repeat(job)).collect()
    }

    async fn repeat(self, job: Job) {
        repeat(job, &self.settings, &self.failures, || self.work(job)).await;
    }

    async fn work(&self, job: Job) -> sqlx::Result<()> {
        match job {
            Job::Sample => self.sample().await,
            Job::CheckTargets => self.check_targets().await,
        }
    }

    /// Measures the machine once: adds points, updates alerts and removes old points.
    ///
    /// # Errors
    /// If the database fails. Then nothing is stored.
    pub async fn sample(&self) -> sqlx::Result<()> {
        let machine = self.machine.clone();
        let measured = tokio::task::spawn_blocking(move || measure(&machine)).await;
        let measured = measured.map_err(|error| sqlx::Error::Protocol(format!("the measurement failed: {error}")))?;
        let session = self.store.session();
        let kept = self.keep_measured(&session, &measured).await;
        session.end(kept.is_ok()).await.and(kept)
    }

    /// Checks the targets once.
    ///
    /// # Errors
    /// If the database fails. Then nothing is stored.
    pub async fn check_targets(&self) -> sqlx::Result<()> {
        let seen = self.targets.reach_all().await;
        let session = self.store.session();
        let kept = keep_seen(&session, &seen).await;
        session.end(kept.is_ok()).await.and(kept)
    }

    async fn keep_measured(&self, session: &Session, measured: &[(&str, f64)]) -> sqlx::Result<()> {
        let settings = self.settings.get();
        let now = Utc::now();
        let points = MetricPointRepository::new(session.clone());
        let alerts = AlertRepository::new(session.clone());
        for (metric, value) in measured {
            points.insert(metric, &MetricPoint { at: now, value: *value }).await?;
            if settings.has(Extension::Alerts)
                && let Some(threshold) = settings.alerts.threshold(metric)
            {
                alerts.measured(metric, *value, threshold, now).await?;
            }
        }
        points.delete_before(hours_before(now, settings.sampler.keep_hours)).await?;
        alerts.prune().await?;
        Ok(())
    }
}

/// Repeats a job while its extension is enabled, even after failures. A changed interval applies immediately.
async fn repeat<E: fmt::Display, F: Future<Output = Result<(), E>>>(
    job: Job,
    settings: &SettingsFile,
    failures: &Failures,
    work: impl Fn() -> F,
) {
    let mut settings = settings.follow();
    loop {
        let now = settings.borrow_and_update().clone();
        // Created inside, so that a panic before the first `await` is caught too.
        let ended = if now.has(job.extension()) { attempt(async { work().await }).await } else { Ok(()) };
        if let Err(failure) = &ended {
            tracing::warn!(?job, "nothing was stored: {failure}");
        }
        failures.note(job.extension(), ended);
        tokio::select! {
            () = tokio::time::sleep(job.interval(&now)) => {}
            changed = settings.changed() => if changed.is_err() { return },
        }
    }
}

async fn keep_seen(session: &Session, seen: &[TargetCheck]) -> sqlx::Result<()> {
    for target in seen {
        keep(session, target).await?;
    }
    Ok(())
}

/// Returns each metric with its value.
fn measure(machine: &Machine) -> Vec<(&'static str, f64)> {
    let snapshot = machine.snapshot();
    let fullest =
        machine.disks().iter().filter(|disk| !disk.read_only).map(|disk| disk.space.used_percent).reduce(f64::max);
    let mut measured = vec![
        ("cpu_percent", snapshot.cpu_percent),
        ("load_1m", snapshot.load[0]),
        ("memory_percent", snapshot.memory.used_percent),
        ("processes", snapshot.processes as f64),
        ("swap_percent", snapshot.swap.used_percent),
    ];
    measured.extend(fullest.map(|percent| ("disk_percent", percent)));
    measured
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn a_job_that_panics_says_so_and_is_done_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = SettingsFile::open(folder.path().join("settings.json"), Vec::new()).expect("settings");
        let (failures, runs) = (Failures::default(), AtomicU32::new(0));
        let work = || {
            let run = runs.fetch_add(1, Ordering::Relaxed) + 1;
            // `spawn_blocking` panics like this when it cannot start a thread.
            assert!(run > 1, "no more threads");
            async move { if run == 2 { panic!("nor later") } else { Ok::<(), sqlx::Error>(()) } }
        };
        let watch = async {
            for (run, expected) in
                [(1, Some("it panicked: no more threads")), (2, Some("it panicked: nor later")), (3, None)]
            {
                let is_noted = || failures.last(Extension::Sampler).as_deref() == expected;
                while runs.load(Ordering::Relaxed) < run || !is_noted() {
                    tokio::task::yield_now().await;
                }
                settings.change(|settings| settings.sampler.every_seconds += 1).expect("a setting");
            }
        };
        let job = repeat(Job::Sample, &settings, &failures, work);
        let ended = async {
            tokio::select! { () = job => "it ended", () = watch => "it goes on" }
        };
        let ended = tokio::time::timeout(Duration::from_secs(60), ended).await;
        assert_eq!(ended, Ok("it goes on"));
        assert_eq!(failures.last(Extension::Internet), None, "the control: each has its own");
    }
}
