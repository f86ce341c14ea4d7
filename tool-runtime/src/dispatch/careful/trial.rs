//! What a call would do, without making it.

use serde_json::Value;

use super::{Careful, Read, mend};
use crate::dispatch::preview;
use crate::{ToolResult, redact};

impl Careful {
    /// The answer of a dry run.
    pub(super) async fn dry_result(&self, read: &Read) -> ToolResult {
        let arguments = redact(&read.arguments, self.tool.definition());
        let mut result =
            ToolResult::success(format!("Dry run: `{}` would run with {arguments}. Nothing was done.", self.call.name));
        result.metadata.insert("dry_run", true);
        if let Some(effect) = self.effect(read).await {
            result.output.push_str(&format!(" It would do this: {effect}"));
            result.metadata.insert("preview", effect);
        }
        mend(result, read.repaired.as_deref())
    }

    /// What the call would do, if its tool can tell.
    pub(super) async fn effect(&self, read: &Read) -> Option<Value> {
        let preview = self.tool.preview.clone()?;
        let text = read.repaired.as_ref().map_or(&*self.call.arguments, |repaired| &repaired.text);
        let effect = preview::of(&self.inner, preview, &self.call, text, &self.with, self.budget.limit).await;
        Some(match effect {
            Ok(effect) => serde_json::to_value(effect).unwrap_or_default(),
            Err(error) => Value::from(format!("The preview failed: {error}")),
        })
    }
}
