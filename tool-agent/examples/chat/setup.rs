//! The agent, its model and its tools.

use std::error::Error;
use std::path::PathBuf;

use tool_agent::{Agent, Conversation, Model, Offline, Provider, Retrying, SqliteStore, SubAgents};
use tool_builtins::files::Files;
use tool_builtins::spawn::Spawn;
use tool_builtins::web::Web;
use tool_runtime::{Dispatcher, Selection};

use crate::arguments::Arguments;
use crate::asking::{Asking, Coming};
use crate::keep;

const SYSTEM: &str = "You help with the files of one folder. Paths are relative to it. Be brief: what you say is read \
                      in a terminal, as plain text.";

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
    /// How many messages were there before.
    pub resumed: u64,
    store: SqliteStore,
}

impl Chat {
    pub async fn new(arguments: &Arguments) -> Result<Self, Box<dyn Error>> {
        let folder =
            arguments.folder.canonicalize().map_err(|error| format!("{}: {error}", arguments.folder.display()))?;
        let (asking, coming) = Asking::new();
        let sub_agents = SubAgents::default();
        let tools = tools(arguments, &folder, asking.clone(), sub_agents.clone())?;
        let (model, name): (Box<dyn Model>, String) = match Provider::from_env()? {
            Some(model) => {
                let name = model.name().to_owned();
                (Box::new(Retrying::new(model)), name)
            }
            None => (Box::new(Offline), "no language model (set TOOL_MODEL=provider/model)".to_owned()),
        };
        let state = keep::folder(arguments.state.as_deref())?;
        let store = SqliteStore::open(state.join("conversations.sqlite")).await?;
        let agent = Agent::builder(model, tools).system(SYSTEM).store(store.clone()).build();
        sub_agents.are(&agent);
        let known = if arguments.new { None } else { keep::newest(&store, &folder).await? };
        let (id, resumed) = known.unwrap_or_else(|| (keep::new_id(&folder), 0));
        let conversation = agent.conversation(id);
        let lines = state.join("lines");
        Ok(Self { agent, conversation, asking, coming, model: name, folder, lines, resumed, store })
    }

    pub async fn close(self) {
        self.store.close().await;
    }
}

fn tools(
    arguments: &Arguments,
    folder: &PathBuf,
    asking: Asking,
    sub_agents: SubAgents,
) -> Result<Dispatcher, Box<dyn Error>> {
    let tools = Dispatcher::builder()
        .service(Files::new(folder)?.allow_delete(arguments.allow_delete))
        .service(Web::new().search_from_env()?)
        .service(Spawn::new(sub_agents))
        .confirm(asking);
    #[cfg(target_os = "linux")]
    let tools = {
        let exec = tool_builtins::exec::Exec::new(folder)?;
        tools.service(if arguments.no_network { exec.without_network() } else { exec })
    };
    let tools = tools.build()?;
    // What would be refused each time is not offered.
    match arguments.allow_delete {
        true => Ok(tools),
        false => Ok(tools.select(Selection::new().predicate(|name, _| name != "delete_file"))?),
    }
}
