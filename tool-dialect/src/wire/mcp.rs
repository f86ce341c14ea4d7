//! MCP: `tools/call` requests, each with its own response.

use serde_json::{Value, json};

use super::raw::RawJson;
use super::{EncodedResult, ParsedCall};
use crate::{MalformedCall, RequestedCall};

/// Accepts one request or a batch. Requests with other methods are ignored.
pub(super) fn calls(body: RawJson<'_>) -> Option<Vec<ParsedCall>> {
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

fn call(request: RawJson<'_>) -> ParsedCall {
    let id = request.get("id").map_or("null", RawJson::json).to_owned();
    let params = request.get("params");
    let Some(name) = params.and_then(|params| params.text_at("name")) else {
        return Err(MalformedCall::new(id, None, "`params.name` is missing"));
    };
    let arguments = params.and_then(|params| params.get("arguments")).map_or("{}", RawJson::json).to_owned();
    Ok(RequestedCall { id, name, arguments })
}

pub(super) fn result(returned: &EncodedResult<'_>) -> Value {
    let EncodedResult { result, structured, .. } = returned;
    let mut body = json!({"content": [{"type": "text", "text": result.output}], "isError": !result.success});
    // A tool with an output schema must also send structured content.
    if *structured
        && result.success
        && let Ok(content @ Value::Object(_)) = serde_json::from_str(&result.output)
    {
        body["structuredContent"] = content;
    }
    let id = serde_json::from_str(&result.id).unwrap_or_else(|_| Value::from(result.id.as_str()));
    json!({"jsonrpc": "2.0", "id": id, "result": body})
}
