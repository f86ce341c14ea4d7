//! Tool definitions from annotated items.

use std::rc::Rc;

use proc_macro2::Span;
use serde_json::{Map, Value};
use syn::spanned::Spanned;
use syn::{Item, LitStr};
use tool_model::compatibility::VALIDATED;
use tool_model::trace::{TracedSchemas, TracedType, UnknownCause, UnknownPart};
use tool_model::{Assembly, RawArgument, ToolDefinition};
use tool_syntax::{
    ArgumentParameter, DefaultValue, IncludedFiles, Parameter, ParsedClass, ParsedTool, Report, inline_docs,
    parse_declared, read_class, read_declared_class, read_function, read_trait,
};

use crate::filter::ToolFilter;
use crate::schema::{self, DecodedForm, LossKind, SchemaContract, SchemaGenerator, TypeShapes, UnseenPart};
use crate::source::{AnnotationKind, CandidateItem, SourceScope, SourceTree};
use crate::ty::{ScopeId, TypeSource};
use crate::{Diagnostic, Severity, SourcePlace};

/// A tool in the sources.
pub(crate) struct FoundTool {
    pub(crate) name: String,
    pub(crate) definition: ToolDefinition,
    pub(crate) place: SourcePlace,
    /// `true` if the documentation says that the function is for tests.
    pub(crate) is_for_tests: bool,
    /// The arguments that are marked `any`.
    pub(crate) accepted_any: Vec<String>,
}

/// Reads the included tools of all annotated items. `with_facts` adds the facts that [`tool_model::compatibility`]
/// compares.
pub(crate) fn read(sources: &SourceTree, filter: &ToolFilter, with_facts: bool) -> Vec<FoundTool> {
    let mut found = Vec::new();
    let shapes = TypeShapes::new(sources).with_facts(with_facts);
    sources.parse_renamed();
    // Reading a tool may parse more modules for their types, which can have annotated items themselves.
    loop {
        let candidates = sources.take_candidates();
        if candidates.is_empty() {
            return found;
        }
        for candidate in candidates {
            let scope = sources.scope(candidate.scope);
            let reader = ItemReader { sources, filter, shapes: &shapes, id: candidate.scope, scope };
            reader.read_item(&candidate, &mut found);
        }
    }
}

fn accepted_any(tool: &ParsedTool) -> Vec<String> {
    let accepted = tool.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Argument(argument) if argument.any => Some(argument.name.clone()),
        _ => None,
    });
    accepted.collect()
}

/// Returns `true` if the contents can be declarations: a macro of the application may be called `tools!` too.
fn starts_with_declaration(call: &syn::Macro) -> bool {
    let first = call.tokens.clone().into_iter().next();
    first.is_some_and(|token| matches!(token.to_string().as_str(), "impl" | "#"))
}

/// Reads the annotated items of one scope.
struct ItemReader<'a> {
    sources: &'a SourceTree,
    filter: &'a ToolFilter,
    shapes: &'a TypeShapes<'a>,
    id: ScopeId,
    scope: Rc<SourceScope>,
}

impl IncludedFiles for ItemReader<'_> {
    fn read(&self, path: &str, _: Span) -> Option<String> {
        self.sources.read_beside(&self.scope.file, path)
    }

    fn manifest_dir(&self) -> Option<String> {
        self.sources.crate_of(self.id).directory()?.to_str().map(str::to_owned)
    }
}

impl ItemReader<'_> {
    /// Reads the tools of an item.
    fn read_item(&self, candidate: &CandidateItem, found: &mut Vec<FoundTool>) {
        let sources = self.sources;
        let mut item = (*candidate.item).clone();
        let attributes = match &mut item {
            Item::Fn(function) => &mut function.attrs,
            Item::Impl(block) => &mut block.attrs,
            Item::Trait(definition) => &mut definition.attrs,
            Item::Macro(item) => {
                if starts_with_declaration(&item.mac) && sources.is_declarations(candidate.scope, &item.mac.path) {
                    found.extend(self.declared(&item.mac));
                } else {
                    sources.check_macro(candidate.scope, item);
                }
                return;
            }
            _ => return,
        };
        let Some((annotation, attribute)) = sources.take_annotation(candidate.scope, attributes) else { return };
        let documented = inline_docs(&item, self);
        let (classes, report) = match (documented.as_ref().unwrap_or(&item), annotation) {
            (Item::Fn(function), AnnotationKind::Tool) => {
                if !self.filter.includes(&self.scope.path, None) {
                    return;
                }
                let (tool, report) = read_function(attribute, function);
                if let Some(tool) = self.accept(tool, report) {
                    found.extend(self.tool(&tool, None));
                }
                return;
            }
            (Item::Impl(block), AnnotationKind::Class) => read_class(attribute, block),
            (Item::Trait(definition), AnnotationKind::Class) => read_trait(attribute, definition),
            _ => return,
        };
        found.extend(self.classes(classes, report));
    }

    /// Returns the item, or reports its errors and returns `None`. rustc reports the same errors.
    fn accept<T>(&self, read: Option<T>, report: Report) -> Option<T> {
        let Err(errors) = report.into_result() else { return read };
        self.report_errors(errors);
        None
    }

    fn report_errors(&self, errors: syn::Error) {
        for error in errors {
            self.sources.report(Diagnostic {
                severity: Severity::Error,
                message: error.to_string(),
                help: None,
                place: Some(self.scope.file.place(error.span())),
                compile_error: true,
            });
        }
    }

    /// Reads the classes of `tools! { .. }`.
    fn declared(&self, declarations: &syn::Macro) -> Vec<FoundTool> {
        let parsed = match parse_declared(declarations.tokens.clone()) {
            Ok(parsed) => parsed,
            Err(error) => {
                self.report_errors(error);
                return Vec::new();
            }
        };
        let read = parsed.iter().flat_map(|class| {
            let (classes, report) = read_declared_class(class);
            self.classes(classes, report)
        });
        read.collect()
    }

    fn classes(&self, classes: Vec<ParsedClass>, report: Report) -> Vec<FoundTool> {
        let classes = self.accept(Some(classes), report).unwrap_or_default();
        let included = classes.iter().filter(|class| self.filter.includes(&self.scope.path, Some(class)));
        included.flat_map(|class| class.tools.iter().filter_map(|tool| self.tool(tool, Some(class)))).collect()
    }

    fn tool(&self, tool: &ParsedTool, class: Option<&ParsedClass>) -> Option<FoundTool> {
        if !self.sources.crate_of(self.id).cfg.is_enabled(&tool.cfgs) {
            return None;
        }
        let function = syn::ext::IdentExt::unraw(&tool.function);
        let handler = match class {
            Some(class) => format!("{}::{}::{function}", self.scope.path, class.type_name),
            None => format!("{}::{function}", self.scope.path),
        };
        Some(FoundTool {
            name: tool.name.clone(),
            definition: self.define(tool, handler),
            place: self.scope.file.place(tool.function.span()),
            is_for_tests: tool.is_for_tests,
            accepted_any: accepted_any(tool),
        })
    }

    fn define(&self, tool: &ParsedTool, handler: String) -> ToolDefinition {
        let mut definition = ToolDefinition::default();
        definition.description.clone_from(&tool.description);
        definition.handler = handler;
        for (key, value) in &tool.keys {
            // The parser of the attribute gives each key a value of its kind.
            let set = key.set(&mut definition, value.clone());
            debug_assert!(set.is_ok(), "`{}` of `{}`", key.name, tool.name);
        }
        let mut assembly = Assembly::default();
        let mut generator = SchemaGenerator::new(self.shapes, SchemaContract::Deserialize);
        let mut validated = Vec::new();
        let mut traced = Vec::new();
        for parameter in &tool.parameters {
            if let Parameter::Argument(argument) = parameter {
                let (raw, form) = self.argument(argument, tool.explicit.is_none(), &mut generator);
                validated.push((&argument.name, generator.has_own_rules || !raw.rules.is_empty()));
                traced.extend(form.map(|form| (assembly.arguments.len(), form)));
                assembly.arguments.push((argument.name.clone(), raw));
            }
        }
        assembly.defs = generator.into_definitions();
        let mut schemas = TracedSchemas::default();
        for (index, form) in traced {
            assembly.arguments[index].1.schema = schemas.schema(&form, &mut assembly.defs);
        }
        assembly.returns = self.returns(tool);
        assembly.finish(&mut definition);
        for (name, is_validated) in validated.into_iter().filter(|_| self.shapes.with_facts) {
            if let Some(argument) = definition.arguments.get_mut(name) {
                argument.keywords.insert(VALIDATED.to_owned(), is_validated.into());
            }
        }
        if let Some(explicit) = &tool.explicit {
            definition.replace_arguments(explicit);
        }
        if !self.shapes.with_facts {
            self.check_arguments(tool, &definition);
        }
        definition
    }

    /// Reports what `build()` would reject: settings of arguments that their types contradict.
    fn check_arguments(&self, tool: &ParsedTool, definition: &ToolDefinition) {
        let arguments = tool.parameters.iter().filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::Injected(_) => None,
        });
        let arguments: Vec<&ArgumentParameter> = arguments.collect();
        let mut problems = definition.schema_problems();
        problems
            .extend(arguments.iter().flat_map(|argument| definition.rule_problems(&argument.name, &argument.rules)));
        for problem in problems {
            let argument = arguments.iter().find(|argument| argument.name == problem.argument);
            let ident = argument.map_or(&tool.function, |argument| &argument.ident);
            self.sources.report(Diagnostic {
                severity: Severity::Error,
                message: problem.message,
                help: Some(problem.remedy.to_owned()),
                place: Some(self.scope.file.place(ident.span())),
                compile_error: false,
            });
        }
    }

    fn returns(&self, tool: &ParsedTool) -> Option<(Value, Map<String, Value>)> {
        // The function that converts a result, and so its result, is not visible here.
        let output = tool.output.as_ref().filter(|_| tool.result.is_none())?;
        let seen = schema::returns(self.shapes, &self.sources.resolve(output, self.id, &[]));
        for unseen in &seen.unseen {
            let message = match unseen.loss {
                LossKind::Type | LossKind::Program => "the result has no schema in the manifest",
                LossKind::Leaf => "a part of the result has no schema in the manifest",
                LossKind::Detail => "a detail of the result is missing from the manifest",
            };
            self.warn(
                output,
                message,
                unseen,
                ["the program adds it at run time if the type implements `JsonSchema`"; 2],
            );
        }
        seen.schema
    }

    /// Returns an argument, and the form of a type without `JsonSchema`.
    fn argument(
        &self,
        argument: &ArgumentParameter,
        warn: bool,
        generator: &mut SchemaGenerator<'_>,
    ) -> (RawArgument, Option<TracedType>) {
        let resolve = |ty: &syn::Type| self.sources.resolve(ty, self.id, &[]);
        let decoded = match &argument.conversion {
            Some(conversion) => DecodedForm::from_conversion(conversion, resolve),
            None => DecodedForm::from_form(&argument.form, resolve),
        };
        let seen = schema::argument(generator, &decoded);
        if warn && !argument.any {
            // If the type is unknown, a missing detail is not worth a warning.
            let lost = seen.unseen.iter().any(|unseen| unseen.loss != LossKind::Detail);
            let reported = seen.unseen.iter().filter(|unseen| !lost || unseen.loss != LossKind::Detail);
            reported.for_each(|unseen| self.warn_of_argument(argument, unseen));
            // Parts that the source does not show were reported above, with those that were not reached because of them.
            let is_shown = |part: &&UnknownPart| part.cause != UnknownCause::NotReached || seen.unseen.is_empty();
            seen.unknown.iter().filter(is_shown).for_each(|part| self.warn_of_unknown(argument, part));
        }
        let (default, or_default) = match &argument.default {
            Some(DefaultValue::Literal(value)) => (Some(value.clone()), false),
            Some(DefaultValue::Trait) => (None, true),
            None => (None, false),
        };
        let raw = RawArgument {
            schema: seen.schema,
            optional: seen.optional,
            variants: seen.variants,
            description: argument.description.clone(),
            default,
            or_default,
            aliases: argument.aliases.iter().map(LitStr::value).collect(),
            rules: argument.rules.clone(),
            secret: argument.secret,
        };
        (raw, seen.traced)
    }

    /// Warns about a part of a type whose form the program does not know either.
    fn warn_of_unknown(&self, argument: &ArgumentParameter, part: &UnknownPart) {
        self.sources.report_unseen(Diagnostic {
            severity: Severity::Warning,
            message: part.message(&argument.name),
            help: Some(UnknownPart::REMEDY.to_owned()),
            place: Some(self.scope.file.place(argument.ty.span())),
            compile_error: false,
        });
    }

    fn warn_of_argument(&self, argument: &ArgumentParameter, unseen: &UnseenPart) {
        let name = &argument.name;
        let message = match unseen.loss {
            LossKind::Type | LossKind::Program => format!("argument `{name}` is `any` in the manifest"),
            LossKind::Leaf => format!("a part of argument `{name}` is `any` in the manifest"),
            LossKind::Detail => format!("a detail of argument `{name}` is missing from the manifest"),
        };
        let of_type = "mark it `#[inject]` if the application provides it; otherwise describe it with \
                       `#[tool(arguments(..))]`, or leave it to the program if the type implements `JsonSchema`";
        self.warn(&argument.ty, &message, unseen, [of_type, UnknownPart::REMEDY]);
    }

    /// Warns about a part of a type that could not be read, at its place in the signature or in the struct or enum
    /// behind it; the remedies are those of a whole type and of a part that is a leaf.
    fn warn(&self, ty: &syn::Type, message: &str, unseen: &UnseenPart, remedies: [&str; 2]) {
        let help = match unseen.loss {
            LossKind::Type => remedies[0],
            LossKind::Leaf => remedies[1],
            LossKind::Program => {
                "remove `#[serde(transparent)]` or `#[schemars(inline)]`, so that the schema can refer to itself"
            }
            LossKind::Detail => "the program adds it at run time",
        };
        let what = &unseen.what;
        let what = if what.contains('`') { what.clone() } else { format!("`{what}`") };
        let place = match unseen.inside {
            Some(id) => self.sources.scope(self.sources.definition(id).scope).file.place(unseen.at),
            None => self.scope.file.place(ty.span()),
        };
        self.sources.report_unseen(Diagnostic {
            severity: Severity::Warning,
            message: format!("{message}: {what}: {}", unseen.why),
            help: Some(help.to_owned()),
            place: Some(place),
            compile_error: false,
        });
    }
}
