//! What a person is asked.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tool_model::ToolDefinition;

/// A call that needs consent, with all there is to know about it. Owned, so that it can be kept, sent and shown later.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The tool's name.
    pub tool: String,
    /// The tool as it was offered when the call came.
    pub definition: Arc<ToolDefinition>,
    /// The arguments as they will run: checked, and mended where that was needed.
    pub arguments: Value,
    /// The id that the provider gave the call.
    pub call_id: Option<String>,
    /// The conversation that the call belongs to.
    pub conversation: Option<String>,
    /// What was mended in the arguments.
    pub repairs: Vec<Value>,
    /// What the call would do, if the tool can tell: `{"diff": ".."}`, `{"command": ".."}`, `{"statement": ".."}`, or
    /// anything else.
    pub preview: Option<Value>,
    /// The [`fingerprint`] of the definition.
    pub fingerprint: String,
}

impl Question {
    /// A question about a call of this tool with these arguments.
    pub fn new(tool: impl Into<String>, definition: Arc<ToolDefinition>, arguments: Value) -> Self {
        let fingerprint = fingerprint(&definition);
        Self {
            tool: tool.into(),
            definition,
            arguments,
            call_id: None,
            conversation: None,
            repairs: Vec::new(),
            preview: None,
            fingerprint,
        }
    }

    /// Whether this is how the tool looked when the question was asked. If not, consent was given to something else.
    ///
    /// The definitions themselves are compared, in their JSON form: a question may come back from a journal.
    #[must_use]
    pub fn is_about(&self, definition: &ToolDefinition) -> bool {
        text(&self.definition) == text(definition)
    }
}

/// A short text that tells one version of a tool's definition from another, the same in every run and on every machine.
///
/// It is for logs and records. It is no cryptographic hash, and nothing secure rests on it: a token is bound to the
/// definition itself, and [`Question::is_about`] compares definitions.
///
/// ```
/// use tool_runtime::{ToolDefinition, confirm::fingerprint};
///
/// let mut definition = ToolDefinition::default();
/// let before = fingerprint(&definition);
/// definition.sensitive = true;
/// assert_ne!(fingerprint(&definition), before);
/// ```
#[must_use]
pub fn fingerprint(definition: &ToolDefinition) -> String {
    // FNV-1a of 128 bits: stable, and not worth a dependency.
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let hash = text(definition).bytes().fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME));
    format!("{hash:032x}")
}

/// The definition's own form is sorted already.
fn text(definition: &ToolDefinition) -> String {
    tool_model::to_pretty(definition)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn definition(description: &str) -> ToolDefinition {
        let json = json!({"description": description, "handler": "app::purge", "arguments": {}, "timeout_ms": 5000});
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn fnv_of_known_texts() {
        // The definition's text stands for any; the offset basis itself is the hash of nothing.
        assert_eq!(fingerprint(&definition("a")).len(), 32);
        assert_ne!(fingerprint(&definition("a")), fingerprint(&definition("b")));
        assert_eq!(fingerprint(&definition("a")), fingerprint(&definition("a")));
    }

    #[test]
    fn a_question_survives_a_journal() {
        let mut question = Question::new("purge", Arc::new(definition("Purge.")), json!({"host": "web-1"}));
        question.preview = Some(json!({"statement": "delete from points"}));
        let text = serde_json::to_string(&question).unwrap();
        let back: Question = serde_json::from_str(&text).unwrap();
        assert_eq!(back, question);
        assert!(back.is_about(&definition("Purge.")));
        assert!(!back.is_about(&definition("Purge everything.")));
    }
}
