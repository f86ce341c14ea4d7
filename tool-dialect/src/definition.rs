//! One tool, as a provider is told of it.

use tool_model::{KEYS, ToolDefinition};

use crate::Dialect;
use crate::schema::{Counts, Definitions, Json, Loss, Node, Notes, Profile, RESULT, Writer};

/// The text of one tool's definition.
pub(crate) struct Definition<N> {
    pub(crate) text: String,
    pub(crate) notes: N,
    pub(crate) counts: Counts,
    /// Whether the schema cannot be said in this profile strictly.
    pub(crate) refused: bool,
}

/// What is written of one tool.
pub(crate) struct Subject<'a> {
    pub(crate) dialect: Dialect,
    /// The name that the provider takes.
    pub(crate) name: &'a str,
    pub(crate) tool: &'a ToolDefinition,
    /// The arguments that the provider takes under another name.
    pub(crate) renamed: &'a [(String, String)],
}

impl<'a> Subject<'a> {
    /// Writes the definition with the schema in the form of a profile.
    pub(crate) fn write<N: Notes>(&self, profile: &'static Profile) -> Definition<N> {
        let inlined = self.write_with(profile, Definitions::inlined(&self.tool.defs), None);
        inlined.unwrap_or_else(|| {
            // Definitions that use each other again and again would grow beyond every bound.
            let referred = Definitions::referred(&self.tool.defs);
            let written = self.write_with(profile, referred, Some(Loss::TooLarge));
            written.unwrap_or_else(|| unreachable!("without writing out, a definition is as large as the tool"))
        })
    }

    /// Nothing where the schema is too large with its definitions written out.
    fn write_with<N: Notes>(
        &self,
        profile: &'static Profile,
        definitions: Definitions<'a>,
        loss: Option<Loss>,
    ) -> Option<Definition<N>> {
        let is_last = loss.is_some();
        let mut json = Json::with_capacity(512);
        self.head(&mut json);
        if self.is_without_parameters() {
            self.tail(&mut json, profile);
            let counts = Counts::default();
            return Some(Definition { text: json.finish(), notes: N::default(), counts, refused: false });
        }
        let (key, around) = self.key();
        json.key(key);
        json.raw(around);
        let mut writer: Writer<'_, N> = Writer::new(json, profile, definitions);
        if let Some(loss) = loss {
            writer.lose(loss);
        }
        writer.parameters(self.tool, self.renamed);
        if writer.too_large && !is_last {
            return None;
        }
        let Writer { mut json, notes, counts, refused, .. } = writer;
        if !around.is_empty() {
            json.close(b'}');
        }
        self.tail(&mut json, profile);
        Some(Definition { text: json.finish(), notes, counts, refused })
    }

    /// Gemini refuses an object without properties, and takes a function without parameters.
    fn is_without_parameters(&self) -> bool {
        self.dialect == Dialect::Gemini && self.tool.arguments.is_empty()
    }

    /// Up to the schema: name and description.
    fn head(&self, json: &mut Json) {
        json.open(b'{');
        match self.dialect {
            Dialect::OpenAiChat | Dialect::OpenRouter => json.raw(r#""type":"function","function":{"#),
            Dialect::OpenAiResponses => json.raw(r#""type":"function""#),
            Dialect::Bedrock => json.raw(r#""toolSpec":{"#),
            Dialect::Anthropic | Dialect::Gemini | Dialect::Mcp => {}
        }
        json.key("name");
        json.text(self.name);
        let description = self.tool.full_description();
        if !description.trim().is_empty() {
            json.key("description");
            json.text(&description);
        }
    }

    /// The key of the schema, and what stands around it.
    fn key(&self) -> (&'static str, &'static str) {
        match self.dialect {
            Dialect::OpenAiChat | Dialect::OpenRouter | Dialect::OpenAiResponses | Dialect::Gemini => {
                ("parameters", "")
            }
            Dialect::Anthropic => ("input_schema", ""),
            Dialect::Bedrock => ("inputSchema", "{\"json\":"),
            Dialect::Mcp => ("inputSchema", ""),
        }
    }

    /// What comes after the schema.
    fn tail(&self, json: &mut Json, profile: &Profile) {
        let strict = profile.strict.is_some();
        // Responses are strict unless told otherwise.
        if strict || self.dialect == Dialect::OpenAiResponses {
            json.key("strict");
            json.raw(if strict { "true" } else { "false" });
        }
        if self.dialect == Dialect::Mcp {
            self.output_schema(json);
            self.annotations(json);
        }
        if matches!(self.dialect, Dialect::OpenAiChat | Dialect::OpenRouter | Dialect::Bedrock) {
            json.close(b'}');
        }
        json.close(b'}');
    }

    /// MCP takes the schema of a result that is an object.
    fn output_schema(&self, json: &mut Json) {
        let Some(returns) = self.tool.returns.as_ref().filter(|_| returns_object(self.tool)) else { return };
        json.key("outputSchema");
        let write = |definitions, json: &mut Json| {
            let mut writer: Writer<'_, crate::schema::Silent> = Writer::new(Json::default(), &RESULT, definitions);
            writer.result(returns);
            let fits = !writer.too_large;
            if fits {
                json.raw(&writer.json.finish());
            }
            fits
        };
        if !write(Definitions::inlined(&self.tool.defs), json) && !write(Definitions::referred(&self.tool.defs), json) {
            json.raw(r#"{"type":"object"}"#);
        }
    }

    /// What the code says of the tool's behaviour; what it does not say is left to the protocol's defaults.
    fn annotations(&self, json: &mut Json) {
        let mut hints = KEYS.iter().filter(|key| key.is_on(self.tool)).filter_map(|key| key.mcp_hint).peekable();
        if hints.peek().is_none() {
            return;
        }
        json.key("annotations");
        json.open(b'{');
        for hint in hints {
            json.key(hint);
            json.raw("true");
        }
        json.close(b'}');
    }
}

/// Whether a result is an object, so that MCP can take it as structured content.
pub(crate) fn returns_object(tool: &ToolDefinition) -> bool {
    let mut schema = tool.returns.as_ref();
    // As many steps as there are definitions: a longer way goes in circles.
    for _ in 0..=tool.defs.len() {
        let Some(known) = schema else { return false };
        match tool_model::reference_target(known) {
            Some(name) => schema = tool.defs.get(&*name),
            None => {
                let mut node = Node::read(known);
                node.infer_type();
                return node.types.name() == "object" && !node.types.is_several();
            }
        }
    }
    false
}
