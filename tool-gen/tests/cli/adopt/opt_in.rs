//! Every form of class and every reason that `tool-gen adopt` knows.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

mod annotated;

id_type!(RunId, JobId);

macro_rules! id_type {
    ($($name:ident),+) => {$(
        #[derive(Clone, Debug, serde::Serialize, Deserialize)]
        pub struct $name(pub u64);
    )+};
}

/// An order. Data, so it is no candidate by default.
#[derive(Serialize, Deserialize)]
pub struct Order {
    pub id: u64,
}

impl Order {
    pub fn total(&self) -> u64 { self.id }
}

#[derive(Clone, Debug)]
pub enum Status { Open, Done }

#[derive(Clone, Debug)]
pub struct Receipt { pub number: u64 }

pub struct Opaque;

/// A key with a conversion.
#[derive(Debug)]
pub struct Key(u64);

impl From<u64> for Key {
    fn from(number: u64) -> Self { Self(number) }
}

pub struct Pool { connections: Vec<String> }

pub struct Cursor<'a> { pool: &'a Pool }

#[derive(Debug)]
pub struct Silent;

#[derive(Debug, thiserror::Error)]
#[error("failed")]
pub struct Failure;

pub struct Orders { pool: Arc<Pool> }

#[tool_runtime::tool_class(opt_in)]
impl Orders { // a comment that stays
    pub fn new(pool: Arc<Pool>) -> Self { Self { pool } }

    /// Get an order.
    #[tool_runtime::tool]
    pub async fn get(&self, id: u64, run: RunId) -> Result<Order, Failure> { todo!() }

    /// Add an order.
    #[must_use]
    #[tool_runtime::tool]
    pub fn add(&mut self, order: Order, notes: &[&str]) -> usize { 0 }

    /// Print a receipt.
    #[tool_runtime::tool(result = debug)]
    pub fn receipt(&self, #[arg(via(u64))] key: Key) -> Receipt { todo!() }

        #[tool_runtime::tool]
        pub fn oddly_indented(
            &self,
            größe: u8, #[inject] pool: &Pool, /* the log */ #[inject] log: &mut Vec<Order>,
        ) -> Option<String> { None }

    pub fn mark(&self, status: Status) {}
    pub fn opaque(&self) -> Opaque { Opaque }
    #[tool_runtime::tool(generics(f = fn(&Order)))]
    pub fn each(&self, #[inject] f: impl Fn(&Order)) {}
    #[tool_runtime::tool(generics(F = for<'a> fn(&'a Order) -> &'a str))]
    pub fn label<F: for<'a> Fn(&'a Order) -> &'a str>(&self, #[inject] f: F) {}
    pub fn outlive<'a, F: Fn(&'a Order) -> &'a str>(&self, f: F) {}
    pub fn fold<T: Clone>(&self, first: T, f: impl Fn(T, &Order) -> T) {}
    #[tool_runtime::tool(generics(T = serde_json::Value))]
    pub fn all<T: Clone>(&self, value: T) {}
    pub fn read(&self, from: impl std::io::Read) {}
    #[tool_runtime::tool(generics(S = Memory))]
    pub fn keep<S: Storage + ?Sized>(&self, #[inject] storage: &S, names: impl Iterator<Item = String>) {}
    pub fn rows<I: Iterator<Item = u8>>(&self, rows: Vec<I>) {}
    pub fn lend(&self, name: Option<&mut String>) {}
    pub fn cursor(&self) -> Cursor<'_> { todo!() }
    #[tool_runtime::tool(error = debug)]
    pub fn fail(&self) -> Result<(), Silent> { Ok(()) }
    pub fn mute(&self) -> Result<(), Opaque> { Ok(()) }
    #[tool_runtime::tool]
    pub fn store(&self, body: &impl Serialize) {}
    pub fn swap(&mut self, storage: &mut dyn Storage) {}
    pub fn foreign(&self, value: elsewhere::Thing) -> elsewhere::Thing { value }
    pub fn shown(&self) -> impl fmt::Debug { 1 }
    pub unsafe fn raw(&self) {}
    /// Rename an order.
    #[tool_runtime::tool]
    pub fn rename(&self, title: String) {}
    pub fn load(path: &str) -> Result<(Orders, bool), Failure> { todo!() }
    pub fn with_pool(self, pool: Arc<Pool>) -> Self { self }
    fn private(&self) {}
}

impl<'a> Cursor<'a> {
    pub fn next(&mut self) -> Option<u64> { None }
}

impl Cursor<'_> {
    pub fn seek(&mut self, position: u64) {}
}

pub struct Page<'a> { pool: &'a Pool, title: String }

#[tool_runtime::tool_class(opt_in, new(pool: &Pool, title: String))]
impl<'a> Page<'a> {
    pub fn new(pool: &'a Pool, title: impl Into<String>) -> Self { todo!() }
    #[tool_runtime::tool]
    pub fn first(&self) -> u8 { 1 }
}

#[tool_runtime::tool_class(opt_in, new(pool: &Pool, title: String))]
impl Page<'_> {
    #[tool_runtime::tool]
    pub fn second(&self) -> u8 { 2 }
}

pub trait Storage { fn read(&self, key: String) -> Option<String>; }

pub struct Memory;

#[tool_runtime::tool_class(opt_in)]
impl Storage for Memory {
    #[tool_runtime::tool]
    fn read(&self, key: String) -> Option<String> { None }
}

#[tool_runtime::tool_class(opt_in)]
pub trait Clock: Send + Sync {
    /// Tell the time.
    #[tool_runtime::tool]
    fn now(&self) -> u64;
    fn reset(&mut self);
}

pub struct Cache<S> { storage: S }

#[tool_runtime::tool_class(opt_in, instances(Cache<Memory>))]
impl<S: Storage> Cache<S> {
    /// Look a key up.
    #[tool_runtime::tool]
    pub fn lookup(&self, key: &str) -> Option<String> { None }
}

pub struct Queue<T> { items: Vec<T> }

impl<T> Queue<T> { pub fn len(&self) -> usize { 0 } }
