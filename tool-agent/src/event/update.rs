//! What a subscriber is told.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Event;

/// What a subscriber is told.
///
/// In JSON an event stands beside its run, `{"run": 3, "event": "text", "text": ".."}`, and what was missed is
/// `{"event": "missed", "events": 7}`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum Update {
    /// Something happened.
    Event {
        /// In which run: the [id](crate::Run::id) of that.
        run: u64,
        /// What.
        #[serde(flatten)]
        event: Event,
    },
    /// So many events are lost: thousands of them were not read, or they were very long.
    Missed(#[serde(serialize_with = "missed")] u64),
}

impl Update {
    /// What happened; nothing where events are lost.
    #[must_use]
    pub fn event(&self) -> Option<&Event> {
        match self {
            Self::Event { event, .. } => Some(event),
            Self::Missed(_) => None,
        }
    }

    /// As [`event`](Self::event), to keep it.
    #[must_use]
    pub fn into_event(self) -> Option<Event> {
        match self {
            Self::Event { event, .. } => Some(event),
            Self::Missed(_) => None,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn missed<S: Serializer>(events: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(2))?;
    map.serialize_entry("event", "missed")?;
    map.serialize_entry("events", events)?;
    map.end()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use serde_json::json;
    use tool_runtime::ToolResult;

    use super::*;
    use crate::{CallResult, Ending, ModelError, Outcome};

    #[test]
    fn an_update_is_one_flat_object() {
        let of = |event| serde_json::to_value(Update::Event { run: 3, event }).unwrap();
        assert_eq!(of(Event::Text { text: "Hi.".into() }), json!({"run": 3, "event": "text", "text": "Hi."}));
        assert_eq!(of(Event::Began { text: None }), json!({"run": 3, "event": "began", "text": null}));
        let waits = Event::Retrying { why: ModelError::rejected("too much"), after: Duration::from_millis(1_500) };
        assert_eq!(of(waits), json!({"run": 3, "event": "retrying", "why": "too much", "after": 1_500}));
        let finished = CallResult::new("1", "t", ToolResult::success("done".into()));
        let finished = of(Event::CallFinished(Arc::new(finished)));
        assert_eq!(
            (&finished["event"], &finished["id"], &finished["run"]),
            (&"call_finished".into(), &"1".into(), &3.into())
        );
        let ended = of(Event::Ended(Arc::new(Outcome::of(Ending::Cancelled))));
        assert_eq!((&ended["event"], &ended["ending"]["why"]), (&"ended".into(), &"cancelled".into()));
        assert_eq!(serde_json::to_value(Update::Missed(7)).unwrap(), json!({"event": "missed", "events": 7}));
    }
}
