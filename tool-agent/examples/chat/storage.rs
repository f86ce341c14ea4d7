//! Storage of conversations and their ids.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use tool_agent::{ConversationStoreError, SqliteStore};

/// The number of newest conversations that are searched for one of this directory.
const LOOKED_THROUGH: u32 = 1000;

/// Returns the directory of this program's files. It is not the tools' directory, where a model could change them.
pub fn folder(given: Option<&Path>) -> io::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = given
        .map(Path::to_owned)
        .or_else(|| Some(set("XDG_STATE_HOME")?.join("tool-agent")))
        .or_else(|| Some(set("HOME")?.join(".local/state/tool-agent")))
        .ok_or_else(|| io::Error::other("neither `--state` nor `HOME` is set: cannot store conversations"))?;
    fs::create_dir_all(&state)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", state.display())))?;
    Ok(state)
}

/// Returns the newest conversation of a directory, if there is one.
pub async fn newest(store: &SqliteStore, folder: &Path) -> Result<Option<String>, ConversationStoreError> {
    let own = prefix(folder);
    // A time must follow, because another directory's name may start with this one.
    let is_own = |id: &str| id.strip_prefix(&own).is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit()));
    let mut found = store.newest(LOOKED_THROUGH).await?.into_iter().filter(|one| is_own(&one.id));
    Ok(found.next().map(|one| one.id))
}

/// An exclusive lock on a conversation. The operating system releases it when the process ends.
pub struct ConversationLock {
    pub id: String,
    path: PathBuf,
    _lock: File,
}

impl ConversationLock {
    /// Locks the conversation with this id. Returns `None` if another chat has it open.
    pub fn acquire(state: &Path, id: String) -> io::Result<Option<Self>> {
        let open = state.join("open");
        fs::create_dir_all(&open)?;
        let path = open.join(file_name(&id));
        let _guard = lock_directory(&path)?;
        let lock = File::create(&path)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { id, path, _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Locks a new conversation.
    pub fn new(state: &Path, folder: &Path) -> io::Result<Self> {
        loop {
            // Two chats may create the same id at the same moment.
            if let Some(lock) = Self::acquire(state, new_id(folder))? {
                return Ok(lock);
            }
        }
    }
}

impl Drop for ConversationLock {
    fn drop(&mut self) {
        // A file that is left behind is harmless.
        if let Ok(_guard) = lock_directory(&self.path) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Serializes creating and removing lock files: a file that is removed while another chat opens it could be locked by
/// both.
fn lock_directory(lock: &Path) -> io::Result<File> {
    let door = File::create(lock.with_file_name("door"))?;
    door.lock()?;
    Ok(door)
}

/// Returns the file name for an id, which may be long and contain any character.
fn file_name(id: &str) -> String {
    Sha256::digest(id).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the id of a new conversation.
fn new_id(folder: &Path) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}{}", prefix(folder), now.as_millis())
}

fn prefix(folder: &Path) -> String {
    format!("{}#", folder.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_chat_has_a_conversation_open() -> io::Result<()> {
        let state = tempfile::tempdir()?;
        let lock = |id: &str| ConversationLock::acquire(state.path(), id.to_owned());
        let long = "a/".repeat(300);
        let held = lock(&long)?;
        assert!(held.is_some() && lock(&long)?.is_none());
        assert!(lock("another")?.is_some());
        drop(held);
        let left: Vec<_> = fs::read_dir(state.path().join("open"))?
            .map(|entry| entry.map(|e| e.file_name()))
            .collect::<io::Result<_>>()?;
        assert_eq!(left, ["door"]);
        assert!(lock(&long)?.is_some());
        Ok(())
    }
}
