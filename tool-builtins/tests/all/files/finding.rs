//! `list_files`, `search_files`.

use serde_json::{Value, json};
use tool_builtins::files::Limits;
use tool_runtime::{CancellationToken, ErrorKind, ToolCall};

use super::World;

fn project() -> World {
    let world = World::new();
    world.put(".gitignore", "target/\n*.log\n!keep.log\n");
    world.put("README.md", "Read me first.\n");
    world.put("src/main.rs", "fn main() {\n    run();\n}\n");
    world.put("src/deep/mod.rs", "pub fn run() {}\n// run it\n");
    world.put("src/deep/.gitignore", "/secret.rs\n");
    world.put("src/deep/secret.rs", "fn run() {}\n");
    world.put("src/secret.rs", "fn run() {}\n");
    world.put("target/out.rs", "fn run() {}\n");
    world.put("debug.log", "run\n");
    world.put("keep.log", "run\n");
    world.put(".git/config", "run\n");
    world.put("web/node_modules/x/index.js", "run\n");
    world.put("web/app.ts", "export const app = 1;\n");
    world
}

#[track_caller]
fn lines(world: &World, name: &str, arguments: Value) -> Vec<String> {
    world.output(name, arguments).lines().map(str::to_owned).collect()
}

#[test]
fn a_folder_is_listed_with_sizes() {
    let world = project();
    assert_eq!(
        lines(&world, "list_files", json!({})),
        [
            ".gitignore (24 bytes)",
            "README.md (15 bytes)",
            "keep.log (4 bytes)",
            "src/",
            "web/",
            "[3 files, 2 folders.]",
        ]
    );
    assert_eq!(lines(&world, "list_files", json!({"path": "web"})), ["web/app.ts (22 bytes)", "[1 file.]"]);
}

#[test]
fn all_folders_are_listed_but_for_what_git_ignores() {
    let world = project();
    let all = lines(&world, "list_files", json!({"recursive": true}));
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
    let ignored = world.output("list_files", json!({"recursive": true, "include_ignored": true}));
    for path in ["target/out.rs", "debug.log", "src/deep/secret.rs", "web/node_modules/x/index.js"] {
        assert!(ignored.contains(path), "{path} in {ignored}");
    }
    assert!(!ignored.contains(".git/"), "{ignored}");
}

#[test]
fn patterns_choose() {
    let world = project();
    let listed = |arguments| {
        let mut lines = lines(&world, "list_files", arguments);
        lines.pop();
        lines.into_iter().map(|line| line.split(" (").next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(listed(json!({"glob": "*.md"})), ["README.md"]);
    assert_eq!(listed(json!({"glob": "**/*.rs"})), ["src/deep/mod.rs", "src/main.rs", "src/secret.rs"]);
    assert_eq!(listed(json!({"glob": "src/*.rs"})), ["src/main.rs", "src/secret.rs"]);
    assert_eq!(listed(json!({"glob": "deep/*", "path": "src"})), ["src/deep/.gitignore", "src/deep/mod.rs"]);
    let whole = world.path("src").canonicalize().unwrap();
    assert_eq!(listed(json!({"glob": "deep/*", "path": whole})), ["src/deep/.gitignore", "src/deep/mod.rs"]);
    assert_eq!(listed(json!({"glob": "*.{ts,md}", "recursive": true})), ["README.md", "web/app.ts"]);
    assert!(world.refused("list_files", json!({"glob": "a{b"})).contains("is no pattern"));
    let deeper = "[Nothing was found; set `recursive` to look into folders.]";
    assert_eq!(lines(&world, "list_files", json!({"glob": "*.rs"})), [deeper]);
    assert_eq!(lines(&world, "list_files", json!({"glob": "**/*.none"})), ["[Nothing was found.]"]);
    assert_eq!(world.refused("list_files", json!({"path": "scr"})), "There is no `scr`. Did you mean `src`?");
    assert_eq!(world.refused("list_files", json!({"path": "README.md"})), "`README.md` is no folder.");
}

/// Rules of folders above the one that is asked for hold in it.
#[test]
fn rules_hold_from_wherever_one_begins() {
    let world = project();
    world.put("src/deep/deeper/x.log", "run\n");
    world.put("src/deep/deeper/y.rs", "run\n");
    let listed = lines(&world, "list_files", json!({"path": "src/deep/deeper", "recursive": true}));
    assert_eq!(listed, ["src/deep/deeper/y.rs (4 bytes)", "[1 file.]"]);
}

/// `.ignore` goes before `.gitignore`, git's rules end at the border of a repository, and a byte order mark is skipped.
#[test]
fn rules_go_before_each_other_as_in_ripgrep() {
    let world = World::new();
    world.put(".gitignore", "\u{feff}*.log\n*.tmp\n");
    world.put(".ignore", "!keep.log\n*.raw\n");
    world.put("sub/.gitignore", "*.log\n!x.tmp\n!y.raw\n");
    world.put(".git/info/exclude", "*.out\n");
    world.put("nested/.git/info/exclude", "*.bak\n");
    world.put("nested/.git/HEAD", "ref: x\n");
    world.put("linked/.git", "gitdir: ../../outside\n");
    for folder in ["", "sub/", "nested/", "nested/deep/", "linked/"] {
        for name in ["a.log", "keep.log", "x.tmp", "y.raw", "z.out", "b.bak", "c.rs"] {
            world.put(&format!("{folder}{name}"), "x");
        }
    }
    let listed = |path: &str| {
        let mut names: Vec<String> = lines(&world, "list_files", json!({"path": path, "glob": "*.*"}));
        names.pop();
        names.retain(|name| !name.contains("ignore"));
        names.iter().map(|name| name.rsplit('/').next().unwrap().replace(" (1 byte)", "")).collect::<Vec<_>>()
    };
    assert_eq!(listed("."), ["b.bak", "c.rs", "keep.log"]);
    assert_eq!(listed("sub"), ["b.bak", "c.rs", "keep.log", "x.tmp"]);
    for path in ["nested", "nested/deep"] {
        assert_eq!(listed(path), ["a.log", "c.rs", "keep.log", "x.tmp", "z.out"], "{path}");
    }
    // Where it says that its rules lie outside, they are not read.
    assert_eq!(listed("linked"), ["a.log", "b.bak", "c.rs", "keep.log", "x.tmp", "z.out"]);
}

#[test]
fn matches_are_shown_by_file_with_their_lines() {
    let world = project();
    assert_eq!(
        world.output("search_files", json!({"pattern": r"fn \w+\(\)"})),
        "src/deep/mod.rs\n1: pub fn run() {}\n\nsrc/main.rs\n1: fn main() {\n\nsrc/secret.rs\n1: fn run() {}\n\n\
         [3 matching lines in 3 of 8 files.]"
    );
    assert_eq!(
        world.output("search_files", json!({"pattern": "run();", "literal": true, "context": 1})),
        "src/main.rs\n1- fn main() {\n2:     run();\n3- }\n\n[1 matching line in 1 of 8 files.]"
    );
    assert_eq!(
        world.output("search_files", json!({"pattern": "READ ME", "ignore_case": true, "glob": "*.md"})),
        "README.md\n1: Read me first.\n\n[1 matching line in 1 of 1 file.]"
    );
    assert_eq!(
        world.output("search_files", json!({"pattern": "run", "path": "src/main.rs"})),
        "src/main.rs\n2:     run();\n\n[1 matching line in 1 of 1 file.]"
    );
    assert_eq!(world.output("search_files", json!({"pattern": "nowhere"})), "[No line matches `nowhere` in 8 files.]");
    let message = world.refused("search_files", json!({"pattern": "run("}));
    assert!(message.contains("set `literal`"), "{message}");
}

/// A file that is named is searched whether git ignores it or not, but not if it contradicts the pattern for names.
#[test]
fn one_file_is_searched_if_it_fits() {
    let world = project();
    let search = |path: &str, glob: &str| json!({"pattern": "run", "path": path, "glob": glob});
    for (path, glob) in [
        ("src/main.rs", "*.rs"),
        ("./src/main.rs", "src/**/*.rs"),
        ("src/main.rs", "./src/*.rs"),
        ("target/out.rs", "**/*.rs"),
        (world.path("src/main.rs").canonicalize().unwrap().to_str().unwrap(), "src/*.rs"),
    ] {
        let found = world.output("search_files", search(path, glob));
        assert!(found.ends_with("[1 matching line in 1 of 1 file.]"), "{path} {glob}: {found}");
    }
    for (path, glob) in [("src/main.rs", "*.md"), ("src/main.rs", "web/**")] {
        let message = world.refused("search_files", search(path, glob));
        assert_eq!(message, "`src/main.rs` does not fit `glob`: leave that out to search this file, or give a folder.");
    }
    assert_eq!(
        world.refused("search_files", search("src/mian.rs", "*.md")),
        "There is no `src/mian.rs`. Did you mean `src/main.rs`?"
    );
}

/// A search finds what reading shows, in whatever encoding and with whichever line breaks a file is.
#[test]
fn what_is_read_is_found() {
    let world = World::new();
    world.put("latin", b"Gr\xFC\xDFe aus Z\xFCrich\nsch\xF6n;\n");
    world.put("japanese", encoding_rs::SHIFT_JIS.encode("日本語のテキスト;\nこれは試験です。\n").0);
    world.put(
        "wide",
        "\u{feff}zwei Größen;\r\nZeile\r\n".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>(),
    );
    world.put("windows", "foo;\r\nbar;\r\n");
    world.put("invalid", "Größe naïve;\n".bytes().chain(*b"bad \xFF byte\n").collect::<Vec<u8>>());
    world.put("marked", "\u{feff}first;\n");
    world.put("colour", "\x1b[31mERROR\x1b[0m bad\n");
    let search = |pattern: &str, literal: bool| {
        let found = world.output("search_files", json!({"pattern": pattern, "literal": literal}));
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
    // Who looks for the breaks themselves finds them.
    assert_eq!(search(r";\r$", false), ["1: zwei Größen;", "1: foo;", "2: bar;"]);
}

#[test]
fn a_pattern_may_span_lines() {
    let world = project();
    let found = world.output("search_files", json!({"pattern": r"main\(\) \{\n\s+run"}));
    assert_eq!(found, "src/main.rs\n1: fn main() {\n2:     run();\n\n[2 matching lines in 1 of 8 files.]");
}

#[test]
fn the_first_are_shown_and_all_are_counted() {
    let world = World::new();
    for number in 0..300 {
        world.put(&format!("f{number:03}"), "x\nx\ny\n");
    }
    let found = world.output("search_files", json!({"pattern": "x", "limit": 3}));
    assert_eq!(
        found,
        "f000\n1: x\n2: x\n\nf001\n1: x\n\n[600 matching lines in 300 of 300 files. The first 3 are shown; narrow it with \
         `path` or `glob`, or raise `limit`.]"
    );
    let listed = lines(&world, "list_files", json!({"limit": 2}));
    assert_eq!(listed[..2], ["f000 (6 bytes)", "f001 (6 bytes)"]);
    assert!(listed[2].starts_with("[300 files. The first 2 are shown;"), "{listed:?}");
}

/// An application that sets no limits leaves them to the model, whose numbers may be any.
#[test]
fn no_limit_is_too_great() {
    let limits = Limits { read_bytes: usize::MAX, change_bytes: u64::MAX, results: usize::MAX, entries: usize::MAX };
    let world = World::with(|files| files.limits(limits));
    world.put("a", "x\n");
    for limit in [usize::MAX, usize::MAX / 2 + 1] {
        assert_eq!(world.output("list_files", json!({"limit": limit})), "a (2 bytes)\n[1 file.]");
        let found = world.output("search_files", json!({"pattern": "x", "limit": limit}));
        assert_eq!(found, "a\n1: x\n\n[1 matching line in 1 of 1 file.]");
        assert_eq!(world.output("read_file", json!({"path": "a", "limit": limit})), "x\n");
        let message = world.refused("read_file", json!({"path": "a", "offset": limit}));
        assert!(message.contains("`a` has 1 line"), "{message}");
    }
    world.output("write_file", json!({"path": "a", "content": "y\n", "mode": "append"}));
    assert_eq!(world.text("a"), "x\ny\n");
}

#[test]
fn long_lines_and_binary_files_do_no_harm() {
    let world = World::new();
    world.put("long", format!("{}needle{}\n", "a".repeat(10_000), "b".repeat(10_000)));
    world.put("binary", b"needle\0needle\n");
    let found = world.output("search_files", json!({"pattern": "needle"}));
    assert!(found.contains("needle") && found.len() < 1_000, "{found}");
    assert!(!found.contains("binary"), "{found}");
}

#[test]
fn a_walk_has_an_end() {
    let world = World::with(|files| files.limits(Limits { entries: 50, ..Limits::default() }));
    for number in 0..20 {
        for file in 0..20 {
            world.put(&format!("{number}/{file}"), "x");
        }
    }
    let listed = world.output("list_files", json!({"recursive": true}));
    assert!(listed.contains("There is more than can be walked at once"), "{listed}");
}

/// Long searches end when their call is stopped; the thread is free again.
#[test]
fn a_search_ends_when_it_is_stopped() {
    let world = World::new();
    for number in 0..2_000 {
        world.put(&format!("{}/{number}", number % 50), "needle\n".repeat(2_000));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().max_blocking_threads(1).enable_all().build().unwrap();
    let stopped = runtime.block_on(async {
        let token = CancellationToken::new();
        let call = ToolCall::new("search_files", json!({"pattern": "(n|e)+(e|d)+l?e*z", "context": 2}));
        let running = world.tools.call(call).cancel(token.clone());
        let stop = async {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            token.cancel();
        };
        let (result, ()) = tokio::join!(running, stop);
        // The only thread there is serves the next call.
        let next = world.tools.call(ToolCall::new("list_files", json!({"path": "1"}))).await;
        assert!(next.success);
        result
    });
    let kinds = [None, Some(ErrorKind::OutcomeUnknown), Some(ErrorKind::Cancelled)];
    assert!(kinds.contains(&stopped.error.map(|error| error.kind)));
}
