//! Selection of a model by variables and in code.

use serde_json::Value;
use tool_agent::{Message, Model, ModelOptions, ModelRequest, ProviderBuilder, ProviderModel, ReasoningEffort};

use super::answered;
use crate::server::{KEY, Reply, Server, Wire};

fn named(variables: &[(&str, &str)]) -> Result<Option<String>, String> {
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    match ProviderModel::from_variables(variable) {
        Ok(model) => Ok(model.map(|model| model.name().to_owned())),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_variable_selects_the_model() {
    assert_eq!(named(&[]), Ok(None));
    assert_eq!(named(&[("OPENAI_API_KEY", "k")]), Ok(None), "a key alone selects no model");
    assert_eq!(named(&[("TOOL_MODEL", "offline")]), Ok(None));
    let model = "openrouter/qwen/qwen3-coder:free";
    assert_eq!(named(&[("TOOL_MODEL", model), ("OPENROUTER_API_KEY", "k")]), Ok(Some(model.to_owned())));
    let model = "gemini/gemini-3-flash";
    assert_eq!(named(&[("TOOL_MODEL", model), ("GOOGLE_API_KEY", "k")]), Ok(Some(model.to_owned())));
    assert_eq!(named(&[("TOOL_MODEL", "ollama/qwen3")]), Ok(Some("ollama/qwen3".to_owned())));
    let own = [("TOOL_MODEL", "openai/llama"), ("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")];
    assert_eq!(named(&own), Ok(Some("openai/llama".to_owned())), "a self-hosted server needs no key");
}

#[test]
fn invalid_variables_are_reported() {
    let wrong = |variables: &[(&str, &str)]| named(variables).unwrap_err();
    assert_eq!(wrong(&[("TOOL_MODEL", "openai/gpt")]), "OpenAI needs an API key: `OPENAI_API_KEY` is not set");
    assert!(wrong(&[("TOOL_MODEL", "gpt")]).contains("`provider/model`"));
    assert!(
        wrong(&[("TOOL_MODEL", "acme/gpt")])
            .contains("Supported providers: openai, anthropic, gemini, openrouter, ollama")
    );
    assert!(
        wrong(&[("TOOL_MODEL", "gemini/../../x?y"), ("GEMINI_API_KEY", "k")]).contains("is not a valid model name")
    );
    for base in ["nonsense", "file:///etc/passwd", "https://host/v1?key=secret"] {
        let error = wrong(&[("TOOL_MODEL", "openai/gpt"), ("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)]);
        assert!(error.contains("`OPENAI_BASE_URL`") && !error.contains("secret"), "{error}");
    }
}

/// Builds a provider in code, with this variable set.
fn built(builder: ProviderBuilder, variable: Option<(&str, &str)>) -> Result<String, String> {
    let variable = |name: &str| variable.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned());
    builder.build_from(variable).map(|model| model.name().to_owned()).map_err(|error| error.to_string())
}

#[test]
fn code_selects_the_model() {
    let key = Some(("ANTHROPIC_API_KEY", "k"));
    assert_eq!(built(ProviderModel::anthropic("claude"), key), Ok("anthropic/claude".to_owned()));
    let missing = built(ProviderModel::anthropic("claude"), None).unwrap_err();
    assert_eq!(missing, "Anthropic needs an API key: `ANTHROPIC_API_KEY` is not set");
    assert_eq!(built(ProviderModel::ollama("qwen3"), None), Ok("ollama/qwen3".to_owned()));
    let own = || ProviderModel::openai("llama").base_url("http://127.0.0.1:8000/v1");
    assert_eq!(built(own(), None), Ok("openai/llama".to_owned()));
    assert_eq!(built(own().key_variable("VLLM_KEY"), Some(("VLLM_KEY", "k"))), Ok("openai/llama".to_owned()));
    let unset = built(own().key_variable("VLLM_KEY"), Some(("OPENAI_API_KEY", "k"))).unwrap_err();
    assert_eq!(unset, "OpenAI needs an API key: `VLLM_KEY` is not set", "a named variable must be set");
    let mistaken = built(own().key_variable(KEY), None).unwrap_err();
    assert!(!mistaken.contains(KEY), "{mistaken}");
    let elsewhere = Some(("OPENAI_BASE_URL", "http://127.0.0.1:9/v1"));
    assert!(built(ProviderModel::openai("gpt"), elsewhere).is_err(), "the base URL is set in code only");
    for base in ["nonsense", "file:///etc/passwd", "https://host/v1?key=secret"] {
        let wrong = built(ProviderModel::openai("gpt").base_url(base), None).unwrap_err();
        assert!(wrong.starts_with("the base URL") && !wrong.contains("secret"), "{wrong}");
    }
    assert_eq!(built(ProviderModel::gemini("../x"), None).unwrap_err(), "`../x` is not a valid model name for Gemini");
}

/// The effort is sent, and the key of the named variable.
#[tokio::test]
async fn a_model_that_is_selected_in_code_is_called() {
    let server = Server::start([]).await;
    for (wire, place, expected) in [
        (Wire::OpenAi, "/reasoning_effort", "high"),
        (Wire::Anthropic, "/output_config/effort", "high"),
        (Wire::Gemini, "/generationConfig/thinkingConfig/thinkingLevel", "HIGH"),
    ] {
        let builder = match wire {
            Wire::OpenAi => ProviderModel::openai("m"),
            Wire::Anthropic => ProviderModel::anthropic("m"),
            Wire::Gemini => ProviderModel::gemini("m"),
        };
        let builder = builder.base_url(server.base_url(wire)).key_variable("OUR_KEY");
        assert!(!format!("{builder:?}").contains("127.0.0.1"), "{builder:?}");
        let model = builder.build_from(|name| (name == "OUR_KEY").then(|| KEY.to_owned())).unwrap();
        server.follow([Reply::text("Hello.")]);
        let (messages, options) = ([Message::user("Hi.")], ModelOptions::default().effort(ReasoningEffort::High));
        answered(&model, ModelRequest::new(&messages).options(&options)).await.unwrap();
        let received = server.received();
        let body = &received.last().expect("it was asked").body;
        assert_eq!(body.pointer(place).and_then(Value::as_str), Some(expected), "{body}");
    }
}
