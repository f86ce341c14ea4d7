//! Parses the messages of clients, with a fast path for `tools/call`.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use rmcp::RoleServer;
use rmcp::model::{
    CallToolRequest, CallToolRequestMethod, CallToolRequestParams, ClientJsonRpcMessage, ClientRequest, ErrorData,
    Extensions, JsonObject, JsonRpcVersion2_0, RequestId, RequestMetaObject,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::error::Category;
use serde_json::value::{RawValue, to_raw_value};
use tool_runtime::display::excerpt;

use crate::lines::{LineRole, MessageScanner, ParsedLine};

/// The longest line that is accepted from a client, in bytes.
pub(super) const MAX_LINE_LENGTH: usize = 16 << 20;

/// Some programs write a byte order mark first.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Parses a `tools/call` request in one pass, or returns `None` for any other message.
///
/// rmcp buffers a message and tries one kind after the other, which is half the cost of a small call. Nearly all messages
/// are tool calls, recognized by their keys. Everything else is left to rmcp.
pub(super) fn tools_call(text: &[u8]) -> Option<ToolsCallRequest<'_>> {
    serde_json::from_slice(text).ok().map(|StrictObject(call)| call)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolsCallRequest<'a> {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    pub(super) id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    #[serde(borrow)]
    pub(super) params: StrictObject<ToolsCallParams<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolsCallParams<'a> {
    #[serde(rename = "_meta")]
    pub(super) meta: Option<RequestMetaObject>,
    pub(super) name: String,
    #[serde(default, borrow, deserialize_with = "raw_object")]
    pub(super) arguments: Option<&'a RawValue>,
}

/// A value deserialized from an object only. Serde would also accept an array of the struct's fields.
pub(super) struct StrictObject<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for StrictObject<T> {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members))
            }
        }

        object.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

/// Deserializes the raw text of an object.
fn raw_object<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    match Option::<&RawValue>::deserialize(value)? {
        Some(text) if !text.get().starts_with('{') => Err(serde::de::Error::custom("`arguments` must be an object")),
        text => Ok(text),
    }
}

/// The arguments as the client wrote them, stored in the extensions of a request without parsed arguments. The
/// dispatcher needs the original text to reject duplicate keys and to keep long numbers exact.
#[derive(Clone)]
struct ArgumentsText(Box<RawValue>);

impl From<ToolsCallRequest<'_>> for ClientJsonRpcMessage {
    fn from(call: ToolsCallRequest<'_>) -> Self {
        let StrictObject(ToolsCallParams { meta, name, arguments }) = call.params;
        let mut request = CallToolRequest::new(CallToolRequestParams::new(name));
        if let Some(meta) = meta {
            request.extensions.insert(meta);
        }
        if let Some(text) = arguments {
            request.extensions.insert(ArgumentsText(text.to_owned()));
        }
        Self::request(ClientRequest::CallToolRequest(request), call.id)
    }
}

/// Returns the arguments of a call as text.
pub(super) fn arguments_text<'a>(
    arguments: Option<&JsonObject>,
    extensions: &'a Extensions,
) -> Result<Cow<'a, str>, ErrorData> {
    match (extensions.get::<ArgumentsText>(), arguments) {
        (Some(ArgumentsText(text)), _) => Ok(Cow::Borrowed(text.get())),
        (None, Some(arguments)) => serde_json::to_string(arguments)
            .map(Cow::Owned)
            .map_err(|error| ErrorData::invalid_params(format!("cannot serialize the arguments: {error}"), None)),
        (None, None) => Ok(Cow::Borrowed("{}")),
    }
}

/// Returns the arguments of a call as an object.
pub(super) fn arguments_object(
    arguments: Option<JsonObject>,
    extensions: &Extensions,
) -> Result<Option<JsonObject>, ErrorData> {
    match (arguments, extensions.get::<ArgumentsText>()) {
        (None, Some(ArgumentsText(text))) => serde_json::from_str(text.get()).map_err(|error| {
            ErrorData::invalid_params(format!("invalid arguments: {}", excerpt(&error.to_string())), None)
        }),
        (arguments, _) => Ok(arguments),
    }
}

/// Invalid requests get an error reply, so that the client does not wait.
impl LineRole for RoleServer {
    fn read(line: &[u8]) -> ParsedLine<Self> {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if let Some(call) = tools_call(line) {
            return ParsedLine::Message(call.into());
        }
        if let Ok(messages) = serde_json::from_slice::<Vec<&RawValue>>(line) {
            return refuse_batch(&messages);
        }
        match serde_json::from_slice(line) {
            // rmcp parses a request with an invalid id as a notification.
            Ok(ClientJsonRpcMessage::Notification(notification)) => match scanned(line) {
                scan if scan.is_request() => error_reply(scan.request_id(), BAD_ID),
                _ => ParsedLine::Message(ClientJsonRpcMessage::Notification(notification)),
            },
            Ok(message) => ParsedLine::Message(message),
            Err(error) => {
                tracing::debug!(%error, "ignoring an invalid message");
                let scan = scanned(line);
                match error.classify() {
                    _ if scan.is_notification() => ParsedLine::Ignored,
                    Category::Data if scan.is_request() && !has_valid_id(&scan) => {
                        error_reply(scan.request_id(), BAD_ID)
                    }
                    Category::Data => error_reply(scan.request_id(), "Invalid request"),
                    _ if scan.is_request() => {
                        error_reply(scan.request_id(), &format!("invalid request: {}", excerpt(&error.to_string())))
                    }
                    // No reply to text that is not JSON: two programs could send each other errors forever.
                    _ => ParsedLine::Ignored,
                }
            }
        }
    }

    fn too_long(line: &MessageScanner, longest: usize) -> ParsedLine<Self> {
        match line.is_request() {
            true => error_reply(line.request_id(), &format!("request exceeds the limit of {longest} bytes")),
            false => ParsedLine::Ignored,
        }
    }
}

const BAD_ID: &str = "the `id` of a request must be a string or a 64-bit integer";

const NO_BATCHES: &str = "batches are not supported: send each message on its own line (only MCP 2025-03-26 had \
                          batches)";

/// A longer batch gets one reply instead of one per request.
const MAX_BATCH: usize = 1_000;

fn scanned(line: &[u8]) -> MessageScanner {
    let mut scanner = MessageScanner::default();
    scanner.feed(line);
    scanner
}

/// Returns `true` if a request has an id that MCP allows.
fn has_valid_id(request: &MessageScanner) -> bool {
    request.request_id().is_some_and(|id| serde_json::from_str::<RequestId>(id.get()).is_ok())
}

/// Replies to each request of a batch with an error, or once to the whole batch.
fn refuse_batch(messages: &[&RawValue]) -> ParsedLine<RoleServer> {
    let scans: Vec<MessageScanner> =
        messages.iter().take(MAX_BATCH).map(|message| scanned(message.get().as_bytes())).collect();
    let requests = scans.iter().filter(|scan| scan.is_request());
    let replies: Vec<_> = requests.map(|scan| ErrorReply::new(scan.request_id(), NO_BATCHES)).collect();
    if messages.len() > MAX_BATCH || replies.is_empty() {
        return error_reply(None, NO_BATCHES);
    }
    reply(&replies)
}

fn error_reply(id: Option<&RawValue>, text: &str) -> ParsedLine<RoleServer> {
    reply(&ErrorReply::new(id, text))
}

fn reply(reply: &impl Serialize) -> ParsedLine<RoleServer> {
    match to_raw_value(reply) {
        Ok(reply) => ParsedLine::Reply(reply),
        Err(error) => {
            tracing::warn!(%error, "cannot serialize an error reply");
            ParsedLine::Ignored
        }
    }
}

/// A JSON-RPC error with the request's id as the client wrote it, or `null` if it is unknown.
#[derive(Serialize)]
struct ErrorReply<'a> {
    jsonrpc: JsonRpcVersion2_0,
    id: Option<&'a RawValue>,
    error: ErrorData,
}

impl<'a> ErrorReply<'a> {
    fn new(id: Option<&'a RawValue>, text: &str) -> Self {
        Self { jsonrpc: JsonRpcVersion2_0, id, error: ErrorData::invalid_request(text.to_owned(), None) }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::GetMeta;
    use serde_json::{Value, json};

    use super::*;

    /// Returns the content of a request, however it was parsed.
    fn meaning(message: ClientJsonRpcMessage) -> Value {
        let ClientJsonRpcMessage::Request(mut message) = message else { panic!("{message:?} is not a request") };
        let meta = message.request.get_meta_mut().clone();
        let ClientRequest::CallToolRequest(request) = message.request else {
            return json!(format!("{:?}", message.request));
        };
        let arguments = arguments_object(request.params.arguments, &request.extensions).unwrap();
        let (responses, state) = (request.params.input_responses, request.params.request_state);
        json!([message.id, request.params.name, arguments, meta, responses, state])
    }

    /// Returns the parsed message, or the error reply.
    fn read(line: &str) -> Result<Value, Option<Value>> {
        match RoleServer::read(line.as_bytes()) {
            ParsedLine::Message(message) => Ok(meaning(message)),
            ParsedLine::Reply(reply) => Err(Some(serde_json::to_value(reply).unwrap())),
            ParsedLine::Ignored => Err(None),
        }
    }

    #[test]
    fn fast_path_and_rmcp_agree() {
        let (mut fast, mut slow) = (0, 0);
        for params in [
            r#"{"name":"add"}"#,
            r#"{"name":"add","arguments":null,"_meta":null}"#,
            r#"{"arguments":{"a":[1,{"b":null}],"c":"\u00e9\n"},"name":"a\"b"}"#,
            r#"{"name":"add","arguments":{},"_meta":{"progressToken":7,"traceparent":"00-1"}}"#,
            r#"{"name":"add","arguments":[1]}"#,
            r#"{"name":"add","arguments":"{}"}"#,
            r#"{"name":"add","requestState":"s","inputResponses":{"x":1}}"#,
            r#"{"name":"add","more":1}"#,
            r#"{"arguments":{}}"#,
            r#"{"name":7}"#,
        ] {
            for id in ["1", r#""x""#] {
                let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#);
                let expected = meaning(serde_json::from_str(&line).unwrap());
                assert_eq!(read(&line), Ok(expected), "{line}");
                *if tools_call(line.as_bytes()).is_some() { &mut fast } else { &mut slow } += 1;
            }
        }
        assert_eq!((fast, slow), (8, 12), "both paths were taken");
        assert!(
            read("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}")
                .is_ok()
        );
        assert!(read(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_ok());
    }

    /// A proxy between client and server would not recognize them as calls.
    #[test]
    fn rejects_calls_that_only_serde_accepts() {
        for line in [
            r#"["2.0",7,"tools/call",[null,"echo",{}]]"#,
            r#"{"jsonrpc":"2.0","id":7,"method":{"tools/call":null},"params":{"name":"echo"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[null,"echo",{}]}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","method":"tools/call","params":{"name":"echo"}}"#,
        ] {
            assert!(tools_call(line.as_bytes()).is_none(), "{line}");
            let theirs = serde_json::from_str::<ClientJsonRpcMessage>(line).ok().map(meaning);
            assert!(theirs.is_none_or(|theirs| theirs.is_string()), "{line}: rmcp rejects it, too");
        }
    }

    #[test]
    fn keeps_the_text_of_the_arguments() {
        let written = r#"{"n":1,"n":2,"long":12345678901234567890123}"#;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"a","arguments":{written}}}}}"#
        );
        let ParsedLine::Message(ClientJsonRpcMessage::Request(message)) = RoleServer::read(line.as_bytes()) else {
            panic!("a request")
        };
        let ClientRequest::CallToolRequest(request) = message.request else { panic!("a call") };
        let object = arguments_object(request.params.arguments, &request.extensions).unwrap();
        assert_eq!(arguments_text(object.as_ref(), &request.extensions).unwrap(), written);
    }

    #[test]
    fn replies_to_invalid_requests() {
        let refused = |id: Value| move |reply: &Value| reply["id"] == id && reply["error"]["code"] == json!(-32_600);
        for (line, id) in
            [(r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, json!(3)), (r#"{"id":"x","method":"a","pa"#, json!("x"))]
        {
            assert!(read(line).unwrap_err().as_ref().is_some_and(refused(id)), "{line}");
        }
        assert!(read("garbage").unwrap_err().is_none());
        for id in ["1.5", "null", "12345678901234567890123", "true"] {
            let ParsedLine::Reply(reply) =
                RoleServer::read(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes())
            else {
                panic!("{id} must be refused")
            };
            assert!(
                reply.get().contains(&format!(r#""id":{id},"error":{{"code":-32600,"message":"the `id`"#)),
                "{reply}"
            );
        }
        let unreadable = read(r#"{"jsonrpc":"2.0","id":[7],"method":"ping"}"#).unwrap_err().unwrap();
        assert_eq!(unreadable.get("id"), Some(&Value::Null), "{unreadable}");
        let reply = read(r#"{"jsonrpc":"1.0","id":3,"result":{}}"#).unwrap_err().unwrap();
        assert_eq!(reply["id"], Value::Null, "3 is the id of a request by the server: {reply}");
        assert!(read(r#"{"jsonrpc":"2.0","id":3,"result":"#).unwrap_err().is_none(), "not a request");
        assert!(
            read(r#"{"method":"$/cancelRequest","params":{}}"#).unwrap_err().is_none(),
            "a notification gets no reply"
        );

        let mut scanner = MessageScanner::default();
        scanner.feed(br#"{"id":7,"method":"tools/call","params":{"arguments":{"text":"far too long"}}}"#);
        let ParsedLine::Reply(reply) = RoleServer::too_long(&scanner, 20) else { panic!("expected a reply") };
        let reply = serde_json::to_value(reply).unwrap();
        assert_eq!(
            (&reply["id"], &reply["error"]["message"]),
            (&json!(7), &json!("request exceeds the limit of 20 bytes"))
        );
    }

    #[test]
    fn refuses_each_request_of_a_batch() {
        let ping = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let refused = read(&json!([ping(7), notification, ping(8)]).to_string()).unwrap_err().unwrap();
        let ids: Vec<&Value> = refused.as_array().unwrap().iter().map(|refused| &refused["id"]).collect();
        assert_eq!(ids, [&json!(7), &json!(8)], "{refused}");
        assert!(refused[0]["error"]["message"].as_str().unwrap().contains("batches are not supported"), "{refused}");
        let many: Vec<Value> = (0..=MAX_BATCH).map(ping).collect();
        for batch in [json!([]), json!([1, 2]), json!([notification]), json!(many)] {
            let refused = read(&batch.to_string()).unwrap_err().unwrap();
            assert_eq!((refused.get("id"), &refused["error"]["code"]), (Some(&Value::Null), &json!(-32_600)));
        }
    }
}
