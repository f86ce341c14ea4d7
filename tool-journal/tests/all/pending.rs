use serde_json::json;

use crate::support::Folder;

#[tokio::test]
async fn a_pending_call_outlives_a_restart_and_is_taken_once() {
    let folder = Folder::new();
    let journal = folder.open().await;
    journal.put_pending("t1", Some("c"), &json!({"tool": "a"})).await.unwrap();
    journal.put_pending("t2", None, &json!({"tool": "b"})).await.unwrap();
    journal.close().await;

    let journal = folder.open().await;
    let of_c = journal.list_pending(Some("c")).await.unwrap();
    assert_eq!(of_c, [("t1".to_owned(), json!({"tool": "a"}))]);
    assert_eq!(journal.list_pending(None).await.unwrap().len(), 2);
    assert_eq!(journal.take_pending("t1").await.unwrap(), Some(json!({"tool": "a"})));
    assert_eq!(journal.take_pending("t1").await.unwrap(), None);
    journal.close().await;
    assert_eq!(folder.open().await.take_pending("t1").await.unwrap(), None, "taken for good");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_who_take_one_gets_it() {
    let folder = Folder::new();
    let journals = [folder.open().await, folder.open().await];
    journals[0].put_pending("t", None, &json!(1)).await.unwrap();
    let take = |task: usize| {
        let journal = journals[task % 2].clone();
        tokio::spawn(async move { journal.take_pending("t").await.unwrap() })
    };
    let mut got = 0;
    for task in (0..20).map(take).collect::<Vec<_>>() {
        got += usize::from(task.await.unwrap().is_some());
    }
    assert_eq!(got, 1);
}
