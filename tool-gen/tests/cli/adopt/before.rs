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

impl Orders { // a comment that stays
    pub fn new(pool: Arc<Pool>) -> Self { Self { pool } }

    /// Get an order.
    pub async fn get(&self, id: u64, run: RunId) -> Result<Order, Failure> { todo!() }

    /// Add an order.
    #[must_use]
    pub fn add(&mut self, order: Order, notes: &[&str]) -> usize { 0 }

    /// Print a receipt.
    pub fn receipt(&self, key: Key) -> Receipt { todo!() }

        pub fn oddly_indented(
            &self,
            größe: u8, pool: &Pool, /* the log */ log: &mut Vec<Order>,
        ) -> Option<String> { None }

    pub fn mark(&self, status: Status) {}
    pub fn opaque(&self) -> Opaque { Opaque }
    pub fn each(&self, f: impl Fn(&Order)) {}
    pub fn label<F: for<'a> Fn(&'a Order) -> &'a str>(&self, f: F) {}
    pub fn outlive<'a, F: Fn(&'a Order) -> &'a str>(&self, f: F) {}
    pub fn fold<T: Clone>(&self, first: T, f: impl Fn(T, &Order) -> T) {}
    pub fn all<T: Clone>(&self, value: T) {}
    pub fn read(&self, from: impl std::io::Read) {}
    pub fn keep<S: Storage + ?Sized>(&self, storage: &S, names: impl Iterator<Item = String>) {}
    pub fn rows<I: Iterator<Item = u8>>(&self, rows: Vec<I>) {}
    pub fn lend(&self, name: Option<&mut String>) {}
    pub fn cursor(&self) -> Cursor<'_> { todo!() }
    pub fn fail(&self) -> Result<(), Silent> { Ok(()) }
    pub fn mute(&self) -> Result<(), Opaque> { Ok(()) }
    pub fn store(&self, body: &impl Serialize) {}
    pub fn swap(&mut self, storage: &mut dyn Storage) {}
    pub fn foreign(&self, value: elsewhere::Thing) -> elsewhere::Thing { value }
    pub fn shown(&self) -> impl fmt::Debug { 1 }
    pub unsafe fn raw(&self) {}
    /// Rename an order.
    ///
    /// # Arguments
    /// * `name` - The new name.
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

impl<'a> Page<'a> {
    pub fn new(pool: &'a Pool, title: impl Into<String>) -> Self { todo!() }
    pub fn first(&self) -> u8 { 1 }
}

impl Page<'_> {
    pub fn second(&self) -> u8 { 2 }
}

pub trait Storage { fn read(&self, key: String) -> Option<String>; }

pub struct Memory;

impl Storage for Memory {
    fn read(&self, key: String) -> Option<String> { None }
}

pub trait Clock: Send + Sync {
    /// Tell the time.
    fn now(&self) -> u64;
    fn reset(&mut self);
}

pub struct Cache<S> { storage: S }

impl<S: Storage> Cache<S> {
    /// Look a key up.
    pub fn lookup(&self, key: &str) -> Option<String> { None }
}

pub struct Queue<T> { items: Vec<T> }

impl<T> Queue<T> { pub fn len(&self) -> usize { 0 } }
