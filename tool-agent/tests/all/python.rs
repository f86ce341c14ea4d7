//! The providers' own packages take every request that the loop has sent.
//!
//! Their Python packages are installed as for the tests of `tool-dialect`, at the same versions and into the same
//! environment below the target folder. Where there is no Python, or nowhere to install from, the test says so and
//! passes; with `DIALECT_PYTHON=required`, as in CI, it fails instead.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::scenarios;

#[tokio::test]
async fn the_providers_packages_take_every_request() {
    let python = match environment() {
        Ok(python) => python,
        Err(reason) if std::env::var_os("DIALECT_PYTHON").is_none_or(|wanted| wanted != "required") => {
            println!("skipped, the providers' packages are not at hand: {reason}");
            return;
        }
        Err(reason) => panic!("the providers' packages are not at hand: {reason}"),
    };
    let sent = scenarios::sent().await;
    let requests: Vec<Value> = sent
        .iter()
        .map(|(what, received)| json!({"what": what, "wire": received.wire.name(), "body": received.body}))
        .collect();
    let file = target().join("requests.json");
    fs::write(&file, Value::from(requests).to_string()).expect("the target folder can be written");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/check.py");
    // `-B`: nothing is written beside the sources.
    let said = run(Command::new(python).arg("-B").arg(script).arg(&file)).unwrap_or_else(|error| panic!("{error}"));
    let said: Value = serde_json::from_slice(&said.stdout).expect("the script prints JSON");
    for wire in ["openai", "anthropic", "gemini"] {
        let count = |what: &str| said[what][wire].as_u64().unwrap_or_default();
        assert!(count("taken") > 50, "{wire}: {said}");
        assert!(count("controls") > 4, "{wire}: broken requests were refused: {said}");
    }
}

fn target() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
}

/// The Python of an environment with the packages, which is made once for each list of them.
fn environment() -> Result<PathBuf, String> {
    let dialect = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tool-dialect");
    let requirements = dialect.join("tests/python/requirements.txt");
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
