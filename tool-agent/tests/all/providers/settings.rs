//! Which model the variables name.

use tool_agent::{Model, Provider};

fn named(variables: &[(&str, &str)]) -> Result<Option<String>, String> {
    let variable =
        |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    match Provider::from_variables(variable) {
        Ok(model) => Ok(model.map(|model| model.name().to_owned())),
        Err(error) => Err(error.to_string()),
    }
}

#[test]
fn a_model_is_named_by_its_provider() {
    assert_eq!(named(&[]), Ok(None));
    assert_eq!(named(&[("OPENAI_API_KEY", "k")]), Ok(None), "nobody is asked because a key is there");
    assert_eq!(named(&[("TOOL_MODEL", "offline")]), Ok(None));
    let model = "openrouter/qwen/qwen3-coder:free";
    assert_eq!(named(&[("TOOL_MODEL", model), ("OPENROUTER_API_KEY", "k")]), Ok(Some(model.to_owned())));
    let model = "gemini/gemini-3-flash";
    assert_eq!(named(&[("TOOL_MODEL", model), ("GOOGLE_API_KEY", "k")]), Ok(Some(model.to_owned())));
    assert_eq!(named(&[("TOOL_MODEL", "ollama/qwen3")]), Ok(Some("ollama/qwen3".to_owned())));
    let own = [("TOOL_MODEL", "openai/llama"), ("OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")];
    assert_eq!(named(&own), Ok(Some("openai/llama".to_owned())), "a server of one's own needs no key");
}

#[test]
fn what_is_wrong_is_said() {
    let wrong = |variables: &[(&str, &str)]| named(variables).unwrap_err();
    assert_eq!(wrong(&[("TOOL_MODEL", "openai/gpt")]), "`TOOL_MODEL` names OpenAI, and `OPENAI_API_KEY` is not set");
    assert!(wrong(&[("TOOL_MODEL", "gpt")]).contains("`provider/model`"));
    assert!(wrong(&[("TOOL_MODEL", "acme/gpt")]).contains("there are openai, anthropic, gemini, openrouter, ollama"));
    assert!(wrong(&[("TOOL_MODEL", "gemini/../../x?y"), ("GEMINI_API_KEY", "k")]).contains("names no model"));
    for base in ["nonsense", "file:///etc/passwd", "https://host/v1?key=secret"] {
        let error = wrong(&[("TOOL_MODEL", "openai/gpt"), ("OPENAI_API_KEY", "k"), ("OPENAI_BASE_URL", base)]);
        assert!(error.contains("`OPENAI_BASE_URL`") && !error.contains("secret"), "{error}");
    }
}
