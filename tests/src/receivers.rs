//! Every kind of receiver, for instances built per call and for shared ones.

use std::sync::Arc;

use tool_runtime::{tool, tool_class};

use crate::functions::tokio_yield;

/// Made for each call.
pub struct CounterService {
    count: u64,
}

#[tool_class(per_call)]
impl CounterService {
    /// The constructor, which is no tool.
    pub fn new() -> Self {
        Self { count: 10 }
    }

    /// By reference.
    pub fn by_ref(&self, add: u64) -> u64 {
        self.count.wrapping_add(add)
    }

    /// By mutable reference.
    pub fn by_mut(&mut self, add: u64) -> u64 {
        self.count = self.count.wrapping_add(add);
        self.count
    }

    /// By value.
    pub fn by_value(self, add: u64) -> u64 {
        self.count.wrapping_add(add)
    }

    /// By value, which may be `mut`.
    pub fn by_mut_value(mut self, add: u64) -> u64 {
        self.count = self.count.wrapping_add(add);
        self.count
    }

    /// By shared pointer.
    pub fn by_arc(self: Arc<Self>, add: u64) -> u64 {
        self.count.wrapping_add(add)
    }

    /// Without an instance.
    pub fn without(add: u64) -> u64 {
        add
    }

    /// By reference, with its type.
    pub fn by_typed_ref(self: &Self, add: u64) -> u64 {
        self.count.wrapping_add(add)
    }

    /// By mutable reference, with its type.
    pub fn by_typed_mut(self: &mut Self, add: u64) -> u64 {
        self.count = self.count.wrapping_add(add);
        self.count
    }

    /// By reference with a lifetime.
    pub fn by_named_ref<'a>(&'a self, text: &'a str) -> &'a str {
        if self.count == 0 { "" } else { text }
    }
}

/// Async methods in another block, which use the constructor of the first.
#[tool_class(prefix = "counter.later")]
impl CounterService {
    /// By reference.
    pub async fn by_ref_later(&self, add: u64) -> u64 {
        tokio_yield().await;
        self.count.wrapping_add(add)
    }
}

/// Made for each call, by a constructor that waits and can fail.
#[derive(Debug)]
pub struct Waiter {
    count: u64,
}

#[tool_class(prefix = "waiter", per_call)]
impl Waiter {
    /// Waits, and could fail.
    pub async fn new() -> Result<Self, std::num::ParseIntError> {
        tokio_yield().await;
        Ok(Self { count: "20".parse()? })
    }

    /// By mutable reference.
    pub async fn by_mut(&mut self, add: u64) -> u64 {
        tokio_yield().await;
        self.count = self.count.wrapping_add(add);
        self.count
    }

    /// By value.
    pub async fn by_value(self, add: u64) -> u64 {
        tokio_yield().await;
        self.count.wrapping_add(add)
    }

    /// By shared pointer.
    pub async fn by_arc(self: Arc<Self>, add: u64) -> u64 {
        tokio_yield().await;
        self.count.wrapping_add(add)
    }

    /// A future that borrows the instance and an argument.
    pub fn by_future<'a>(&'a self, text: &'a str) -> impl Future<Output = String> + Send + 'a {
        async move {
            tokio_yield().await;
            format!("{text} {}", self.count)
        }
    }

    /// By reference, on a thread that may block.
    #[tool(blocking)]
    pub fn blocking_by_ref(&self, text: &str) -> String {
        format!("{text} {}", self.count)
    }

    /// By mutable reference, on a thread that may block.
    #[tool(blocking)]
    pub fn blocking_by_mut(&mut self, add: u64) -> u64 {
        self.count = self.count.wrapping_add(add);
        self.count
    }

    /// By value, on a thread that may block.
    #[tool(blocking)]
    pub fn blocking_by_value(self, add: u64) -> u64 {
        self.count.wrapping_add(add)
    }
}

/// Has no constructor: one instance is given to the dispatcher and shared.
#[derive(Clone)]
pub struct SharedService {
    pub name: String,
}

#[tool_class]
impl SharedService {
    /// By reference.
    pub fn by_ref(&self) -> &str {
        &self.name
    }

    /// By value: a clone of the shared one.
    pub fn by_value(self) -> String {
        self.name
    }

    /// By shared pointer.
    pub async fn by_arc(self: std::sync::Arc<Self>, suffix: &str) -> String {
        tokio_yield().await;
        format!("{}{suffix}", self.name)
    }

    /// By reference, on a thread that may block.
    #[tool(blocking)]
    pub fn blocking(&self) -> String {
        self.name.clone()
    }
}
