//! The providers' own packages take what we write, and we read what they write.
//!
//! Their Python packages are installed at fixed versions into an environment below the target folder. Where there is
//! no Python, or nowhere to install from, the test says so and passes; with `DIALECT_PYTHON=required`, as in CI, it
//! fails instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Map, Value};
use tool_dialect::{Dialect, Form};
use tool_model::Manifest;

use crate::fixtures::{forms, manifest};

#[test]
fn the_providers_packages_agree() {
    let python = match environment() {
        Ok(python) => python,
        Err(reason) if std::env::var_os("DIALECT_PYTHON").is_none_or(|wanted| wanted != "required") => {
            println!("skipped, the providers' packages are not at hand: {reason}");
            return;
        }
        Err(reason) => panic!("the providers' packages are not at hand: {reason}"),
    };
    // What Gemini asks of a description is in its report.
    let manifest: Manifest = manifest().iter().map(|(name, tool)| (name.to_owned(), tool.clone())).collect();
    let written: Map<String, Value> = forms()
        .into_iter()
        .map(|form| (named(form), form.offer(manifest.iter()).expect("names stay apart").definitions().clone()))
        .collect();
    let file = target().join("definitions.json");
    fs::write(&file, serde_json::to_string(&written).expect("JSON")).expect("the target folder can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check.py");
    let said = run(Command::new(python).arg(script).arg(&file)).unwrap_or_else(|error| panic!("{error}"));
    let said: Value = serde_json::from_slice(&said.stdout).expect("the script prints JSON");

    let received = said["received"].as_object().expect("what the server received");
    assert_eq!(received.len(), 8, "OpenAI's three and Anthropic, each strict and not");
    for (form, definitions) in received {
        assert_eq!(definitions, &written[form], "{form}: what arrives is what we wrote");
    }
    for (name, dialect) in [
        ("openai", Dialect::OpenAiChat),
        ("openai-responses", Dialect::OpenAiResponses),
        ("openrouter", Dialect::OpenRouter),
        ("anthropic", Dialect::Anthropic),
        ("gemini", Dialect::Gemini),
    ] {
        let offer = dialect.offer(manifest.iter()).expect("names stay apart");
        let calls = offer.calls_in(&said["responses"][name]).unwrap_or_else(|error| panic!("{name}: {error}"));
        let calls: Vec<_> = calls.into_iter().map(|call| call.expect("a call")).collect();
        let names: Vec<_> = calls.iter().map(|call| (call.id.as_str(), call.name.as_str())).collect();
        assert_eq!(names, [("call_1", "explicit.ping"), ("call_2", "explicit.nothing")], "{name}");
        let arguments: Vec<String> = calls.iter().map(|call| call.arguments.replace(' ', "")).collect();
        assert_eq!(arguments, [r#"{"a":1}"#, "{}"], "{name}");
    }
}

fn named(form: Form) -> String {
    format!("{}{}", form.dialect, if form.strict { "-strict" } else { "" })
}

fn target() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// The Python of an environment with the packages, which is made once for each list of them.
fn environment() -> Result<PathBuf, String> {
    let requirements = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/requirements.txt");
    let wanted = fs::read_to_string(&requirements).map_err(|error| error.to_string())?;
    let folder = target().join("providers");
    let bin = if cfg!(windows) { "Scripts" } else { "bin" };
    let python = folder.join(bin).join("python");
    let installed = folder.join("installed.txt");
    if fs::read_to_string(&installed).is_ok_and(|there| there == wanted) {
        return Ok(python);
    }
    run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
    let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"];
    run(Command::new(&python).args(pip).arg(&requirements))?;
    fs::write(installed, wanted).map_err(|error| error.to_string())?;
    Ok(python)
}

fn run(command: &mut Command) -> Result<Output, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if output.status.success() {
        return Ok(output);
    }
    Err(format!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr)))
}
