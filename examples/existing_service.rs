//! A service that already exists becomes a set of tools: annotate its `impl` block and the methods to offer.
//!
//! ```sh
//! cargo run -p examples --example existing_service
//! ```

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tool_runtime::confirm::{self, Decision};
use tool_runtime::{Dispatcher, ToolCall, tool, tool_class};

// The schema follows from `Deserialize`. With `schemars::JsonSchema` it would also have the documentation of the fields.
#[derive(Clone, Serialize, Deserialize)]
struct Order {
    customer: String,
    cups: u32,
    size: Size,
}

#[derive(Clone, Serialize, Deserialize)]
enum Size {
    Small,
    Large,
}

#[derive(Default)]
struct OrderService {
    orders: Mutex<Vec<Order>>,
}

// `opt_in`: only the methods marked `#[tool]` are offered. The block itself stays as it is.
#[tool_class(opt_in)]
impl OrderService {
    /// Find the order of a customer.
    #[tool(read_only)]
    pub fn find(&self, customer: &str) -> Option<Order> {
        self.orders.lock().expect("not poisoned").iter().find(|order| order.customer == customer).cloned()
    }

    /// Place an order.
    #[tool]
    pub fn place(&self, order: Order) {
        self.orders.lock().expect("not poisoned").push(order);
    }

    // A destructive tool does not run without approval.
    /// Cancel all orders of a customer.
    #[tool(destructive)]
    pub fn cancel(&self, customer: &str) {
        self.orders.lock().expect("not poisoned").retain(|order| order.customer != customer);
    }

    // Not marked, so no model can call it. The application can.
    pub fn count(&self) -> usize {
        self.orders.lock().expect("not poisoned").len()
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A real application asks its user; see `approve_in_terminal` and `approve_in_web_app`.
    let approve = confirm::from_fn(|_| async { Decision::Run });
    let service = Arc::new(OrderService::default());
    let tools = Dispatcher::builder().service(service.clone()).confirm(approve).build()?;
    for (tool, arguments) in [
        ("order.place", json!({"order": {"customer": "Ada", "cups": 2, "size": "Large"}})),
        ("order.place", json!({"order": {"customer": "Ben", "cups": "two", "size": "Huge"}})),
        ("order.find", json!({"customer": "Ada"})),
        ("order.cancel", json!({"customer": "Ada"})),
        ("order.count", json!({})),
    ] {
        let result = tools.call(ToolCall::new(tool, arguments)).await;
        println!("{tool}: {}", result.output);
    }
    println!("{} orders are left", service.count());
    Ok(())
}
