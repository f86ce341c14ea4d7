//! The providers' own packages take what we write, and we read what they write.
//!
//! Their Python packages are installed at fixed versions into an environment below the target folder. Where there is
//! no Python, or nowhere to install from, the test says so and passes; with `DIALECT_PYTHON=required`, as in CI, it
//! fails instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Map, Value, json};
use tool_dialect::{Dialect, Form};

use crate::fixtures::{forms, manifest};
use crate::samples;

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
    let manifest = manifest();
    let written: Map<String, Value> = forms()
        .into_iter()
        .map(|form| (named(form), form.offer(manifest.iter()).expect("names stay apart").definitions().clone()))
        .collect();
    let samples = samples::all();
    let file = target().join("given.json");
    let given = json!({"definitions": written, "samples": samples});
    fs::write(&file, given.to_string()).expect("the target folder can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check.py");
    // `-B`: nothing is written beside the sources.
    let said = run(Command::new(python).arg("-B").arg(script).arg(&file)).unwrap_or_else(|error| panic!("{error}"));
    let said: Value = serde_json::from_slice(&said.stdout).expect("the script prints JSON");

    for dialect in Dialect::ALL {
        let refused = said["controls"][dialect.name()].as_u64();
        assert!(refused.is_some_and(|count| count > 5), "{dialect}: broken definitions were refused");
    }
    let received = said["received"].as_object().expect("what the server received");
    assert_eq!(received.len(), 8, "OpenAI's three and Anthropic, each strict and not");
    for (form, definitions) in received {
        assert_eq!(definitions, &written[form], "{form}: what arrives is what we wrote");
    }
    for dialect in [Dialect::OpenAiChat, Dialect::OpenAiResponses, Dialect::Anthropic] {
        let of = &samples[dialect.name()];
        for kind in ["responses", "streams"] {
            let read = said[kind][dialect.name()].as_object().expect("what the package made of the samples");
            assert!(!read.is_empty(), "{dialect}: {kind}");
            for (what, response) in read {
                let sample = of[kind].as_array().into_iter().flatten().find(|sample| sample["what"] == *what);
                same_calls(dialect, &sample.expect("it was given")["response"], response, what);
            }
        }
    }
}

/// What a package makes of a response has the calls that we find in it ourselves.
fn same_calls(dialect: Dialect, ours: &Value, theirs: &Value, what: &str) {
    let calls = |response: &Value| -> Vec<String> {
        let calls =
            samples::offer(dialect).calls_in(response).unwrap_or_else(|error| panic!("{dialect}, {what}: {error}"));
        samples::shown(&calls)
    };
    assert_eq!(calls(theirs), calls(ours), "{dialect}, {what}");
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
