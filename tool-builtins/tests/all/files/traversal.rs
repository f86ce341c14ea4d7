//! Paths that try to lead out of the workspace.

use std::collections::BTreeSet;
use std::fs;

use super::{SECRET, TestWorkspace, calls_with};

/// Spellings of `..`, including encoded ones.
const UPWARDS: [&str; 16] = [
    "..",
    "%2e%2e",
    "%2E.",
    "%252e%252e",
    "%c0%ae%c0%ae",
    "%u002e%u002e",
    "..;",
    "....",
    "...",
    "..\u{0}",
    ".\u{200b}.",
    "\u{ff0e}\u{ff0e}",
    "\u{2024}\u{2024}",
    "\u{2025}",
    ".. ",
    "\u{202e}..",
];

/// Spellings of `/`.
const SEPARATORS: [&str; 10] = ["/", "//", "/./", "\\", "%2f", "%5c", "%252f", "\u{2215}", "\u{ff0f}", "/.//./"];

/// Prefixes.
const STARTS: [&str; 7] = ["", "./", "directory/", "missing/../", "directory/deeper/../../", "mine.txt/../", "/"];

/// Suffixes.
const ENDS: [&str; 7] = ["", "/", "/.", "\u{0}", "\u{0}.txt", "%00", "."];

/// Returns all paths that would lead outside if they were followed or decoded.
fn forms(workspace: &TestWorkspace) -> BTreeSet<String> {
    let mut forms = BTreeSet::new();
    for up in UPWARDS {
        for separator in SEPARATORS {
            forms.insert(format!("{up}{separator}outside{separator}secret.txt"));
            forms.insert(format!("directory{separator}{up}{separator}{up}{separator}outside{separator}secret.txt"));
        }
    }
    for start in STARTS {
        for depth in [1, 2, 3, 12] {
            for end in ENDS {
                forms.insert(format!("{start}{}outside/secret.txt{end}", "../".repeat(depth)));
                forms.insert(format!("{start}{}etc/passwd{end}", "../".repeat(depth)));
            }
        }
    }
    let outside = workspace.outside("secret.txt").display().to_string();
    let inside = workspace.path("").display().to_string();
    for path in [outside.as_str(), "/etc/passwd", "/proc/self/environ", "/dev/zero", "/dev/stdin"] {
        let slashed = path.replace('/', "//");
        forms.extend([
            path.to_owned(),
            slashed,
            format!("/{path}"),
            format!("//localhost{path}"),
            format!("file://{path}"),
        ]);
        forms.extend([format!("/.{path}"), format!("/proc/self/root{path}"), format!("/proc/1/root{path}")]);
        forms.extend([format!("{inside}/../../../../../../..{path}"), format!("~/..{path}"), format!("./{path}/.")]);
    }
    forms.extend([
        format!("{inside}../outside/secret.txt"),
        format!("{inside}directory/../../outside/secret.txt"),
        format!("{}-evil/secret.txt", inside.trim_end_matches('/')),
        "/proc/self/cwd/../outside/secret.txt".to_owned(),
        "~root/.ssh/id_rsa".to_owned(),
        "$HOME/.ssh/id_rsa".to_owned(),
        "`id`".to_owned(),
        "C:\\Windows\\win.ini".to_owned(),
        "\\\\server\\share".to_owned(),
        "..".to_owned(),
        "../".to_owned(),
        "../..".to_owned(),
        "/".to_owned(),
        "//".to_owned(),
        "\u{0}".to_owned(),
        " ".to_owned(),
        "a".repeat(300),
        "a".repeat(100_000),
        "a/".repeat(5_000) + "b",
        "../".repeat(5_000) + "etc/passwd",
        "directory/../".repeat(3_000) + "../outside/secret.txt",
    ]);
    forms
}

fn workspace() -> TestWorkspace {
    let workspace = TestWorkspace::with(|files| files.allow_delete(true));
    fs::create_dir_all(workspace.path("directory/deeper")).unwrap();
    fs::create_dir(workspace.path("../inside-evil")).unwrap();
    fs::write(workspace.path("../inside-evil/secret.txt"), SECRET).unwrap();
    workspace
}

/// Nothing outside is read, listed, searched, written, moved or removed.
#[test]
fn no_path_leads_out() {
    let workspace = workspace();
    let forms = forms(&workspace);
    assert!(forms.len() > 500, "{} forms", forms.len());
    let before = workspace.all_outside();
    for form in &forms {
        for (name, arguments) in calls_with(form) {
            workspace.put("mine.txt", "mine");
            let result = workspace.call(name, arguments);
            let shown: String = form.chars().take(200).collect();
            let shown_text = format!("{} {}", result.output, serde_json::to_string(&result.metadata).unwrap());
            let size = format!("({} bytes)", SECRET.len());
            for leak in [SECRET, "root:x:0", &size, "PATH="] {
                assert!(!shown_text.contains(leak), "{name} {shown:?}: {shown_text}");
            }
            if let Some(error) = result.error {
                use tool_runtime::ErrorKind::{Failed, Retry};
                assert!([Failed, Retry].contains(&error.kind), "{name} {shown:?}: {error:?}");
            }
        }
    }
    assert_eq!(workspace.all_outside(), before);
    let beside: BTreeSet<_> =
        fs::read_dir(workspace.path("..")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(beside, BTreeSet::from(["inside".into(), "inside-evil".into(), "outside".into()]));
}

/// The control: joining and opening the paths escapes with many of them.
#[test]
fn a_naive_version_escapes() {
    let workspace = workspace();
    fs::write(workspace.path("mine.txt"), "mine").unwrap();
    let naive = |form: &str| fs::read_to_string(workspace.path("").join(form));
    let escapes = |form: &String| {
        // Reading these would not end.
        let is_device = form.contains("/dev/zero") || form.contains("dev//zero") || form.contains("stdin");
        !is_device && naive(form).is_ok_and(|text| text == SECRET || text.contains("root:x:0"))
    };
    let escaped = forms(&workspace).iter().filter(|form| escapes(form)).count();
    assert!(escaped > 20, "{escaped}");
}

/// Unusual spellings are ordinary names inside the workspace.
#[test]
fn accepts_odd_names() {
    let workspace = TestWorkspace::new();
    for name in ["%2e%2e%2fx", "..;x", "...", "\u{ff0e}\u{ff0e}\u{ff0f}x", "a\\b", "~", "C:x", "a b", " "] {
        let arguments = serde_json::json!({"path": name, "content": "x"});
        workspace.output("write_file", arguments);
        assert_eq!(workspace.text(name), "x");
    }
}
