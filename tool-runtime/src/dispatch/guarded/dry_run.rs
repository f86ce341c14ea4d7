//! What a call would do, without making it.

use serde_json::Value;

use super::{CallRules, DecodedArguments, GuardedCall, mend};
use crate::confirm::PolicyVerdict;
use crate::dispatch::call::preview;
use crate::json;
use crate::{ErrorKind, ToolResult};

impl GuardedCall {
    /// What would happen, as far as that can be said without doing it or asking anybody.
    pub(crate) async fn dry_result(&self, rules: &CallRules, read: &DecodedArguments) -> Box<ToolResult> {
        let (verdict, when) = match self.verdict(rules, read) {
            PolicyVerdict::Run => ("run", ""),
            PolicyVerdict::Ask => ("ask", " once somebody has given consent"),
            PolicyVerdict::Refuse(reason) => {
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
        match self.effect(read).await {
            Ok(None) => {}
            Ok(Some(effect)) => {
                result.output.push_str(&format!(" It would do this: {}", json::text(&effect)));
                result.metadata.insert("preview", effect);
            }
            Err(mut busy) => {
                busy.metadata.insert("dry_run", true);
                return busy;
            }
        }
        Box::new(mend(result, read.repaired.as_deref()))
    }

    /// Says what the call would do, if its tool can tell. In a turn, the preview waits until it may run beside the calls
    /// that do.
    ///
    /// # Errors
    /// Too many calls are running: then the call itself could not run either.
    pub(crate) async fn effect(&self, read: &DecodedArguments) -> Result<Option<Value>, Box<ToolResult>> {
        let Some(preview) = self.tool.preview.clone() else { return Ok(None) };
        let seat = match &self.seat {
            None => None,
            Some(seat) => Some(seat.preview().await),
        };
        // Of what is shown, which is what runs.
        let text = read.arguments.to_string();
        let limit = self.budget.limit;
        match preview::of(&self.inner, preview, &self.call, (&text, false), &self.with, limit, seat).await {
            Ok(effect) => Ok(Some(serde_json::to_value(effect).unwrap_or_default())),
            Err(error) if error.kind == ErrorKind::Busy => Err(Box::new(ToolResult::failure(error))),
            Err(error) => Ok(Some(Value::from(format!("The preview failed: {error}")))),
        }
    }
}
