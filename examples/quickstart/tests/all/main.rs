//! The program as a user runs it.

use std::process::{Command, Stdio};

/// As in `quickstart | head -1`. The reader is closed before the program starts, so that the first line fails already.
#[test]
fn ends_quietly_if_its_output_is_closed() -> std::io::Result<()> {
    let (reader, writer) = std::io::pipe()?;
    drop(reader);
    let ended = Command::new(env!("CARGO_BIN_EXE_quickstart")).stdin(Stdio::null()).stdout(writer).output()?;
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
    assert!(ended.status.success(), "{}", ended.status);
    Ok(())
}
