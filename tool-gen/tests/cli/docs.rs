//! `docs`

use crate::project::{Project, TOOLS};

#[test]
fn markdown() {
    let ran = Project::with(TOOLS).run(&["docs", "--title", "Shop"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stdout.starts_with("# Shop\n\n2 tools, about "), "{}", ran.stdout);
    assert!(ran.stdout.contains("- [`metrics.newest`](#metricsnewest): The newest points of one host.\n"));
    assert!(
        ran.stdout.contains("| `limit` | integer between 0 and 100 | default `10` | How many at most. |\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn the_html_page_is_self_contained() {
    let project = Project::with(TOOLS);
    let ran = project.run(&["docs", "--html", "-o", "tools.html"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""), "{}", ran.stderr);
    let page = project.read("tools.html");
    assert!(page.starts_with("<!doctype html>"));
    assert!(page.contains(r#"<article id="metrics.newest""#) && page.contains("sensitive"));
    for outside in ["http://", "https://", " src=", "<link", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
}

#[test]
fn json_contains_the_text() {
    let (code, json) = Project::with(TOOLS).json(&["docs"]);
    assert_eq!((code, &json["form"], &json["file"]), (0, &"markdown".into(), &serde_json::Value::Null));
    assert!(json["text"].as_str().unwrap().starts_with("# Tools"));
}

const NESTED: &str = r#"
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Order {
    /// The ordered items.
    items: Vec<Item>,
    by: Delivery,
}

/// One thing.
#[derive(serde::Deserialize, schemars::JsonSchema)]
pub struct Item {
    /// Its number, such as `A|1`.
    sku: String,
    #[serde(default)]
    count: Option<u32>,
}

/// The delivery method.
#[derive(serde::Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind")]
pub enum Delivery {
    /// With a stamp.
    Post { street: String },
    Courier { phone: String },
}

/// Order something.
#[tool_runtime::tool]
pub fn order(order: Order) {}
"#;

#[test]
fn types_are_described_field_by_field() {
    let project = Project::with(NESTED);
    let text = project.run(&["docs"]).stdout;
    for expected in [
        "### `Item`\n\nOne thing.\n\n| field | type | | description |\n|---|---|---|---|\n",
        "| `sku` | string | required | Its number, such as `A\\|1`. |\n",
        "| `items` | array of object Item | required | The ordered items. |\n",
        "| `by` | Delivery | required |",
        "### `Delivery`\n\nThe delivery method.\n",
        ": With a stamp.\n\n| field |",
        "| `street` | string | required |",
    ] {
        assert!(text.contains(expected), "{expected}\nis not in\n{text}");
    }
    let page = project.run(&["docs", "--html"]).stdout;
    assert!(page.contains("<h3><code>Item</code></h3>") && page.contains("<dt><code>street</code>"), "{page}");
    assert!(!page.contains("<pre>"), "no raw JSON");
}
