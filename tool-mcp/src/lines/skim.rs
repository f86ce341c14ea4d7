//! Which call a message is about that is too long to be kept, or cannot be read.

use rmcp::model::RequestId;
use serde_json::value::RawValue;

/// Looks for `id` and `method` of a JSON-RPC message while its bytes go by, and keeps nothing else of it.
#[derive(Default)]
pub(crate) struct Skim {
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// What comes next in the outermost object is a key.
    at_key: bool,
    word: Vec<u8>,
    key: Vec<u8>,
    id: Option<Id>,
    has_method: bool,
}

/// The `id` of a message.
enum Id {
    /// A word of JSON, such as a number.
    Value(Box<RawValue>),
    /// Something else, or something too long.
    Unreadable,
}

/// No key that matters and no id of ours is longer.
const LONGEST_WORD: usize = 64;

impl Skim {
    pub(crate) fn feed(&mut self, mut bytes: &[u8]) {
        while let [byte, rest @ ..] = bytes {
            self.step(*byte);
            bytes = rest;
            if self.in_text && !self.escaped && self.depth != 1 {
                // Most of what is too long is one long text.
                let end = memchr::memchr2(b'"', b'\\', bytes).unwrap_or(bytes.len());
                bytes = &bytes[end..];
            }
        }
    }

    /// The id of the call that the message answers. A request of the server's own has an id, too, but it is no answer.
    pub(crate) fn answers(&self) -> Option<RequestId> {
        let Some(Id::Value(id)) = &self.id else { return None };
        serde_json::from_str(id.get()).ok().filter(|_| !self.has_method)
    }

    /// Returns `true` if the message is a request.
    pub(crate) fn is_request(&self) -> bool {
        self.has_method && self.id.is_some()
    }

    /// Returns `true` if the message wants no answer.
    pub(crate) fn is_notification(&self) -> bool {
        self.has_method && self.id.is_none()
    }

    /// Returns the id of the request that the message is, as it was written, whether or not MCP has such ids.
    pub(crate) fn asks(&self) -> Option<&RawValue> {
        match &self.id {
            Some(Id::Value(id)) if self.has_method => Some(id),
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
        if self.word.len() < LONGEST_WORD {
            self.word.push(byte);
        }
    }

    fn end_of_member(&mut self) {
        match self.key.as_slice() {
            br#""id""# => {
                // Of an object or a list no word is kept.
                self.id = Some(serde_json::from_slice(&self.word).map_or(Id::Unreadable, Id::Value));
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

    fn answers(text: &str) -> Option<RequestId> {
        let mut skim = Skim::default();
        for byte in text.as_bytes() {
            skim.feed(&[*byte]);
        }
        skim.answers()
    }

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        let seven = Some(RequestId::Number(7));
        assert_eq!(answers(r#"{"jsonrpc":"2.0","id":7,"result":{"id":8,"method":"x"}}"#), seven);
        assert_eq!(answers(r#"{"result":{"a":[{"id":8}, "}],\"id\":9"]},"jsonrpc":"2.0", "id" : 7 }"#), seven);
        assert_eq!(answers(r#"{"id":"seven","error":{}}"#), Some(RequestId::String("seven".into())));
    }

    #[test]
    fn an_id_is_given_back_as_it_was_written() {
        for (id, expected) in [
            ("7", Some("7")),
            ("1.50", Some("1.50")),
            ("12345678901234567890123", Some("12345678901234567890123")),
            (r#""a b""#, Some(r#""a b""#)),
            ("null", Some("null")),
            ("{\"id\":7}", None),
            ("[7]", None),
        ] {
            let mut skim = Skim::default();
            skim.feed(format!(r#"{{"id": {id} ,"method":"x"}}"#).as_bytes());
            assert_eq!((skim.is_request(), skim.asks().map(RawValue::get)), (true, expected), "{id}");
        }
    }

    #[test]
    fn what_answers_nothing_has_none() {
        assert_eq!(answers(r#"{"id":7,"method":"roots/list"}"#), None);
        assert_eq!(answers(r#"{"result":{"id":7}}"#), None);
        assert_eq!(answers("garbage { id: 7 }"), None);
        assert_eq!(answers(&format!(r#"{{"id":"{}"}}"#, "x".repeat(100))), None);
    }
}
