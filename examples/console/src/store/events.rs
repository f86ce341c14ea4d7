//! Events of targets that went down or came up.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};
use serde::Serialize;

use super::Session;
use crate::clock::{from_stamp, in_words, stamp};

/// Maximum number of events.
const KEPT: u32 = 1000;

/// A target that went down or came up.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InternetEvent {
    /// The id of the event.
    pub id: i64,
    /// The target.
    pub target: String,
    /// When the change was detected.
    pub at: DateTime<Utc>,
    /// `true` if the target was reachable from then on.
    pub up: bool,
    /// The latency, or the error.
    pub detail: String,
}

/// A period in which a target was unreachable.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outage {
    /// The target.
    pub target: String,
    /// Its start.
    pub from: DateTime<Utc>,
    /// Its end, if it is over.
    pub until: Option<DateTime<Utc>>,
    /// Its duration, for people.
    pub lasted: String,
    /// The error.
    pub detail: String,
}

/// Reads and writes events in the session of one call.
#[derive(Clone)]
pub struct InternetEventRepository {
    session: Session,
}

impl InternetEventRepository {
    /// Creates a repository in this session.
    #[must_use]
    pub fn new(session: Session) -> Self {
        Self { session }
    }

    /// Returns the newest events of one target or of all, newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn newest(&self, target: Option<&str>, limit: u32) -> sqlx::Result<Vec<InternetEvent>> {
        let mut connection = self.session.connection().await?;
        let rows: Vec<(i64, String, i64, bool, String)> = sqlx::query_as(
            "SELECT id, target, at, up, detail FROM internet_events WHERE ?1 IS NULL OR target = ?1 \
             ORDER BY id DESC LIMIT ?2",
        )
        .bind(target)
        .bind(limit)
        .fetch_all(&mut *connection)
        .await?;
        let event = |(id, target, at, up, detail)| InternetEvent { id, target, at: from_stamp(at), up, detail };
        Ok(rows.into_iter().map(event).collect())
    }

    /// Stores the state of a target if it changed. The first check of a target is an event only if the target is down.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn seen(&self, target: &str, up: bool, detail: &str, at: DateTime<Utc>) -> sqlx::Result<bool> {
        let was_up = self.newest(Some(target), 1).await?.first().is_none_or(|event| event.up);
        if was_up == up {
            return Ok(false);
        }
        let mut connection = self.session.connection().await?;
        sqlx::query("INSERT INTO internet_events (target, at, up, detail) VALUES (?, ?, ?, ?)")
            .bind(target)
            .bind(stamp(at))
            .bind(up)
            .bind(detail)
            .execute(&mut *connection)
            .await?;
        sqlx::query("DELETE FROM internet_events WHERE id <= (SELECT max(id) FROM internet_events) - ?")
            .bind(KEPT)
            .execute(&mut *connection)
            .await?;
        Ok(true)
    }

    /// Returns the outages that had not ended at a time, newest first.
    ///
    /// # Errors
    /// If the database fails.
    pub async fn outages(&self, since: DateTime<Utc>, now: DateTime<Utc>) -> sqlx::Result<Vec<Outage>> {
        let mut events = self.newest(None, KEPT).await?;
        events.reverse();
        let mut open: BTreeMap<String, InternetEvent> = BTreeMap::new();
        let mut outages = Vec::new();
        for event in events {
            match event.up {
                false => drop(open.insert(event.target.clone(), event)),
                true => outages.extend(open.remove(&event.target).map(|down| outage(down, Some(event.at), now))),
            }
        }
        outages.extend(open.into_values().map(|down| outage(down, None, now)));
        outages.retain(|outage| outage.until.is_none_or(|until| until >= since));
        outages.sort_by_key(|outage| std::cmp::Reverse(outage.from));
        Ok(outages)
    }
}

fn outage(down: InternetEvent, until: Option<DateTime<Utc>>, now: DateTime<Utc>) -> Outage {
    let seconds = (until.unwrap_or(now) - down.at).num_seconds();
    let lasted = in_words(u64::try_from(seconds).unwrap_or_default());
    Outage { target: down.target, from: down.at, until, lasted, detail: down.detail }
}
