//! The verdict on one method.

use std::collections::BTreeMap;

use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{
    FnArg, GenericArgument, ImplItemFn, Pat, PatType, PathArguments, ReceiverKind, ReturnType, Signature, Type,
    TypeParamBound,
};
use tool_syntax::{ArgumentForm, ArgumentParameter, Parameter, ParsedClass, ParsedTool, Report, stale_argument_docs};

use super::class::{ClassReader, WithoutAttributes};
use super::result::converted_item;
use super::send::unsendable_object;
use super::traits::{Answer, DecisiveTrait, TraitLookup};
use super::{AdoptFinding, AdoptReason, Fit, MethodCandidate};
use crate::schema::DecodedForm;
use crate::text::source_text;
use crate::ty::{ScopeId, Ty, TypeSource};

/// Reads a class with a single method, some of whose parameters are injected.
type ReadMethod<'a> = &'a dyn Fn(&[String], &ImplItemFn) -> (Vec<ParsedClass>, Report);

/// The class of a method.
pub(super) struct MethodContext<'a> {
    pub(super) reader: &'a ClassReader<'a>,
    pub(super) traits: &'a TraitLookup<'a>,
    pub(super) id: ScopeId,
    pub(super) type_name: String,
    /// `true` for a trait, whose calls share one object.
    pub(super) is_object: bool,
    /// Names of types that the application chooses.
    pub(super) placeholders: &'a [String],
    pub(super) class_findings: &'a [AdoptFinding],
    /// Errors of the class that every reading repeats.
    pub(super) class_errors: Vec<String>,
    pub(super) read: ReadMethod<'a>,
}

/// Collects what one method needs.
#[derive(Default)]
pub(super) struct MethodNeeds {
    findings: Vec<AdoptFinding>,
    pub(super) keys: Vec<String>,
    parameters: BTreeMap<String, String>,
    /// The parser knows more forms of constructors.
    is_constructor: bool,
    /// The types of `generics(..)` that are taken to fit.
    pub(super) placeholders: Vec<String>,
    /// `true` if `generics(..)` needs types that the crate does not determine.
    pub(super) has_own_types: bool,
    /// The doc lines that describe no parameter, counted from 1.
    stale_lines: Vec<usize>,
}

impl MethodNeeds {
    pub(super) fn add(&mut self, reason: AdoptReason, message: impl Into<String>, remedy: impl Into<String>) {
        self.findings.push(AdoptFinding::new(reason, message, remedy));
    }

    pub(super) fn inject(&mut self, name: &str, ty: &Type) {
        let message = format!("`{name}: {}` is provided by the application", source_text(ty));
        self.add(AdoptReason::Injected, message, "`#[inject]`");
        self.parameters.insert(name.to_owned(), "#[inject]".to_owned());
    }

    /// Returns the method with the attributes of its parameters, apart from `#[inject]`.
    fn annotated(&self, method: &ImplItemFn) -> ImplItemFn {
        let mut method = method.clone();
        for input in &mut method.sig.inputs {
            let FnArg::Typed(typed) = input else { continue };
            let attribute = name_of(typed).and_then(|name| self.parameters.get(&name));
            if let Some(attribute) = attribute.filter(|attribute| *attribute != "#[inject]") {
                let parsed = syn::Attribute::parse_outer.parse_str(attribute);
                typed.attrs.extend(parsed.into_iter().flatten());
            }
        }
        method
    }

    fn injected(&self) -> Vec<String> {
        self.parameters
            .iter()
            .filter(|(_, attribute)| *attribute == "#[inject]")
            .map(|(name, _)| name.clone())
            .collect()
    }
}

impl MethodContext<'_> {
    /// Judges a method; `written` is the item in the source.
    pub(super) fn method(&self, method: &ImplItemFn, written: &impl WithoutAttributes) -> MethodCandidate {
        let mut needs = MethodNeeds::default();
        let fit = method_role(&method.sig, &self.type_name).unwrap_or_else(|| {
            needs.findings.extend(self.class_findings.iter().cloned());
            self.judge(method, &mut needs);
            if needs.is_constructor { Fit::Constructor } else { Fit::from_findings(&needs.findings) }
        });
        let places = typed_inputs(&method.sig).filter_map(|typed| Some((name_of(typed)?, typed.pat.span().start())));
        MethodCandidate {
            name: method.sig.ident.unraw().to_string(),
            place: self.traits.sources.scope(self.id).file.place(method.sig.ident.span()),
            fit,
            is_exclusive: is_exclusive(&method.sig),
            placeholders: needs.has_own_types,
            findings: needs.findings,
            keys: needs.keys,
            parameters: needs.parameters,
            at: written.edit_place(),
            parameter_places: places.collect(),
            stale_lines: needs.stale_lines,
        }
    }

    fn judge(&self, method: &ImplItemFn, needs: &mut MethodNeeds) {
        let with_generics = self.with_generics(method, needs);
        let method = with_generics.as_ref().unwrap_or(method);
        let current = self.without_stale_docs(method, needs);
        let method = current.as_ref().unwrap_or(method);
        for typed in typed_inputs(&method.sig) {
            if let Some(name) = name_of(typed).filter(|_| self.must_be_injected(&typed.ty, &method.sig)) {
                needs.inject(&name, &typed.ty);
            }
        }
        for typed in typed_inputs(&method.sig).filter(|typed| self.must_be_injected(&typed.ty, &method.sig)) {
            if let Some(object) = unsendable_object(self.traits.sources, self.id, &typed.ty) {
                let message = format!("`{object}` is not `Send`, and calls move between threads");
                needs.add(AdoptReason::NotShared, message, format!("write `{object} + Send`"));
            }
        }
        let Some(tool) = self.read_tool(method, needs) else { return };
        let before = needs.parameters.len();
        for parameter in &tool.parameters {
            if let Parameter::Argument(argument) = parameter {
                self.argument(argument, needs);
            }
        }
        // The parser accepts only some forms of injected and converted parameters.
        if needs.parameters.len() > before && self.read_tool(&needs.annotated(method), needs).is_none() {
            return;
        }
        self.result(&tool, &method.sig, needs);
        exposure(&method.sig.ident.unraw().to_string(), tool.is_for_tests, needs);
    }

    /// Returns the method without the doc lines that describe no parameter, if each stands on a line of its own.
    fn without_stale_docs(&self, method: &ImplItemFn, needs: &mut MethodNeeds) -> Option<ImplItemFn> {
        let file = &self.traits.sources.scope(self.id).file;
        let text = file.text();
        let is_doc_line = |line: usize| {
            line.checked_sub(1)
                .and_then(|line| text.lines().nth(line))
                .is_some_and(|line| line.trim_start().starts_with("///"))
        };
        let mut removed = Vec::new();
        for (name, attributes) in stale_argument_docs(&method.attrs, &method.sig) {
            let lines: Vec<usize> = attributes.iter().map(|&index| method.attrs[index].span().start().line).collect();
            if !lines.iter().all(|&line| is_doc_line(line)) {
                return None;
            }
            let message = format!("`# Arguments` describes `{name}`, but there is no such parameter");
            needs.add(AdoptReason::StaleDocumentation, message, "remove the line, or correct the name");
            needs.stale_lines.extend(lines);
            removed.extend(attributes);
        }
        let mut current = method.clone();
        let mut index = 0..;
        current.attrs.retain(|_| index.next().is_none_or(|index| !removed.contains(&index)));
        (!removed.is_empty()).then_some(current)
    }

    /// Reads the method with the attributes' own parser. Its errors become findings.
    fn read_tool(&self, method: &ImplItemFn, needs: &mut MethodNeeds) -> Option<ParsedTool> {
        let (classes, report) = (self.read)(&needs.injected(), method);
        let errors: Vec<String> = match report.into_result() {
            Ok(()) => Vec::new(),
            Err(errors) => errors.into_iter().map(|error| error.to_string()).collect(),
        };
        let own: Vec<&String> = errors.iter().filter(|error| !self.class_errors.contains(error)).collect();
        if !own.is_empty() {
            let mut undocumented = method.clone();
            undocumented.attrs.retain(|attribute| !attribute.path().is_ident("doc"));
            let (reason, remedy) = match (self.read)(&needs.injected(), &undocumented).1.into_result() {
                Ok(()) => (AdoptReason::Documentation, "correct the doc comment"),
                Err(_) => why_unreadable(&method.sig, self.is_object),
            };
            own.iter().for_each(|error| needs.add(reason, error.as_str(), remedy));
            return None;
        }
        let tool = classes.into_iter().flat_map(|class| class.tools).find(|tool| tool.function == method.sig.ident);
        needs.is_constructor = tool.is_none() && errors.is_empty() && method.sig.receiver().is_none();
        if tool.is_none() && errors.is_empty() && self.class_findings.is_empty() && !needs.is_constructor {
            needs.add(
                AdoptReason::Signature,
                "it cannot be called on `dyn Trait`",
                "put `#[tool_class]` on an `impl` block",
            );
        }
        tool
    }

    /// Returns `true` for `&mut T` and `&dyn Trait`. A mutable reference to a string or a buffer is an output and cannot be
    /// injected.
    fn must_be_injected(&self, ty: &Type, signature: &Signature) -> bool {
        let Type::Reference(reference) = ty else { return false };
        match &*reference.elem {
            Type::TraitObject(object) => !object.bounds.iter().any(is_function_bound),
            Type::Path(_) if reference.mutability.is_some() => {
                let is_parameter =
                    signature.generics.type_params().any(|parameter| parameter.ident == source_text(&reference.elem));
                !is_parameter && !is_of_std(&self.resolve(&reference.elem))
            }
            _ => false,
        }
    }

    pub(super) fn resolve(&self, ty: &Type) -> Ty {
        self.traits.sources.resolve(ty, self.id, &[])
    }

    /// Returns `true` if the answer depends on a type that the application chooses.
    pub(super) fn is_chosen(&self, name: &str, needs: &MethodNeeds) -> bool {
        self.placeholders.iter().chain(&needs.placeholders).any(|placeholder| name.contains(placeholder.as_str()))
    }

    fn argument(&self, argument: &ArgumentParameter, needs: &mut MethodNeeds) {
        let is_lent = matches!(argument.form, ArgumentForm::Lent(_));
        let ty = match DecodedForm::from_form(&argument.form, |ty| self.resolve(ty)) {
            DecodedForm::Owned(ty) | DecodedForm::Lent(ty) | DecodedForm::OptionLent(ty) => ty,
        };
        let name = argument.ident.unraw().to_string();
        match self.traits.implements(&ty, DecisiveTrait::Deserialize) {
            Answer::Yes => {}
            Answer::Unknown(leaf) | Answer::No(leaf) if self.is_chosen(&leaf, needs) => {}
            Answer::Unknown(leaf) => needs.add(
                AdoptReason::UnknownArgument,
                format!("`{name}`: the definition of `{leaf}` is not in the sources"),
                "annotate it, and let the compiler decide",
            ),
            Answer::No(leaf) => {
                let item = converted_item(&ty);
                if self.traits.has(item, DecisiveTrait::FromStr) {
                    return;
                }
                if let Some(origin) = self.traits.convertible_from(item) {
                    let attribute = format!("#[arg(via({origin}))]");
                    let message = format!("`{name}`: `{leaf}` cannot be deserialized, but converted from `{origin}`");
                    needs.add(AdoptReason::Converted, message, format!("`{attribute}`"));
                    needs.parameters.insert(name, attribute);
                } else if self.traits.is_handle(&ty) && (is_lent || self.is_cloned(&ty)) {
                    needs.inject(&name, &argument.ty);
                } else {
                    let decode =
                        format!("derive `Deserialize` for `{leaf}`, or decode it with `#[arg(with = \"module\")]`");
                    // The model fills what is decoded, so it would choose the user that a call is made for.
                    let inject =
                        "if the application knows it (a user, a pool, a clock): `#[inject]`; if the model fills it: ";
                    needs.add(
                        AdoptReason::ArgumentType,
                        format!("`{name}`: `{leaf}` implements neither `Deserialize` nor `FromStr`"),
                        if is_lent { format!("{inject}{decode}") } else { decode },
                    );
                }
            }
        }
    }

    /// Returns `true` for a handle that is passed by value: it is cloned for each call.
    fn is_cloned(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Defined { definition, .. } => {
                let definition = self.traits.sources.definition(*definition);
                definition.derives("Clone") || definition.implements("Clone")
            }
            _ => matches!(ty.library(), Some(("std", "Arc"))),
        }
    }
}

/// Returns the role of a method that is no operation: a constructor, or a method that returns the type itself.
pub(super) fn method_role(signature: &Signature, type_name: &str) -> Option<Fit> {
    let ReturnType::Type(_, output) = &signature.output else { return None };
    if !returns_self(output, type_name) {
        return None;
    }
    Some(if signature.receiver().is_some() { Fit::Setter } else { Fit::Constructor })
}

fn returns_self(ty: &Type, type_name: &str) -> bool {
    match ty {
        Type::Reference(reference) => returns_self(&reference.elem, type_name),
        Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            if last.ident == "Self" || last.ident == type_name {
                return path.path.segments.len() == 1;
            }
            let name = last.ident.to_string();
            let is_wrapper = name.ends_with("Result") || ["Arc", "Box", "Option", "Rc"].contains(&name.as_str());
            let PathArguments::AngleBracketed(list) = &last.arguments else { return false };
            let first = list.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => Some(ty),
                _ => None,
            });
            is_wrapper && first.is_some_and(|ty| returns_self(ty, type_name))
        }),
        _ => false,
    }
}

fn is_exclusive(signature: &Signature) -> bool {
    signature.receiver().is_some_and(|receiver| match &receiver.kind {
        ReceiverKind::Reference(_, _, mutability) => mutability.is_some(),
        ReceiverKind::Typed(_, ty) => matches!(&**ty, Type::Reference(reference) if reference.mutability.is_some()),
        _ => false,
    })
}

fn typed_inputs(signature: &Signature) -> impl Iterator<Item = &PatType> {
    signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    })
}

pub(super) fn name_of(typed: &PatType) -> Option<String> {
    match &*typed.pat {
        Pat::Ident(name) => Some(name.ident.unraw().to_string()),
        _ => None,
    }
}

/// Returns the reason why the parser rejects a signature, by its form, and the remedy.
fn why_unreadable(signature: &Signature, is_object: bool) -> (AdoptReason, &'static str) {
    struct FunctionFinder(bool);
    impl<'ast> Visit<'ast> for FunctionFinder {
        fn visit_type_param_bound(&mut self, bound: &'ast TypeParamBound) {
            self.0 |= is_function_bound(bound);
            visit::visit_type_param_bound(self, bound);
        }
    }
    let mut functions = FunctionFinder(false);
    functions.visit_generics(&signature.generics);
    signature.inputs.iter().for_each(|input| functions.visit_fn_arg(input));
    let has_impl = typed_inputs(signature).any(|typed| typed.ty.to_token_stream().to_string().contains("impl "));
    if functions.0 {
        (AdoptReason::Closure, "write a method without the closure")
    } else if signature.generics.type_params().next().is_some() || signature.generics.const_params().next().is_some() {
        (AdoptReason::GenericMethod, "write a method with a concrete type")
    } else if has_impl {
        (AdoptReason::ArgumentForm, "name the type of the parameter")
    } else if !matches!(signature.safety, syn::Safety::Default) {
        (AdoptReason::Signature, "wrap it in a safe method")
    } else if is_object && is_exclusive(signature) {
        (AdoptReason::Signature, "take `&self`, or put `#[tool_class]` on an `impl` block")
    } else if typed_inputs(signature).next().is_none() {
        (AdoptReason::Signature, "take `&self`, `&mut self`, `self` or `self: Arc<Self>`")
    } else {
        (AdoptReason::ArgumentForm, "take an owned value, or mark it `#[inject]` if the application provides it")
    }
}

pub(super) fn is_function_bound(bound: &TypeParamBound) -> bool {
    let TypeParamBound::Trait(bound) = bound else { return false };
    bound.path.segments.last().is_some_and(|last| {
        ["Fn", "FnMut", "FnOnce", "AsyncFn", "AsyncFnMut", "AsyncFnOnce"].iter().any(|name| last.ident == name)
    })
}

/// Returns `true` for a type of std whose arguments are of std, too.
fn is_of_std(ty: &Ty) -> bool {
    match ty {
        Ty::Library { arguments, .. } => {
            matches!(ty.library(), Some(("" | "std", _))) && arguments.iter().all(is_of_std)
        }
        Ty::Tuple(items) => items.iter().all(is_of_std),
        Ty::Array(item, _) | Ty::Slice(item) | Ty::Reference(item) => is_of_std(item),
        _ => false,
    }
}

/// Reports methods that a model should not be offered as they are: those that destroy something, and those for tests.
fn exposure(name: &str, is_for_tests: bool, needs: &mut MethodNeeds) {
    if is_for_tests {
        let message = "its documentation says that it is for tests";
        needs.add(AdoptReason::ForTests, message, "reword its documentation if a model may call it");
    }
    if let Some(word) = tool_model::destructive_word(name) {
        let message = format!("its name says `{word}`");
        needs.add(AdoptReason::Destructive, message, "`destructive`, so that a user is asked first");
        needs.keys.push("destructive".to_owned());
    }
}
