use serde_json::{Value, json};
use tool_builtins::message::{MessageError, Messages, Messenger, Outbox, OutboxReceiver, OutgoingMessage};
use tool_runtime::{Dispatcher, Effect, ErrorKind, ToolCall, ToolResult};

fn tools(allowed: impl Fn(Messages) -> Messages) -> (Dispatcher, OutboxReceiver) {
    let (outbox, inbox) = Outbox::new(8);
    (Dispatcher::builder().service(allowed(Messages::new(outbox))).build().unwrap(), inbox)
}

async fn send(tools: &Dispatcher, arguments: Value) -> ToolResult {
    tools.call(ToolCall::new("message", arguments).channel("telegram", "42").conversation("chat-7")).await
}

#[tokio::test]
async fn sends_to_the_chat_of_the_call() {
    let (tools, mut inbox) = tools(|messages| messages);
    let same_place = [
        json!({"content": "hello"}),
        json!({"content": "hello", "channel": "telegram"}),
        json!({"content": "hello", "recipient": "42"}),
        json!({"content": "hello", "channel": "telegram", "recipient": "42"}),
    ];
    for arguments in same_place {
        assert_eq!(send(&tools, arguments).await.output, "Sent to 42 in telegram.");
        let message = inbox.recv().await.unwrap();
        let expected = json!({"content": "hello", "channel": "telegram", "recipient": "42", "conversation": "chat-7"});
        assert_eq!(serde_json::to_value(message).unwrap(), expected);
    }
}

#[tokio::test]
async fn sends_elsewhere_only_if_allowed() {
    let elsewhere = [
        json!({"content": "x", "recipient": "43"}),
        json!({"content": "x", "channel": "mail"}),
        json!({"content": "x", "channel": "mail", "recipient": "42"}),
    ];
    let (narrow, _inbox) = tools(|messages| messages);
    for arguments in &elsewhere {
        let refused = send(&narrow, arguments.clone()).await;
        assert_eq!(refused.error.unwrap().kind, ErrorKind::Retry);
        assert!(refused.output.contains("is not allowed"), "{}", refused.output);
    }
    let (wider, mut inbox) = tools(|messages| messages.to_channel("mail"));
    assert!(!send(&wider, elsewhere[0].clone()).await.success);
    assert_eq!(send(&wider, elsewhere[1].clone()).await.output, "Sent to mail.");
    assert_eq!(inbox.recv().await.unwrap().recipient, None, "the chat id is not used in another channel");
    assert_eq!(send(&wider, elsewhere[2].clone()).await.output, "Sent to 42 in mail.");
    let (widest, _inbox) = tools(Messages::to_anywhere);
    for arguments in elsewhere {
        assert!(send(&widest, arguments).await.success);
    }
}

#[tokio::test]
async fn reports_a_missing_channel_content_or_receiver() {
    let (tools, inbox) = tools(Messages::to_anywhere);
    let from_nowhere = tools.call(ToolCall::new("message", json!({"content": "x"}))).await;
    assert_eq!(from_nowhere.output, "This call has no channel of its own; pass `channel`.");
    assert_eq!(send(&tools, json!({"content": ""})).await.error.unwrap().kind, ErrorKind::InvalidArguments);
    drop(inbox);
    let unread = send(&tools, json!({"content": "x"})).await;
    assert_eq!((unread.success, unread.output.as_str()), (false, "the message has no receiver"));
}

#[tokio::test]
async fn previews_the_message() {
    let (tools, _inbox) = tools(|messages| messages);
    let call = ToolCall::new("message", json!({"content": "hello"})).channel("telegram", "42");
    let effect = tools.call(call).preview().await.unwrap();
    assert_eq!(effect, Some(Effect::Text("To 42 in telegram: hello".into())));
}

#[tokio::test]
async fn a_slow_receiver_misses_the_oldest_messages() {
    let (outbox, mut slow) = Outbox::new(2);
    let mut late = outbox.subscribe();
    let tools = Dispatcher::builder().service(Messages::new(outbox)).build().unwrap();
    for number in 1..=4 {
        assert!(send(&tools, json!({"content": number.to_string()})).await.success);
    }
    drop(tools);
    for inbox in [&mut slow, &mut late] {
        assert_eq!(inbox.recv().await.unwrap().content, "3");
        assert_eq!(inbox.recv().await.unwrap().content, "4");
        assert_eq!(inbox.recv().await, None);
    }
}

#[tokio::test]
async fn returns_the_error_of_the_messenger() {
    struct Offline;
    impl Messenger for Offline {
        async fn deliver(&self, message: OutgoingMessage) -> Result<(), MessageError> {
            Err(MessageError::new(format!("{} is offline", message.channel)))
        }
    }
    let tools = Dispatcher::builder().service(Messages::new(Offline)).build().unwrap();
    assert_eq!(send(&tools, json!({"content": "x"})).await.output, "telegram is offline");
}
