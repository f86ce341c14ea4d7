use syn::{ItemFn, parse_quote};

use super::*;

fn read(item: &ItemFn) -> Docs {
    Docs::read(&item.attrs, &crate::tool::parameter_names(&item.sig))
}

fn description(comment: &str) -> String {
    let lines: String = comment.lines().map(|line| format!("/// {line}\n")).collect();
    read(&syn::parse_str(&format!("{lines}fn f() {{}}")).unwrap()).description
}

/// Asserts on the texts of the arguments `a`, `b`, .. of a section.
fn section(lines: &[&str], expected: &[(&str, Option<&str>)]) {
    let comment: String = lines.iter().map(|line| format!("/// {line}\n")).collect();
    let parameters: String = expected.iter().map(|(name, _)| format!("r#{name}: u8, ")).collect();
    let item = format!("/// Does.\n///\n/// # Arguments\n{comment}fn f({parameters}) {{}}");
    let docs = read(&syn::parse_str(&item).unwrap());
    for (name, text) in expected {
        assert_eq!(docs.argument(name), *text, "{name} in {lines:#?}");
    }
}

#[test]
fn reads_the_description_across_attributes_and_blank_lines() {
    let item: ItemFn = parse_quote! {
        ///
        /// The newest points
        #[inline]
        /// of one host.
        ///
        /// More.
        fn newest() {}
    };
    assert_eq!(read(&item).description, "The newest points of one host.");
}

#[test]
fn reads_block_comments_like_line_comments() {
    let item: ItemFn = syn::parse_str("/** First line\n * second line.\n *\n * Rest.\n */\nfn f() {}").unwrap();
    assert_eq!(read(&item).description, "First line second line.");
    let item = "/**\n    Does.\n\n    # Arguments\n    * `a` - one of:\n      * `x` - this\n    * `b` - two\n*/\nfn f(a: u8, b: u8) {}";
    let docs = read(&syn::parse_str(item).unwrap());
    assert_eq!(docs.argument("a"), Some("one of: * `x` - this"));
    assert_eq!(docs.argument("b"), Some("two"));
}

#[test]
fn reads_the_usual_forms_of_the_arguments_section() {
    let item: ItemFn = parse_quote! {
        /// Text.
        ///
        /// # Arguments
        ///
        /// * `host` - Host name,
        ///   such as `web-1`.
        /// - limit: How many.
        /// * `unit` — The unit.
        ///
        /// # Errors
        /// * `none` - not an argument
        fn f(host: String, limit: u8, unit: String, none: u8) {}
    };
    let docs = read(&item);
    assert_eq!(docs.argument("host"), Some("Host name, such as `web-1`."));
    assert_eq!(docs.argument("limit"), Some("How many."));
    assert_eq!(docs.argument("unit"), Some("The unit."));
    assert_eq!(docs.argument("none"), None);
}

#[test]
fn recognises_every_usual_spelling_of_a_name() {
    section(
        &[
            "* **a** - bold",
            "* __b__ - bold, too",
            "* _c_ - emphasis",
            "* [`d`] - a link",
            "* [`e`](#e): a link with a target",
            "* `f: u8` - with its type",
            "* `r#type` - raw",
            "* r#match – bare and raw",
            "* `g`, `h` and `i` - three of them",
            "* `j` (optional) - with a remark",
            "* **`k`** -- both",
            "1. `l` - numbered",
            "+ `m` without a dash",
            "* `_n` - unused",
            "* *o* - with stars",
            "* `__p` - with underscores",
            "* _q_r_ - emphasis with an underscore inside",
        ],
        &[
            ("a", Some("bold")),
            ("b", Some("bold, too")),
            ("c", Some("emphasis")),
            ("d", Some("a link")),
            ("e", Some("a link with a target")),
            ("f", Some("with its type")),
            ("type", Some("raw")),
            ("match", Some("bare and raw")),
            ("g", Some("three of them")),
            ("h", Some("three of them")),
            ("i", Some("three of them")),
            ("j", Some("(optional) with a remark")),
            ("k", Some("both")),
            ("l", Some("numbered")),
            ("m", Some("without a dash")),
            ("_n", Some("unused")),
            ("o", Some("with stars")),
            ("__p", Some("with underscores")),
            ("q_r", Some("emphasis with an underscore inside")),
        ],
    );
}

#[test]
fn a_bullet_that_is_not_understood_ends_the_previous_one() {
    section(
        &["* `a` - first", "* <b>b</b> - in HTML", "  and on", "* c", "* `gone` - no parameter", "* d of this"],
        &[("a", Some("first")), ("b", None), ("c", None), ("d", None)],
    );
}

#[test]
fn a_nested_list_belongs_to_its_item() {
    section(
        &["* `a` - one of:", "  - `x` - this", "  - `y` - that", "* `b` - second", "  - `c` - nested, and a name"],
        &[("a", Some("one of: - `x` - this - `y` - that")), ("b", Some("second")), ("c", Some("nested, and a name"))],
    );
}

#[test]
fn emphasis_and_commas_in_text_are_not_names() {
    section(
        &["* `a` - first,", "  **b** of them", "  *c* too", "* `b`, the second - of two", "* `c`: `d`, or so"],
        &[
            ("a", Some("first, **b** of them *c* too")),
            ("b", Some("the second - of two")),
            ("c", Some("`d`, or so")),
            ("d", None),
        ],
    );
}

#[test]
fn code_blocks_are_not_prose() {
    assert_eq!(description("Adds.\n```\n# use m::add;\nadd(1);\n```\nMore."), "Adds.");
    assert_eq!(description("~~~text\nAdds.\n~~~\nIn words."), "In words.");
    assert_eq!(description("Calls ```add``` at once.\nAnd on."), "Calls ```add``` at once. And on.");
    assert_eq!(description("````\n```\n# A\n````\nText."), "Text.");
    section(
        &["* `a` - first, such as", "  ```", "  # let x = 1;", "  ```", "* `b` - second"],
        &[("a", Some("first, such as")), ("b", Some("second"))],
    );
    let item: ItemFn = syn::parse_str(
        "/// Does.\n///\n/// ```\n/// # Arguments\n/// * `a` - in code\n/// ```\n/// # Arguments\n/// * `a` - real\nfn f(a: u8) {}",
    )
    .unwrap();
    assert_eq!(read(&item).argument("a"), Some("real"));
}

#[test]
fn a_title_is_not_the_description() {
    assert_eq!(description("# Title\nText."), "Text.");
    assert_eq!(description("# Title\n\n## Another\n\nText\nand more."), "Text and more.");
    assert_eq!(description("# Arguments\n* `a` - An a."), "");
    assert_eq!(description("# Title\n# Errors\nAlways."), "");
}

#[test]
fn a_name_describes_the_parameter_that_is_marked_as_unused() {
    let item: ItemFn = syn::parse_str(
        "/// Does.\n///\n/// # Arguments\n/// * `kind` and `id` - Both.\n/// * `_left` - Left.\nfn f(_kind: u8, id: u8, _left: u8) {}",
    )
    .unwrap();
    let docs = read(&item);
    assert_eq!(
        [docs.argument("_kind"), docs.argument("id"), docs.argument("_left")],
        [Some("Both."), Some("Both."), Some("Left.")]
    );
    assert!(docs.unknown.is_empty(), "{:?}", docs.unknown);
}

#[test]
fn finds_all_lines_of_items_that_describe_no_parameter() {
    let item: ItemFn = syn::parse_str(
        "/// Does.\n///\n/// # Arguments\n///\n/// * `a` - First,\n///   kept.\n/// * `old` - Was here,\n///   for long.\n///   * a detail\n/// * `b` - Second.\n/// * `gone` - Too.\n///\n/// More.\nfn f(a: u8, b: u8) {}",
    )
    .unwrap();
    let stale = stale_argument_docs(&item.attrs, &item.sig);
    assert_eq!(stale, [("old".to_owned(), vec![6, 7, 8]), ("gone".to_owned(), vec![10])]);
    let block: ItemFn = syn::parse_str("/** Does.\n\n# Arguments\n* `old` - Was here.\n*/\nfn f(a: u8) {}").unwrap();
    assert!(stale_argument_docs(&block.attrs, &block.sig).is_empty(), "the lines are one attribute");
}

#[test]
fn the_heading_of_an_emptied_section_is_stale_too() {
    let stale = |docs: &str| {
        let lines: String = docs.lines().map(|line| format!("///{line}\n")).collect();
        let item: ItemFn = syn::parse_str(&format!("{lines}fn f(a: u8) {{}}")).unwrap();
        let mut lines: Vec<usize> =
            stale_argument_docs(&item.attrs, &item.sig).into_iter().flat_map(|(_, lines)| lines).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(stale(" Does.\n\n # Arguments\n\n * `old` - One.\n * `gone` - Two."), [1, 2, 3, 4, 5]);
    assert_eq!(stale(" Does.\n\n # Arguments\n * `old` - One.\n\n # Errors\n Never."), [2, 3, 4]);
    // The controls: another item, a sentence or a link remain.
    assert_eq!(stale(" Does.\n\n # Arguments\n * `old` - One.\n * `a` - Kept."), [3]);
    assert_eq!(stale(" Does.\n\n # Arguments\n * `old` - One.\n\n Kept."), [3]);
    assert_eq!(stale(" Does.\n\n # Arguments\n * `old` - One.\n\n [x]: https://example.org"), [3]);
}
