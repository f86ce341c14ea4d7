//! Tools with content blocks as results.

use serde_json::{Value, json};
use tool_runtime::inject::Notes;
use tool_runtime::tool;

/// One red pixel.
pub const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
/// Eight samples of silence.
const WAV: &str = "UklGRiwAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQgAAACAgICAgICAgA==";

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

/// Return a text.
#[tool(read_only)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Return an image.
#[tool(read_only)]
fn test_image_content(#[inject] notes: &Notes) -> &'static str {
    notes.insert("content", [image()]);
    "An image."
}

/// Return audio.
#[tool(read_only)]
fn test_audio_content(#[inject] notes: &Notes) -> &'static str {
    notes.insert("content", [json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"})]);
    "A sound."
}

/// Return a resource.
#[tool(read_only)]
fn test_embedded_resource(#[inject] notes: &Notes) -> &'static str {
    let text = "This is an embedded resource content.";
    let resource = json!({"uri": "test://embedded-resource", "mimeType": "text/plain", "text": text});
    notes.insert("content", [json!({"type": "resource", "resource": resource})]);
    text
}

/// Return a text, an image and a resource.
#[tool(read_only)]
fn test_multiple_content_types(#[inject] notes: &Notes) -> &'static str {
    let text = "Multiple content types test:";
    let data = json!({"test": "data", "value": 123}).to_string();
    let resource = json!({"uri": "test://mixed-content-resource", "mimeType": "application/json", "text": data});
    notes.insert(
        "content",
        [json!({"type": "text", "text": text}), image(), json!({"type": "resource", "resource": resource})],
    );
    text
}

/// Fail.
#[tool]
fn test_error_handling() -> Result<(), &'static str> {
    Err("This tool intentionally returns an error for testing")
}

/// Return an argument that is repeated in a header.
#[tool(read_only)]
fn test_custom_headers(region: &str) -> &str {
    region
}
