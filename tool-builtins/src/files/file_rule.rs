//! Checks on files before they are read or written.

use cap_fs_ext::MetadataExt;
use cap_std::fs::{FileType, Metadata};
use tool_runtime::HandlerError;

use super::errors::{FileResult, quote_path, retry};

/// Conditions that an open file must meet before its content is read or written.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileRule {
    /// `true` if files with several hard links may be read and written.
    pub(super) hard_links: bool,
}

impl FileRule {
    /// Checks that a file is regular: opening a pipe or device could block or have side effects.
    pub(super) fn check(self, path: &str, metadata: &Metadata) -> FileResult<()> {
        let kind = metadata.file_type();
        if kind.is_dir() {
            return retry(format!("{} is a directory, not a file.", quote_path(path)));
        }
        if !kind.is_file() {
            return retry(format!("{} is {}, not a regular file.", quote_path(path), describe(kind)));
        }
        if self.is_shared(metadata) {
            return Err(HandlerError::failed(format!(
                "{} has several hard links, and some may be outside the workspace. Such files are not read or written \
                 unless the application allows it.",
                quote_path(path)
            )));
        }
        Ok(())
    }

    /// Returns `true` if a file has several hard links and that is not allowed. It may also be linked from outside the
    /// workspace, which cannot be detected from inside.
    pub(super) fn is_shared(self, metadata: &Metadata) -> bool {
        !self.hard_links && !metadata.is_dir() && metadata.nlink() > 1
    }
}

/// Describes a file type other than a regular file.
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
        kind if kind.is_dir() => "a directory",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "something else",
    }
}
