//! `adopt`

use serde_json::Value;

use crate::project::Project;

const BEFORE: &str = include_str!("adopt/before.rs");
const ANNOTATED: &str = include_str!("adopt/annotated.rs");

fn project() -> Project {
    let project = Project::with(BEFORE);
    project.write("src/annotated.rs", ANNOTATED);
    project
}

/// Compares a text with a golden file, or replaces the file if `UPDATE_GOLDEN` is set.
fn assert_golden(name: &str, text: &str) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/adopt").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, text).unwrap();
    }
    let golden = std::fs::read_to_string(&file).unwrap_or_default();
    assert_eq!(text, golden, "{name} differs; set UPDATE_GOLDEN=1 to accept it");
}

/// Returns the verdict on each method of a class, and the reasons.
fn verdicts(report: &Value, class: &str) -> Vec<(String, String, Vec<String>)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let classes = report["classes"].as_array().unwrap().iter().filter(|found| found["name"] == class);
    let methods = classes.flat_map(|class| class["methods"].as_array().unwrap());
    let reasons =
        |method: &Value| method["findings"].as_array().unwrap().iter().map(|found| text(&found["reason"])).collect();
    methods.map(|method| (text(&method["name"]), text(&method["fit"]), reasons(method))).collect()
}

#[test]
fn says_of_each_method_whether_it_fits_and_why() {
    let (code, report) = project().json(&["adopt"]);
    assert_eq!(code, 0);
    let found = verdicts(&report, "Orders");
    let found: Vec<(&str, &str, Vec<&str>)> = found
        .iter()
        .map(|(name, fit, reasons)| (name.as_str(), fit.as_str(), reasons.iter().map(String::as_str).collect()))
        .collect();
    assert_eq!(
        found,
        [
            ("new", "constructor", vec![]),
            ("get", "unchanged", vec![]),
            ("add", "unchanged", vec![]),
            ("receipt", "attributes", vec!["converted", "result_as_text"]),
            ("oddly_indented", "attributes", vec!["injected", "injected"]),
            ("mark", "conversion", vec!["argument_type"]),
            ("opaque", "conversion", vec!["result_type"]),
            ("each", "attributes", vec!["injected", "generics"]),
            ("label", "attributes", vec!["injected", "generics"]),
            ("outlive", "unfit", vec!["closure"]),
            ("fold", "unfit", vec!["closure", "closure"]),
            ("all", "attributes", vec!["generics"]),
            ("read", "attributes", vec!["injected", "generics"]),
            ("keep", "attributes", vec!["injected", "generics"]),
            ("rows", "unfit", vec!["generic_method"]),
            ("lend", "unfit", vec!["argument_form"]),
            ("cursor", "unfit", vec!["returns_service"]),
            ("fail", "attributes", vec!["error_as_text"]),
            ("mute", "unfit", vec!["error_type"]),
            ("store", "unchanged", vec![]),
            ("swap", "unfit", vec!["injected", "not_shared"]),
            ("foreign", "unknown", vec!["unknown_argument", "unknown_result"]),
            ("shown", "unfit", vec!["opaque_result"]),
            ("raw", "unfit", vec!["signature"]),
            ("rename", "attributes", vec!["stale_documentation"]),
            ("load", "constructor", vec![]),
            ("with_pool", "setter", vec![]),
        ]
    );
}

#[test]
fn finds_every_form_of_class() {
    let (_, report) = project().json(&["adopt"]);
    let classes: Vec<(&str, &str)> = report["classes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|class| (class["name"].as_str().unwrap(), class["kind"].as_str().unwrap()))
        .collect();
    // `Storage` is not `Send + Sync`, so its `impl` is listed instead. `Order` is data.
    let expected = [
        ("Desk", "inherent"),
        ("Orders", "inherent"),
        ("Cursor", "inherent"),
        ("Cursor", "inherent"),
        ("Page", "inherent"),
        ("Page", "inherent"),
        ("Memory", "trait_impl"),
        ("Clock", "trait"),
        ("Cache", "inherent"),
        ("Queue", "inherent"),
    ];
    assert_eq!(classes, expected);
    let one = |class: &str| verdicts(&report, class)[0].clone();
    assert_eq!(one("Desk").1, "annotated");
    assert_eq!(one("Cursor").2, ["borrows"]);
    assert_eq!((one("Cache").1.as_str(), one("Cache").2), ("attributes", vec!["instances".to_owned()]));
    let class =
        |name: &str| report["classes"].as_array().unwrap().iter().find(|class| class["name"] == name).unwrap().clone();
    assert_eq!(class("Cache")["keys"][0], "instances(Cache<Memory>)");
    assert_eq!(class("Queue")["keys"][0], "instances(Queue<MyT>)");
    assert_eq!(class("Page")["keys"][0], "new(pool: &Pool, title: String)");
    let pages = verdicts(&report, "Page");
    assert!(pages[1..].iter().all(|page| page.1 == "attributes" && page.2 == ["constructor"]), "{pages:?}");
    assert_eq!(verdicts(&report, "Clock")[1].1, "unfit", "all calls share a trait object");
    let (_, report) = project().json(&["adopt", "--class", "Order"]);
    assert_eq!(report["classes"][0]["role"], "data");
}

#[test]
fn reports_are_the_same_from_run_to_run() {
    let project = project();
    let ran = project.run(&["adopt"]);
    let directory = std::fs::canonicalize(project.path("")).unwrap();
    assert_golden("report.txt", &ran.stdout);
    let json = project.run(&["adopt", "--format", "json"]).stdout;
    assert_golden("report.json", &json.replace(&format!("{}/", directory.display()), ""));
}

#[test]
fn writes_attributes_and_keeps_everything_but_stale_doc_lines() {
    let expected = BEFORE.replace("    ///\n    /// # Arguments\n    /// * `name` - The new name.\n", "");
    assert_ne!(expected, BEFORE);
    for (arguments, golden) in [(&["adopt", "--write"][..], "opt_in.rs"), (&["adopt", "--write", "--all"], "all.rs")] {
        let project = project();
        let ran = project.run(arguments);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let after = project.read("src/lib.rs");
        assert_golden(golden, &after);
        assert_eq!(project.read("src/annotated.rs"), ANNOTATED, "annotated classes are left alone");
        let mut rest = after.clone();
        for added in without_attributes(&after) {
            rest = rest.replacen(&added, "", 1);
        }
        assert_eq!(rest, expected, "{golden}");
        assert!(ran.stderr.contains("next: add `tool-runtime` to `[dependencies]` in Cargo.toml"), "{}", ran.stderr);
        assert!(
            ran.stderr.contains("`.service_mut(..)` with a `Orders`, and what is injected: f, log, pool, storage"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("name the concrete type of `impl<T> Queue<T>`"), "{}", ran.stderr);
        let own_types = "annotate `Orders::read` with types of your own: `#[tool(generics(from = MyRead))]`";
        assert!(ran.stderr.contains(own_types), "{}", ran.stderr);

        project.run(arguments);
        assert_eq!(project.read("src/lib.rs"), after, "a second run changes nothing");
    }
}

/// Returns the attributes that were inserted, with the line breaks or blanks behind them.
fn without_attributes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("#[tool_runtime::") && line.ends_with(']') {
            found.push(format!("{line}\n"));
        }
        let inline = ["#[inject] ", "#[arg(via(u64))] "].into_iter().flat_map(|part| line.match_indices(part));
        found.extend(inline.map(|(_, part)| part.to_owned()));
    }
    found
}

#[test]
fn keeps_line_breaks_and_the_byte_order_mark() {
    let source = "\u{feff}pub struct A;\r\n\r\nimpl A {\r\n\tpub fn b(&self) {}\r\n} impl A { pub fn c(&self) {} }\r\n";
    let project = Project::with(source);
    project.run(&["adopt", "--write"]);
    let expected = "\u{feff}pub struct A;\r\n\r\n#[tool_runtime::tool_class(opt_in)]\r\nimpl A {\r\n\t#[tool_runtime::tool]\r\n\tpub fn b(&self) {}\r\n} #[tool_runtime::tool_class(opt_in)] impl A { #[tool_runtime::tool] pub fn c(&self) {} }\r\n";
    assert_eq!(project.read("src/lib.rs"), expected);
}

#[test]
fn takes_the_instance_that_is_named() {
    let project = Project::with(BEFORE);
    project.run(&["adopt", "--class", "Queue", "--instance", "Queue<u8>", "--write"]);
    assert!(
        project
            .read("src/lib.rs")
            .contains("#[tool_runtime::tool_class(opt_in, instances(Queue<u8>))]\nimpl<T> Queue<T>")
    );
    let ran = project.run(&["adopt", "--instance", "Queue<"]);
    assert!(ran.code == 2 && ran.stderr.contains("`Queue<` is not a type"), "{}", ran.stderr);
}

#[test]
fn rejects_a_class_that_does_not_exist() {
    let ran = project().run(&["adopt", "--class", "Ordrs"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("no impl block or trait `Ordrs` with public methods"), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean `Orders`?"), "{}", ran.stderr);
}

#[test]
fn takes_a_directory_or_a_package() {
    let project = project();
    let elsewhere = Project::empty();
    let path = project.path("");
    let ran = elsewhere.run(&["adopt", path.to_str().unwrap(), "--class", "Desk"]);
    assert!(ran.stdout.contains("is a tool class already"), "{}{}", ran.stdout, ran.stderr);
    let ran = project.run(&["adopt", "shop", "--class", "Desk"]);
    assert!(ran.stdout.contains("is a tool class already"), "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn methods_that_destroy_are_marked_and_those_for_tests_are_left_out() {
    let source = "pub struct Users;\nimpl Users {\n    /// Deletes a user.\n    pub fn delete(&self, id: u64) {}\n\n    \
                  /// Only for use in tests.\n    pub fn fill(&self) {}\n}\n";
    let project = Project::with(source);
    let (_, report) = project.json(&["adopt"]);
    let found = verdicts(&report, "Users");
    assert_eq!(found[0].2, ["destructive"], "{found:?}");
    assert_eq!(
        (found[1].1.as_str(), found[1].2.as_slice()),
        ("unfit", ["for_tests".to_owned()].as_slice()),
        "{found:?}"
    );
    assert_eq!(project.run(&["adopt", "--write", "--class", "Users"]).code, 0);
    let written = project.read("src/lib.rs");
    assert!(written.contains("#[tool_runtime::tool(destructive)]\n    pub fn delete"), "{written}");
    assert!(written.contains("/// Only for use in tests.\n    pub fn fill"), "{written}");
}

#[test]
fn a_type_that_the_application_may_know_is_not_left_to_the_model() {
    let source = "pub struct User { pub name: String }\npub struct Notes;\nimpl Notes {\n    /// Lists notes.\n    \
                  pub fn list(&self, user: &User) -> String { user.name.clone() }\n    /// Moves notes.\n    \
                  pub fn own(&self, user: User) -> String { user.name }\n}\n";
    let project = Project::with(source);
    let ran = project.run(&["adopt", "--class", "Notes", "--write"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.ends_with("nothing written: 2 methods need a decision; see their `help`\n"), "{}", ran.stderr);
    assert_eq!(project.read("src/lib.rs"), source);
    let inject =
        "help: if the application knows it (a user, a pool, a clock): `#[inject]`; if the model fills it: derive";
    assert_eq!(ran.stdout.matches(inject).count(), 1, "{}", ran.stdout);

    // The control: the decision is made.
    project.edit("src/lib.rs", "user: &User", "#[inject] user: &User");
    project.edit("src/lib.rs", "    /// Moves notes.\n    pub fn own", "    fn own");
    let ran = project.run(&["adopt", "--class", "Notes", "--write"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(project.read("src/lib.rs").contains("tool_class(opt_in)"), "{}", project.read("src/lib.rs"));
}
