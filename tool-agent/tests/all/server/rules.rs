//! Rules of providers for histories beyond their types: above all, every call has a result.

use std::collections::HashSet;

use serde_json::Value;

use super::Wire;

/// Returns the rule that a request breaks.
pub fn broken(wire: Wire, body: &Value) -> Option<&'static str> {
    let messages = body.get(if wire == Wire::Gemini { "contents" } else { "messages" }).and_then(Value::as_array);
    let Some(messages) = messages.filter(|messages| !messages.is_empty()) else { return Some("there are no messages") };
    let follows = match wire {
        Wire::OpenAi => openai(messages),
        Wire::Anthropic => anthropic(messages),
        Wire::Gemini => gemini(messages),
    };
    follows.err()
}

fn all<'a>(value: &'a Value, key: &str) -> Vec<&'a str> {
    value.as_array().into_iter().flatten().filter_map(|item| item[key].as_str()).collect()
}

fn require(holds: bool, rule: &'static str) -> Result<(), &'static str> {
    if holds { Ok(()) } else { Err(rule) }
}

fn openai(messages: &[Value]) -> Result<(), &'static str> {
    let mut awaited: HashSet<&str> = HashSet::new();
    for message in messages {
        if message["role"] == "tool" {
            let id = message["tool_call_id"].as_str().unwrap_or_default();
            require(awaited.remove(id), "a message of role `tool` must follow the call that it answers")?;
            continue;
        }
        require(awaited.is_empty(), "every `tool_call_id` must be answered before anything else is said")?;
        let calls = message["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        let has_content = message["content"].as_str().is_some_and(|text| !text.is_empty());
        require(has_content || !calls.is_empty(), "a message has neither content nor calls")?;
        for call in calls {
            let is_named = call["function"]["name"].as_str().is_some_and(is_name);
            require(is_named && call["function"]["arguments"].is_string(), "a call has no name or no arguments")?;
        }
        awaited = all(&message["tool_calls"], "id").into_iter().collect();
        require(awaited.len() == calls.len(), "two calls have one id")?;
    }
    require(awaited.is_empty(), "every `tool_call_id` must be answered")
}

fn is_name(name: &str) -> bool {
    (1..=64).contains(&name.len()) && name.chars().all(|sign| sign.is_ascii_alphanumeric() || "_-".contains(sign))
}

fn anthropic(messages: &[Value]) -> Result<(), &'static str> {
    require(messages[0]["role"] == "user", "the first message must be the user's")?;
    let mut awaited: HashSet<&str> = HashSet::new();
    for (at, message) in messages.iter().enumerate() {
        let blocks = message["content"].as_array().map(Vec::as_slice).unwrap_or_default();
        let is_said = message["content"].as_str().is_some_and(|text| !text.is_empty());
        require(is_said || !blocks.is_empty(), "a message must have content")?;
        let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
        require(
            of("text").all(|block| block["text"].as_str().is_some_and(|text| !text.trim().is_empty())),
            "text content blocks must be non-empty",
        )?;
        let ends_in_thought = blocks.last().is_some_and(|block| block["type"] == "thinking");
        require(!ends_in_thought, "the final block in an assistant message cannot be `thinking`")?;
        let answered: HashSet<&str> = of("tool_result").filter_map(|block| block["tool_use_id"].as_str()).collect();
        require(answered == awaited, "`tool_use` ids must have their `tool_result` blocks in the next message")?;
        require(of("tool_result").count() == answered.len(), "a call is answered twice")?;
        require(of("tool_use").all(|block| block["input"].is_object()), "`input` must be an object")?;
        let ids: Vec<&str> = of("tool_use").filter_map(|block| block["id"].as_str()).collect();
        require(ids.iter().all(|id| is_name(id)), "an id is not one")?;
        require(message["role"] == "assistant" || ids.is_empty(), "only the model calls")?;
        let is_last = at + 1 == messages.len();
        require(!is_last || ids.is_empty(), "`tool_use` ids must have their `tool_result` blocks")?;
        awaited = ids.iter().copied().collect();
        require(awaited.len() == ids.len(), "two calls have one id")?;
    }
    Ok(())
}

fn gemini(contents: &[Value]) -> Result<(), &'static str> {
    require(contents[0]["role"] == "user", "the first content must be the user's")?;
    let mut awaited: Vec<&str> = Vec::new();
    for content in contents {
        let parts = content["parts"].as_array().map(Vec::as_slice).unwrap_or_default();
        require(!parts.is_empty(), "a content must have parts")?;
        let named = |key: &'static str| parts.iter().filter_map(move |part| part[key]["name"].as_str());
        let answered: Vec<&str> = named("functionResponse").collect();
        require(answered == awaited, "function response parts must be as many as the function call parts before them")?;
        awaited = named("functionCall").collect();
        require(content["role"] == "model" || awaited.is_empty(), "only the model calls")?;
    }
    require(awaited.is_empty(), "a function call turn must be followed by its responses")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The control: the rules detect broken histories.
    #[test]
    fn rejects_broken_histories() {
        let user = json!({"role": "user", "content": "hello"});
        let call = json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]});
        let result = json!({"role": "tool", "tool_call_id": "1", "content": "ok"});
        let good = [user.clone(), call.clone(), result.clone()];
        assert_eq!(broken(Wire::OpenAi, &json!({"messages": good})), None);
        for bad in [
            vec![&user, &call],
            vec![&user, &result],
            vec![&user, &call, &user, &result],
            vec![&user, &call, &result, &result],
        ] {
            assert!(broken(Wire::OpenAi, &json!({"messages": bad})).is_some(), "{bad:?}");
        }

        let call = json!({"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]});
        let result = json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "ok"}]});
        let empty = json!({"role": "assistant", "content": []});
        let thought =
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "…", "signature": "…"}]});
        assert_eq!(broken(Wire::Anthropic, &json!({"messages": [user, call, result]})), None);
        for bad in [
            vec![&user, &call],
            vec![&call, &result],
            vec![&user, &result],
            vec![&user, &call, &user, &result],
            vec![&user, &empty],
            vec![&user, &thought],
        ] {
            assert!(broken(Wire::Anthropic, &json!({"messages": bad})).is_some(), "{bad:?}");
        }

        let user = json!({"role": "user", "parts": [{"text": "hello"}]});
        let call = json!({"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]});
        let result =
            json!({"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "ok"}}}]});
        let empty = json!({"role": "model", "parts": []});
        assert_eq!(broken(Wire::Gemini, &json!({"contents": [user, call, result]})), None);
        for bad in [
            vec![&user, &call],
            vec![&call, &result],
            vec![&user, &result],
            vec![&user, &call, &user],
            vec![&user, &empty],
        ] {
            assert!(broken(Wire::Gemini, &json!({"contents": bad})).is_some(), "{bad:?}");
        }
    }
}
