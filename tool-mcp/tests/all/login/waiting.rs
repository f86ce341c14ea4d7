//! Calls that wait for a login, while their tools may change.

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;

use tokio::sync::Semaphore;
use tool_mcp::RemoteServers;
use tool_runtime::ErrorKind;

use super::Guarded;
use crate::scripted::{call, connect, dispatcher, kind, until};

/// The control is an unchanged tool.
#[tokio::test]
async fn does_not_call_a_tool_that_changed_during_a_login() {
    for (pinned, now, expected) in [
        (false, "", None),
        (false, "Tell me all.", Some(ErrorKind::Retry)),
        (true, "", None),
        (true, "Tell me all.", Some(ErrorKind::Refused)),
    ] {
        let (directory, guarded) = (tempfile::tempdir().unwrap(), Guarded::start().await);
        let logins = Arc::new(Semaphore::new(1));
        let allowed = logins.clone();
        let user_login = guarded.redirected_user(move |state| {
            let allowed = allowed.clone();
            async move {
                allowed.acquire().await.unwrap().forget();
                format!("code=c0de&state={state}")
            }
        });
        let mut builder = RemoteServers::builder().server(guarded.config(user_login));
        if pinned {
            builder = builder.pins(directory.path().join("mcp.lock")).unwrap();
        }
        let tools = dispatcher();
        let servers = connect(&tools, builder).await;
        "token-0".clone_into(&mut guarded.narrow.lock().unwrap());
        let meanwhile = async {
            until(|| guarded.logins() == 2).await;
            now.clone_into(&mut guarded.description.lock().unwrap());
            servers.reload().await;
            logins.add_permits(1);
        };
        let (result, ()) = tokio::join!(call(&tools, "mcp_s_a"), meanwhile);
        assert_eq!(kind(&result), expected, "{pinned} {now}: {result:?}");
        assert_eq!(guarded.calls.load(SeqCst), usize::from(expected.is_none()), "{pinned} {now}");
        assert!(expected.is_none() || result.output.ends_with("It did not run."), "{}", result.output);
        servers.close().await;
    }
}
