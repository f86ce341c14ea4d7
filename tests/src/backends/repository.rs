//! A repository trait and its implementations, which are no tools themselves.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{MemoryOrders, Order};

/// A repository trait, with an associated type that the service's signatures use.
pub trait OrderRepository: Send + Sync + 'static {
    type Key: for<'de> Deserialize<'de> + JsonSchema + Send;

    fn load(&self, key: Self::Key) -> Option<Order>;
    fn len(&self) -> usize;
}

impl OrderRepository for MemoryOrders {
    type Key = u32;

    fn load(&self, key: u32) -> Option<Order> {
        self.0.get(&key).cloned()
    }

    fn len(&self) -> usize {
        self.0.len()
    }
}

/// A repository by note.
pub struct NotedOrders(pub MemoryOrders);

impl OrderRepository for NotedOrders {
    type Key = String;

    fn load(&self, key: String) -> Option<Order> {
        self.0.0.values().find(|order| order.note == key).cloned()
    }

    fn len(&self) -> usize {
        self.0.0.len()
    }
}
