//! Where conversations are kept, and by which names.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use sha2::{Digest, Sha256};
use tool_agent::{ConversationStoreError, SqliteStore};

/// How many of the newest conversations are looked through for one of this folder.
const LOOKED_THROUGH: u32 = 1000;

/// The folder of this program's files. Not the folder that the tools work in, where a model could change what was said.
pub fn folder(given: Option<&Path>) -> io::Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let state = given
        .map(Path::to_owned)
        .or_else(|| Some(set("XDG_STATE_HOME")?.join("tool-agent")))
        .or_else(|| Some(set("HOME")?.join(".local/state/tool-agent")))
        .ok_or_else(|| io::Error::other("neither `--state` nor `HOME` says where to keep conversations"))?;
    fs::create_dir_all(&state)
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", state.display())))?;
    Ok(state)
}

/// The newest conversation of a folder, if there is one.
pub async fn newest(store: &SqliteStore, folder: &Path) -> Result<Option<String>, ConversationStoreError> {
    let own = prefix(folder);
    // What follows is a time: another folder may be named as this one with more behind it.
    let is_own = |id: &str| id.strip_prefix(&own).is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit()));
    let mut found = store.newest(LOOKED_THROUGH).await?.into_iter().filter(|one| is_own(&one.id));
    Ok(found.next().map(|one| one.id))
}

/// A conversation that no other chat goes on with for as long as this is held. The end of the process lets go of it too.
pub struct Claim {
    pub id: String,
    path: PathBuf,
    _lock: File,
}

impl Claim {
    /// The conversation of this id; nothing if another chat has it open.
    pub fn of(state: &Path, id: String) -> io::Result<Option<Self>> {
        let open = state.join("open");
        fs::create_dir_all(&open)?;
        let path = open.join(file_name(&id));
        let _door = door(&path)?;
        let lock = File::create(&path)?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { id, path, _lock: lock })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// A new conversation.
    pub fn new(state: &Path, folder: &Path) -> io::Result<Self> {
        loop {
            // Two chats may begin one in the same moment.
            if let Some(claim) = Self::of(state, new_id(folder))? {
                return Ok(claim);
            }
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // If it stays, nobody minds but who looks into the folder.
        if let Ok(_door) = door(&self.path) {
            drop(fs::remove_file(&self.path));
        }
    }
}

/// Held by whoever makes or removes the file of a claim: a file that is removed while another chat opens it would be
/// locked by both.
fn door(claim: &Path) -> io::Result<File> {
    let door = File::create(claim.with_file_name("door"))?;
    door.lock()?;
    Ok(door)
}

/// An id as the name of a file, however long it is and whatever is in it.
fn file_name(id: &str) -> String {
    Sha256::digest(id).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The name of a new conversation.
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
    fn a_conversation_is_one_chats_own_and_leaves_nothing_behind() -> io::Result<()> {
        let state = tempfile::tempdir()?;
        let claim = |id: &str| Claim::of(state.path(), id.to_owned());
        let long = "a/".repeat(300);
        let held = claim(&long)?;
        assert!(held.is_some() && claim(&long)?.is_none());
        assert!(claim("another")?.is_some());
        drop(held);
        let left: Vec<_> = fs::read_dir(state.path().join("open"))?
            .map(|entry| entry.map(|e| e.file_name()))
            .collect::<io::Result<_>>()?;
        assert_eq!(left, ["door"]);
        assert!(claim(&long)?.is_some());
        Ok(())
    }
}
