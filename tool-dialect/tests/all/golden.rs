//! Golden files: the definitions of the fixtures in all forms, byte by byte.
//!
//! `UPDATE_GOLDEN=1 cargo test -p tool-dialect golden` rewrites them; review the diff before committing.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use serde_json::Value;
use tool_dialect::{Dialect, DialectForm};

use crate::fixtures::{forms, golden_path, manifest, schema_of};

/// The forms with distinct schemas; every other form shares the schemas of one of these.
const SCHEMAS: [(&str, DialectForm); 5] = [
    ("portable.jsonl", DialectForm { dialect: Dialect::OpenAiChat, strict: false }),
    ("openai-strict.jsonl", DialectForm { dialect: Dialect::OpenAiChat, strict: true }),
    ("anthropic-strict.jsonl", DialectForm { dialect: Dialect::Anthropic, strict: true }),
    ("gemini.jsonl", DialectForm { dialect: Dialect::Gemini, strict: false }),
    ("mcp.jsonl", DialectForm { dialect: Dialect::Mcp, strict: false }),
];

/// A few tools that show the envelope of a schema.
const AROUND: [&str; 5] = ["explicit.nothing", "explicit.texts", "docs.none", "options.all", "returns.text"];

#[track_caller]
fn compare(name: &str, is: &str) {
    let path = golden_path(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&path, is).expect("the golden file can be written");
        return;
    }
    let was = fs::read_to_string(&path).unwrap_or_default();
    if was != is {
        let same = was.lines().zip(is.lines()).take_while(|(was, is)| was == is).count();
        let at = |text: &str| text.lines().nth(same).unwrap_or("(the end)").to_owned();
        let place = format!("{}:{}", path.display(), same + 1);
        panic!("{place} differs; `UPDATE_GOLDEN=1` writes it again\n  golden: {}\n  now:    {}", at(&was), at(is));
    }
}

/// One definition per line, as sent.
fn lines(form: DialectForm, only: Option<&[&str]>) -> String {
    let manifest = manifest();
    let mut text = String::new();
    for (name, tool) in manifest.iter().filter(|(name, _)| only.is_none_or(|only| only.contains(name))) {
        let offer = form.offer([(name, tool)]).expect("one tool clashes with none");
        text.push_str(&offer.text());
        text.push('\n');
    }
    text
}

#[test]
fn definitions() {
    for (file, form) in SCHEMAS {
        compare(file, &lines(form, None));
    }
}

#[test]
fn envelopes_of_definitions() {
    let text: String = forms().into_iter().map(|form| format!("# {form}\n{}", lines(form, Some(&AROUND)))).collect();
    compare("around.jsonl", &text);
}

/// Only the envelope differs.
#[test]
fn other_forms_share_their_schemas() {
    let same = [
        (Dialect::OpenAiResponses.into(), SCHEMAS[0].1),
        (Dialect::OpenRouter.into(), SCHEMAS[0].1),
        (Dialect::Anthropic.into(), SCHEMAS[0].1),
        (Dialect::Bedrock.into(), SCHEMAS[0].1),
        (Dialect::Mcp.into(), SCHEMAS[0].1),
        (Dialect::OpenAiResponses.strict(), SCHEMAS[1].1),
        (Dialect::OpenRouter.strict(), SCHEMAS[1].1),
        (Dialect::Bedrock.strict(), SCHEMAS[2].1),
    ];
    let manifest = manifest();
    for (form, like) in same {
        for (name, tool) in manifest.iter().filter(|(_, tool)| tool.strict.is_none()) {
            let schema = |form: DialectForm| {
                let offer = form.offer([(name, tool)]).expect("one tool");
                schema_of(form, &offer.definitions()[0])
            };
            assert_eq!(schema(form), schema(like), "{form} {name}");
        }
    }
}

#[test]
fn reports() {
    for (file, form) in SCHEMAS {
        let manifest = manifest();
        let found = form.report(manifest.iter()).findings;
        let text: String = found.iter().map(|found| format!("{:?} {} {found}\n", found.level, found.kind)).collect();
        compare(&file.replace(".jsonl", ".report"), &text);
    }
}

/// Detects golden files that no test reads.
#[test]
fn every_file_is_compared() {
    let known: BTreeSet<String> = SCHEMAS
        .iter()
        .flat_map(|(file, _)| [(*file).to_owned(), file.replace(".jsonl", ".report")])
        .chain(["around.jsonl".to_owned()])
        .collect();
    let there: BTreeSet<String> = fs::read_dir(golden_path(""))
        .expect("the golden files")
        .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(there, known);
}

/// Text and value are equal and stable, regardless of the order of the tools.
#[test]
fn the_text_is_stable() {
    let manifest = manifest();
    for form in forms() {
        let offer = form.offer(manifest.iter()).expect("the fixtures' names stay apart");
        let mut reversed: Vec<_> = manifest.iter().collect();
        reversed.reverse();
        let again = form.offer(reversed).expect("the fixtures' names stay apart");
        assert_eq!(offer.text(), again.text(), "{form}");
        assert!(Arc::ptr_eq(&offer.text(), &offer.clone().text()), "the text is kept");
        assert_eq!(serde_json::from_str::<Value>(&offer.text()).expect("JSON"), *offer.definitions(), "{form}");
    }
}
