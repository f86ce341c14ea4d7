//! What a system prompt says of the tools.

use tool_model::{KEYS, ToolDefinition, brief};

use crate::Dispatcher;

impl Dispatcher {
    /// Instructions on all tools on offer, for a system prompt: each under its name, sorted.
    ///
    /// They are those of `#[tool(instructions = "..")]`; for a tool without them they follow from its description and
    /// from what it says of itself. The arguments are not among them: providers are sent those.
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

    /// All tools on offer, each on one line with its arguments: for a prompt of a model that calls tools in its own
    /// way, or to see what there is.
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
    // On one line: a description from elsewhere cannot begin a section of its own.
    let mut sentences: Vec<String> = vec![tool.full_description().split_whitespace().collect::<Vec<_>>().join(" ")];
    let said = KEYS.iter().filter(|key| key.is_on(tool)).filter_map(|key| key.sentence);
    sentences.extend(said.map(str::to_owned));
    sentences.retain(|sentence| !sentence.is_empty());
    sentences.join(" ")
}
