//! Probes of tools with several definitions. Without them, a worker that announces a tool but may not serve it would
//! replace the tool of a worker that may.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::client::RequestErrorKind;
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use tokio::time::timeout;

use super::catalogue::{Catalogue, OfferedDefinition};
use super::tool::RemoteCaller;
use crate::wire::PROBE;

/// The timeout of a probe.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The number of tools that are probed concurrently.
const CONCURRENCY: usize = 256;

/// The results of probes, by tool. A tool is not probed again while its definitions stay the same and the newest is
/// served.
#[derive(Default)]
pub(super) struct ProbeResults {
    results: HashMap<String, ProbeResult>,
}

/// The result of probing a tool.
struct ProbeResult {
    /// The fingerprints of its definitions.
    forms: Vec<String>,
    /// The index of the first one that is served.
    first: usize,
}

impl ProbeResults {
    /// Probes the tools with several definitions whose result is not known.
    pub(super) async fn update(&mut self, caller: &RemoteCaller, forms: &Catalogue) {
        let is_same =
            |name: &str, probed: &ProbeResult| forms.get(name).is_some_and(|forms| fingerprints(forms) == probed.forms);
        // A definition that was only announced may be served by now.
        self.results.retain(|name, probed| probed.first == 0 && is_same(name, probed));
        let unknown = forms.iter().filter(|(name, forms)| forms.len() > 1 && !self.results.contains_key(*name));
        let probes = unknown.map(|(name, forms)| async move {
            let served = join_all(forms.iter().map(|form| is_served(caller, name, form))).await;
            let first = served.iter().position(|&is_served| is_served).unwrap_or(0);
            (name.clone(), ProbeResult { forms: fingerprints(forms), first })
        });
        let probes: Vec<_> = probes.collect();
        let answers: Vec<_> = stream::iter(probes).buffer_unordered(CONCURRENCY).collect().await;
        self.results.extend(answers);
    }

    /// Returns the index of the first definition of a tool that is served.
    pub(super) fn first_served(&self, name: &str) -> usize {
        self.results.get(name).map_or(0, |probed| probed.first)
    }

    /// Discards all results, because calls have failed.
    pub(super) fn clear(&mut self) {
        self.results.clear();
    }
}

fn fingerprints(forms: &[OfferedDefinition]) -> Vec<String> {
    forms.iter().map(|form| form.fingerprint.clone()).collect()
}

/// Returns `true` if a worker serves a definition. The server replies at once if none does; a slow reply means that one
/// does.
async fn is_served(caller: &RemoteCaller, name: &str, form: &OfferedDefinition) -> bool {
    let mut headers = HeaderMap::new();
    headers.insert(PROBE, "yes");
    let subject = caller.space.call(name, &form.fingerprint);
    let probe = caller.client.request_with_headers(subject, headers, Bytes::new());
    match timeout(TIMEOUT, probe).await {
        Ok(Err(error)) => error.kind() != RequestErrorKind::NoResponders,
        _ => true,
    }
}
