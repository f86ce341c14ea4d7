//! The program as a user runs it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// As in `quickstart | head -1`.
#[test]
fn ends_quietly_if_its_output_is_closed() -> std::io::Result<()> {
    let mut program = Command::new(env!("CARGO_BIN_EXE_quickstart"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut first = String::new();
    BufReader::with_capacity(16, program.stdout.take().expect("piped")).read_line(&mut first)?;
    assert!(first.ends_with("tools\n"), "{first}");
    // The pipe is closed here, long before the last line.
    let ended = program.wait_with_output()?;
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert!(ended.status.success(), "{}", ended.status);
    Ok(())
}
