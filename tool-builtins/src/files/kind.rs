//! Which things in a folder are files to be read and written.

use cap_fs_ext::MetadataExt;
use cap_std::fs::{FileType, Metadata};
use tool_runtime::HandlerError;

use super::failure::{Outcome, quoted, retry};

/// What is asked of a file before its content is touched. It is asked of the open descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRule {
    /// Whether files with several names are read and written.
    pub(super) hard_links: bool,
}

impl FileRule {
    /// Only regular files are read and written: a pipe or a device would block, or do something when it is read.
    pub(super) fn check(self, path: &str, metadata: &Metadata) -> Outcome<()> {
        let kind = metadata.file_type();
        if kind.is_dir() {
            return retry(format!("{} is a folder, not a file.", quoted(path)));
        }
        if !kind.is_file() {
            return retry(format!("{} is {}, not a regular file.", quoted(path), describe(kind)));
        }
        if self.is_shared(metadata) {
            return Err(HandlerError::failed(format!(
                "{} has several names (hard links), and some may be outside the workspace: such a file is neither \
                 read nor written unless the application allows it.",
                quoted(path)
            )));
        }
        Ok(())
    }

    /// Whether a file has other names, which nobody allows. It may be a file outside the workspace, and that cannot be
    /// seen from inside.
    pub(super) fn is_shared(self, metadata: &Metadata) -> bool {
        !self.hard_links && !metadata.is_dir() && metadata.nlink() > 1
    }
}

/// What something is that is no file.
pub(super) fn describe(kind: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use cap_std::fs::FileTypeExt;
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    match kind {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "something else",
    }
}
