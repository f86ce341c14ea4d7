//! The definition of one tool in a provider's format.

use tool_model::{KEYS, ToolDefinition};

use crate::Dialect;
use crate::schema::{
    JsonText, LossSink, RESULT, SchemaCounts, SchemaLoss, SchemaNode, SchemaProfile, SchemaWriter, ToolDefs,
};

/// A tool definition as JSON text, with the losses and counts of its schema.
pub(crate) struct WrittenDefinition<N> {
    pub(crate) text: String,
    pub(crate) notes: N,
    pub(crate) counts: SchemaCounts,
    /// `true` if the strict profile cannot express the schema.
    pub(crate) refused: bool,
}

/// Writes the definition of one tool.
pub(crate) struct DefinitionWriter<'a> {
    pub(crate) dialect: Dialect,
    /// The name that the provider accepts.
    pub(crate) name: &'a str,
    pub(crate) tool: &'a ToolDefinition,
    /// The renamed arguments: own name and provider's name.
    pub(crate) renamed: &'a [(String, String)],
}

impl<'a> DefinitionWriter<'a> {
    /// Writes the definition, with the schema in the given profile.
    pub(crate) fn write<N: LossSink>(&self, profile: &'static SchemaProfile) -> WrittenDefinition<N> {
        let inlined = self.write_with(profile, ToolDefs::inlined(&self.tool.defs), None);
        inlined.unwrap_or_else(|| {
            // Inlined definitions that use each other repeatedly can grow without bound.
            let referred = ToolDefs::referred(&self.tool.defs);
            let written = self.write_with(profile, referred, Some(SchemaLoss::TooLarge));
            written.unwrap_or_else(|| unreachable!("without writing out, a definition is as large as the tool"))
        })
    }

    /// Returns `None` if the schema is too large with inlined definitions.
    fn write_with<N: LossSink>(
        &self,
        profile: &'static SchemaProfile,
        definitions: ToolDefs<'a>,
        loss: Option<SchemaLoss>,
    ) -> Option<WrittenDefinition<N>> {
        let is_last = loss.is_some();
        let mut json = JsonText::with_capacity(512);
        self.head(&mut json);
        if self.is_without_parameters() {
            self.tail(&mut json, profile);
            let counts = SchemaCounts::default();
            return Some(WrittenDefinition { text: json.finish(), notes: N::default(), counts, refused: false });
        }
        let (key, around) = self.key();
        json.key(key);
        json.raw(around);
        let mut writer: SchemaWriter<'_, N> = SchemaWriter::new(json, profile, definitions);
        if let Some(loss) = loss {
            writer.lose(loss);
        }
        writer.parameters(self.tool, self.renamed);
        if writer.too_large && !is_last {
            return None;
        }
        let SchemaWriter { mut json, notes, counts, refused, .. } = writer;
        if !around.is_empty() {
            json.close(b'}');
        }
        self.tail(&mut json, profile);
        Some(WrittenDefinition { text: json.finish(), notes, counts, refused })
    }

    /// Gemini rejects an object without properties, but accepts a function without parameters.
    fn is_without_parameters(&self) -> bool {
        self.dialect == Dialect::Gemini && self.tool.arguments.is_empty()
    }

    /// Writes the name and the description, which precede the schema.
    fn head(&self, json: &mut JsonText) {
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

    /// Returns the key of the schema, and the text that opens an object around it.
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

    /// Writes everything after the schema.
    fn tail(&self, json: &mut JsonText, profile: &SchemaProfile) {
        let strict = profile.strict.is_some();
        // The Responses API is strict by default.
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

    /// Writes the result schema, which MCP accepts for objects only.
    fn output_schema(&self, json: &mut JsonText) {
        let Some(returns) = self.tool.returns.as_ref().filter(|_| returns_object(self.tool)) else { return };
        json.key("outputSchema");
        let write = |definitions, json: &mut JsonText| {
            let mut writer: SchemaWriter<'_, crate::schema::IgnoredLosses> =
                SchemaWriter::new(JsonText::default(), &RESULT, definitions);
            writer.result(returns);
            let fits = !writer.too_large;
            if fits {
                json.raw(&writer.json.finish());
            }
            fits
        };
        if !write(ToolDefs::inlined(&self.tool.defs), json) && !write(ToolDefs::referred(&self.tool.defs), json) {
            json.raw(r#"{"type":"object"}"#);
        }
    }

    /// Writes the hints for flags that are set. The protocol's defaults apply to the others.
    fn annotations(&self, json: &mut JsonText) {
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

/// Returns `true` if the result is an object, so that MCP can carry it as structured content.
pub(crate) fn returns_object(tool: &ToolDefinition) -> bool {
    let mut schema = tool.returns.as_ref();
    // A chain longer than the number of definitions is a cycle.
    for _ in 0..=tool.defs.len() {
        let Some(known) = schema else { return false };
        match tool_model::reference_target(known) {
            Some(name) => schema = tool.defs.get(&*name),
            None => {
                let mut node = SchemaNode::read(known);
                node.infer_type();
                return node.types.name() == "object" && !node.types.is_union();
            }
        }
    }
    false
}
