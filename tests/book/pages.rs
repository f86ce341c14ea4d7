//! Checks of the README and the book that need no compiler: pages, links, lengths, quoted messages and figures.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Documents of the repository whose links are checked, besides the pages of the book.
const DOCUMENTS: [&str; 5] = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "AGENTS.md", "llms.txt"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the file names of all pages, without the summary.
fn pages() -> BTreeSet<String> {
    let files = fs::read_dir(root().join("docs/src")).expect("the pages of the book");
    let names = files.map(|file| file.expect("a page").file_name().into_string().expect("a name in UTF-8"));
    names.filter(|name| name.ends_with(".md") && name != "SUMMARY.md").collect()
}

/// Returns the text without its code blocks.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push_str(line);
            prose.push('\n');
        }
    }
    prose
}

/// Returns the targets of all links, `[text](target)`, outside of code.
fn links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets =
        prose.split("](").skip(1).filter_map(|rest| rest.split_once(')').map(|(target, _)| target.to_owned()));
    targets.collect()
}

/// Returns the anchors of all headings, as mdBook and GitHub make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).lines().filter(|line| line.starts_with('#')).map(str::to_owned).collect::<Vec<_>>();
    let anchor = |heading: &String| {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.iter().map(anchor).collect()
}

#[test]
fn the_summary_lists_every_page_once() {
    let listed = links(&read("docs/src/SUMMARY.md"));
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), pages());
    assert_eq!(listed.len(), pages().len(), "a page is listed twice");
}

#[test]
fn the_code_of_every_page_is_tested() {
    let tested = read("tests/book/lib.rs");
    for page in pages() {
        assert!(tested.contains(&format!("/docs/src/{page}\"")), "tests/book/lib.rs does not include {page}");
    }
}

#[test]
fn every_relative_link_resolves() {
    let pages = pages().into_iter().map(|page| format!("docs/src/{page}"));
    let mut checked = 0;
    for document in pages.chain(DOCUMENTS.map(str::to_owned)) {
        let text = read(&document);
        for link in links(&text).into_iter().filter(|link| !link.contains("://") && !link.starts_with("mailto:")) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => root().join(&document),
                file => root().join(&document).parent().expect("a directory").join(file),
            };
            assert!(target.exists(), "{document} links to {link}, which does not exist");
            let has_anchor = || anchors(&fs::read_to_string(&target).expect("a text")).contains(anchor);
            assert!(anchor.is_empty() || has_anchor(), "{document} links to {link}, which has no such heading");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked} links are too few: are they still recognized?");
}

/// Longer than other pages: a reference with a section per key, and recipes for several database libraries.
const LONG_PAGES: [&str; 2] = ["attributes.md", "injection.md"];

/// A page is read in one go.
#[test]
fn pages_are_short_and_have_code() {
    for page in pages().into_iter().filter(|page| !LONG_PAGES.contains(&page.as_str())) {
        let text = read(Path::new("docs/src").join(&page));
        let mut is_code = false;
        let mut shown = 0;
        for line in text.lines() {
            is_code ^= line.starts_with("```");
            // Such lines of code are hidden.
            let is_hidden = is_code && line.trim_start().starts_with("# ");
            shown += usize::from(!is_hidden);
        }
        assert!(shown <= 150, "{page} has {shown} lines");
        assert!(text.starts_with("# ") && text.contains("\n```"), "{page} has no title or no code");
    }
}

#[test]
fn the_readme_has_at_most_ten_kilobytes() {
    let length = read("README.md").len();
    assert!(length <= 10_000, "README.md has {length} bytes");
}

/// Returns the Rust sources of all crates as one text, in which string literals are as they are printed.
fn sources() -> String {
    fn collect(directory: &Path, text: &mut String) {
        for entry in fs::read_dir(directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                collect(&path, text);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                text.push_str(&fs::read_to_string(path).expect("a source"));
            }
        }
    }
    let mut text = String::new();
    for entry in fs::read_dir(root()).expect("the repository") {
        let path = entry.expect("an entry").path();
        if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("tool-")) {
            collect(&path.join("src"), &mut text);
        }
    }
    // A backslash at the end of a line continues a literal after the indentation of the next line.
    let mut parts = text.split("\\\n");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |joined, part| joined + part.trim_start()).replace("\\\"", "\"")
}

/// Each message in a table of the page is in the sources: `` `` message … `` ``, with `…` for names and values.
#[test]
fn the_messages_of_the_troubleshooting_page_exist() {
    let (page, sources) = (read("docs/src/troubleshooting.md"), sources());
    let (mut messages, mut missing) = (0, Vec::new());
    for row in page.lines().filter(|line| line.starts_with("| ``")) {
        let cell = row.split(" | ").next().expect("a cell").trim_start_matches("| ");
        for message in cell.split("`` ").flat_map(|part| part.split(" ``")).filter(|part| part.len() > 3) {
            messages += 1;
            let parts =
                message.split('…').map(|part| part.trim().trim_matches('`').trim()).filter(|part| part.len() > 5);
            missing.extend(parts.filter(|part| !sources.contains(part)).map(str::to_owned));
        }
    }
    assert!(missing.is_empty(), "not in the sources: {missing:#?}");
    assert!(messages > 40, "{messages} messages are too few: are they still recognized?");
}

/// The figures of the page are those that were measured.
#[test]
fn the_figures_of_the_performance_page_are_measured() {
    let (page, results) = (read("docs/src/performance.md"), read("benches/RESULTS.md"));
    let measured = page.split("## Measured").nth(1).and_then(|rest| rest.split("## ").next()).expect("the section");
    let mut figures = 0;
    for row in measured.lines().filter(|line| line.starts_with('|')) {
        // The first cell names what was measured.
        for cell in row.split('|').skip(2) {
            for word in cell.split(' ').map(|word| word.trim_end_matches(',')) {
                if word.starts_with(|c: char| c.is_ascii_digit()) {
                    let is_measured = results.split([' ', '|']).any(|known| known == word);
                    assert!(is_measured, "benches/RESULTS.md does not contain {word}");
                    figures += 1;
                }
            }
        }
    }
    assert!(figures > 40, "{figures} figures are too few: are they still recognized?");
}

/// Coding agents find every page.
#[test]
fn llms_txt_lists_every_page() {
    let text = read("llms.txt");
    for page in pages() {
        assert!(text.contains(&format!("(docs/src/{page})")), "llms.txt does not list {page}");
    }
}

#[test]
fn the_licence_files_exist() {
    let manifest = read("Cargo.toml");
    assert!(manifest.contains("license = \"MIT OR Apache-2.0\""));
    assert!(read("LICENSE-MIT").starts_with("MIT License"));
    assert!(read("LICENSE-APACHE").contains("Apache License"));
}
