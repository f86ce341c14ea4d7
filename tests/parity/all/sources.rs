//! The generator finds items where rustc finds them, or reports that it does not.

use super::project::{Project, messages, only_diagnostic};

const TOOL: &str = "/// Does.\n#[tool_runtime::tool]\npub fn f(it: It) {}\n";
const IT: &str = "#[derive(serde::Deserialize, schemars::JsonSchema)]\npub struct It { x: u8 }\n";

#[test]
fn an_included_file_belongs_to_the_module() {
    let project = Project::new("", "mod m;\n")
        .with("src/m.rs", format!("include!(\"parts/tools.rs\");\n{IT}"))
        .with("src/parts/tools.rs", TOOL);
    let scanned = project.scan();
    assert_eq!(messages(&scanned), "");
    let tool = scanned.manifest.get("f").expect("the tool is there");
    assert_eq!(tool.handler, "app::m::f");
    assert!(tool.parameters().pointer("/$defs/It/properties/x").is_some(), "sees the names around it");
    assert_eq!(scanned.places["f"].file, project.path("src/parts/tools.rs"));
    assert!(scanned.files.contains(&project.path("src/parts/tools.rs")));
    // And the other way round.
    let project = Project::new("", &format!("include!(\"it.rs\");\n{TOOL}")).with("src/it.rs", IT);
    let scanned = project.scan();
    assert_eq!(messages(&scanned), "");
    // A file that is missing or includes itself.
    let project = Project::new("", "include!(\"gone.rs\");\ninclude!(\"again.rs\");")
        .with("src/again.rs", "include!(\"again.rs\");");
    assert!(messages(&project.scan()).contains("gone.rs"));
}

#[test]
fn reports_a_module_inside_a_macro() {
    for more in ["", "#[tool_runtime::tool]\nfn g() {}\n"] {
        let scanned =
            Project::new("", &format!("use a::b;\ncfg_if::cfg_if! {{\n    if #[cfg(unix)] {{ mod m; }}\n}}\n{more}"))
                .scan();
        let diagnostic = only_diagnostic(&scanned);
        assert!(diagnostic.message.contains("a module inside of the macro `cfg_if!`"), "{diagnostic}");
        assert_eq!(diagnostic.place.as_ref().map(|place| place.line), Some(3), "{diagnostic}");
    }
}

#[test]
fn accepts_a_byte_order_mark_before_a_module() {
    let scanned = Project::new("", "\u{feff}mod m;\n").with("src/m.rs", format!("\u{feff}{TOOL}{IT}")).scan();
    assert_eq!(messages(&scanned), "");
    assert_eq!((scanned.places["f"].line, scanned.places["f"].column), (3, 8));
}

#[test]
fn evaluates_an_inner_cfg_of_a_file() {
    for (inner, is_there) in [("#![cfg_attr(all(), cfg(any()))]", false), ("#![cfg_attr(any(), cfg(any()))]", true)] {
        let project = Project::new("", "mod m;\nmod n;\n")
            .with("src/m.rs", format!("{inner}\n{TOOL}{IT}"))
            .with("src/n.rs", format!("{inner}\nmod o;\n"))
            .with("src/n/o.rs", "#[tool_runtime::tool]\nfn g() {}\n");
        let scanned = project.scan();
        assert_eq!(scanned.manifest.len(), if is_there { 2 } else { 0 }, "{inner}");
    }
}

#[test]
fn finds_an_attribute_reexported_under_another_name() {
    for import in ["use crate::prelude::offered;", "use crate::prelude::*;"] {
        let project = Project::new("", "mod prelude;\nmod m;\n")
            .with("src/prelude.rs", "pub use tool_runtime::tool as offered;\n")
            .with("src/m.rs", format!("{import}\n#[offered]\nfn f() {{}}\n"));
        assert!(project.scan().manifest.get("f").is_some(), "{import}");
    }
}

#[test]
fn ignores_an_attribute_of_another_crate() {
    let text = "use rmcp::prelude::*;\n#[tool]\nfn f() {}\n";
    for (dependencies, is_ours) in [("", false), ("tool-runtime = \"1\"\n", true)] {
        let tables = format!("[dependencies]\nrmcp = \"1\"\n{dependencies}");
        assert_eq!(Project::new(&tables, text).scan().manifest.get("f").is_some(), is_ours, "{dependencies}");
    }
    let handed_on = Project::new(
        "[dependencies]\nrmcp = \"1\"\n",
        "mod prelude { pub use rmcp::tool; }\nuse prelude::tool;\n#[tool]\nfn f() {}\n",
    );
    assert!(handed_on.scan().manifest.is_empty());
}

#[test]
fn reads_a_file_shared_by_library_and_binary() {
    let project = Project::new("", "mod m;\n")
        .with("src/main.rs", "mod m;\n")
        .with("src/m.rs", "#[tool_runtime::tool]\nfn f() {}\n#[tool_runtime::tool]\nfn g() {}\n");
    let scanned = project.library().and(project.path("src/main.rs")).run().expect("both can be read");
    let diagnostic = only_diagnostic(&scanned);
    assert!(diagnostic.message.contains("of both the library and the binary"), "{diagnostic}");
}

#[test]
fn one_mistake_gives_one_message() {
    let project = Project::new("", &format!("mod types;\nuse types::It;\n{TOOL}"))
        .with("src/types.rs", format!("{IT}pub struct Broken {{ x u8 }}\n"));
    let scanned = project.scan();
    let diagnostic = only_diagnostic(&scanned);
    assert!(diagnostic.to_string().contains("src/types.rs:3"), "{diagnostic}");
    assert_eq!(diagnostic.help.as_deref(), Some("its types and tools are missing until it compiles"));
}

/// rustc compiles these, so leaving the error to rustc would ship a program without the tools.
#[test]
fn a_limit_of_the_generator_is_not_a_compile_error() {
    let deep = format!("type T = {}u8{};\n{TOOL}", "Vec<".repeat(10_000), ">".repeat(10_000));
    let large = format!("{TOOL}/*{}*/", " ".repeat(33_000_000));
    for text in [deep, large] {
        let scanned = Project::new("", &text).scan();
        assert!(!only_diagnostic(&scanned).compile_error, "{}", messages(&scanned));
    }
}

/// Expressions that occur in practice are not too deep.
#[test]
fn accepts_tables_of_shifts() {
    let shifts: String = (0..128).map(|shift| format!("1 << {shift}, ")).collect();
    let scanned = Project::new("", &format!("const F: &[u128] = &[{shifts}];\n{TOOL}{IT}")).scan();
    assert_eq!(messages(&scanned), "");
}
