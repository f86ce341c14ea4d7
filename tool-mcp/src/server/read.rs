//! What a client says, from its text.

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

use crate::lines::{Line, Side, Skim};

/// The longest line of a client that is read.
pub(super) const LONGEST_LINE: usize = 16 << 20;

/// Some programs put one before what they write.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Reads a call of a tool in one go, if this is one.
///
/// A message does not say what kind of message it is before its end, so rmcp keeps all of it and tries one kind after
/// the other, which is half of what a small call costs. Nearly all messages are calls of tools, and are known by their
/// keys; whatever else comes is left to rmcp.
pub(super) fn tools_call(text: &[u8]) -> Option<ToolsCall<'_>> {
    serde_json::from_slice(text).ok().map(|Object(call)| call)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolsCall<'a> {
    #[serde(rename = "jsonrpc")]
    _jsonrpc: JsonRpcVersion2_0,
    pub(super) id: RequestId,
    #[serde(rename = "method")]
    _method: CallToolRequestMethod,
    #[serde(borrow)]
    pub(super) params: Object<Params<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params<'a> {
    #[serde(rename = "_meta")]
    pub(super) meta: Option<RequestMetaObject>,
    pub(super) name: String,
    #[serde(default, borrow, deserialize_with = "object")]
    pub(super) arguments: Option<&'a RawValue>,
}

/// What is read from an object. Serde reads a struct from a list of its fields as well.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(object: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(members))
            }
        }

        object.deserialize_map(Members(PhantomData)).map(Self)
    }
}

/// The text of an object.
fn object<'de, D: Deserializer<'de>>(value: D) -> Result<Option<&'de RawValue>, D::Error> {
    match Option::<&RawValue>::deserialize(value)? {
        Some(text) if !text.get().starts_with('{') => Err(serde::de::Error::custom("arguments are an object")),
        text => Ok(text),
    }
}

/// The arguments of a call as the client wrote them, in the extensions of a request whose own arguments are empty then.
/// The dispatcher reads them from their text, and should read what was sent: a key that stands twice is refused, and a
/// long number is not rounded.
#[derive(Clone)]
struct ArgumentsText(Box<RawValue>);

impl From<ToolsCall<'_>> for ClientJsonRpcMessage {
    fn from(call: ToolsCall<'_>) -> Self {
        let Object(Params { meta, name, arguments }) = call.params;
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

/// The arguments of a call as a text.
pub(super) fn arguments_text<'a>(
    arguments: Option<&JsonObject>,
    extensions: &'a Extensions,
) -> Result<Cow<'a, str>, ErrorData> {
    match (extensions.get::<ArgumentsText>(), arguments) {
        (Some(ArgumentsText(text)), _) => Ok(Cow::Borrowed(text.get())),
        (None, Some(arguments)) => serde_json::to_string(arguments).map(Cow::Owned).map_err(|error| {
            ErrorData::invalid_params(format!("the arguments cannot be written as JSON: {error}"), None)
        }),
        (None, None) => Ok(Cow::Borrowed("{}")),
    }
}

/// The arguments of a call as an object.
pub(super) fn arguments_object(
    arguments: Option<JsonObject>,
    extensions: &Extensions,
) -> Result<Option<JsonObject>, ErrorData> {
    match (arguments, extensions.get::<ArgumentsText>()) {
        (None, Some(ArgumentsText(text))) => serde_json::from_str(text.get())
            .map_err(|error| ErrorData::invalid_params(format!("the arguments cannot be read: {error}"), None)),
        (arguments, _) => Ok(arguments),
    }
}

/// A request that cannot be taken is answered, so that nobody waits for it.
impl Side for RoleServer {
    fn read(line: &[u8]) -> Line<Self> {
        let line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        if let Some(call) = tools_call(line) {
            return Line::Message(call.into());
        }
        if let Ok(messages) = serde_json::from_slice::<Vec<&RawValue>>(line) {
            return refuse_batch(&messages);
        }
        match serde_json::from_slice(line) {
            // rmcp takes a request for a notification if it cannot read the id.
            Ok(ClientJsonRpcMessage::Notification(notification)) => match skimmed(line) {
                skim if skim.is_request() => refused(skim.asks(), BAD_ID),
                _ => Line::Message(ClientJsonRpcMessage::Notification(notification)),
            },
            Ok(message) => Line::Message(message),
            Err(error) => {
                tracing::debug!(%error, "a line that is no message was left out");
                let skim = skimmed(line);
                match error.classify() {
                    _ if skim.is_notification() => Line::Nothing,
                    Category::Data if skim.is_request() && !has_good_id(&skim) => refused(skim.asks(), BAD_ID),
                    Category::Data => refused(skim.asks(), "Invalid request"),
                    _ if skim.is_request() => refused(skim.asks(), &format!("the request cannot be read: {error}")),
                    // What is no JSON is not answered: two programs could go on forever telling each other so.
                    _ => Line::Nothing,
                }
            }
        }
    }

    fn too_long(line: &Skim, longest: usize) -> Line<Self> {
        match line.is_request() {
            true => refused(line.asks(), &format!("the request is longer than {longest} bytes")),
            false => Line::Nothing,
        }
    }
}

const BAD_ID: &str = "the `id` of a request is a string or an integer of 64 bits";

const NO_BATCHES: &str = "batches are not supported: send each message on a line of its own (they were part of MCP \
                          2025-03-26 only)";

/// The requests of a longer batch are not refused one by one.
const LONGEST_BATCH: usize = 1_000;

fn skimmed(line: &[u8]) -> Skim {
    let mut skim = Skim::default();
    skim.feed(line);
    skim
}

/// Returns `true` if a request has an id that MCP allows.
fn has_good_id(request: &Skim) -> bool {
    request.asks().is_some_and(|id| serde_json::from_str::<RequestId>(id.get()).is_ok())
}

/// Refuses a batch: each of its requests, or else all of it.
fn refuse_batch(messages: &[&RawValue]) -> Line<RoleServer> {
    let skimmed: Vec<Skim> =
        messages.iter().take(LONGEST_BATCH).map(|message| skimmed(message.get().as_bytes())).collect();
    let requests: Vec<_> =
        skimmed.iter().filter(|skim| skim.is_request()).map(|skim| Refused::new(skim.asks(), NO_BATCHES)).collect();
    if messages.len() > LONGEST_BATCH || requests.is_empty() {
        return refused(None, NO_BATCHES);
    }
    reply(&requests)
}

fn refused(id: Option<&RawValue>, text: &str) -> Line<RoleServer> {
    reply(&Refused::new(id, text))
}

fn reply(refused: &impl Serialize) -> Line<RoleServer> {
    match to_raw_value(refused) {
        Ok(reply) => Line::Reply(reply),
        Err(error) => {
            tracing::warn!(%error, "a refusal cannot be written");
            Line::Nothing
        }
    }
}

/// An error that answers a request, with the id as the client wrote it: `null` if that is not known, as JSON-RPC has it.
#[derive(Serialize)]
struct Refused<'a> {
    jsonrpc: JsonRpcVersion2_0,
    id: Option<&'a RawValue>,
    error: ErrorData,
}

impl<'a> Refused<'a> {
    fn new(id: Option<&'a RawValue>, text: &str) -> Self {
        Self { jsonrpc: JsonRpcVersion2_0, id, error: ErrorData::invalid_request(text.to_owned(), None) }
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::GetMeta;
    use serde_json::{Value, json};

    use super::*;

    /// What a request means, whichever way it was read.
    fn meaning(message: ClientJsonRpcMessage) -> Value {
        let ClientJsonRpcMessage::Request(mut message) = message else { panic!("{message:?} is no request") };
        let meta = message.request.get_meta_mut().clone();
        let ClientRequest::CallToolRequest(request) = message.request else {
            return json!(format!("{:?}", message.request));
        };
        let arguments = arguments_object(request.params.arguments, &request.extensions).unwrap();
        let (responses, state) = (request.params.input_responses, request.params.request_state);
        json!([message.id, request.params.name, arguments, meta, responses, state])
    }

    /// What a line was taken for, and what is answered.
    fn read(line: &str) -> Result<Value, Option<Value>> {
        match RoleServer::read(line.as_bytes()) {
            Line::Message(message) => Ok(meaning(message)),
            Line::Reply(reply) => Err(Some(serde_json::to_value(reply).unwrap())),
            Line::Nothing => Err(None),
        }
    }

    #[test]
    fn the_short_way_leads_to_the_same() {
        let (mut short, mut long) = (0, 0);
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
                let slow = meaning(serde_json::from_str(&line).unwrap());
                assert_eq!(read(&line), Ok(slow), "{line}");
                *if tools_call(line.as_bytes()).is_some() { &mut short } else { &mut long } += 1;
            }
        }
        assert_eq!((short, long), (8, 12), "both ways were taken");
        assert!(
            read("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"a\"}}")
                .is_ok()
        );
        assert!(read(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).is_ok());
    }

    /// Who reads along between a client and a server would not know them for calls.
    #[test]
    fn what_only_serde_takes_for_a_call_is_none() {
        for line in [
            r#"["2.0",7,"tools/call",[null,"echo",{}]]"#,
            r#"{"jsonrpc":"2.0","id":7,"method":{"tools/call":null},"params":{"name":"echo"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":[null,"echo",{}]}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","method":"tools/call","params":{"name":"echo"}}"#,
        ] {
            assert!(tools_call(line.as_bytes()).is_none(), "{line}");
            let theirs = serde_json::from_str::<ClientJsonRpcMessage>(line).ok().map(meaning);
            assert!(theirs.is_none_or(|theirs| theirs.is_string()), "{line}: rmcp does not either");
        }
    }

    #[test]
    fn arguments_are_read_as_they_were_written() {
        let written = r#"{"n":1,"n":2,"long":12345678901234567890123}"#;
        let line = format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"a","arguments":{written}}}}}"#
        );
        let Line::Message(ClientJsonRpcMessage::Request(message)) = RoleServer::read(line.as_bytes()) else {
            panic!("a request")
        };
        let ClientRequest::CallToolRequest(request) = message.request else { panic!("a call") };
        let object = arguments_object(request.params.arguments, &request.extensions).unwrap();
        assert_eq!(arguments_text(object.as_ref(), &request.extensions).unwrap(), written);
    }

    #[test]
    fn a_request_that_cannot_be_read_is_answered() {
        let refused = |id: Value| move |said: &Value| said["id"] == id && said["error"]["code"] == json!(-32_600);
        for (line, id) in
            [(r#"{"jsonrpc":"1.0","id":3,"method":"ping"}"#, json!(3)), (r#"{"id":"x","method":"a","pa"#, json!("x"))]
        {
            assert!(read(line).unwrap_err().as_ref().is_some_and(refused(id)), "{line}");
        }
        assert!(read("garbage").unwrap_err().is_none());
        for id in ["1.5", "null", "12345678901234567890123", "true"] {
            let Line::Reply(reply) =
                RoleServer::read(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#).as_bytes())
            else {
                panic!("{id} is refused")
            };
            assert!(
                reply.get().contains(&format!(r#""id":{id},"error":{{"code":-32600,"message":"the `id`"#)),
                "{reply}"
            );
        }
        let unreadable = read(r#"{"jsonrpc":"2.0","id":[7],"method":"ping"}"#).unwrap_err().unwrap();
        assert_eq!(unreadable.get("id"), Some(&Value::Null), "{unreadable}");
        let answer = read(r#"{"jsonrpc":"1.0","id":3,"result":{}}"#).unwrap_err().unwrap();
        assert_eq!(answer["id"], Value::Null, "3 is the id of a request of ours: {answer}");
        assert!(read(r#"{"jsonrpc":"2.0","id":3,"result":"#).unwrap_err().is_none(), "no request of the client's");
        assert!(
            read(r#"{"method":"$/cancelRequest","params":{}}"#).unwrap_err().is_none(),
            "nobody waits for an answer"
        );

        let mut skim = Skim::default();
        skim.feed(br#"{"id":7,"method":"tools/call","params":{"arguments":{"text":"far too long"}}}"#);
        let Line::Reply(reply) = RoleServer::too_long(&skim, 20) else { panic!("it is answered") };
        let reply = serde_json::to_value(reply).unwrap();
        assert_eq!(
            (&reply["id"], &reply["error"]["message"]),
            (&json!(7), &json!("the request is longer than 20 bytes"))
        );
    }

    #[test]
    fn a_batch_is_refused_request_by_request() {
        let ping = |id: usize| json!({"jsonrpc": "2.0", "id": id, "method": "ping"});
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let refused = read(&json!([ping(7), notification, ping(8)]).to_string()).unwrap_err().unwrap();
        let ids: Vec<&Value> = refused.as_array().unwrap().iter().map(|refused| &refused["id"]).collect();
        assert_eq!(ids, [&json!(7), &json!(8)], "{refused}");
        assert!(refused[0]["error"]["message"].as_str().unwrap().contains("batches are not supported"), "{refused}");
        let many: Vec<Value> = (0..=LONGEST_BATCH).map(ping).collect();
        for batch in [json!([]), json!([1, 2]), json!([notification]), json!(many)] {
            let refused = read(&batch.to_string()).unwrap_err().unwrap();
            assert_eq!((refused.get("id"), &refused["error"]["code"]), (Some(&Value::Null), &json!(-32_600)));
        }
    }
}
