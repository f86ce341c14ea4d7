//! What a call would do, without making it.

use serde_json::Value;

use super::{Careful, Read, Rules, mend};
use crate::confirm::Verdict;
use crate::dispatch::preview;
use crate::json;
use crate::{ErrorKind, ToolResult};

impl Careful {
    /// What would happen, as far as that can be said without doing it or asking anybody.
    pub(super) async fn dry_result(&self, rules: &Rules, read: &Read) -> Box<ToolResult> {
        let (verdict, when) = match self.verdict(rules, read) {
            Verdict::Run => ("run", ""),
            Verdict::Ask => ("ask", " once somebody has given consent"),
            Verdict::Refuse(reason) => {
                let mut result = self.failure(ErrorKind::Refused, format!("would be refused: {reason}"));
                result.metadata.insert("dry_run", true);
                return result;
            }
        };
        let arguments = json::text(&self.redact(&read.arguments));
        let output = format!("Dry run: `{}` would run{when} with {arguments}. Nothing was done.", self.tool.name);
        let mut result = ToolResult::success(output);
        result.metadata.insert("dry_run", true);
        result.metadata.insert("policy", verdict);
        if let Some(effect) = self.effect(read).await {
            result.output.push_str(&format!(" It would do this: {}", json::text(&effect)));
            result.metadata.insert("preview", effect);
        }
        Box::new(mend(result, read.repaired.as_deref()))
    }

    /// What the call would do, if its tool can tell.
    pub(super) async fn effect(&self, read: &Read) -> Option<Value> {
        let preview = self.tool.preview.clone()?;
        // Of what is shown, which is what runs.
        let text = read.arguments.to_string();
        let effect = preview::of(&self.inner, preview, &self.call, (&text, false), &self.with, self.budget.limit).await;
        Some(match effect {
            Ok(effect) => serde_json::to_value(effect).unwrap_or_default(),
            Err(error) => Value::from(format!("The preview failed: {error}")),
        })
    }
}
