//! What the server answers, whichever wire format it is put in.

use serde_json::Value;

/// One answer to one request.
#[derive(Clone, Debug)]
pub enum Reply {
    Said(Said),
    Status {
        status: u16,
        retry_after: Option<String>,
        message: String,
    },
    /// These events of a stream, as a server of the same protocol with habits of its own sends them. Then the body ends.
    Events(Vec<Value>),
    /// The answer is elsewhere, at this address.
    Moved(String),
    /// The request is taken, and no answer ever comes.
    Silence,
    /// The same answer to this request and to all that follow.
    Forever(Box<Reply>),
}

/// A turn of the model.
#[derive(Clone, Debug)]
pub struct Said {
    /// What the model thinks, with the signature that the provider wants back.
    pub thought: Option<String>,
    pub text: String,
    pub calls: Vec<Called>,
    /// Of a stream only the first so many events are sent.
    pub events: Option<usize>,
    pub end: End,
    /// Why it ended, if not as one would expect.
    pub stop: Option<&'static str>,
}

/// A call of the model.
#[derive(Clone, Debug)]
pub struct Called {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

/// How the body of an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As it should.
    Complete,
    /// Before its end, as if that were all.
    Quiet,
    /// The connection breaks.
    Broken,
    /// Nothing more comes, and the connection stays.
    Stalled,
    /// The provider says in the stream that it has failed.
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

    /// Sends of a stream only the first so many events, and then this.
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

    /// For wire formats in which arguments are an object and cannot be broken text.
    pub fn object(&self) -> Value {
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| serde_json::json!({"not_json": self.arguments}))
    }
}

/// A text in two pieces.
pub fn halves(text: &str) -> [&str; 2] {
    let middle = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(at, _)| at);
    [&text[..middle], &text[middle..]]
}
