//! Which forms of a tool are served, where it has several: what a worker announces that is not allowed to serve it would
//! otherwise push out the tool of one that is.

use std::collections::HashMap;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::client::RequestErrorKind;
use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::{StreamExt, stream};
use tokio::time::timeout;

use super::catalogue::{Form, Forms};
use super::tool::Caller;
use crate::wire::PROBE;

/// How long somebody who serves a tool may take to say so.
const PATIENCE: Duration = Duration::from_secs(1);

/// Of how many tools it is asked at a time.
const AT_ONCE: usize = 256;

/// What was asked, by the names of tools. It is not asked again as long as a tool has the same forms and the newest is
/// served.
#[derive(Default)]
pub(super) struct Probes {
    asked: HashMap<String, Probed>,
}

struct Probed {
    /// The fingerprints of the forms.
    forms: Vec<String>,
    /// The first of them that is served.
    first: usize,
}

impl Probes {
    /// Asks which forms are served of the tools that have several and of which that is not known.
    pub(super) async fn ask(&mut self, caller: &Caller, forms: &Forms) {
        let is_same =
            |name: &str, probed: &Probed| forms.get(name).is_some_and(|forms| fingerprints(forms) == probed.forms);
        // Somebody who is allowed to may serve by now what was only announced.
        self.asked.retain(|name, probed| probed.first == 0 && is_same(name, probed));
        let unknown = forms.iter().filter(|(name, forms)| forms.len() > 1 && !self.asked.contains_key(*name));
        let asking = unknown.map(|(name, forms)| async move {
            let served = join_all(forms.iter().map(|form| is_served(caller, name, form))).await;
            let first = served.iter().position(|&is_served| is_served).unwrap_or(0);
            (name.clone(), Probed { forms: fingerprints(forms), first })
        });
        let asking: Vec<_> = asking.collect();
        let answers: Vec<_> = stream::iter(asking).buffer_unordered(AT_ONCE).collect().await;
        self.asked.extend(answers);
    }

    /// The first form of a tool that is served.
    pub(super) fn first(&self, name: &str) -> usize {
        self.asked.get(name).map_or(0, |probed| probed.first)
    }

    /// Asks again next time: somebody may serve now who did not, or not any more who did.
    pub(super) fn forget(&mut self) {
        self.asked.clear();
    }
}

fn fingerprints(forms: &[Form]) -> Vec<String> {
    forms.iter().map(|form| form.fingerprint.clone()).collect()
}

/// Whether somebody serves a form. The server says at once if nobody does; one that takes long to answer is there.
async fn is_served(caller: &Caller, name: &str, form: &Form) -> bool {
    let mut headers = HeaderMap::new();
    headers.insert(PROBE, "yes");
    let subject = caller.space.call(name, &form.fingerprint);
    let probe = caller.client.request_with_headers(subject, headers, Bytes::new());
    match timeout(PATIENCE, probe).await {
        Ok(Err(error)) => error.kind() != RequestErrorKind::NoResponders,
        _ => true,
    }
}
