//! Finds the id and the method of a message that is too long to keep, or invalid.

use rmcp::model::RequestId;
use serde_json::value::RawValue;

/// Scans the bytes of a JSON-RPC message for its `id` and `method`, without buffering the rest.
#[derive(Default)]
pub(crate) struct MessageScanner {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// The next token in the outermost object is a key.
    at_key: bool,
    word: Vec<u8>,
    key: Vec<u8>,
    id: Option<ScannedId>,
    has_method: bool,
}

/// The `id` of a message.
enum ScannedId {
    /// A JSON scalar, such as a number.
    Value(Box<RawValue>),
    /// An object, an array or a value that is too long.
    Unreadable,
}

/// The longest key or id that is kept.
const MAX_WORD_LENGTH: usize = 64;

impl MessageScanner {
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let [byte, rest @ ..] = bytes {
            self.step(*byte);
            bytes = rest;
            if self.in_text && !self.escaped && self.depth != 1 {
                // Skips the bulk of a long string.
                let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                bytes = &bytes[end..];
            }
        }
    }

    /// Returns the id of the request that the message responds to. The id of a request by the other side is ignored.
    pub(crate) fn response_id(&self) -> Option<RequestId> {
        let Some(ScannedId::Value(id)) = &self.id else { return None };
        serde_json::from_str(id.get()).ok().filter(|_| !self.has_method)
    }

    /// Returns `true` if the message is a request.
    pub(crate) fn is_request(&self) -> bool {
        self.has_method && self.id.is_some()
    }

    /// Returns `true` if the message is a notification.
    pub(crate) fn is_notification(&self) -> bool {
        self.has_method && self.id.is_none()
    }

    /// Returns the id of a request as it was written, even if MCP does not allow such ids.
    pub(crate) fn request_id(&self) -> Option<&RawValue> {
        match &self.id {
            Some(ScannedId::Value(id)) if self.has_method => Some(id),
            _ => None,
        }
    }

    fn step(&mut self, byte: u8) {
        let keep = self.depth == 1;
        if self.in_text {
            if keep {
                self.keep(byte);
            }
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' => self.escaped = true,
                b'"' => self.in_text = false,
                _ => {}
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                if keep {
                    self.keep(byte);
                }
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.at_key |= self.depth == 1;
            }
            b':' if keep && self.at_key => {
                self.key = std::mem::take(&mut self.word);
                self.at_key = false;
            }
            b',' | b'}' | b']' => {
                if keep {
                    self.end_of_member();
                }
                if byte != b',' {
                    self.depth = self.depth.saturating_sub(1);
                }
            }
            _ if keep && !byte.is_ascii_whitespace() => self.keep(byte),
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.word.len() < MAX_WORD_LENGTH {
            self.word.push(byte);
        }
    }

    fn end_of_member(&mut self) {
        match self.key.as_slice() {
            br#""id""# => {
                // Objects and arrays leave no word behind.
                self.id = Some(serde_json::from_slice(&self.word).map_or(ScannedId::Unreadable, ScannedId::Value));
            }
            br#""method""# => self.has_method = true,
            _ => {}
        }
        self.key.clear();
        self.word.clear();
        self.at_key = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response_id(text: &str) -> Option<RequestId> {
        let mut scanner = MessageScanner::default();
        for byte in text.as_bytes() {
            scanner.feed(&[*byte]);
        }
        scanner.response_id()
    }

    #[test]
    fn finds_the_id_at_any_position() {
        let seven = Some(RequestId::Number(7));
        assert_eq!(response_id(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"method":"x"}}"#), seven);
        assert_eq!(response_id(r#"{"result":{"a":[{"id":8}, "}],\"id\":9"]},"jsonrpc":"2.0", "id" : 7 }"#), seven);
        assert_eq!(response_id(r#"{"id":"seven","error":{}}"#), Some(RequestId::String("seven".into())));
    }

    #[test]
    fn returns_a_request_id_as_it_was_written() {
        for (id, expected) in [
            ("7", Some("7")),
            ("1.50", Some("1.50")),
            ("12345678901234567890123", Some("12345678901234567890123")),
            (r#""a b""#, Some(r#""a b""#)),
            ("null", Some("null")),
            ("{\"id\":7}", None),
            ("[7]", None),
        ] {
            let mut scanner = MessageScanner::default();
            scanner.feed(format!(r#"{{"id": {id} ,"method":"x"}}"#).as_bytes());
            assert_eq!((scanner.is_request(), scanner.request_id().map(RawValue::get)), (true, expected), "{id}");
        }
    }

    #[test]
    fn finds_no_response_id_in_other_messages() {
        assert_eq!(response_id(r#"{"id":7,"method":"roots/list"}"#), None);
        assert_eq!(response_id(r#"{"result":{"id":7}}"#), None);
        assert_eq!(response_id("garbage { id: 7 }"), None);
        assert_eq!(response_id(&format!(r#"{{"id":"{}"}}"#, "x".repeat(100))), None);
    }
}
