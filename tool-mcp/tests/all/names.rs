//! Name collisions.

use serde_json::json;
use tool_mcp::{ProtocolGeneration, RemoteServers};
use tool_runtime::{Dispatcher, RuntimeTool};

use crate::scripted::{Peer, answering, call, connect, dispatcher, good, server, text, tool};

#[tokio::test]
async fn reports_both_tools_of_a_name_collision() {
    let tools = Dispatcher::builder().tool(RuntimeTool::new("mcp_a_own", "", |(): ()| async {})).build().unwrap();
    let one = answering("a_b", json!([tool("c", "")]), |_| text("one")).trust();
    let two =
        answering("a", json!([tool("b_c", ""), tool("b/c", ""), tool("own", ""), tool("free", "")]), |_| text("two"))
            .trust();
    let builder = || RemoteServers::builder().server(one.clone()).server(two.clone());
    let servers = connect(&tools, builder()).await;
    let problems = servers.problems().join("\n");
    for part in ["`mcp_a_b_c`", "two tools would have the name `mcp_a_own`: one of the application", "`a_b`", "`a`"] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    assert_eq!(call(&tools, "mcp_a_free").await.output, "two");
    servers.close().await;
    assert_eq!(tools.registry().names().join(" "), "mcp_a_own", "the application's tool stays");

    let strict = builder().strict().connect(&tools.registry()).await.unwrap_err();
    assert!(strict.to_string().contains("`mcp_a_own`"), "{strict}");
    let twice = RemoteServers::builder().server(good()).server(good()).connect(&tools.registry()).await.unwrap_err();
    assert!(twice.to_string().contains("the server names `good` (from the application) and `good`"), "{twice}");
    let unknown = RemoteServers::builder().server(good()).configure("god", |config| config.trust());
    assert!(unknown.connect(&tools.registry()).await.unwrap_err().to_string().contains("`god`"));
}

/// A tool that cannot be registered releases its name.
#[tokio::test]
async fn releases_the_name_of_a_tool_that_cannot_be_registered() {
    let bad = json!([{"name": "c", "inputSchema": {"type": "array"}}]);
    let one = answering("a_b", bad, |_| text("one")).trust();
    // It connects after the other one.
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

/// A tool with another remote name is another tool, even if its local name and definition are the same.
#[tokio::test]
async fn calls_a_renamed_tool_by_its_new_remote_name() {
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
