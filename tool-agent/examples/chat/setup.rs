//! Set-up of the agent, its model and its tools.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tool_agent::{
    Agent, Conversation, Message, Model, OfflineModel, ProviderModel, RetryingModel, SqliteStore, SubAgents,
};
use tool_builtins::files::{Files, is_inside};
use tool_builtins::spawn::Spawn;
use tool_builtins::web::Web;
use tool_journal::SqliteJournal;
use tool_mcp::RemoteServers;
use tool_runtime::confirm::PolicyArguments;
use tool_runtime::{Dispatcher, Selection};

use crate::arguments::Arguments;
use crate::confirmer::{ChatConfirmer, PendingQuestions};
use crate::storage::{self, ConversationLock};

const SYSTEM: &str = "You help with the files of one directory. Paths are relative to it. Be brief: your text is shown in a \
                      terminal, as plain text.";

/// The time that calls stay in the journal.
const RETENTION: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The state of a chat.
pub struct Chat {
    pub agent: Agent,
    pub conversation: Conversation,
    pub confirmer: ChatConfirmer,
    pub questions: PendingQuestions,
    /// The MCP servers, if there are any.
    pub servers: Option<RemoteServers>,
    /// The calls that need approval.
    pub policy: PolicyArguments,
    /// The name of the model, for display.
    pub model: String,
    /// The directory that the tools work in.
    pub folder: PathBuf,
    /// The file of the line history.
    pub lines: PathBuf,
    /// The messages of the conversation at startup.
    pub before: Vec<Message>,
    /// Set if another chat has the newest conversation of the directory open.
    pub is_second: bool,
    lock: ConversationLock,
    state: PathBuf,
    store: SqliteStore,
}

impl Chat {
    pub async fn new(arguments: &Arguments) -> Result<Self, Box<dyn Error>> {
        let folder =
            arguments.folder.canonicalize().map_err(|error| format!("{}: {error}", arguments.folder.display()))?;
        let (confirmer, questions) = ChatConfirmer::new();
        let sub_agents = SubAgents::default();
        let state = storage::folder(arguments.state.as_deref())?;
        check_separation(&folder, &state, arguments)?;
        // After a crash, the next chat learns from the journal which calls have run.
        let journal = SqliteJournal::open(state.join("calls.sqlite")).await?;
        journal.prune(RETENTION).await?;
        let tools = tools(arguments, &folder, journal, confirmer.clone(), sub_agents.clone())?;
        let servers = match arguments.plugins.servers()? {
            Some(servers) => Some(servers.connect(&tools.registry()).await?),
            None => None,
        };
        let (model, name): (Box<dyn Model>, String) = match ProviderModel::from_env()? {
            Some(model) => {
                let name = model.name().to_owned();
                (Box::new(RetryingModel::new(model)), name)
            }
            None => (Box::new(OfflineModel), "offline demo model (set TOOL_MODEL=provider/model)".to_owned()),
        };
        let store = SqliteStore::open(state.join("conversations.sqlite")).await?;
        let agent = Agent::builder(model, tools).system(SYSTEM).store(store.clone()).build();
        sub_agents.bind(&agent);
        let newest = if arguments.new { None } else { storage::newest(&store, &folder).await? };
        let (is_known, known) =
            (newest.is_some(), newest.map(|id| ConversationLock::acquire(&state, id)).transpose()?.flatten());
        let is_second = is_known && known.is_none();
        let lock = known.map_or_else(|| ConversationLock::new(&state, &folder), Ok)?;
        let conversation = agent.conversation(&lock.id);
        let before = conversation.history().await?;
        let lines = state.join("lines");
        let model = name;
        Ok(Self {
            agent,
            conversation,
            confirmer,
            questions,
            servers,
            policy: arguments.policy.clone(),
            model,
            folder,
            lines,
            before,
            is_second,
            lock,
            state,
            store,
        })
    }

    /// Starts a new conversation. Another chat may continue the previous one.
    pub fn start_conversation(&mut self) -> io::Result<()> {
        self.lock = ConversationLock::new(&self.state, &self.folder)?;
        self.conversation = self.agent.conversation(&self.lock.id);
        Ok(())
    }

    pub async fn close(self) {
        if let Some(servers) = &self.servers {
            servers.close().await;
        }
        self.store.close().await;
    }
}

/// Checks that the model cannot change the conversations and the MCP servers of the chat with the file tools.
fn check_separation(folder: &Path, state: &Path, arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let shown = folder.display();
    if is_inside(folder, state)? {
        let state = state.display();
        return Err(format!(
            "{shown} contains {state}, where conversations are stored, so the model could change them: pass another \
             directory with `--state`, or a smaller one to work in"
        )
        .into());
    }
    for path in arguments.plugins.paths() {
        if is_inside(folder, &path)? {
            let path = path.display();
            return Err(format!(
                "{shown} contains {path}, so the model could add programs that the chat starts: move it elsewhere, or \
                 pass a smaller directory to work in"
            )
            .into());
        }
    }
    Ok(())
}

fn tools(
    arguments: &Arguments,
    folder: &PathBuf,
    journal: SqliteJournal,
    confirmer: ChatConfirmer,
    sub_agents: SubAgents,
) -> Result<Dispatcher, Box<dyn Error>> {
    let files = Files::new(folder)?.allow_delete(arguments.allow_delete);
    let web = Web::new().search_from_env()?;
    let of_use = Selection::new().hide(files.unusable()).hide(web.unusable());
    let tools = arguments
        .policy
        .apply(Dispatcher::builder())
        .service(files)
        .service(web)
        .service(Spawn::new(sub_agents))
        .journal(journal)
        .confirm(confirmer);
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
    async fn files_can_be_deleted_only_with_the_flag() -> Result<(), Box<dyn Error>> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().to_owned();
        for (line, is_offered) in [(&["chat"][..], false), (&["chat", "--allow-delete"], true)] {
            let journal = SqliteJournal::open(path.join("calls.sqlite")).await?;
            let tools =
                tools(&Arguments::parse_from(line), &path, journal, ChatConfirmer::new().0, SubAgents::default())?;
            assert_eq!(tools.definition("delete_file").is_some(), is_offered, "{line:?}");
            assert!(tools.definition("write_file").is_some());
        }
        Ok(())
    }
}
