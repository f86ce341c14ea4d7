//! The schemas of a tool's arguments, prepared for its calls.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use serde_json::Value;
use tool_model::validate::{self, Validator};
use tool_model::{Argument, ArgumentSpec, Registration, Rule, ToolDefinition};

use super::duplicate::FreeForm;
use super::{Decode, trial};
use crate::redact::Redaction;

/// The arguments of one tool, in the order of its signature.
pub(crate) struct ArgumentSchemas {
    pub(crate) arguments: Vec<BoundArgument>,
    definition: Arc<ToolDefinition>,
    /// The new names of arguments that a selection has renamed, by their own names.
    renamed: BTreeMap<String, String>,
    redaction: OnceLock<Redaction>,
}

/// One argument of a bound tool.
pub(crate) struct BoundArgument {
    pub(crate) name: Cow<'static, str>,
    /// The JSON text to decode if the argument is absent.
    pub(crate) default: Option<Cow<'static, str>>,
    /// The values of `one_of`, as the text of a JSON array.
    listed: Option<&'static str>,
    /// `true` if the schema is stricter than the type. Unset until the type was tried.
    checked: OnceLock<bool>,
    /// The first byte of a valid value, where serde accepts more than the schema: it also reads structs from arrays and
    /// unit variants from objects.
    pub(super) first_byte: Option<u8>,
    /// `true` if the argument is required although its type is optional (`arguments(..)`).
    pub(super) demanded: bool,
    /// `true` if `null` means that it is absent.
    optional: bool,
    /// The parts in which duplicate keys would go unnoticed.
    pub(super) free_form: FreeForm,
    validator: OnceLock<Option<Validator>>,
}

impl BoundArgument {
    /// Returns `true` if the type was not tried yet.
    #[inline]
    pub(super) fn is_untried(&self) -> bool {
        self.checked.get().is_none()
    }

    /// Returns `true` if decoded values must be validated against the schema.
    #[inline]
    pub(super) fn is_checked(&self) -> bool {
        self.checked.get().is_some_and(|checked| *checked)
    }
}

impl ArgumentSchemas {
    pub(crate) fn new(tool: &Registration, definition: Arc<ToolDefinition>) -> Self {
        let argument = |spec: &ArgumentSpec| {
            let (name, rules) = (spec.name, spec.details.rules);
            let argument = definition.arguments.get(name);
            let schema = argument.map(Argument::schema);
            let schema = schema.as_ref();
            let is_checked = !rules.is_empty()
                || tool.options.explicit.is_some()
                || schema.is_some_and(|schema| validate::narrows_its_type(schema, &definition.defs));
            let is_settled = is_checked || !schema.is_some_and(trial::is_worth_trying);
            let explicit_default = argument
                .filter(|_| tool.options.explicit.is_some())
                .and_then(|argument| argument.keywords.get("default"));
            BoundArgument {
                name: Cow::Borrowed(name),
                default: explicit_default
                    .map(|value| Cow::Owned(value.to_string()))
                    .or(spec.details.default.map(Cow::Borrowed)),
                listed: rules.iter().find_map(|rule| match rule {
                    Rule::OneOf(values) => Some(*values),
                    _ => None,
                }),
                checked: if is_settled { OnceLock::from(is_checked) } else { OnceLock::new() },
                first_byte: argument.and_then(first_byte),
                demanded: tool.options.explicit.is_some() && argument.is_some_and(|argument| argument.required),
                optional: tool.options.explicit.is_none() && argument.is_some_and(|argument| !argument.required),
                free_form: schema.map_or(FreeForm::Nowhere, |schema| FreeForm::from_schema(schema, &definition.defs)),
                validator: OnceLock::new(),
            }
        };
        let arguments = tool.arguments.iter().map(argument).collect();
        Self { arguments, definition, renamed: BTreeMap::new(), redaction: OnceLock::new() }
    }

    /// Prepares the arguments of a runtime tool, which are JSON values: only their schemas restrict them.
    pub(crate) fn from_values(definition: Arc<ToolDefinition>, is_nullable: impl Fn(&str) -> bool) -> Self {
        let argument = |(name, argument): (&String, &Argument)| BoundArgument {
            name: Cow::Owned(name.clone()),
            default: None,
            listed: None,
            checked: OnceLock::from(true),
            first_byte: first_byte(argument),
            demanded: argument.required,
            optional: !argument.required && is_nullable(name),
            free_form: FreeForm::Anywhere,
            // Keywords that cannot be enforced were rejected at registration, or are left to the tool.
            validator: OnceLock::from(
                Validator::as_far_as_possible(&argument.schema(), &definition.defs)
                    .ok()
                    .map(|(validator, _)| validator),
            ),
        };
        let arguments = definition.arguments.iter().map(argument).collect();
        Self { arguments, definition, renamed: BTreeMap::new(), redaction: OnceLock::new() }
    }

    /// Gives arguments other names. `definition` has these names.
    pub(crate) fn renamed(mut self, names: &BTreeMap<String, String>, definition: Arc<ToolDefinition>) -> Self {
        for argument in &mut self.arguments {
            if let Some(name) = names.get(&*argument.name) {
                argument.name = Cow::Owned(name.clone());
            }
        }
        Self { definition, renamed: names.clone(), redaction: OnceLock::new(), ..self }
    }

    /// Returns the name of an argument that the model knows.
    pub(super) fn shown_name<'a>(&'a self, own: &'a str) -> &'a str {
        self.renamed.get(own).map_or(own, String::as_str)
    }

    /// Fills each optional argument as if it were absent, and reads the listed values. Returns the index and the error of
    /// each argument that fails.
    pub(crate) fn try_settings(&self, slots: &mut [&mut dyn Decode]) -> Vec<(usize, String)> {
        let mut wrong = Vec::new();
        for (index, (argument, slot)) in self.arguments.iter().zip(slots).enumerate() {
            let required = self.declared(argument).is_none_or(|argument| argument.required);
            match &argument.default {
                Some(default) => {
                    if let Err(error) = slot.decode(default, &mut 0) {
                        wrong.push((index, format!("its default {default} cannot be read: {error}")));
                    }
                }
                None if !required && !slot.absent() => {
                    wrong.push((
                        index,
                        "it is declared optional, but its type is not an `Option` and it has no default".to_owned(),
                    ));
                }
                None => {}
            }
            let listed = argument.listed.and_then(|values| serde_json::from_str::<Vec<Value>>(values).ok());
            for text in listed.into_iter().flatten().map(|value| value.to_string()) {
                // Values that the schema rejects are reported with it.
                if self.accepts(argument, &text)
                    && let Err(error) = slot.decode(&text, &mut 0)
                {
                    wrong.push((index, format!("`one_of` lists {text}, which cannot be read: {error}")));
                }
            }
        }
        wrong
    }

    /// Returns `true` if the schema accepts a decoded value.
    pub(super) fn accepts(&self, argument: &BoundArgument, raw: &str) -> bool {
        // The schema of an optional argument describes its values, not its absence.
        if argument.optional && raw == "null" {
            return true;
        }
        let Some(validator) = self.validator(argument) else { return true };
        serde_json::from_str(raw).is_ok_and(|value| validator.is_valid(&value))
    }

    /// Determines whether the schema is stricter than the slot's type. The slot is empty afterwards.
    #[cold]
    pub(super) fn try_type(&self, argument: &BoundArgument, slot: &mut dyn Decode) {
        let mut decodes = |text: &str| {
            // A conversion that refuses the value says nothing about the type that was decoded.
            let decoded = crate::panics::catch(|| match slot.decode(text, &mut 0) {
                Ok(()) => true,
                Err(error) => error.is_conversion(),
            });
            slot.clear();
            decoded.unwrap_or(false)
        };
        let takes_more =
            self.declared(argument).zip(self.validator(argument)).is_some_and(|(definition, validator)| {
                trial::takes_more(&definition.schema(), &self.definition.defs, validator, &mut decodes)
            });
        // Another call may have determined it meanwhile.
        let _ = argument.checked.set(takes_more);
    }

    pub(super) fn validator<'a>(&self, argument: &'a BoundArgument) -> Option<&'a Validator> {
        let compile = || Validator::new(&self.declared(argument)?.schema(), &self.definition.defs).ok();
        argument.validator.get_or_init(compile).as_ref()
    }

    pub(super) fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    /// Returns the redaction of the tool's arguments, which is planned at its first use.
    pub(crate) fn redaction(&self) -> &Redaction {
        self.redaction.get_or_init(|| Redaction::new(&self.definition))
    }

    /// Returns `true` if invalid arguments may be repaired.
    pub(crate) fn may_repair(&self, by_default: bool) -> bool {
        self.definition.repair.unwrap_or(by_default)
    }

    /// Returns the index of the argument that has this alias.
    pub(super) fn aliased(&self, alias: &str) -> Option<usize> {
        let has_alias = |argument: &Argument| argument.aliases.iter().any(|known| known == alias);
        self.arguments.iter().position(|argument| self.declared(argument).is_some_and(has_alias))
    }

    pub(super) fn declared(&self, argument: &BoundArgument) -> Option<&Argument> {
        self.definition.arguments.get(&*argument.name)
    }
}

/// Returns the first byte of a JSON value of this type, if there is only one.
fn first_byte(argument: &Argument) -> Option<u8> {
    match argument.type_name.as_str() {
        "object" => Some(b'{'),
        "string" => Some(b'"'),
        _ => None,
    }
}
