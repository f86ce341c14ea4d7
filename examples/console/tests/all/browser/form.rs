use axum::http::StatusCode;
use serde_json::{Value, json};
use tool_runtime::{RuntimeTool, ToolResult};

use super::driver::browse;
use crate::fixture::Console;

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_shown_at_their_fields() {
    let console = Console::open().await;
    console.log("app.log", "one line\n<b>another</b>\n");
    browse(&console, async |browser| {
        browser.open("/tools/logs.tail").await;
        let run = "#call button[value=run]";

        // A missing value and a number out of bounds: the server reports them, the page shows them at the fields.
        browser.enter("#field-lines", "100000").await;
        browser.click(run).await;
        browser.count("#call [aria-invalid]", 2).await;
        browser.says("#field-lines + .error", "500").await;
        browser.says("#result h2", "Failed").await;
        assert_eq!(browser.value("document.activeElement.id").await, "field-file", "the first of them has the focus");

        // An invalid number is not sent.
        browser.enter("#field-file", "app.log").await;
        browser.enter("#field-lines", "1e").await;
        browser.click("#call button[value=dry]").await;
        browser.says("#field-lines + .error", "Not a number.").await;

        browser.enter("#field-lines", "1").await;
        browser.click("#call button[value=dry]").await;
        browser.says("#result h2", "Would run").await;
        browser.click(run).await;
        browser.says("#result h2", "Done").await;
        assert_eq!(browser.find("#result pre").await.text().await.expect("a text"), "<b>another</b>");
        browser.count("#call [aria-invalid], #call .error, #result b", 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_asks_before_a_destructive_call() {
    let console = Console::open().await;
    console.app.sampler.sample().await.expect("a sample");
    browse(&console, async |browser| {
        browser.open("/tools/metrics.purge").await;
        for (decision, said, title) in [(":nth-child(2)", "refused", "Refused"), (".primary", "deleted", "Done")] {
            browser.enter("#field-metric", "cpu_percent").await;
            browser.click("#call button[value=run]").await;
            browser.says("#result h2", "Needs your approval").await;
            browser.click(&format!("#result .buttons button{decision}")).await;
            browser.says("#result h2", title).await;
            browser.says("#result pre", said).await;
        }
        // A decision cannot be changed.
        browser.click("#call button[value=run]").await;
        browser.says("#result h2", "Needs your approval").await;
        let elsewhere = crate::web::Browser::new(&console);
        let waiting: Value = serde_json::from_str(&elsewhere.page("/api/pending").await).expect("JSON");
        let answer = json!({"token": waiting["pending"][0]["token"]});
        assert_eq!(elsewhere.post("/api/pending/refuse", answer).await.0, StatusCode::OK);
        let refuse = "document.querySelector('#result .buttons button:nth-child(2)')";
        assert_eq!(browser.value(&format!("({refuse}.click(), {refuse}.disabled)")).await, true);
        browser.says("#result h2", "Failed").await;
        browser.says("#result pre", "No pending call has this token").await;

        browser.open("/tools/metrics.names").await;
        browser.click("#call button[value=run]").await;
        browser.says("#result h2", "Done").await;
        assert!(!browser.find("#result pre").await.text().await.expect("a text").contains("cpu_percent"));
    })
    .await;
}

/// Returns the selector of the checkbox for an optional object.
fn present(field: &str) -> String {
    format!("#field-{field} > legend .present")
}

/// Returns a tool whose arguments are a list of objects with lists, an object, a map and a tagged union.
pub fn order() -> RuntimeTool {
    let schema = json!({
        "type": "object",
        "required": ["items", "by"],
        "properties": {
            "items": {"type": "array", "minItems": 1, "items": {
                "type": "object",
                "required": ["sku", "count"],
                "properties": {
                    "sku": {"type": "string"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 99},
                    "notes": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}},
                },
            }},
            "address": {"type": "object", "properties": {"street": {"type": "string"}, "floor": {"type": "integer"}}},
            "labels": {"type": "object", "additionalProperties": {"type": "integer"}},
            "by": {"oneOf": [
                {"type": "object", "required": ["kind", "days"], "properties": {"kind": {"const": "post"}, "days": {"type": "integer"}}},
                {"type": "object", "required": ["kind", "name"], "properties": {"kind": {"const": "courier"}, "name": {"type": "string"}}},
            ]},
        },
    });
    RuntimeTool::from_schema("shop.order", "Order things.", &schema, |arguments, _| async move {
        ToolResult::success(Value::Object(arguments).to_string())
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn nested_values_are_entered_field_by_field() {
    let console = Console::open().await;
    console.app.dispatcher().registry().register(order()).expect("it is offered");
    browse(&console, async |browser| {
        browser.open("/tools/shop.order").await;
        let run = "#call button[value=run]";
        browser.count("#call [data-node=json]", 0).await;
        let row =
            |number: usize, name: &str| format!("#field-items > .rows > li:nth-child({number}) [data-name={name}]");

        // One row is required and present. A second row has a number out of bounds, which the server reports.
        browser.enter(&row(1, "sku"), "A1").await;
        browser.enter(&row(1, "count"), "2").await;
        browser.click("#field-items > button.add").await;
        let has_focus = "document.activeElement.matches('#field-items > .rows > li:nth-child(2) *')";
        assert_eq!(browser.value(has_focus).await, true, "the new row has the focus");
        browser.enter(&row(2, "sku"), "B2").await;
        browser.enter(&row(2, "count"), "100").await;
        browser.click(run).await;
        browser.says(&format!("{} + .error", row(2, "count")), "99").await;
        browser.count(&format!("{} + .error", row(1, "count")), 0).await;
        // The union without a choice is reported as missing.
        browser.says("#field-by > .error", "").await;
        browser.count("#field-by[aria-invalid]", 1).await;

        // A nested row, a map with a duplicate key, and a variant of the union.
        browser.enter(&row(2, "count"), "9").await;
        browser.click(&format!("{} > button.add", row(2, "notes"))).await;
        browser.enter(&format!("{} [data-name=text]", row(2, "notes")), "in red").await;
        browser.click(&present("address")).await;
        browser.enter("#field-address-street", "Long Street").await;
        let label = |number: usize, cell: &str| format!("#field-labels li:nth-child({number}) {cell}");
        for number in [1, 2] {
            browser.click("#field-labels > button.add").await;
            browser.enter(&label(number, ".key"), "fragile").await;
            browser.enter(&label(number, "[data-node]"), "1").await;
        }
        browser.click("#field-by select.which option[value='1']").await;
        browser.enter("#field-by [data-name=name]", "Ada").await;
        browser.click(run).await;
        browser.says(&format!("{} + .error", label(2, ".key")), "Duplicate key").await;

        browser.click(&label(2, "button.remove")).await;
        browser.click(run).await;
        browser.says("#result h2", "Done").await;
        let sent = browser.find("#result pre").await.text().await.expect("a text");
        assert_eq!(
            serde_json::from_str::<Value>(&sent).expect("JSON"),
            json!({
                "items": [{"sku": "A1", "count": 2}, {"sku": "B2", "count": 9, "notes": [{"text": "in red"}]}],
                "address": {"street": "Long Street"},
                "labels": {"fragile": 1},
                "by": {"kind": "courier", "name": "Ada"},
            })
        );
        browser.count("#call [aria-invalid], #call .error", 0).await;
        // Ids are unique, since labels refer to them.
        let ids = "[...document.querySelectorAll('[id]')].map((one) => one.id)";
        assert_eq!(browser.value(&format!("new Set({ids}).size === {ids}.length")).await, true);
    })
    .await;
}

/// Sends exactly the entered values: numbers as they are written, and empty lists and objects.
#[tokio::test(flavor = "multi_thread")]
async fn values_are_sent_exactly_as_entered() {
    let optional = json!({"type": "object", "required": ["kind"], "properties": {
        "kind": {"const": "post"}, "days": {"type": "integer", "default": 3}, "speed": {"enum": ["slow", "fast"], "default": "slow"},
    }});
    // An object without fields to fill in.
    let constant = json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": "gift"}}});
    let schema = json!({
        "type": "object",
        "required": ["id", "tags"],
        "properties": {
            "id": {"type": "integer"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "weight": {"type": "number"},
            "count": {"type": "integer"},
            "ids": {"type": "array", "items": {"type": "integer"}},
            "any": {},
            "space": {"type": "string"},
            "cleared": {"type": "string", "default": "something"},
            "untouched": optional,
            "changed": optional,
            "given": constant,
            "left_out": constant,
            "empty": {"type": "object", "properties": {"note": {"type": "string"}, "inner": constant}},
            "force": {"const": true},
            "pair": {"type": "array", "prefixItems": [constant, {"type": "integer"}]},
        },
    });
    let tool = RuntimeTool::from_schema("shop.send", "Send things.", &schema, |arguments, _| async move {
        ToolResult::success(Value::Object(arguments).to_string())
    });
    let console = Console::open().await;
    console.app.dispatcher().registry().register(tool).expect("it is offered");
    browse(&console, async |browser| {
        browser.open("/tools/shop.send").await;
        for optional in ["changed", "given", "left_out", "empty", "pair"] {
            browser.click(&present(optional)).await;
        }
        browser.click(&present("left_out")).await;
        for (field, entered) in [
            ("id", "9007199254740993"),
            ("weight", ".5"),
            ("count", "05"),
            ("ids", "007\n18446744073709551615"),
            ("any", r#"{"deep": [9007199254740995, 1.5]}"#),
            ("changed-days", "4"),
            ("pair > [data-node=number]", "7"),
            ("space", " "),
            ("cleared", ""),
        ] {
            browser.enter(&format!("#field-{field}"), entered).await;
        }
        // A number that JavaScript cannot represent is not sent.
        for (field, entered) in [("any", r#"{"deep": 1e400}"#), ("ids", "1e400")] {
            let is = browser.find(&format!("#field-{field}")).await.prop("value").await.expect("a field");
            browser.enter(&format!("#field-{field}"), entered).await;
            browser.click("#call button[value=run]").await;
            browser.says(&format!("#field-{field} + .error"), "The number is too large").await;
            browser.enter(&format!("#field-{field}"), &is.expect("a value")).await;
        }
        browser.click("#call button[value=run]").await;
        browser.says("#result h2", "Done").await;
        let sent = browser.find("#result pre").await.text().await.expect("a text");
        assert_eq!(
            serde_json::from_str::<Value>(&sent).expect("JSON"),
            json!({
                "id": 9_007_199_254_740_993_u64,
                "tags": [],
                "weight": 0.5,
                "count": 5,
                "ids": [7, u64::MAX],
                "any": {"deep": [9_007_199_254_740_995_u64, 1.5]},
                "space": " ",
                "cleared": "",
                "changed": {"kind": "post", "days": 4, "speed": "slow"},
                "given": {"kind": "gift"},
                "empty": {},
                "pair": [{"kind": "gift"}, 7],
            })
        );
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_definition_is_shown_in_each_dialect_with_its_losses() {
    let console = Console::open().await;
    console.app.dispatcher().registry().register(order()).expect("it is offered");
    browse(&console, async |browser| {
        browser.open("/tools/shop.order").await;
        browser.says("#dialects [aria-pressed=true]", "openai").await;
        browser.says("#definition", "\"parameters\"").await;
        browser.says("#losses", "Nothing is lost").await;

        // The strict dialect has no maps.
        browser.click("#strict").await;
        browser.says("#losses .warn", "loss").await;
        browser.says("#losses", "labels").await;
        browser.click("#dialects button:last-child").await;
        browser.says("#definition", "inputSchema").await;
        browser.count("#dialects [aria-pressed=true]", 1).await;

        // A late response does not replace a newer one.
        let hold = "const real = window.fetch;
            window.fetch = async (address) => {
                if (!address.includes('gemini')) return real(address);
                await new Promise((go) => { window.letGo = go; });
                const response = await real(address);
                const json = await response.json();
                setTimeout(() => { window.hasCome = true; });
                return { ok: true, json: async () => json };
            };";
        browser.client.execute(hold, Vec::new()).await.expect("it is held");
        for name in ["gemini", "mcp"] {
            let press = format!(
                "[...document.querySelectorAll('#dialects button')].find((one) => one.textContent === '{name}').click()"
            );
            browser.value(&press).await;
        }
        browser.says("#definition", "inputSchema").await;
        browser.value("window.letGo()").await;
        browser.wait("window.hasCome").await;
        browser.says("#definition", "inputSchema").await;
    })
    .await;
}
