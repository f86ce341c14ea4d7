//! A message from its text.

use rmcp::RoleClient;
use rmcp::model::{
    CallToolResult, ContentBlock, ErrorCode, ErrorData, JsonRpcResponse, JsonRpcVersion2_0, MetaObject, RequestId,
    ResultType, ServerJsonRpcMessage, ServerResult,
};
use serde::Deserialize;
use serde_json::Value;

use super::wire::{TOO_LONG, UNREADABLE};
use crate::lines::{Line, Side, Skim};

/// A line that answers a call, and cannot be taken, makes that call fail.
impl Side for RoleClient {
    fn read(line: &[u8]) -> Line<Self> {
        match message(line) {
            Ok(message) => Line::Message(message),
            Err(error) => {
                tracing::debug!(%error, "a line that is no message was left out");
                let mut skim = Skim::default();
                skim.feed(line);
                failed(&skim, UNREADABLE, format!("the answer cannot be read: {error}"))
            }
        }
    }

    fn too_long(line: &Skim, longest: usize) -> Line<Self> {
        failed(line, TOO_LONG, format!("the answer is longer than {longest} bytes"))
    }
}

fn failed(line: &Skim, code: ErrorCode, text: String) -> Line<RoleClient> {
    let error = ErrorData::new(code, text, None);
    line.answers().map_or(Line::Nothing, |id| Line::Message(ServerJsonRpcMessage::error(error, Some(id))))
}

/// Reads a message.
///
/// An answer does not say what it answers, so rmcp tries one kind of result after the other. Nearly all answers are those
/// of tools, and are known by their keys: they are read in one go, and whatever else comes is left to rmcp.
pub(super) fn message(text: &[u8]) -> serde_json::Result<ServerJsonRpcMessage> {
    match serde_json::from_slice::<Answer>(text) {
        Ok(answer) => Ok(answer.into()),
        Err(_) => serde_json::from_slice(text),
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    jsonrpc: JsonRpcVersion2_0,
    id: RequestId,
    result: ToolAnswer,
}

/// What a tool answers. No other result has `content` and nothing beside these.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct ToolAnswer {
    content: Vec<ContentBlock>,
    /// `null` is a value here.
    #[serde(default, deserialize_with = "present")]
    structured_content: Option<Value>,
    is_error: Option<bool>,
    result_type: Option<Complete>,
    #[serde(rename = "_meta")]
    meta: Option<MetaObject>,
}

/// The only type that the result of a tool has.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Complete {
    Complete,
}

fn present<'de, D: serde::Deserializer<'de>>(value: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(value).map(Some)
}

impl From<Answer> for ServerJsonRpcMessage {
    fn from(answer: Answer) -> Self {
        let Answer { jsonrpc, id, result: answer } = answer;
        let mut result = CallToolResult::default();
        result.content = answer.content;
        result.structured_content = answer.structured_content;
        result.is_error = answer.is_error;
        result.result_type = answer.result_type.map(|Complete::Complete| ResultType::COMPLETE);
        result.meta = answer.meta;
        Self::Response(JsonRpcResponse { jsonrpc, id, result: ServerResult::CallToolResult(result) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whichever way a message is read, it is the same.
    #[test]
    fn the_short_way_leads_to_the_same() {
        let text = r#"{"type":"text","text":"a"}"#;
        let (mut short, mut long) = (0, 0);
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
                let slow: ServerJsonRpcMessage = serde_json::from_str(&line).unwrap();
                let read = message(line.as_bytes()).unwrap();
                assert_eq!(format!("{read:?}"), format!("{slow:?}"), "{line}");
                *if serde_json::from_str::<Answer>(&line).is_ok() { &mut short } else { &mut long } += 1;
            }
        }
        assert_eq!((short, long), (8, 16), "both ways were taken");
        assert!(message(br#"{"jsonrpc":"1.0","id":1,"result":{"content":[]}}"#).is_err());
        let notification = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
        assert!(matches!(message(notification), Ok(ServerJsonRpcMessage::Notification(_))));
    }
}
