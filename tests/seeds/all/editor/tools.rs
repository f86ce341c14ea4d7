//! The file tools of the editor, by its names.

use serde_json::json;
use tool_runtime::{NameCase, Selection};

use crate::support::{Workspace, call, output};

/// Requirement 245
#[tokio::test]
async fn files_are_read_in_camel_case() {
    let workspace = Workspace::new();
    workspace.put("package.json", "{}\n");
    let tools = workspace.tools.select(Selection::new().case(NameCase::Camel)).unwrap();
    assert!(output(&tools, "readFile", json!({"path": "package.json"})).await.contains("{}"));
    assert!(!call(&tools, "read_file", json!({"path": "package.json"})).await.success, "it has one name");
}

/// Requirement 246
#[tokio::test]
async fn files_are_written_in_camel_case() {
    let workspace = Workspace::new();
    let tools = workspace.tools.select(Selection::new().case(NameCase::Camel)).unwrap();
    output(&tools, "writeFile", json!({"path": "a", "content": "x"})).await;
    assert_eq!(workspace.text("a"), "x");
}

/// Requirement 248
#[tokio::test]
async fn files_are_searched_in_camel_case() {
    let workspace = Workspace::new();
    workspace.put("a.ts", "export const Button = 1;\n");
    let tools = workspace.tools.select(Selection::new().case(NameCase::Camel)).unwrap();
    let arguments = json!({"pattern": "button", "ignoreCase": true, "includeIgnored": true});
    assert!(output(&tools, "searchFiles", arguments).await.contains("a.ts"));
    let shown = tools.definition("searchFiles").unwrap().parameters();
    let names = shown["properties"].as_object().unwrap();
    assert!(names.contains_key("ignoreCase") && names.keys().all(|name| !name.contains('_')), "{shown}");
}

/// Requirement 249
#[tokio::test]
async fn list_directory_is_a_name_of_list_files() {
    let workspace = Workspace::new();
    workspace.put("a", "x");
    assert!(workspace.output("listDirectory", json!({})).await.contains('a'));
    let renamed = workspace.tools.select(Selection::new().rename("list_files", "listDirectory")).unwrap();
    assert!(output(&renamed, "listDirectory", json!({})).await.contains('a'));
}

/// Requirement 250
#[tokio::test]
async fn names_in_camel_case_need_no_selection() {
    let workspace = Workspace::new();
    workspace.output("writeFile", json!({"path": "a.txt", "content": "Button\n"})).await;
    assert!(workspace.output("readFile", json!({"path": "a.txt"})).await.contains("Button"));
    assert!(workspace.output("searchFiles", json!({"query": "Button"})).await.contains("a.txt"));
}

/// Requirement 251
#[tokio::test]
async fn a_missing_file_is_named() {
    let message = Workspace::new().refused("readFile", json!({"path": "src/gone.ts"})).await;
    assert!(message.contains("`src/gone.ts`"), "{message}");
}

/// Requirement 252
#[tokio::test]
async fn a_created_file_and_a_changed_one_are_told_apart() {
    let workspace = Workspace::new();
    let write = || workspace.output("writeFile", json!({"path": "a", "content": "x"}));
    assert!(write().await.starts_with("Created"));
    assert!(write().await.starts_with("Wrote"));
}

/// Requirement 253
#[tokio::test]
async fn a_write_has_both_contents_and_the_path_for_the_interface() {
    let workspace = Workspace::new();
    workspace.put("src/App.tsx", "old");
    let metadata = workspace.call("writeFile", json!({"path": "src/App.tsx", "content": "new"})).await.metadata;
    let keys = ["originalContent", "newContent", "filePath"].map(|key| metadata.get(key).unwrap().clone());
    assert_eq!(keys, [json!("old"), json!("new"), json!("src/App.tsx")]);
    let created = workspace.call("writeFile", json!({"path": "b", "content": "x"})).await.metadata;
    assert_eq!(created.get("originalContent"), Some(&json!("")));
}

/// Requirement 258
#[tokio::test]
async fn a_list_without_a_path_is_that_of_the_workspace() {
    let workspace = Workspace::new();
    workspace.put("package.json", "{}");
    assert!(workspace.output("listDirectory", json!({})).await.contains("package.json"));
}

/// Requirement 259
#[tokio::test]
async fn an_empty_path_is_the_workspace() {
    let workspace = Workspace::new();
    workspace.put("src/App.tsx", "x");
    workspace.put("package.json", "{}");
    let listed = workspace.output("listDirectory", json!({"path": ""})).await;
    assert!(listed.contains("src/") && listed.contains("package.json"), "{listed}");
}

/// Requirement 260
#[tokio::test]
async fn the_names_of_directories_end_with_a_slash() {
    let workspace = Workspace::new();
    workspace.put("src/App.tsx", "x");
    assert!(workspace.output("listDirectory", json!({})).await.lines().any(|line| line.contains("src/")));
}

/// Requirement 261
#[tokio::test]
async fn packages_and_version_control_are_left_out() {
    let workspace = Workspace::new();
    for path in ["node_modules/left-pad/index.js", ".git/config", "src/App.tsx"] {
        workspace.put(path, "needle\n");
    }
    for (tool, arguments) in
        [("listDirectory", json!({"recursive": true})), ("searchFiles", json!({"query": "needle"}))]
    {
        let shown = workspace.output(tool, arguments).await;
        assert!(shown.contains("src/App.tsx"), "{shown}");
        assert!(!shown.contains("left-pad") && !shown.contains(".git/config"), "{shown}");
    }
}

/// Requirement 262
#[tokio::test]
async fn hidden_files_are_left_out_on_request() {
    let workspace = Workspace::with(|files| files.hide_dot_files(true));
    for path in [".env", ".gitignore", "a.txt"] {
        workspace.put(path, "\n");
    }
    let listed = workspace.output("listDirectory", json!({})).await;
    assert!(listed.contains("a.txt") && listed.contains(".gitignore") && !listed.contains(".env"), "{listed}");
}

/// Requirement 263
#[tokio::test]
async fn a_missing_directory_is_named() {
    assert!(Workspace::new().refused("listDirectory", json!({"path": "lib"})).await.contains("`lib`"));
}

/// Requirement 264
#[tokio::test]
async fn a_search_shows_fifty_matches() {
    let workspace = Workspace::new();
    workspace.put("a.txt", &"needle\n".repeat(60));
    let shown = |text: &str| text.lines().filter(|line| line.contains("needle")).count();
    let found = workspace.output("searchFiles", json!({"query": "needle"})).await;
    assert_eq!(shown(&found), 50, "{found}");
    assert!(found.contains("60"), "it says how many there are: {found}");
    assert_eq!(shown(&workspace.output("searchFiles", json!({"query": "needle", "limit": 60})).await), 60);
}

/// Requirement 265
#[tokio::test]
async fn a_search_takes_query_and_file_pattern() {
    let workspace = Workspace::new();
    workspace.put("a.ts", "needle\n");
    workspace.put("b.py", "needle\n");
    let found = workspace.output("searchFiles", json!({"query": "need.e", "filePattern": "*.ts"})).await;
    assert!(found.contains("a.ts") && !found.contains("b.py"), "{found}");
}

/// Requirement 266
#[tokio::test]
async fn a_search_takes_a_path() {
    let workspace = Workspace::new();
    workspace.put("src/a.ts", "needle\n");
    workspace.put("lib/b.ts", "needle\n");
    let found = workspace.output("searchFiles", json!({"query": "needle", "path": "src"})).await;
    assert!(found.contains("a.ts") && !found.contains("b.ts"), "{found}");
}

/// Requirement 267
#[tokio::test]
async fn a_search_without_matches_succeeds_and_says_so() {
    assert!(Workspace::new().output("searchFiles", json!({"query": "needle"})).await.contains("No line matches"));
}

/// Requirement 268
#[tokio::test]
async fn a_search_runs_no_shell() {
    let workspace = Workspace::new();
    workspace.put("a.txt", "x\n");
    for query in ["'; touch owned; '", "$(touch owned)", "`touch owned`", "| touch owned"] {
        let arguments = json!({"query": query, "filePattern": "*'; touch owned; '", "path": "."});
        drop(workspace.call("searchFiles", arguments).await);
        drop(workspace.call("searchFiles", json!({"query": query})).await);
    }
    assert!(!workspace.path("owned").exists());
}

/// Requirement 269
#[tokio::test]
async fn an_unknown_tool_is_named() {
    let message = Workspace::new().refused("eraseDisk", json!({})).await;
    assert!(message.contains("`eraseDisk`"), "{message}");
}
