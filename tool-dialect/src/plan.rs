//! Which tools are offered under which name, and which of them strictly.

use std::borrow::Cow;

use tool_model::ToolDefinition;

use crate::definition::{Definition, Subject};
use crate::names::{encoded, renamed_arguments};
use crate::rules::{Budget, Rules};
use crate::schema::{Counts, Notes, Profile};
use crate::{Form, NameClash};

/// One tool on its way into a provider's form.
pub(crate) struct Planned<'a> {
    pub(crate) name: &'a str,
    pub(crate) encoded: Cow<'a, str>,
    pub(crate) tool: &'a ToolDefinition,
    pub(crate) renamed: Vec<(String, String)>,
}

/// What became of one tool.
pub(crate) struct Written<N> {
    pub(crate) definition: Definition<N>,
    pub(crate) strict: bool,
    /// The attempt to write it strictly that failed, or was too much for the request.
    pub(crate) attempt: Option<Definition<N>>,
}

/// Sorts the tools and gives them the names that the provider takes.
pub(crate) fn plan<'a>(
    form: Form,
    tools: impl IntoIterator<Item = (&'a str, &'a ToolDefinition)>,
) -> (Vec<Planned<'a>>, Vec<NameClash>) {
    let rules = form.dialect.rules();
    let mut planned: Vec<Planned<'a>> = tools
        .into_iter()
        .map(|(name, tool)| Planned {
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

fn clashes(planned: &[Planned<'_>]) -> Vec<NameClash> {
    let mut by_encoded: Vec<&Planned<'_>> = planned.iter().collect();
    by_encoded.sort_by_key(|tool| &*tool.encoded);
    let pairs = by_encoded.windows(2).filter(|pair| pair[0].encoded == pair[1].encoded);
    let clash = |pair: &[&Planned<'_>]| NameClash {
        tools: [pair[0].name.to_owned(), pair[1].name.to_owned()],
        encoded: pair[0].encoded.clone().into_owned(),
    };
    pairs.map(clash).collect()
}

/// Writes all tools, strictly where that is wanted and can be.
pub(crate) fn write<N: Notes>(form: Form, planned: &[Planned<'_>]) -> Vec<Written<N>> {
    let rules = form.dialect.rules();
    let mut budget = rules.strict.as_ref().and_then(|strict| strict.budget);
    let mut written: Vec<Option<Written<N>>> = planned.iter().map(|_| None).collect();
    // Where strictness is scarce, tools that ask for it themselves come first.
    for asked in [true, false] {
        for (tool, place) in planned.iter().zip(&mut written) {
            if (tool.tool.strict == Some(true)) == asked {
                *place = Some(tool.write(form, rules, &mut budget));
            }
        }
    }
    written.into_iter().flatten().collect()
}

impl Planned<'_> {
    fn write<N: Notes>(&self, form: Form, rules: &Rules, budget: &mut Option<Budget>) -> Written<N> {
        let subject = self.subject(form);
        let mut attempt = None;
        let is_spent = budget.is_some_and(|budget| budget.tools == 0);
        let profile = self.strict_profile(form, rules);
        if let Some(profile) = profile.filter(|_| N::ARE_READ || !is_spent) {
            let definition: Definition<N> = subject.write(profile);
            if !definition.refused && spend(budget, definition.counts) {
                return Written { definition, strict: true, attempt: None };
            }
            attempt = Some(definition);
        }
        Written { definition: subject.write(rules.schemas), strict: false, attempt }
    }

    fn subject(&self, form: Form) -> Subject<'_> {
        Subject { dialect: form.dialect, name: &self.encoded, tool: self.tool, renamed: &self.renamed }
    }

    /// The strict profile, if this tool is wanted strictly.
    fn strict_profile(&self, form: Form, rules: &Rules) -> Option<&'static Profile> {
        let strict = rules.strict.as_ref().filter(|_| self.tool.strict.unwrap_or(form.strict));
        strict.map(|strict| strict.schemas)
    }
}

/// Takes what a tool needs from what the request has left; whether there was enough.
fn spend(budget: &mut Option<Budget>, counts: Counts) -> bool {
    let Some(left) = budget else { return true };
    let rest = |left: usize, needed: usize| left.checked_sub(needed);
    let (Some(tools), Some(optional), Some(unions)) =
        (rest(left.tools, 1), rest(left.optional, counts.optional), rest(left.unions, counts.unions))
    else {
        return false;
    };
    *left = Budget { tools, optional, unions };
    true
}
