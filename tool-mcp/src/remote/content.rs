//! Conversion of MCP results.
//!
//! The output is the text for the model. Unless the content is a single plain text block, the metadata has the original
//! blocks under `content`. Structured content that the output does not repeat is under `structured_content`.

use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::Value;
use tool_runtime::{ErrorKind, ToolError, ToolResult};

/// Converts a result of a server.
pub(super) fn result(result: CallToolResult) -> ToolResult {
    let CallToolResult { mut content, structured_content, is_error, .. } = result;
    let plain =
        matches!(content.as_slice(), [ContentBlock::Text(text)] if text.meta.is_none() && text.annotations.is_none());
    let (output, blocks) = match content.pop() {
        Some(ContentBlock::Text(text)) if plain => (text.text, None),
        None => (String::new(), None),
        Some(last) => {
            content.push(last);
            let lines: Vec<String> = content.iter().map(block_text).collect();
            (lines.join("\n"), serde_json::to_value(&content).ok())
        }
    };
    let (output, structured) = match structured_content {
        Some(structured) if output.is_empty() => (structured.to_string(), None),
        Some(structured) if is_json_of(&output, &structured) => (output, None),
        structured => (output, structured),
    };
    let mut result = match is_error {
        Some(true) if output.is_empty() => failure("The tool failed without a message.".to_owned()),
        Some(true) => failure(output),
        _ => ToolResult::success(output),
    };
    if let Some(blocks) = blocks {
        result.metadata.insert("content", blocks);
    }
    if let Some(structured) = structured {
        result.metadata.insert("structured_content", structured);
    }
    result
}

fn failure(message: String) -> ToolResult {
    ToolResult::failure(ToolError::new(ErrorKind::Failed, message))
}

fn is_json_of(output: &str, structured: &Value) -> bool {
    serde_json::from_str::<Value>(output).is_ok_and(|parsed| parsed == *structured)
}

/// Converts a result that does not conform to the protocol, such as one with an unknown kind of block.
pub(super) fn lenient_result(mut result: Value) -> Option<ToolResult> {
    let content = result.as_object_mut()?.remove("content")?;
    let blocks = content.as_array()?;
    let lines = blocks.iter().map(|block| match serde_json::from_value(block.clone()) {
        Ok(block) => block_text(&block),
        Err(_) => match block.get("type").and_then(Value::as_str) {
            Some(kind) => format!("[{kind}]"),
            None => "[unknown content]".to_owned(),
        },
    });
    let output = lines.collect::<Vec<_>>().join("\n");
    let mut converted = if result["isError"] == true { failure(output) } else { ToolResult::success(output) };
    converted.metadata.insert("content", content);
    if let Some(structured) = result.get_mut("structuredContent").map(Value::take) {
        converted.metadata.insert("structured_content", structured);
    }
    Some(converted)
}

/// Returns the text of a block for the model.
fn block_text(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[image {}, {}]", image.mime_type, size(&image.data)),
        ContentBlock::Audio(audio) => format!("[audio {}, {}]", audio.mime_type, size(&audio.data)),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { uri, text, .. } => format!("[resource {uri}]\n{text}"),
            ResourceContents::BlobResourceContents { uri, mime_type, blob, .. } => {
                let kind = mime_type.as_deref().unwrap_or("of unknown type");
                format!("[resource {uri}, {kind}, {}]", size(blob))
            }
            _ => "[resource]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => match &link.description {
            Some(description) => format!("[link {} ({}): {description}]", link.uri, link.name),
            None => format!("[link {} ({})]", link.uri, link.name),
        },
        _ => "[unknown content]".to_owned(),
    }
}

/// Returns the size of base64 data.
fn size(base64: &str) -> String {
    let bytes = base64.trim_end_matches('=').len() * 3 / 4;
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(json: Value) -> ToolResult {
        result(serde_json::from_value(json).unwrap())
    }

    #[test]
    fn one_plain_text_block_is_the_output() {
        let plain = read(json!({"content": [{"type": "text", "text": "fine"}]}));
        assert_eq!((plain.output.as_str(), plain.metadata.is_empty()), ("fine", true));
        let empty = read(json!({"content": []}));
        assert_eq!((empty.success, empty.output.as_str(), empty.metadata.is_empty()), (true, "", true));
    }

    #[test]
    fn describes_blocks_in_the_output_and_keeps_them() {
        let content = json!([
            {"type": "text", "text": "see"},
            {"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"},
            {"type": "audio", "data": "A".repeat(16_000), "mimeType": "audio/wav"},
            {"type": "resource", "resource": {"uri": "file:///a", "mimeType": "text/plain", "text": "inside"}},
            {"type": "resource", "resource": {"uri": "file:///b", "blob": "AAAA"}},
            {"type": "resource_link", "uri": "file:///c", "name": "c"},
        ]);
        let result = read(json!({"content": content}));
        assert_eq!(
            result.output,
            "see\n[image image/png, 6 bytes]\n[audio audio/wav, 12 kB]\n[resource file:///a]\ninside\n\
             [resource file:///b, of unknown type, 3 bytes]\n[link file:///c (c)]"
        );
        assert_eq!(result.metadata.get("content"), Some(&content));
        let marked = json!([{"type": "text", "text": "x", "annotations": {"priority": 1.0}}]);
        assert_eq!(read(json!({"content": marked})).metadata.get("content"), Some(&marked), "annotations are kept");
    }

    #[test]
    fn structured_content_is_not_repeated() {
        let same = read(json!({"content": [{"type": "text", "text": "{\"a\": 1}"}], "structuredContent": {"a": 1}}));
        assert!(same.metadata.is_empty(), "{same:?}");
        let alone = read(json!({"content": [], "structuredContent": {"a": 1}}));
        assert_eq!((alone.output.as_str(), alone.metadata.is_empty()), (r#"{"a":1}"#, true));
        let other = read(json!({"content": [{"type": "text", "text": "one"}], "structuredContent": {"a": 1}}));
        assert_eq!(other.metadata.get("structured_content"), Some(&json!({"a": 1})));
    }

    #[test]
    fn tool_errors_become_failures() {
        let failed = read(json!({"content": [{"type": "text", "text": "no"}], "isError": true}));
        assert_eq!((failed.success, failed.output.as_str()), (false, "no"));
        assert_eq!(failed.error.unwrap().kind, ErrorKind::Failed);
        assert!(read(json!({"content": [], "isError": true})).output.contains("without a message"));
    }

    #[test]
    fn names_the_type_of_unknown_blocks() {
        let unknown = json!({"content": [{"type": "text", "text": "a"}, {"type": "hologram", "x": 1}, 3]});
        let result = lenient_result(unknown.clone()).unwrap();
        assert_eq!(result.output, "a\n[hologram]\n[unknown content]");
        assert_eq!(result.metadata.get("content"), Some(&unknown["content"]));
        assert!(lenient_result(json!({"content": 3})).is_none() && lenient_result(json!([])).is_none());
    }
}
