//! A service of another crate: it has no attributes.

use std::fmt;

#[derive(Debug)]
pub struct Error;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such task")
    }
}

#[derive(Default)]
pub struct Memory;

/// A replica of tasks in some storage. It forgets what is added, so that tests can call it in any order.
#[derive(Default)]
pub struct Replica<S> {
    storage: S,
    added: usize,
}

impl<S: Send> Replica<S> {
    pub async fn add(&mut self, title: impl Into<String>) -> usize {
        self.added = title.into().len();
        self.added
    }

    pub fn title(&self, id: u32) -> Result<String, Error> {
        let _storage = &self.storage;
        if id < 2 { Ok(format!("task {id}")) } else { Err(Error) }
    }

    pub fn titles(&self) -> impl Iterator<Item = &str> {
        ["task 0", "task 1"].into_iter()
    }
}
