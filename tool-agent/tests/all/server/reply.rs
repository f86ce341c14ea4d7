//! Replies of the server, independent of the wire format.

use serde_json::Value;

/// A reply to one request.
#[derive(Clone, Debug)]
pub enum Reply {
    Said(Said),
    Status {
        status: u16,
        retry_after: Option<String>,
        message: String,
    },
    /// These events of a stream, as a server with deviations from the protocol sends them. Then the body ends.
    Events(Vec<Value>),
    /// A redirect to this address.
    Moved(String),
    /// The request is accepted, and no response ever comes.
    Silence,
    /// The same reply to this request and to all that follow.
    Forever(Box<Reply>),
}

/// A turn of the model.
#[derive(Clone, Debug)]
pub struct Said {
    /// The reasoning, with the signature that the provider expects back.
    pub thought: Option<String>,
    pub text: String,
    pub calls: Vec<Called>,
    /// Only this many events of a stream are sent.
    pub events: Option<usize>,
    pub end: End,
    /// The stop reason, if it is not the usual one.
    pub stop: Option<&'static str>,
}

/// A call of the model.
#[derive(Clone, Debug)]
pub struct Called {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// The end of a response body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Complete.
    Complete,
    /// Cut off, as if the body were complete.
    Quiet,
    /// The connection breaks.
    Broken,
    /// Nothing more comes, and the connection stays open.
    Stalled,
    /// The provider reports an error in the stream.
    Failed,
}

impl Reply {
    pub fn text(text: &str) -> Self {
        Self::Said(Said {
            thought: None,
            text: text.to_owned(),
            calls: Vec::new(),
            events: None,
            end: End::Complete,
            stop: None,
        })
    }

    pub fn calls(calls: impl IntoIterator<Item = Called>) -> Self {
        let Self::Said(mut said) = Self::text("") else { unreachable!("it says something") };
        said.calls = calls.into_iter().collect();
        Self::Said(said)
    }

    pub fn events(events: impl IntoIterator<Item = Value>) -> Self {
        Self::Events(events.into_iter().collect())
    }

    pub fn status(status: u16) -> Self {
        Self::Status { status, retry_after: None, message: "something is wrong".to_owned() }
    }

    pub fn saying(self, text: &str) -> Self {
        match self {
            Self::Status { status, retry_after, .. } => Self::Status { status, retry_after, message: text.to_owned() },
            Self::Said(said) => Self::Said(Said { text: text.to_owned(), ..said }),
            other => other,
        }
    }

    pub fn thinking(self, thought: &str) -> Self {
        self.said(|said| said.thought = Some(thought.to_owned()))
    }

    pub fn retry_after(self, seconds: &str) -> Self {
        match self {
            Self::Status { status, message, .. } => {
                Self::Status { status, retry_after: Some(seconds.to_owned()), message }
            }
            other => other,
        }
    }

    /// Sends only the first events of a stream, and then this end.
    pub fn cut(self, events: usize, end: End) -> Self {
        self.said(|said| (said.events, said.end) = (Some(events), end))
    }

    pub fn stopped(self, stop: &'static str) -> Self {
        self.said(|said| said.stop = Some(stop))
    }

    pub fn forever(self) -> Self {
        Self::Forever(Box::new(self))
    }

    fn said(mut self, change: impl FnOnce(&mut Said)) -> Self {
        if let Self::Said(said) = &mut self {
            change(said);
        }
        self
    }
}

impl Called {
    pub fn new(id: &str, name: &str, arguments: impl ToString) -> Self {
        Self { id: id.to_owned(), name: name.to_owned(), arguments: arguments.to_string() }
    }

    /// For wire formats in which arguments are an object and cannot be malformed text.
    pub fn object(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| serde_json::json!({"not_json": self.arguments}))
    }
}

/// Splits a text into two pieces.
pub fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    [&text[..middle], &text[middle..]]
}
