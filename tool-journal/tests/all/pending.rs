use std::time::{Duration, SystemTime};

use tool_runtime::confirm::{PendingStore, SealedCall};

use crate::support::Folder;

const SOON: Duration = Duration::from_secs(60);

fn in_a_minute() -> SystemTime {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap() + SOON;
    SystemTime::UNIX_EPOCH + Duration::from_secs(since.as_secs())
}

fn waiting(id: &str, conversation: Option<&str>) -> SealedCall {
    SealedCall::new(id, conversation.map(str::to_owned), in_a_minute(), format!("sealed {id}"))
}

#[tokio::test]
async fn a_pending_call_survives_a_restart_and_is_taken_once() {
    let folder = Folder::new();
    let journal = folder.open().await;
    let (of_c, of_none) = (waiting("t1", Some("c")), waiting("t2", None));
    journal.put(of_c.clone()).await.unwrap();
    journal.put(of_none.clone()).await.unwrap();
    journal.close().await;

    let journal = folder.open().await;
    assert_eq!(journal.list("c").await.unwrap(), std::slice::from_ref(&of_c));
    assert_eq!(journal.list_all().await.unwrap(), [of_c.clone(), of_none.clone()]);
    assert_eq!(journal.get("t2").await.unwrap(), Some(of_none));
    assert_eq!(journal.take("t1").await.unwrap(), Some(of_c));
    assert_eq!(journal.take("t1").await.unwrap(), None);
    journal.close().await;
    assert_eq!(folder.open().await.take("t1").await.unwrap(), None, "taken for good");
}

/// Undecided calls do not stay in the file forever.
#[tokio::test]
async fn expired_calls_are_removed_by_the_next_one() {
    let folder = Folder::new();
    let journal = folder.open().await;
    let mut expired = waiting("old", Some("c"));
    expired.expires = SystemTime::UNIX_EPOCH + SOON;
    for remove in ["put", "prune"] {
        journal.put(expired.clone()).await.unwrap();
        assert!(journal.get("old").await.unwrap().is_some(), "the control");
        match remove {
            "put" => journal.put(waiting("new", Some("c"))).await.unwrap(),
            _ => assert_eq!(journal.prune(Duration::MAX).await.unwrap(), 0),
        }
        let left = journal.list("c").await.unwrap();
        assert_eq!(left.iter().map(|call| call.id.as_str()).collect::<Vec<_>>(), ["new"], "{remove}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_many_concurrent_takes_succeeds() {
    let folder = Folder::new();
    let journals = [folder.open().await, folder.open().await];
    journals[0].put(waiting("t", None)).await.unwrap();
    let take = |task: usize| {
        let journal = journals[task % 2].clone();
        tokio::spawn(async move { journal.take("t").await.unwrap() })
    };
    let mut got = 0;
    for task in (0..20).map(take).collect::<Vec<_>>() {
        got += usize::from(task.await.unwrap().is_some());
    }
    assert_eq!(got, 1);
}
