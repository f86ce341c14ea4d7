use tool_runtime::*;
use tool_tests as _;
#[tokio::test]
async fn smoke() {
    let m = Manifest::linked();
    println!("{}", m.to_json());
    let t = Dispatcher::builder().build().unwrap();
    for (n, a) in [
        ("add", r#"{"a":1,"b":2}"#),
        ("add", r#"{"a":"x"}"#),
        ("echo.say", r#"{"text":"ab","times":2}"#),
        ("echo.say", r#"{"text":"ab","times":7}"#),
        ("ad", "{}"),
        ("echo.open", r#"{"url":"http://a.b","id":"67e55044-10b1-426f-9247-bb680e5fe0c8"}"#),
        ("echo.open", r#"{"url":"nope","id":"z"}"#),
    ] {
        println!("{n} {a} -> {:?}", t.call(ToolCall::from_text(n, a)).await);
    }
    println!("{}", t.explain());
}
