//! Whose tool a name stands for.

use serde_json::json;
use tool_mcp::{ProtocolGeneration, RemoteServers};
use tool_runtime::{Dispatcher, RuntimeTool};

use crate::scripted::{Peer, answering, call, connect, dispatcher, good, server, text, tool};

#[tokio::test]
async fn names_that_clash_are_told_with_both() {
    let tools = Dispatcher::builder().tool(RuntimeTool::new("mcp_a_own", "", |(): ()| async {})).build().unwrap();
    let one = answering("a_b", json!([tool("c", "")]), |_| text("one")).trust();
    let two =
        answering("a", json!([tool("b_c", ""), tool("b/c", ""), tool("own", ""), tool("free", "")]), |_| text("two"))
            .trust();
    let builder = || RemoteServers::builder().server(one.clone()).server(two.clone());
    let servers = connect(&tools, builder()).await;
    let problems = servers.problems().join("\n");
    for part in ["`mcp_a_b_c`", "`mcp_a_own` would be the name of two tools: one of this application", "`a_b`", "`a`"] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    assert_eq!(call(&tools, "mcp_a_free").await.output, "two");
    servers.close().await;
    assert_eq!(tools.registry().names().join(" "), "mcp_a_own", "what is not theirs stays");

    let strict = builder().strict().connect(&tools.registry()).await.unwrap_err();
    assert!(strict.to_string().contains("`mcp_a_own`"), "{strict}");
    let twice = RemoteServers::builder().server(good()).server(good()).connect(&tools.registry()).await.unwrap_err();
    assert!(twice.to_string().contains("two servers are called `good` and `good`"), "{twice}");
    let vain = RemoteServers::builder().server(good()).configure("god", |config| config.trust());
    assert!(vain.connect(&tools.registry()).await.unwrap_err().to_string().contains("`god`"));
}

/// A tool that cannot be offered leaves its name to another.
#[tokio::test]
async fn a_name_is_only_kept_by_a_tool_that_is_offered() {
    let bad = json!([{"name": "c", "inputSchema": {"type": "array"}}]);
    let one = answering("a_b", bad, |_| text("one")).trust();
    // It comes when the other one is there.
    let two = server("a", |mut peer: Peer| async move {
        if peer.connection == 0 {
            return;
        }
        while let Some(call) = peer.call(&json!([tool("b_c", "")])).await {
            peer.answer(&call, text("two")).await;
        }
    });
    let tools = dispatcher();
    let builder = RemoteServers::builder().server(one).server(two.trust().generation(ProtocolGeneration::Initialize));
    let servers = connect(&tools, builder).await;
    servers.reload().await;
    assert_eq!(call(&tools, "mcp_a_b_c").await.output, "two", "{:?}", servers.problems());
    servers.close().await;
}

/// What the server calls otherwise is another tool, even if it has the same name here and says the same of itself.
#[tokio::test]
async fn a_tool_that_is_renamed_is_called_by_its_new_name() {
    let renamed = server("s", |mut peer: Peer| async move {
        let mut listed = json!([tool("a.b", "Work.")]);
        while let Some(call) = peer.call(&listed).await {
            listed = json!([tool("a b", "Work.")]);
            peer.answer(&call, text(call["params"]["name"].to_string())).await;
        }
    });
    let tools = dispatcher();
    let servers = connect(&tools, RemoteServers::builder().server(renamed.trust())).await;
    assert_eq!(call(&tools, "mcp_s_a_b").await.output, "\"a.b\"");
    servers.reload().await;
    assert_eq!(call(&tools, "mcp_s_a_b").await.output, "\"a b\"");
    servers.close().await;
}
