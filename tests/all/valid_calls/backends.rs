//! Trait impls, traits, generic and borrowing classes, declared classes, and typical parameters of backends.

use serde_json::json;

use super::{ValidCall, good};

pub fn calls() -> Vec<ValidCall> {
    vec![
        good("memory_orders.find", json!({"id": 2}), r#"{"id":2,"note":"order 2"}"#),
        good("memory_orders.count", json!({}), "2"),
        good("archived_orders.find", json!({"id": 3}), r#"{"id":3,"note":"order 3"}"#),
        good("polite_greeter.greet", json!({"name": "Ada"}), "Good day, Ada."),
        good("stock_api.pieces", json!({"article": "cup"}), "3"),
        good("stock_api.articles", json!({}), r#"["cup","plate"]"#),
        good("stock_api.reserve", json!({"article": "plate", "pieces": 2}), "3"),
        good("prices.price", json!({"article": "cup"}), "450"),
        good("orders.count", json!({}), "2"),
        good("orders.load", json!({"key": 1}), r#"{"id":1,"note":"order 1"}"#),
        good("noted_orders.count", json!({}), "1"),
        good("window.sum", json!({"values": [1, 2, 3]}), "6"),
        good("noted_orders.load", json!({"key": "order 1"}), r#"{"id":1,"note":"order 1"}"#),
        good("order_book.place", json!({"note": "cup"}), "1"),
        good("order_book.statements", json!({}), "[]"),
        good("order_book.close", json!({}), ""),
        good("order_book.version", json!({}), "3"),
        good("order_book.count", json!({}), "0"),
        good("archive.describe", json!({}), "insert 0"),
        good("ledger.entries", json!({}), "0"),
        good("replica.add", json!({"title": "Buy milk"}), "8"),
        good("replica.get", json!({"id": 1}), "task 1"),
        good("replica.titles", json!({}), r#"["task 0","task 1"]"#),
        good("fresh.count", json!({}), "1"),
        good("now", json!({}), "7"),
        good("shared_now", json!({}), "7"),
        good("log", json!({"line": "started"}), "1"),
        good("generic_texts", json!({"name": "Ada", "path": "docs"}), "Ada in docs"),
        good("optional_impl", json!({"name": "Ada", "unit": "m"}), "Ada m"),
        good("optional_impl", json!({}), "nobody none"),
        good(
            "lists",
            json!({
                "numbers": [1, 2], "names": ["a", "b"], "tags": ["c"], "words": ["d", "e"], "lines": ["f"],
                "parts": ["g", "h"],
            }),
            "3 a+b c d+e f 2",
        ),
        good("joined", json!({"parts": ["a", "b"]}), "a+b"),
        good("search_result.hits", json!({}), "0"),
        good("polite_greeter.page", json!({"query": "cup"}), "[3]"),
        good("numbers.len", json!({}), "2"),
        good("squares", json!({"up_to": 3}), "[0,1,4]"),
        good("halves", json!({"number": 5}), "[5,2,1]"),
        good("boxed", json!({"number": 1}), "2"),
        good("documented", json!({}), "true"),
    ]
}
