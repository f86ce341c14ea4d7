//! Renders 1,000 tools in the format of a model provider, to be counted by cachegrind: `dialect <step> <form>`.
//!
//! `nothing` only builds the tools; `offer` renders their definitions; `again` reads definitions that are already
//! rendered; `value` serializes the definitions from a `serde_json::Value`, which is the baseline.

use std::hint::black_box;
use std::mem::forget;

use serde_json::json;
use tool_dialect::{Dialect, DialectForm};
use tool_model::Manifest;

/// Tools of five kinds by turns: numbers and texts, rules and defaults, lists, a struct, an enum.
fn tools(count: usize) -> Manifest {
    let item = json!({"type": "object", "properties": {
        "sku": {"type": "string", "description": "The number in the catalogue."},
        "count": {"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64},
    }, "required": ["sku", "count"]});
    let order = json!({"type": "object", "description": "An order.", "properties": {
        "customer": {"type": "string", "description": "Who ordered."},
        "items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        "note": {"type": ["string", "null"]},
    }, "required": ["customer", "items"]});
    let kinds = [
        json!({
            "name": {"type": "string", "required": true, "description": "The name of the thing."},
            "count": {"type": "integer", "required": true, "minimum": 0, "maximum": 4_294_967_295_u64, "description": "How many of them."},
            "skip": {"type": "string", "required": false, "description": "What to leave out."},
        }),
        json!({
            "host": {"type": "string", "required": true, "description": "Host name, such as `web-1`."},
            "limit": {"type": "integer", "required": false, "default": 10, "minimum": 1, "maximum": 100, "description": "How many at most."},
            "since": {"type": "string", "required": false, "format": "date-time"},
        }),
        json!({
            "words": {"type": "array", "required": true, "items": {"type": "string"}, "description": "Words that all must occur."},
            "range": {"type": "array", "required": false, "items": {"type": "number"}, "description": "From where to where."},
        }),
        json!({
            "order": {"type": "object", "required": true, "$ref": "#/$defs/Order", "description": "What is ordered."},
            "dry": {"type": "boolean", "required": true, "description": "Whether it is only tried."},
        }),
        json!({
            "sorting": {"type": "string", "required": true, "enum": ["Name", "Price", "Newest"], "description": "In which order."},
            "page": {"type": "integer", "required": true, "minimum": 0, "maximum": 65_535},
        }),
    ];
    let tool = |number: usize| {
        let kind = number % kinds.len();
        let defs = if kind == 3 { json!({"Order": order, "Item": item}) } else { json!({}) };
        let description = format!("Tool number {number} does something useful with what it is given.");
        let tool = json!({"description": description, "handler": "app::f", "arguments": kinds[kind], "$defs": defs});
        (format!("service_{}.tool_{number}", number / 50), serde_json::from_value(tool).expect("a tool"))
    };
    (0..count).map(tool).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [step, form] = arguments.as_slice() else { panic!("dialect <step> <form>") };
    let (name, strict) = form.strip_suffix("-strict").map_or((form.as_str(), false), |name| (name, true));
    let form = DialectForm { dialect: name.parse::<Dialect>().expect("a dialect"), strict };
    let manifest = tools(1_000);
    let offer = || form.offer(manifest.iter()).expect("names stay apart");
    match step.as_str() {
        "nothing" => {}
        "offer" => forget(black_box(offer())),
        "again" => {
            let offer = offer();
            forget(black_box(offer.text()));
            forget(offer);
        }
        "parsed" | "value" => {
            let offer = offer();
            let value = offer.definitions();
            if step == "value" {
                forget(black_box(serde_json::to_string(value).expect("JSON")));
            }
            forget(offer);
        }
        "bytes" => println!("{}", offer().text().len()),
        other => panic!("no step {other}"),
    }
    forget(manifest);
}
