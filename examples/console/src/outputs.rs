//! Outputs that are too long for a model, kept in full for people.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use tool_runtime::{FolderStore, SpillKey, SpillStore, ToolResult};

/// The outputs of which a model was given a part, as files of a folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Outputs(Arc<FolderStore>);

impl Outputs {
    /// Those of a folder, which is made if it is not there.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn open(folder: PathBuf) -> io::Result<Self> {
        FolderStore::new(folder).map(|store| Self(Arc::new(store)))
    }

    /// The whole output of a call; nothing if it is kept no more.
    #[must_use]
    pub fn whole(&self, conversation: Option<&str>, result: &ToolResult) -> Option<String> {
        let Some(spilled) = result.metadata.get("spilled") else { return Some(result.output.clone()) };
        let key = SpillKey::new(conversation, spilled["handle"].as_str()?);
        self.get(key).ok().flatten().map(|text| text.to_string())
    }
}

impl SpillStore for Outputs {
    fn put(&self, key: SpillKey<'_>, text: &str) -> io::Result<()> {
        self.0.put(key, text)
    }

    fn get(&self, key: SpillKey<'_>) -> io::Result<Option<Arc<str>>> {
        self.0.get(key)
    }
}
