//! Assigns provider names to tools, and decides which tools are strict.

use std::borrow::Cow;

use tool_model::ToolDefinition;

use crate::definition::{DefinitionWriter, WrittenDefinition};
use crate::names::{encoded, renamed_arguments};
use crate::rules::{ProviderRules, StrictBudget};
use crate::schema::{LossSink, SchemaCounts, SchemaProfile};
use crate::{DialectForm, NameClash};

/// A tool with its encoded name and renamed arguments.
pub(crate) struct PlannedTool<'a> {
    pub(crate) name: &'a str,
    pub(crate) encoded: Cow<'a, str>,
    pub(crate) tool: &'a ToolDefinition,
    pub(crate) renamed: Vec<(String, String)>,
}

/// A tool with its written definition.
pub(crate) struct WrittenTool<N> {
    pub(crate) definition: WrittenDefinition<N>,
    pub(crate) strict: bool,
    /// The rejected strict definition: not expressible, or over the request's budget.
    pub(crate) attempt: Option<WrittenDefinition<N>>,
}

/// Sorts the tools and encodes their names.
pub(crate) fn plan<'a>(
    form: DialectForm,
    tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>,
) -> (Vec<PlannedTool<'a>>, Vec<NameClash>) {
    let rules = form.dialect.rules();
    let mut planned: Vec<PlannedTool<'a>> = tools
        .into_iter()
        .map(|(name, tool)| PlannedTool {
            name,
            encoded: encoded(name, &rules.tool_names),
            tool,
            renamed: renamed_arguments(tool, rules.argument_names.as_ref()),
        })
        .collect();
    if !planned.is_sorted_by_key(|tool| tool.name) {
        planned.sort_by_key(|tool| tool.name);
    }
    let clashes = clashes(&planned);
    (planned, clashes)
}

fn clashes(planned: &[PlannedTool<'_>]) -> Vec<NameClash> {
    let mut by_encoded: Vec<&PlannedTool<'_>> = planned.iter().collect();
    by_encoded.sort_by_key(|tool| &*tool.encoded);
    let pairs = by_encoded.windows(2).filter(|pair| pair[0].encoded == pair[1].encoded);
    let clash = |pair: &[&PlannedTool<'_>]| NameClash {
        tools: [pair[0].name.to_owned(), pair[1].name.to_owned()],
        encoded: pair[0].encoded.clone().into_owned(),
    };
    pairs.map(clash).collect()
}

/// Writes all tools, strictly where requested and possible.
pub(crate) fn write<N: LossSink>(form: DialectForm, planned: &[PlannedTool<'_>]) -> Vec<WrittenTool<N>> {
    let rules = form.dialect.rules();
    let mut budget = rules.strict.as_ref().and_then(|strict| strict.budget);
    let mut written: Vec<Option<WrittenTool<N>>> = planned.iter().map(|_| None).collect();
    // Tools with `strict = true` get the strict budget first.
    for asked in [true, false] {
        for (tool, place) in planned.iter().zip(&mut written) {
            if (tool.tool.strict == Some(true)) == asked {
                *place = Some(tool.write(form, rules, &mut budget));
            }
        }
    }
    written.into_iter().flatten().collect()
}

impl PlannedTool<'_> {
    fn write<N: LossSink>(
        &self,
        form: DialectForm,
        rules: &ProviderRules,
        budget: &mut Option<StrictBudget>,
    ) -> WrittenTool<N> {
        let subject = self.subject(form);
        let mut attempt = None;
        let is_spent = budget.is_some_and(|budget| budget.tools == 0);
        let profile = self.strict_profile(form, rules);
        if let Some(profile) = profile.filter(|_| N::ARE_READ || !is_spent) {
            let definition: WrittenDefinition<N> = subject.write(profile);
            if !definition.refused && spend(budget, definition.counts) {
                return WrittenTool { definition, strict: true, attempt: None };
            }
            attempt = Some(definition);
        }
        WrittenTool { definition: subject.write(rules.schemas), strict: false, attempt }
    }

    fn subject(&self, form: DialectForm) -> DefinitionWriter<'_> {
        DefinitionWriter { dialect: form.dialect, name: &self.encoded, tool: self.tool, renamed: &self.renamed }
    }

    /// Returns the strict profile if the tool is to be strict.
    fn strict_profile(&self, form: DialectForm, rules: &ProviderRules) -> Option<&'static SchemaProfile> {
        let strict = rules.strict.as_ref().filter(|_| self.tool.strict.unwrap_or(form.strict));
        strict.map(|strict| strict.schemas)
    }
}

/// Subtracts a tool's needs from the request's budget. Returns `false` if too little is left.
fn spend(budget: &mut Option<StrictBudget>, counts: SchemaCounts) -> bool {
    let Some(left) = budget else { return true };
    let rest = |left: usize, needed: usize| left.checked_sub(needed);
    let (Some(tools), Some(optional), Some(unions)) =
        (rest(left.tools, 1), rest(left.optional, counts.optional), rest(left.unions, counts.unions))
    else {
        return false;
    };
    *left = StrictBudget { tools, optional, unions };
    true
}
