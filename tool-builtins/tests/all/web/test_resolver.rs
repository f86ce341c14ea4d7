//! A resolver with scripted answers.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use tool_builtins::web::Resolver;

/// A resolver that returns the answers of a name one after the other; the last one is repeated.
#[derive(Clone, Default)]
pub struct TestResolver {
    answers: HashMap<String, Vec<Vec<IpAddr>>>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl TestResolver {
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an answer for a name.
    pub fn answer(mut self, name: &str, addresses: &[&str]) -> Self {
        let addresses = addresses.iter().map(|address| address.parse().expect("an address")).collect();
        self.answers.entry(name.to_owned()).or_default().push(addresses);
        self
    }

    /// Returns how often a name was resolved.
    pub fn asked(&self, name: &str) -> usize {
        self.asked.lock().expect("the list").iter().filter(|asked| *asked == name).count()
    }

    /// Returns the next answer.
    pub fn next(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let answers = self.answers.get(name).ok_or(io::ErrorKind::NotFound)?;
        let answer = answers[self.asked(name).min(answers.len() - 1)].clone();
        self.asked.lock().expect("the list").push(name.to_owned());
        Ok(answer)
    }
}

impl Resolver for TestResolver {
    fn resolve<'a>(&'a self, name: &'a str) -> Pin<Box<dyn Future<Output = io::Result<Vec<IpAddr>>> + Send + 'a>> {
        Box::pin(std::future::ready(self.next(name)))
    }
}
