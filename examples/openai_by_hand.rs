//! The loop of an agent, written by hand over the HTTP API of OpenAI, with a stub server in place of OpenAI.
//!
//! ```sh
//! cargo run -p examples --example openai_by_hand
//! ```

use axum::routing::post;
use axum::{Json, Router};
use serde_json::{Value, json};
use tool_runtime::dialect::Dialect;
use tool_runtime::{Dispatcher, tool};

/// Return the current temperature of a town, in degrees Celsius.
#[tool(name = "weather.now", read_only)]
async fn now(town: &str) -> Result<f64, String> {
    if town == "Bergen" { Ok(7.5) } else { Err(format!("there is no station in {town}")) }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // For OpenAI: "https://api.openai.com/v1/chat/completions".
    let url = format!("http://{}/v1/chat/completions", stub().await?);
    // This workspace builds reqwest without a TLS provider. With reqwest's default features this line is not needed.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = reqwest::Client::new();

    let tools = Dispatcher::builder().build()?;
    // The definitions in the provider's format. Other providers: `Dialect::Anthropic`, `Dialect::Gemini`, ..
    let offer = tools.offer(Dialect::OpenAiChat)?;
    let mut messages = vec![json!({"role": "user", "content": "Is it warmer in Bergen or in Atlantis?"})];
    loop {
        let request = json!({"model": "gpt-5", "messages": messages, "tools": offer.definitions()});
        let response = client.post(&url).bearer_auth("sk-..").json(&request).send().await?;
        let response = response.error_for_status()?.text().await?;
        // The model's own message goes back to it in the next request.
        messages.extend(offer.turn(&response)?);
        let calls = offer.calls(&response)?;
        if calls.is_empty() {
            break;
        }
        // Runs all calls of the response. A failed call is answered with its error, for the model to read.
        let results = tools.answers("chat-7", calls).await;
        messages.extend(offer.results(&results));
    }
    for message in messages {
        println!("{message}");
    }
    Ok(())
}

/// Starts a server that responds like OpenAI: with two calls, then with a text about their results.
async fn stub() -> std::io::Result<std::net::SocketAddr> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let app = Router::new().route("/v1/chat/completions", post(complete));
    tokio::spawn(async { axum::serve(listener, app).await });
    Ok(address)
}

async fn complete(Json(request): Json<Value>) -> Json<Value> {
    let messages = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let results: Vec<&str> =
        messages.iter().filter_map(|m| m["content"].as_str().filter(|_| m["role"] == "tool")).collect();
    // A name in this format has no dots. The dispatcher encodes and decodes names.
    let name = &request["tools"][0]["function"]["name"];
    let call = |id: &str, town: &str| {
        let arguments = json!({"town": town}).to_string();
        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
    };
    let message = match results.as_slice() {
        [] => json!({"role": "assistant", "content": null, "tool_calls": [call("1", "Bergen"), call("2", "Atlantis")]}),
        results => json!({"role": "assistant", "content": format!("I have read: {}.", results.join("; "))}),
    };
    let reason = if results.is_empty() { "tool_calls" } else { "stop" };
    Json(json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1767225600, "model": request["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 80, "completion_tokens": 20, "total_tokens": 100}
    }))
}
