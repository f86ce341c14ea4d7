use std::sync::Arc;

use serde_json::json;
use tool_http::Api;
use tool_runtime::journal::MemoryJournal;

use crate::support::{Desk, builder, get, mounted, post, send};

#[tokio::test]
async fn pages_through_the_journal() {
    let journal = Arc::new(MemoryJournal::new());
    let tools = builder(&Desk::default()).journal(journal.clone()).build().unwrap();
    let router = mounted(Api::new(tools).journal(journal));
    for number in 0..5 {
        let path = format!("/api/tools/desk.add?conversation={}", number % 2);
        send(&router, post(&path, &json!({"a": number, "b": 0}))).await;
    }
    send(&router, post("/api/tools/desk.purge", &json!({"host": "web-1", "password": "S"}))).await;

    let list = async |query: &str| send(&router, get(&format!("/api/journal{query}"))).await.json();
    let page = list("?limit=4").await;
    assert_eq!(page["entries"].as_array().unwrap().len(), 4);
    assert_eq!(page["entries"][0]["decision"], "nobody to ask");
    assert_eq!(page["entries"][0]["arguments"], json!({"host": "web-1", "password": "***"}));
    assert_eq!(
        (&page["entries"][1]["state"], &page["entries"][1]["result"]["output"]),
        (&json!("finished"), &json!("4"))
    );
    let rest = list(&format!("?limit=4&before={}", page["next"])).await;
    assert_eq!((rest["entries"].as_array().unwrap().len(), &rest["next"]), (2, &json!(null)));
    assert_eq!(list("?conversation=1").await["entries"].as_array().unwrap().len(), 2);
    assert_eq!(list("?tool=desk.purge").await["entries"].as_array().unwrap().len(), 1);
    assert_eq!(send(&router, get("/api/journal?before=x")).await.problem(), (400, "query".into()));
}
