//! Records how cargo invokes the compiler: this program acts as a wrapper that saves the arguments and forwards them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use serde::{Deserialize, Serialize};

use super::{BuildMode, COUNTS, SPECIMENS, folder, package};
use crate::Outcome;

const FOLDER: &str = "REPORT_RECORD_TO";

/// One compiler invocation.
#[derive(Serialize, Deserialize)]
struct CompilerCall {
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    folder: PathBuf,
}

fn file(mode: BuildMode) -> PathBuf {
    folder().join("records").join(mode.name())
}

/// Makes cargo use this program as the compiler wrapper.
pub fn recording(cargo: &mut Command, mode: BuildMode) -> Outcome<&mut Command> {
    fs::create_dir_all(file(mode))?;
    Ok(cargo.env("RUSTC_WRAPPER", std::env::current_exe()?).env(FOLDER, file(mode)))
}

/// If cargo invoked this program as a wrapper, records the invocation, compiles, and returns the exit code.
pub fn as_wrapper() -> Option<ExitCode> {
    let records = PathBuf::from(std::env::var_os(FOLDER)?);
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let status = record(records, &arguments).and_then(|()| {
        let (compiler, rest) = arguments.split_first().ok_or("cargo names the compiler")?;
        Ok(Command::new(compiler).args(rest).env_remove(FOLDER).status()?)
    });
    Some(match status {
        Ok(status) => status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from),
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    })
}

fn record(records: PathBuf, arguments: &[OsString]) -> Outcome {
    let words: Vec<String> = arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let named = words.windows(2).find(|pair| pair[0] == "--crate-name").map(|pair| pair[1].as_str());
    let measured = |name: &&str| {
        SPECIMENS.iter().any(|specimen| COUNTS.iter().any(|count| crate_name(specimen.name, *count) == *name))
    };
    let Some(name) = named.filter(measured) else { return Ok(()) };
    let ours = |name: &str| name.starts_with("CARGO") || name == "OUT_DIR" || name == "LD_LIBRARY_PATH";
    let record = CompilerCall {
        environment: std::env::vars().filter(|(name, _)| ours(name)).collect(),
        folder: std::env::current_dir()?,
        arguments: words.clone(),
    };
    Ok(fs::write(records.join(format!("{name}.json")), serde_json::to_string(&record)?)?)
}

fn crate_name(name: &str, count: usize) -> String {
    package(name, count).replace('-', "_")
}

/// Returns the same invocation, without output.
pub fn replay(name: &str, count: usize, mode: BuildMode) -> Outcome<Command> {
    let path = file(mode).join(crate_name(name, count) + ".json");
    let text = fs::read_to_string(&path).map_err(|error| format!("{name} was not recorded: {error}"))?;
    let record: CompilerCall = serde_json::from_str(&text)?;
    let (_, arguments) = record.arguments.split_first().ok_or("the compiler is named")?;
    // Resolves rustup's choice once, so that only the compiler is measured.
    let home = crate::cargo::output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let mut command = Command::new(PathBuf::from(home).join("bin/rustc"));
    command
        .args(arguments)
        .envs(&record.environment)
        .current_dir(&record.folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}
