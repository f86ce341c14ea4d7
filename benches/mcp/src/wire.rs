//! Messages of the protocol.

use contest::work::text;
use serde_json::{Value, json};

pub const TOOLS: [&str; 3] = ["add", "search", "order"];

/// Returns a call of a tool in a version of the protocol.
pub fn call(id: usize, tool: &str, version: &str) -> String {
    let arguments: Value = serde_json::from_str(text(tool)).expect("arguments");
    let mut params = json!({"name": tool, "arguments": arguments});
    if version >= "2026" {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
    }
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
}

pub fn initialize() -> String {
    let client = json!({"name": "bench", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}).to_string()
}

pub fn initialized() -> String {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"}).to_string()
}

/// Returns the result of a response with JSON text parsed, because two servers may order its keys differently.
pub fn result(answer: &str) -> Value {
    let json = answer.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    let json = json.filter(|line| line.starts_with('{')).last().unwrap_or_else(|| panic!("no answer: {answer}"));
    let mut answer: Value = serde_json::from_str(json).expect("JSON");
    let mut result = answer["result"].take();
    assert_eq!(result["isError"], false, "{result}");
    let text = &mut result["content"][0]["text"];
    if let Some(read) = text.as_str().and_then(|text| serde_json::from_str(text).ok()) {
        *text = read;
    }
    result
}
