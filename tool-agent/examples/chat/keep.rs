//! Where conversations are kept, and by which names.

use std::fs::{self, File, TryLockError};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tool_agent::{SqliteStore, StoreError};

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
pub async fn newest(store: &SqliteStore, folder: &Path) -> Result<Option<String>, StoreError> {
    let own = prefix(folder);
    // What follows is a time: another folder may be named as this one with more behind it.
    let is_own = |id: &str| id.strip_prefix(&own).is_some_and(|time| time.bytes().all(|byte| byte.is_ascii_digit()));
    let mut found = store.newest(LOOKED_THROUGH).await?.into_iter().filter(|one| is_own(&one.id));
    Ok(found.next().map(|one| one.id))
}

/// A conversation that no other chat goes on with for as long as this is held. The end of the process lets go of it too.
pub struct Claim {
    pub id: String,
    _lock: File,
}

impl Claim {
    /// The conversation of this id; nothing if another chat has it open.
    pub fn of(state: &Path, id: String) -> io::Result<Option<Self>> {
        let open = state.join("open");
        fs::create_dir_all(&open)?;
        let mut hasher = DefaultHasher::new();
        id.hash(&mut hasher);
        let lock = File::create(open.join(format!("{:016x}", hasher.finish())))?;
        match lock.try_lock() {
            Ok(()) => Ok(Some(Self { id, _lock: lock })),
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

/// The name of a new conversation.
fn new_id(folder: &Path) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{}{}", prefix(folder), now.as_millis())
}

fn prefix(folder: &Path) -> String {
    format!("{}#", folder.display())
}
