//! The Model Context Protocol: `tools/call` requests, each answered by its own response.

use serde_json::{Value, json};

use super::raw::Raw;
use super::{Found, Returned};
use crate::{Malformed, Requested};

/// One request, or a batch of them. Requests of other methods are none of our business.
pub(super) fn calls(body: Raw<'_>) -> Option<Vec<Found>> {
    let requests = match body.items() {
        Some(requests) => requests,
        None => vec![body],
    };
    if !requests.iter().all(|request| request.get("method").is_some()) {
        return None;
    }
    let calls = requests.into_iter().filter(|request| request.text_at("method").as_deref() == Some("tools/call"));
    Some(calls.map(call).collect())
}

fn call(request: Raw<'_>) -> Found {
    let id = request.get("id").map_or("null", Raw::json).to_owned();
    let params = request.get("params");
    let Some(name) = params.and_then(|params| params.text_at("name")) else {
        return Err(Malformed::new(id, None, "`params.name` is missing"));
    };
    let arguments = params.and_then(|params| params.get("arguments")).map_or("{}", Raw::json).to_owned();
    Ok(Requested { id, name, arguments })
}

pub(super) fn result(returned: &Returned<'_>) -> Value {
    let Returned { answer, structured, .. } = returned;
    let mut result = json!({"content": [{"type": "text", "text": answer.output}], "isError": !answer.success});
    // A tool that says what its output looks like has to send it as data, too.
    if *structured
        && answer.success
        && let Ok(content @ Value::Object(_)) = serde_json::from_str(&answer.output)
    {
        result["structuredContent"] = content;
    }
    let id = serde_json::from_str(&answer.id).unwrap_or_else(|_| Value::from(answer.id.as_str()));
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}
