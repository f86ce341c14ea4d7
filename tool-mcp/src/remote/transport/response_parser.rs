//! Parses the messages of servers, with a fast path for tool results.

use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, ErrorData, JsonRpcResponse, JsonRpcVersion2_0, MetaObject, RequestId,
    ResultType, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::Value;

use super::monitor::{TOO_LONG, UNREADABLE};
use crate::lines::{LineRole, MessageScanner, ParsedLine};

/// An invalid response fails its request.
impl LineRole for RoleClient {
    fn read(line: &[u8]) -> ParsedLine<Self> {
        match message(line) {
            Ok(message) => ParsedLine::Message(message),
            Err(error) => {
                tracing::debug!(%error, "ignoring an invalid message");
                let mut scanner = MessageScanner::default();
                scanner.feed(line);
                error_response(&scanner, UNREADABLE, format!("invalid response: {error}"))
            }
        }
    }

    fn too_long(line: &MessageScanner, longest: usize) -> ParsedLine<Self> {
        error_response(line, TOO_LONG, format!("response exceeds the limit of {longest} bytes"))
    }
}

fn error_response(line: &MessageScanner, code: ErrorCode, text: String) -> ParsedLine<RoleClient> {
    let error = ErrorData::new(code, text, None);
    let response = |id| ParsedLine::Message(ServerJsonRpcMessage::error(error, Some(id)));
    line.response_id().map_or(ParsedLine::Ignored, response)
}

/// Parses a message.
///
/// A response does not name its kind, so rmcp tries one kind of result after the other. Nearly all responses are tool
/// results, which are recognized by their keys and parsed in one pass. Everything else is left to rmcp.
pub(super) fn message(text: &[u8]) -> serde_json::Result<ServerJsonRpcMessage> {
    match serde_json::from_slice::<ToolResponse>(text) {
        Ok(response) => Ok(response.into()),
        Err(_) => serde_json::from_slice(text),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolResponse {
    jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    result: ToolResultFields,
}

/// The fields of a tool result. No other kind of result has `content` and nothing but these.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ToolResultFields {
    content: Vec<ContentBlock>,
    /// `null` is a value, unlike an absent key.
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Value>,
    is_error: Option<bool>,
    result_type: Option<CompleteType>,
    #[serde(rename = "_meta")]
    meta: Option<MetaObject>,
}

/// The only result type of a tool result.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum CompleteType {
    Complete,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl From<ToolResponse> for ServerJsonRpcMessage {
    fn from(response: ToolResponse) -> Self {
        let ToolResponse { jsonrpc, id, result: fields } = response;
        let mut result = CallToolResult::default();
        result.content = fields.content;
        result.structured_content = fields.structured_content;
        result.is_error = fields.is_error;
        result.result_type = fields.result_type.map(|CompleteType::Complete| ResultType::COMPLETE);
        result.meta = fields.meta;
        Self::Response(JsonRpcResponse { jsonrpc, id, result: ServerResult::CallToolResult(result) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_path_and_rmcp_agree() {
        let text = r#"{"type":"text","text":"a"}"#;
        let (mut fast, mut slow) = (0, 0);
        for result in [
            format!(r#"{{"content":[{text}]}}"#),
            r#"{"content":[]}"#.to_owned(),
            format!(r#"{{"content":[{text}],"isError":true,"structuredContent":null,"_meta":{{"a":1}}}}"#),
            format!(r#"{{"resultType":"complete","content":[{text}],"structuredContent":{{"b":[1]}},"isError":null}}"#),
            format!(r#"{{"resultType":"input_required","content":[{text}]}}"#),
            format!(r#"{{"content":[{text}],"tools":[]}}"#),
            format!(r#"{{"content":[{text}],"action":"accept"}}"#),
            format!(r#"{{"content":[{text}],"more":1}}"#),
            r#"{"content":[{"type":"new"}]}"#.to_owned(),
            r#"{"structuredContent":1}"#.to_owned(),
            r#"{"tools":[]}"#.to_owned(),
            "{}".to_owned(),
        ] {
            for id in ["1", r#""x""#] {
                let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                let expected: ServerJsonRpcMessage = serde_json::from_str(&line).unwrap();
                let read = message(line.as_bytes()).unwrap();
                assert_eq!(format!("{read:?}"), format!("{expected:?}"), "{line}");
                *if serde_json::from_str::<ToolResponse>(&line).is_ok() { &mut fast } else { &mut slow } += 1;
            }
        }
        assert_eq!((fast, slow), (8, 16), "both paths were taken");
        assert!(message(br#"{"jsonrpc":"1.0","id":1,"result":{"content":[]}}"#).is_err());
        let notification = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        assert!(matches!(message(notification), Ok(ServerJsonRpcMessage::Notification(_))));
    }
}
