//! The agent, its model and its tools.

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use tool_agent::{
    Agent, Conversation, Message, Model, OfflineModel, ProviderModel, RetryingModel, SqliteStore, SubAgents,
};
use tool_builtins::files::Files;
use tool_builtins::spawn::Spawn;
use tool_builtins::web::Web;
use tool_journal::SqliteJournal;
use tool_runtime::{Dispatcher, Selection};

use crate::arguments::Arguments;
use crate::asking::{Asking, Coming};
use crate::keep::{self, Claim};

const SYSTEM: &str = "You help with the files of one folder. Paths are relative to it. Be brief: what you say is read \
                      in a terminal, as plain text.";

/// How long calls are on record.
const KEPT: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Everything that a chat has.
pub struct Chat {
    pub agent: Agent,
    pub conversation: Conversation,
    pub asking: Asking,
    pub coming: Coming,
    /// The model, for people.
    pub model: String,
    /// The folder that the tools work in.
    pub folder: PathBuf,
    /// Where the lines that were typed are kept.
    pub lines: PathBuf,
    /// What was said before.
    pub before: Vec<Message>,
    /// Whether another chat has the newest conversation of the folder open.
    pub is_beside: bool,
    claim: Claim,
    state: PathBuf,
    store: SqliteStore,
}

impl Chat {
    pub async fn new(arguments: &Arguments) -> Result<Self, Box<dyn Error>> {
        let folder =
            arguments.folder.canonicalize().map_err(|error| format!("{}: {error}", arguments.folder.display()))?;
        let (asking, coming) = Asking::new();
        let sub_agents = SubAgents::default();
        let state = keep::folder(arguments.state.as_deref())?;
        // A chat that was killed knows by it which calls have run.
        let journal = SqliteJournal::open(state.join("calls.sqlite")).await?;
        journal.prune(KEPT).await?;
        let tools = tools(arguments, &folder, journal, asking.clone(), sub_agents.clone())?;
        let (model, name): (Box<dyn Model>, String) = match ProviderModel::from_env()? {
            Some(model) => {
                let name = model.name().to_owned();
                (Box::new(RetryingModel::new(model)), name)
            }
            None => (Box::new(OfflineModel), "no language model (set TOOL_MODEL=provider/model)".to_owned()),
        };
        let store = SqliteStore::open(state.join("conversations.sqlite")).await?;
        let agent = Agent::builder(model, tools).system(SYSTEM).store(store.clone()).build();
        sub_agents.bind(&agent);
        let newest = if arguments.new { None } else { keep::newest(&store, &folder).await? };
        let (is_known, known) = (newest.is_some(), newest.map(|id| Claim::of(&state, id)).transpose()?.flatten());
        let is_beside = is_known && known.is_none();
        let claim = known.map_or_else(|| Claim::new(&state, &folder), Ok)?;
        let conversation = agent.conversation(&claim.id);
        let before = conversation.history().await?;
        let lines = state.join("lines");
        let model = name;
        Ok(Self { agent, conversation, asking, coming, model, folder, lines, before, is_beside, claim, state, store })
    }

    /// Begins a new conversation. Another chat may go on with the one so far.
    pub fn begin_anew(&mut self) -> io::Result<()> {
        self.claim = Claim::new(&self.state, &self.folder)?;
        self.conversation = self.agent.conversation(&self.claim.id);
        Ok(())
    }

    pub async fn close(self) {
        self.store.close().await;
    }
}

fn tools(
    arguments: &Arguments,
    folder: &PathBuf,
    journal: SqliteJournal,
    asking: Asking,
    sub_agents: SubAgents,
) -> Result<Dispatcher, Box<dyn Error>> {
    let files = Files::new(folder)?.allow_delete(arguments.allow_delete);
    let web = Web::new().search_from_env()?;
    let of_use = Selection::new().hide(files.unusable()).hide(web.unusable());
    let tools = Dispatcher::builder()
        .service(files)
        .service(web)
        .service(Spawn::new(sub_agents))
        .journal(journal)
        .confirm(asking);
    #[cfg(target_os = "linux")]
    let tools = {
        let exec = tool_builtins::exec::Exec::new(folder)?;
        tools.service(if arguments.no_network { exec.without_network() } else { exec })
    };
    Ok(tools.build()?.select(of_use)?)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[tokio::test]
    async fn files_can_be_deleted_only_if_the_command_line_says_so() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().to_owned();
        for (line, is_offered) in [(&["chat"][..], false), (&["chat", "--allow-delete"], true)] {
            let journal = SqliteJournal::open(path.join("calls.sqlite")).await?;
            let tools = tools(&Arguments::parse_from(line), &path, journal, Asking::new().0, SubAgents::default())?;
            assert_eq!(tools.definition("delete_file").is_some(), is_offered, "{line:?}");
            assert!(tools.definition("write_file").is_some());
        }
        Ok(())
    }
}
