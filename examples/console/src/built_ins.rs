//! The built-in tools of the console: files, commands, the web, messages and sub-agents.

use std::path::Path;

use tool_agent::SubAgents;
use tool_builtins::files::Files;
use tool_builtins::message::{MessageError, Messages, Messenger, OutgoingMessage};
use tool_builtins::spawn::Spawn;
use tool_builtins::web::Web;
use tool_runtime::Builder;

use crate::app::{OrStart, StartError};
use crate::options::Options;

/// The services of the built-in tools. Which of their tools are offered depends on the settings, see
/// [`Extension::tools`](crate::settings::Extension::tools).
pub struct BuiltIns {
    files: Files,
    #[cfg(target_os = "linux")]
    exec: tool_builtins::exec::Exec,
    web: Web,
    sub_agents: SubAgents,
}

impl BuiltIns {
    /// Opens the workspace.
    ///
    /// # Errors
    /// If the workspace cannot be opened, or the search provider of the environment is invalid.
    pub fn open(workspace: &Path, options: &Options) -> Result<Self, StartError> {
        Ok(Self {
            files: Files::new(workspace).or_start("cannot open the workspace")?.allow_delete(true),
            #[cfg(target_os = "linux")]
            exec: {
                let exec = tool_builtins::exec::Exec::new(workspace).or_start("cannot open the workspace")?;
                if options.no_network { exec.without_network() } else { exec }
            },
            web: Web::new().search_from_env().or_start("cannot use the search provider")?,
            sub_agents: SubAgents::default(),
        })
    }

    /// Returns the sub-agents, to bind their agent.
    #[must_use]
    pub fn sub_agents(&self) -> SubAgents {
        self.sub_agents.clone()
    }

    /// Returns the tools that cannot succeed with the environment of the console.
    #[must_use]
    pub fn unusable(&self) -> Vec<&'static str> {
        self.web.unusable()
    }

    /// Adds the services to a dispatcher.
    pub fn register(self, tools: Builder) -> Builder {
        let tools = tools
            .service(self.files)
            .service(self.web)
            .service(Messages::new(ConversationMessenger))
            .service(Spawn::new(self.sub_agents));
        #[cfg(target_os = "linux")]
        let tools = tools.service(self.exec);
        tools
    }
}

/// Delivers messages to the conversation that they come from, where the card of the call shows them.
struct ConversationMessenger;

impl Messenger for ConversationMessenger {
    async fn deliver(&self, message: OutgoingMessage) -> Result<(), MessageError> {
        match message.recipient == message.conversation {
            true => Ok(()),
            // The conversation of a sub-agent has no page.
            false => Err(MessageError::new("A sub-agent cannot message the user. Put the text into your answer.")),
        }
    }
}
