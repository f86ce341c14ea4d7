//! The last touch of a result, and who is told of calls that never came to their handler.

use serde_json::json;

use super::told::Told;
use super::{BoundTool, Call};
use crate::{ErrorKind, Spilled, ToolError, ToolResult};

impl Call<'_> {
    /// Shortens a result that is too long, and says what was mended.
    #[inline]
    pub(super) fn dressed(&mut self, result: ToolResult, is_judged: bool) -> ToolResult {
        let result = if self.tools.inner.rules.touch_results { self.touched(result, is_judged) } else { result };
        #[cfg(feature = "metrics")]
        if let Some(measured) = self.measured.take() {
            measured.end(&self.call.name, &result);
        }
        if self.rare.is_none() { result } else { self.with_rare(result) }
    }

    /// Ends tries, unless that was done, and shortens a result that is too long.
    #[cold]
    fn touched(&self, result: ToolResult, is_judged: bool) -> ToolResult {
        let rules = &self.tools.inner.rules;
        let result = match &rules.tries {
            Some(tries) if !is_judged => {
                let rare = self.rare.as_ref();
                let called = rare.and_then(|rare| rare.called.as_deref());
                let counts_for = rare.and_then(|rare| rare.counts_for.as_deref());
                tries.judge(counts_for.or(self.call.conversation_id()), &self.call.name, called, result)
            }
            _ => result,
        };
        match &rules.spill {
            None => result,
            Some(spill) => shortened(result, |output| spill.shorten(self.call.conversation_id(), output)),
        }
    }

    /// Says in the result what was mended, and tells whoever watches.
    #[cold]
    #[inline(never)]
    fn with_rare(&mut self, mut result: ToolResult) -> ToolResult {
        let Some(rare) = self.rare.take() else { return result };
        if let Some(repaired) = rare.repaired {
            result.metadata.insert("repairs", json!(repaired.repairs));
        }
        if let Some(mut told) = rare.told {
            told.ends(&result);
        }
        result
    }

    /// Tells of a call that is answered before anything else.
    #[cold]
    #[inline(never)]
    pub(super) fn at_once(&self, tool: Option<&BoundTool>, result: ToolResult) -> ToolResult {
        Told::at_once(&self.tools.inner.rules.events, &self.call, tool, &result);
        result.not_started()
    }

    /// Tells of a call that takes the plain way.
    pub(super) fn watch_plainly(&mut self, tool: &BoundTool, mut told: Told) {
        told.starts_with_text(&self.call.arguments, tool);
        told.listen(&mut self.with);
        self.rare().told = Some(told);
    }

    #[cold]
    pub(super) fn too_long(&self) -> ToolError {
        let message = format!(
            "Invalid arguments for `{}`: {} bytes are more than the limit of {}. Send less.",
            self.call.name,
            self.call.arguments.len(),
            self.tools.inner.limits.argument_bytes
        );
        ToolError::new(ErrorKind::InvalidArguments, message)
    }
}

/// The model reads the output of a failure, and an interface its error: neither is too long.
#[cold]
pub(super) fn shortened(
    mut result: ToolResult,
    shorten: impl FnOnce(String) -> (String, Option<Spilled>),
) -> ToolResult {
    let (output, spilled) = shorten(std::mem::take(&mut result.output));
    result.output = output;
    if let Some(error) = &mut result.error
        && spilled.is_some()
    {
        error.message.clone_from(&result.output);
    }
    if let Some(spilled) = spilled {
        result.metadata.insert("spilled", json!(spilled));
    }
    result
}
