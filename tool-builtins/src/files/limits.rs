//! How much the tools take and give at once.

/// How much the tools take and give at once. What is more is refused or left out, and the result says so.
///
/// ```
/// use tool_builtins::files::{Files, Limits};
///
/// # fn main() -> std::io::Result<()> {
/// let limits = Limits { read_bytes: 16 * 1024, ..Limits::default() };
/// let files = Files::new(".")?.limits(limits);
/// # drop(files);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The most bytes that one `read_file` gives back; 256 KiB. The file itself may be of any size.
    pub read_bytes: usize,
    /// The longest file that is edited, patched or appended to, in bytes; 256 MiB. It is held in memory.
    pub change_bytes: u64,
    /// The most entries that one `list_files` gives back, and matches that one `search_files` does; 10,000.
    pub results: usize,
    /// The most entries that are looked at to find them; a million.
    pub entries: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { read_bytes: 256 * 1024, change_bytes: 256 * 1024 * 1024, results: 10_000, entries: 1_000_000 }
    }
}
