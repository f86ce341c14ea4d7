//! Text about the tools for a system prompt.

use tool_model::{KEYS, ToolDefinition, brief};

use crate::Dispatcher;

impl Dispatcher {
    /// Returns the instructions of all offered tools for a system prompt, each under its name, sorted by name.
    ///
    /// Each tool contributes its `#[tool(instructions = "..")]`, or its description and one sentence per flag. Arguments
    /// are left out, since model providers receive them with the definitions.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, tool};
    ///
    /// /// Send a mail.
    /// #[tool(name = "mail.send", instructions = "Show the text to the user before you send it.")]
    /// fn send(to: &str, text: &str) {}
    ///
    /// /// The newest mails.
    /// #[tool(name = "mail.newest", read_only)]
    /// fn newest() {}
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// assert_eq!(
    ///     tools.instructions(),
    ///     concat!(
    ///         "## mail.newest\nThe newest mails. It changes nothing.\n\n",
    ///         "## mail.send\nShow the text to the user before you send it.\n",
    ///     )
    /// );
    /// assert_eq!(
    ///     tools.catalogue(),
    ///     "- mail.newest(): The newest mails.\n- mail.send(text: string, to: string): Send a mail.\n"
    /// );
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn instructions(&self) -> String {
        let definitions = self.definitions();
        let each = definitions.iter().map(|(name, tool)| format!("## {name}\n{}\n", instructions_of(tool)));
        each.collect::<Vec<_>>().join("\n")
    }

    /// Returns all offered tools, one per line with its arguments: for models without native tool calling, or as an
    /// overview.
    #[must_use]
    pub fn catalogue(&self) -> String {
        let definitions = self.definitions();
        definitions.iter().map(|(name, tool)| format!("- {}\n", brief(name, tool))).collect()
    }
}

fn instructions_of(tool: &ToolDefinition) -> String {
    if let Some(instructions) = &tool.instructions {
        return instructions.trim().to_owned();
    }
    // On one line, so that a remote tool's description cannot start a section of its own.
    let mut sentences: Vec<String> = vec![tool.full_description().split_whitespace().collect::<Vec<_>>().join(" ")];
    let said = KEYS.iter().filter(|key| key.is_on(tool)).filter_map(|key| key.sentence);
    sentences.extend(said.map(str::to_owned));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}
