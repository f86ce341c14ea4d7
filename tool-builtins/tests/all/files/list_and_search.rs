//! `list_files`, `search_files`.

use serde_json::{Value, json};
use tool_builtins::files::FileLimits;
use tool_runtime::{CancellationToken, ErrorKind, ToolCall};

use super::TestWorkspace;

fn project() -> TestWorkspace {
    let workspace = TestWorkspace::new();
    workspace.put(".gitignore", "target/\n*.log\n!keep.log\n");
    workspace.put("README.md", "Read me first.\n");
    workspace.put("src/main.rs", "fn main() {\n    run();\n}\n");
    workspace.put("src/deep/mod.rs", "pub fn run() {}\n// run it\n");
    workspace.put("src/deep/.gitignore", "/secret.rs\n");
    workspace.put("src/deep/secret.rs", "fn run() {}\n");
    workspace.put("src/secret.rs", "fn run() {}\n");
    workspace.put("target/out.rs", "fn run() {}\n");
    workspace.put("debug.log", "run\n");
    workspace.put("keep.log", "run\n");
    workspace.put(".git/config", "run\n");
    workspace.put("web/node_modules/x/index.js", "run\n");
    workspace.put("web/app.ts", "export const app = 1;\n");
    workspace
}

#[track_caller]
fn lines(workspace: &TestWorkspace, name: &str, arguments: Value) -> Vec<String> {
    workspace.output(name, arguments).lines().map(str::to_owned).collect()
}

#[test]
fn lists_a_directory_with_sizes() {
    let workspace = project();
    assert_eq!(
        lines(&workspace, "list_files", json!({})),
        [
            ".gitignore (24 bytes)",
            "README.md (15 bytes)",
            "keep.log (4 bytes)",
            "src/",
            "web/",
            "[3 files, 2 directories.]",
        ]
    );
    assert_eq!(lines(&workspace, "list_files", json!({"path": "web"})), ["web/app.ts (22 bytes)", "[1 file.]"]);
}

#[test]
fn lists_recursively_without_ignored_files() {
    let workspace = project();
    let all = lines(&workspace, "list_files", json!({"recursive": true}));
    assert_eq!(
        all,
        [
            ".gitignore (24 bytes)",
            "README.md (15 bytes)",
            "keep.log (4 bytes)",
            "src/deep/.gitignore (11 bytes)",
            "src/deep/mod.rs (26 bytes)",
            "src/main.rs (25 bytes)",
            "src/secret.rs (12 bytes)",
            "web/app.ts (22 bytes)",
            "[8 files.]",
        ]
    );
    let ignored = workspace.output("list_files", json!({"recursive": true, "include_ignored": true}));
    for path in ["target/out.rs", "debug.log", "src/deep/secret.rs", "web/node_modules/x/index.js"] {
        assert!(ignored.contains(path), "{path} in {ignored}");
    }
    assert!(!ignored.contains(".git/"), "{ignored}");
}

#[test]
fn a_recursive_list_has_empty_directories() {
    let workspace = project();
    for directory in ["docs", "src/deep/empty", "web/only/node_modules/x"] {
        std::fs::create_dir_all(workspace.path(directory)).unwrap();
    }
    let all = lines(&workspace, "list_files", json!({"recursive": true}));
    for directory in ["docs/", "src/deep/empty/", "web/only/"] {
        assert!(all.contains(&directory.to_owned()), "{all:?}");
    }
    assert!(!all.contains(&"src/".to_owned()), "its files are listed: {all:?}");
    assert_eq!(all.last().unwrap(), "[8 files, 3 directories.]");
    assert_eq!(lines(&workspace, "list_files", json!({"path": "docs", "recursive": true})), ["[Nothing was found.]"]);
    assert!(!lines(&workspace, "list_files", json!({"glob": "**/*.rs"})).concat().contains("empty"));
}

#[test]
fn dot_files_are_listed_unless_they_are_hidden() {
    let put = |workspace: &TestWorkspace| {
        for path in [".env", ".gitignore", ".github/ci.yml", "main.rs", "src/.hidden"] {
            workspace.put(path, "x");
        }
    };
    let (shown, hiding) = (TestWorkspace::new(), TestWorkspace::with(|files| files.hide_dot_files(true)));
    put(&shown);
    put(&hiding);
    let all =
        [".env (1 byte)", ".github/", ".gitignore (1 byte)", "main.rs (1 byte)", "src/", "[3 files, 2 directories.]"];
    let few = [".gitignore (1 byte)", "main.rs (1 byte)", "src/", "[2 files, 1 directory.]"];
    assert_eq!(lines(&shown, "list_files", json!({})), all);
    assert_eq!(lines(&hiding, "list_files", json!({})), few);
    assert_eq!(lines(&hiding, "list_files", json!({"include_hidden": true})), all);
    assert_eq!(lines(&shown, "list_files", json!({"include_hidden": false})), few);
    let recursive = |workspace, arguments| lines(workspace, "list_files", arguments).len() - 1;
    assert_eq!(recursive(&hiding, json!({"recursive": true})), 5, "a recursive list has them");
    assert_eq!(recursive(&hiding, json!({"recursive": true, "include_hidden": false})), 3, "and `src/`, now empty");
    assert!(hiding.output("search_files", json!({"pattern": "x"})).contains(".env"));
}

#[test]
fn a_search_shows_50_matches_unless_it_has_a_limit() {
    let workspace = TestWorkspace::new();
    workspace.put("a", "line\n".repeat(120));
    let shown = |arguments| workspace.output("search_files", arguments).matches(": line").count();
    assert_eq!(shown(json!({"pattern": "line"})), 50);
    assert_eq!(shown(json!({"pattern": "line", "limit": 120})), 120);
}

#[test]
fn filters_by_pattern() {
    let workspace = project();
    let listed = |arguments| {
        let mut lines = lines(&workspace, "list_files", arguments);
        lines.pop();
        lines.into_iter().map(|line| line.split(" (").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(json!({"glob": "*.md"})), ["README.md"]);
    assert_eq!(listed(json!({"glob": "**/*.rs"})), ["src/deep/mod.rs", "src/main.rs", "src/secret.rs"]);
    assert_eq!(listed(json!({"glob": "src/*.rs"})), ["src/main.rs", "src/secret.rs"]);
    assert_eq!(listed(json!({"glob": "deep/*", "path": "src"})), ["src/deep/.gitignore", "src/deep/mod.rs"]);
    let whole = workspace.path("src").canonicalize().unwrap();
    assert_eq!(listed(json!({"glob": "deep/*", "path": whole})), ["src/deep/.gitignore", "src/deep/mod.rs"]);
    assert_eq!(listed(json!({"glob": "*.{ts,md}", "recursive": true})), ["README.md", "web/app.ts"]);
    assert!(workspace.refused("list_files", json!({"glob": "a{b"})).contains("is not a valid pattern"));
    let deeper = "[Nothing was found; set `recursive` to search subdirectories.]";
    assert_eq!(lines(&workspace, "list_files", json!({"glob": "*.rs"})), [deeper]);
    assert_eq!(lines(&workspace, "list_files", json!({"glob": "**/*.none"})), ["[Nothing was found.]"]);
    assert_eq!(workspace.refused("list_files", json!({"path": "scr"})), "`scr` does not exist. Did you mean `src`?");
    assert_eq!(workspace.refused("list_files", json!({"path": "README.md"})), "`README.md` is not a directory.");
}

/// Ignore rules of parent directories apply to a directory that is listed directly.
#[test]
fn applies_ignore_rules_of_parent_directories() {
    let workspace = project();
    workspace.put("src/deep/deeper/x.log", "run\n");
    workspace.put("src/deep/deeper/y.rs", "run\n");
    let listed = lines(&workspace, "list_files", json!({"path": "src/deep/deeper", "recursive": true}));
    assert_eq!(listed, ["src/deep/deeper/y.rs (4 bytes)", "[1 file.]"]);
}

/// `.ignore` takes precedence over `.gitignore`, Git's rules end at the border of a repository, and a byte order mark is
/// skipped.
#[test]
fn ignore_rules_have_the_precedence_of_ripgrep() {
    let workspace = TestWorkspace::new();
    workspace.put(".gitignore", "\u{feff}*.log\n*.tmp\n");
    workspace.put(".ignore", "!keep.log\n*.raw\n");
    workspace.put("sub/.gitignore", "*.log\n!x.tmp\n!y.raw\n");
    workspace.put(".git/info/exclude", "*.out\n");
    workspace.put("nested/.git/info/exclude", "*.bak\n");
    workspace.put("nested/.git/HEAD", "ref: x\n");
    workspace.put("linked/.git", "gitdir: ../../outside\n");
    for directory in ["", "sub/", "nested/", "nested/deep/", "linked/"] {
        for name in ["a.log", "keep.log", "x.tmp", "y.raw", "z.out", "b.bak", "c.rs"] {
            workspace.put(&format!("{directory}{name}"), "x");
        }
    }
    let listed = |path: &str| {
        let mut names: Vec<String> = lines(&workspace, "list_files", json!({"path": path, "glob": "*.*"}));
        names.pop();
        names.retain(|name| !name.contains("ignore"));
        names.iter().map(|name| name.rsplit('/').next().unwrap().replace(" (1 byte)", "")).collect::<Vec<_>>()
    };
    assert_eq!(listed("."), ["b.bak", "c.rs", "keep.log"]);
    assert_eq!(listed("sub"), ["b.bak", "c.rs", "keep.log", "x.tmp"]);
    for path in ["nested", "nested/deep"] {
        assert_eq!(listed(path), ["a.log", "c.rs", "keep.log", "x.tmp", "z.out"], "{path}");
    }
    // A `.git` file that refers outside is not followed.
    assert_eq!(listed("linked"), ["a.log", "b.bak", "c.rs", "keep.log", "x.tmp", "z.out"]);
}

#[test]
fn shows_matches_by_file_with_line_numbers() {
    let workspace = project();
    assert_eq!(
        workspace.output("search_files", json!({"pattern": r"fn \w+\(\)"})),
        "src/deep/mod.rs\n1: pub fn run() {}\n\nsrc/main.rs\n1: fn main() {\n\nsrc/secret.rs\n1: fn run() {}\n\n\
         [3 matching lines in 3 of 8 files.]"
    );
    assert_eq!(
        workspace.output("search_files", json!({"pattern": "run();", "literal": true, "context": 1})),
        "src/main.rs\n1- fn main() {\n2:     run();\n3- }\n\n[1 matching line in 1 of 8 files.]"
    );
    assert_eq!(
        workspace.output("search_files", json!({"pattern": "READ ME", "ignore_case": true, "glob": "*.md"})),
        "README.md\n1: Read me first.\n\n[1 matching line in 1 of 1 file.]"
    );
    assert_eq!(
        workspace.output("search_files", json!({"pattern": "run", "path": "src/main.rs"})),
        "src/main.rs\n2:     run();\n\n[1 matching line in 1 of 1 file.]"
    );
    assert_eq!(
        workspace.output("search_files", json!({"pattern": "nowhere"})),
        "[No line matches `nowhere` in 8 files.]"
    );
    let message = workspace.refused("search_files", json!({"pattern": "run("}));
    assert!(message.contains("set `literal`"), "{message}");
}

/// A file named by `path` is searched even if it is ignored, but not if it does not match `glob`.
#[test]
fn searches_one_file_if_it_matches_the_pattern() {
    let workspace = project();
    let search = |path: &str, glob: &str| json!({"pattern": "run", "path": path, "glob": glob});
    for (path, glob) in [
        ("src/main.rs", "*.rs"),
        ("./src/main.rs", "src/**/*.rs"),
        ("src/main.rs", "./src/*.rs"),
        ("target/out.rs", "**/*.rs"),
        (workspace.path("src/main.rs").canonicalize().unwrap().to_str().unwrap(), "src/*.rs"),
    ] {
        let found = workspace.output("search_files", search(path, glob));
        assert!(found.ends_with("[1 matching line in 1 of 1 file.]"), "{path} {glob}: {found}");
    }
    for (path, glob) in [("src/main.rs", "*.md"), ("src/main.rs", "web/**")] {
        let message = workspace.refused("search_files", search(path, glob));
        assert_eq!(
            message,
            "`src/main.rs` does not match `glob`; leave out `glob` to search this file, or pass a directory."
        );
    }
    assert_eq!(
        workspace.refused("search_files", search("src/mian.rs", "*.md")),
        "`src/mian.rs` does not exist. Did you mean `src/main.rs`?"
    );
}

/// A search finds the text that `read_file` shows, in any encoding and with any line breaks.
#[test]
fn finds_text_as_it_is_read() {
    let workspace = TestWorkspace::new();
    workspace.put("latin", b"Gr\xFC\xDFe aus Z\xFCrich\nsch\xF6n;\n");
    workspace.put("japanese", encoding_rs::SHIFT_JIS.encode("日本語のテキスト;\nこれは試験です。\n").0);
    workspace.put(
        "wide",
        "\u{feff}zwei Größen;\r\nZeile\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>(),
    );
    workspace.put("windows", "foo;\r\nbar;\r\n");
    workspace.put("invalid", "Größe naïve;\n".bytes().chain(*b"bad \xFF byte\n").collect::<Vec<u8>>());
    workspace.put("marked", "\u{feff}first;\n");
    workspace.put("colour", "\x1b[31mERROR\x1b[0m bad\n");
    let search = |pattern: &str, literal: bool| {
        let found = workspace.output("search_files", json!({"pattern": pattern, "literal": literal}));
        found.lines().filter(|line| line.contains(": ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(search("Zürich", false), ["1: Grüße aus Zürich"]);
    assert_eq!(search("テキスト", true), ["1: 日本語のテキスト;"]);
    assert_eq!(search("試験です。$", false), ["2: これは試験です。"]);
    assert_eq!(search("Größe", true), ["1: Größe naïve;", "1: zwei Größen;"]);
    assert_eq!(search("(;|schön;)$", false).len(), 7);
    assert_eq!(search("foo;\nbar;", true), ["1: foo;", "2: bar;"]);
    assert_eq!(search(r"foo;\nbar;$", false), ["1: foo;", "2: bar;"]);
    assert_eq!(search("bad . ", false), Vec::<String>::new());
    assert_eq!(search("byte", false), ["2: bad \u{fffd} byte"]);
    assert_eq!(search("^first", false), ["1: first;"]);
    assert_eq!(search(r"\u{1b}\[31mERROR", false), [r"1: \u{1b}[31mERROR\u{1b}[0m bad"]);
    // A pattern that names `\r` matches it.
    assert_eq!(search(r";\r$", false), ["1: zwei Größen;", "1: foo;", "2: bar;"]);
}

#[test]
fn a_pattern_may_span_lines() {
    let workspace = project();
    let found = workspace.output("search_files", json!({"pattern": r"main\(\) \{\n\s+run"}));
    assert_eq!(found, "src/main.rs\n1: fn main() {\n2:     run();\n\n[2 matching lines in 1 of 8 files.]");
}

#[test]
fn shows_the_first_matches_and_counts_all() {
    let workspace = TestWorkspace::new();
    for number in 0..300 {
        workspace.put(&format!("f{number:03}"), "x\nx\ny\n");
    }
    let found = workspace.output("search_files", json!({"pattern": "x", "limit": 3}));
    assert_eq!(
        found,
        "f000\n1: x\n2: x\n\nf001\n1: x\n\n[600 matching lines in 300 of 300 files. Showing the first 3; narrow the search with \
         `path` or `glob`, or raise `limit`.]"
    );
    let listed = lines(&workspace, "list_files", json!({"limit": 2}));
    assert_eq!(listed[..2], ["f000 (6 bytes)", "f001 (6 bytes)"]);
    assert!(listed[2].starts_with("[300 files. Showing the first 2;"), "{listed:?}");
}

/// Limits from the model may be any number.
#[test]
fn accepts_huge_limits() {
    let limits =
        FileLimits { read_bytes: usize::MAX, change_bytes: u64::MAX, results: usize::MAX, entries: usize::MAX };
    let workspace = TestWorkspace::with(|files| files.limits(limits));
    workspace.put("a", "x\n");
    for limit in [usize::MAX, usize::MAX / 2 + 1] {
        assert_eq!(workspace.output("list_files", json!({"limit": limit})), "a (2 bytes)\n[1 file.]");
        let found = workspace.output("search_files", json!({"pattern": "x", "limit": limit}));
        assert_eq!(found, "a\n1: x\n\n[1 matching line in 1 of 1 file.]");
        assert_eq!(workspace.output("read_file", json!({"path": "a", "limit": limit})), "x\n");
        let message = workspace.refused("read_file", json!({"path": "a", "offset": limit}));
        assert!(message.contains("`a` has 1 line"), "{message}");
    }
    workspace.output("write_file", json!({"path": "a", "content": "y\n", "mode": "append"}));
    assert_eq!(workspace.text("a"), "x\ny\n");
}

#[test]
fn handles_long_lines_and_binary_files() {
    let workspace = TestWorkspace::new();
    workspace.put("long", format!("{}needle{}\n", "a".repeat(10_000), "b".repeat(10_000)));
    workspace.put("binary", b"needle\0needle\n");
    let found = workspace.output("search_files", json!({"pattern": "needle"}));
    assert!(found.contains("needle") && found.len() < 1_000, "{found}");
    assert!(!found.contains("binary"), "{found}");
}

#[test]
fn a_walk_stops_at_the_limit_of_entries() {
    let workspace = TestWorkspace::with(|files| files.limits(FileLimits { entries: 50, ..FileLimits::default() }));
    for number in 0..20 {
        for file in 0..20 {
            workspace.put(&format!("{number}/{file}"), "x");
        }
    }
    let listed = workspace.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("The limit of visited entries was reached"), "{listed}");
}

/// A cancelled search ends soon and frees its thread.
#[test]
fn a_search_ends_when_cancelled() {
    let workspace = TestWorkspace::new();
    for number in 0..2_000 {
        workspace.put(&format!("{}/{number}", number % 50), "needle\n".repeat(2_000));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().max_blocking_threads(1).enable_all().build().unwrap();
    let stopped = runtime.block_on(async {
        let token = CancellationToken::new();
        let call = ToolCall::new("search_files", json!({"pattern": "(n|e)+(e|d)+l?e*z", "context": 2}));
        let running = workspace.tools.call(call).cancel(token.clone());
        let stop = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            token.cancel();
        };
        let (result, ()) = tokio::join!(running, stop);
        // The only blocking thread serves the next call.
        let next = workspace.tools.call(ToolCall::new("list_files", json!({"path": "1"}))).await;
        assert!(next.success);
        result
    });
    let kinds = [None, Some(ErrorKind::OutcomeUnknown), Some(ErrorKind::Cancelled)];
    assert!(kinds.contains(&stopped.error.map(|error| error.kind)));
}
