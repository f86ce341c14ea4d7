//! Calls tools of octocrab's handlers, which borrow the client, against a server that knows a few answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use octocrab::Octocrab;
use serde_json::json;
use tool_runtime::{Dispatcher, Manifest, ToolCall};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    let crab = Octocrab::builder().base_uri(address)?.build()?;
    let tools = Dispatcher::builder().manifest(Manifest::linked()).value("crab", crab).build()?;
    let repo = json!({"owner": "rust-lang", "repo": "rust"});
    for (name, arguments) in [
        ("gitignore_handler.list", json!({})),
        ("gitignore_handler.get", json!({"name": "C"})),
        ("license_handler.list_commonly_used", json!({})),
        ("license_handler.get", json!({"key": "mit"})),
        ("emojis_handler.list", json!({})),
        ("codes_of_conduct_handler.get_code_of_conduct", json!({"key": "citizen"})),
        ("markdown_handler.render_raw", json!({"text": "*a*"})),
        ("starring_handler.check", repo.clone()),
        ("starring_handler.star", repo.clone()),
        ("starring_handler.unstar", repo),
        ("notifications_handler.mark_as_read", json!({"id": 7})),
        ("notifications_handler.mark_all_as_read", json!({})),
    ] {
        let result = tools.call(ToolCall::new(name, arguments)).await;
        println!("{name} {} {}", if result.success { "ok" } else { "failed" }, result.output);
    }
    Ok(())
}

/// Answers one request. A path without an answer gets `204 No Content`.
fn answer(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    let license = json!({"key": "mit", "name": "MIT License", "node_id": "1", "spdx_id": "MIT"});
    let body = match request.split_whitespace().nth(1)?.split('?').next()? {
        "/gitignore/templates" => json!(["C", "Rust"]).to_string(),
        "/gitignore/templates/C" => "*.o".to_owned(),
        "/licenses" => json!([license]).to_string(),
        "/licenses/mit" => license.to_string(),
        "/emojis" => json!({"crab": "https://example.com/crab.png"}).to_string(),
        "/codes_of_conduct/citizen" => json!({"key": "citizen", "name": "Citizen", "url": "u", "html_url": "h"}).to_string(),
        "/markdown/raw" => "<em>a</em>".to_owned(),
        _ => String::new(),
    };
    let status = if body.is_empty() { "204 No Content" } else { "200 OK" };
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\nconnection: close\r\n");
    let length = if body.is_empty() { String::new() } else { format!("content-length: {}\r\n", body.len()) };
    stream.write_all(format!("{head}{length}\r\n{body}").as_bytes()).ok()
}
