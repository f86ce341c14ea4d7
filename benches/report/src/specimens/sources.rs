//! The same tool for every library: async, fallible, with three arguments of which one is optional.

/// The source template of a library, written as its users would.
pub struct Specimen {
    /// The prefix of its packages.
    pub name: &'static str,
    /// The name in tables.
    pub title: &'static str,
    /// `true` if the schema is derived from the code.
    pub infers: bool,
    pub dependencies: &'static str,
    head: &'static str,
    /// One tool; `#N` is replaced by its number.
    tool: &'static str,
    /// The text around all tools, if they are in one `impl`.
    around: (&'static str, &'static str),
    /// The registration of one tool; `#N` is replaced by its number.
    register: &'static str,
    /// `#ALL` is replaced by all registrations.
    main: &'static str,
}

impl Specimen {
    /// Renders a program with this many tools, which starts up and returns their number.
    pub fn source(&self, count: usize) -> String {
        let each = |text: &str| (0..count).map(|number| text.replace("#N", &number.to_string())).collect::<String>();
        let (before, after) = self.around;
        format!("{}{before}{}{after}{}", self.head, each(self.tool), self.main.replace("#ALL", &each(self.register)))
    }
}

pub const SPECIMENS: [Specimen; 9] = [TABLE, MATCH, OURS, RMCP, RIG, TOOLS_RS, SWIFTIDE, LLM_TOOL, TURBOMCP];

const TABLE: Specimen = Specimen {
    name: "table",
    title: "table by hand",
    infers: false,
    dependencies: "serde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    head: "use std::collections::HashMap;\nuse std::pin::Pin;\nuse serde::Deserialize;\n\
           type Answer = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;\n",
    tool: r#"
/// Tool number #N does something useful.
pub async fn tool_#N(name: String, count: u32, skip: Option<String>) -> Result<String, String> {
    Ok(format!("{name} {count} {skip:?} #N"))
}
#[derive(Deserialize)]
struct Arguments#N { name: String, count: u32, skip: Option<String> }
fn call_#N(text: &str) -> Answer {
    let arguments = serde_json::from_str::<Arguments#N>(text);
    Box::pin(async move {
        let Arguments#N { name, count, skip } = arguments.map_err(|error| error.to_string())?;
        let output = tool_#N(name, count, skip).await?;
        serde_json::to_string(&output).map_err(|error| error.to_string())
    })
}
"#,
    around: ("", ""),
    register: "    table.insert(\"tool_#N\", call_#N);\n",
    main: r#"
fn main() {
    let mut table: HashMap<&str, fn(&str) -> Answer> = HashMap::new();
#ALL    std::hint::black_box(&table);
    println!("{}", table.len());
}
"#,
};

const MATCH: Specimen = Specimen {
    name: "match",
    title: "match by hand",
    tool: r#"
/// Tool number #N does something useful.
pub async fn tool_#N(name: String, count: u32, skip: Option<String>) -> Result<String, String> {
    Ok(format!("{name} {count} {skip:?} #N"))
}
#[derive(Deserialize)]
struct Arguments#N { name: String, count: u32, skip: Option<String> }
"#,
    head: "use std::pin::pin;\nuse std::task::{Context, Waker};\nuse serde::Deserialize;\n",
    register: r#"
        "tool_#N" => {
            let Arguments#N { name, count, skip } = serde_json::from_str(text).map_err(|error| error.to_string())?;
            let output = tool_#N(name, count, skip).await?;
            serde_json::to_string(&output).map_err(|error| error.to_string())
        }
"#,
    main: r#"
async fn dispatch(tool: &str, text: &str) -> Result<String, String> {
    match tool {
#ALL        other => Err(format!("no tool {other}")),
    }
}
fn main() {
    let name = std::env::args().nth(1).unwrap_or_default();
    println!("{}", pin!(dispatch(&name, "{}")).as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}
"#,
    ..TABLE
};

const OURS: Specimen = Specimen {
    name: "ours",
    title: "ours",
    infers: true,
    dependencies: "tool-runtime = { path = \"RUNTIME\" }\n",
    head: "use tool_runtime::{Dispatcher, tool};\n",
    tool: r#"
/// Tool number #N does something useful.
#[tool]
pub async fn tool_#N(
    /// The name of the thing.
    name: String,
    /// How many of them.
    count: u32,
    /// What to leave out.
    skip: Option<String>,
) -> Result<String, String> {
    Ok(format!("{name} {count} {skip:?} #N"))
}
"#,
    around: ("", ""),
    register: "",
    main: r#"
fn main() {
    let tools = Dispatcher::builder().build().expect("the tools are complete");
    println!("{}", std::hint::black_box(tools.definitions()).len());
}
"#,
};

const RMCP: Specimen = Specimen {
    name: "rmcp",
    title: "rmcp",
    infers: true,
    dependencies: "rmcp = \"3\"\nschemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    head: "use rmcp::handler::server::router::tool::ToolRouter;\nuse rmcp::handler::server::wrapper::Parameters;\n\
           use rmcp::{ServerHandler, tool, tool_handler, tool_router};\n\
           macro_rules! arguments { ($($name:ident)*) => { $(#[derive(serde::Deserialize, schemars::JsonSchema)]\n\
           struct $name {\n/// The name of the thing.\nname: String,\n/// How many of them.\ncount: u32,\n\
           /// What to leave out.\nskip: Option<String> })* } }\n\
           pub struct Server { tool_router: ToolRouter<Self> }\n#[tool_handler(router = self.tool_router)]\nimpl ServerHandler for Server {}\n",
    tool: r#"
    /// Tool number #N does something useful.
    #[tool]
    async fn tool_#N(&self, Parameters(Arguments#N { name, count, skip }): Parameters<Arguments#N>) -> Result<String, String> {
        Ok(format!("{name} {count} {skip:?} #N"))
    }
"#,
    around: ("#[tool_router]\nimpl Server {\n", "}\n"),
    register: "Arguments#N ",
    main: r#"
arguments! { #ALL }
fn main() {
    let server = Server { tool_router: Server::tool_router() };
    println!("{}", std::hint::black_box(server.tool_router.list_all()).len());
}
"#,
};

const RIG: Specimen = Specimen {
    name: "rig",
    title: "rig",
    infers: true,
    dependencies: "rig-agent = { version = \"0.44\", default-features = false, features = [\"derive\"] }\n\
                   rig-core = { version = \"0.44\", default-features = false, features = [\"derive\"] }\nrig-derive = \"0.44\"\n\
                   schemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    head: "use rig_agent::tool::ToolSet;\nuse rig_core::tool::ToolExecutionError;\nuse rig_derive::rig_tool;\n",
    tool: r#"
/// Tool number #N does something useful.
#[rig_tool]
pub async fn tool_#N(
    /// The name of the thing.
    name: String,
    /// How many of them.
    count: u32,
    /// What to leave out.
    skip: Option<String>,
) -> Result<String, ToolExecutionError> {
    Ok(format!("{name} {count} {skip:?} #N"))
}
"#,
    around: ("", ""),
    register: "    tools.add_tool(Tool#N);\n",
    main: r#"
fn main() {
    let mut tools = ToolSet::default();
#ALL    println!("{}", std::hint::black_box(tools.tool_definitions()).len());
}
"#,
};

const TOOLS_RS: Specimen = Specimen {
    name: "tools-rs",
    title: "tools-rs",
    infers: true,
    dependencies: "inventory = \"0.3\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n\
                   tools-rs = \"0.3\"\ntools_core = \"0.3\"\ntools_macros = \"0.3\"\n",
    head: "use tools_rs::{collect_tools, tool};\n",
    tool: r#"
#[tool]
/// Tool number #N does something useful.
pub async fn tool_#N(name: String, count: u32, skip: Option<String>) -> Result<String, String> {
    Ok(format!("{name} {count} {skip:?} #N"))
}
"#,
    around: ("", ""),
    register: "",
    main: r#"
fn main() {
    let tools = collect_tools();
    println!("{}", std::hint::black_box(tools.json()).expect("JSON").as_array().map_or(0, Vec::len));
}
"#,
};

const SWIFTIDE: Specimen = Specimen {
    name: "swiftide",
    title: "swiftide",
    infers: true,
    dependencies: "swiftide = { version = \"0.32\", features = [\"swiftide-agents\"] }\n\
                   schemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    head: "use std::collections::HashSet;\nuse swiftide::chat_completion::errors::ToolError;\n\
           use swiftide::chat_completion::{Tool, ToolOutput};\nuse swiftide::traits::AgentContext;\n",
    tool: r#"
#[swiftide::tool(
    description = "Tool number #N does something useful.",
    param(name = "name", description = "The name of the thing."),
    param(name = "count", description = "How many of them."),
    param(name = "skip", description = "What to leave out.")
)]
pub async fn tool_#N(_context: &dyn AgentContext, name: String, count: u32, skip: Option<String>) -> Result<ToolOutput, ToolError> {
    Ok(format!("{name} {count} {skip:?} #N").into())
}
"#,
    around: ("", ""),
    register: "    tools.insert(tool_#N().boxed());\n",
    main: r#"
fn main() {
    let mut tools: HashSet<Box<dyn Tool>> = HashSet::new();
#ALL    println!("{}", std::hint::black_box(tools.iter().map(|tool| tool.tool_spec()).collect::<Vec<_>>()).len());
}
"#,
};

const LLM_TOOL: Specimen = Specimen {
    name: "llm-tool",
    title: "llm-tool",
    infers: true,
    dependencies: "llm-tool = \"0.10\"\nschemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    head: "use llm_tool::{ToolError, ToolRegistry, llm_tool};\n",
    tool: r#"
/// Tool number #N does something useful.
#[llm_tool]
pub async fn tool_#N(
    /// The name of the thing.
    name: String,
    /// How many of them.
    count: u32,
    /// What to leave out.
    skip: Option<String>,
) -> Result<String, ToolError> {
    Ok(format!("{name} {count} {skip:?} #N"))
}
"#,
    around: ("", ""),
    register: "    tools.register(Tool#N);\n",
    main: r#"
fn main() {
    let mut tools = ToolRegistry::new();
#ALL    println!("{}", std::hint::black_box(tools.definitions()).len());
}
"#,
};

const TURBOMCP: Specimen = Specimen {
    name: "turbomcp",
    title: "turbomcp",
    infers: true,
    dependencies: "turbomcp = \"3\"\nschemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\nserde_json = \"1\"\n",
    head: "use turbomcp::prelude::*;\n#[derive(Clone)]\npub struct Server;\n",
    tool: r#"
    /// Tool number #N does something useful.
    #[tool]
    async fn tool_#N(&self, name: String, count: u32, skip: Option<String>) -> McpResult<String> {
        Ok(format!("{name} {count} {skip:?} #N"))
    }
"#,
    around: ("#[turbomcp::server(name = \"specimen\", version = \"1.0.0\")]\nimpl Server {\n", "}\n"),
    register: "",
    main: r#"
fn main() {
    println!("{}", std::hint::black_box(Server.list_tools()).len());
}
"#,
};
