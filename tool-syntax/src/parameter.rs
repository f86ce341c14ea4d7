//! Parameters: arguments, which the model fills, and injected parameters.

use serde_json::Value;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, Lifetime, LitStr, Pat, PatType, Signature, Type};
use tool_model::Rule;

use crate::attrs::{self, ArgAttr, DefaultValue};
use crate::conversion::{self, ArgumentConversion, ConversionKind, ConversionTable};
use crate::docs::Docs;
use crate::ty::{self, ArgumentForm, InjectedForm};
use crate::{Report, check, rewrite, value_kind};

/// Parameter names that are injected without an attribute.
const RESERVED: [&str; 2] = ["session", "repository"];

/// A parameter of a tool or a constructor.
#[derive(Clone, Debug)]
pub enum Parameter {
    /// An argument, filled by the model.
    Argument(ArgumentParameter),
    /// Filled by the dispatcher and hidden from the model.
    Injected(InjectedParameter),
}

/// A parameter that the model fills.
#[derive(Clone, Debug)]
pub struct ArgumentParameter {
    /// The parameter's name in the source.
    pub ident: Ident,
    /// The name that the model uses.
    pub name: String,
    /// The other names that calls may use, with their spans.
    pub aliases: Vec<LitStr>,
    /// The type to decode and its conversion.
    pub form: ArgumentForm,
    /// The conversion of the decoded value, if its type is not decoded itself.
    pub conversion: Option<Box<ArgumentConversion>>,
    /// The type as written, for errors.
    pub ty: Type,
    /// The description, if there is one.
    pub description: Option<String>,
    /// The default, if there is one.
    pub default: Option<DefaultValue>,
    /// The constraints on its value.
    pub rules: Vec<Rule>,
    /// `true` if the value is redacted in logs.
    pub secret: bool,
    /// `true` if parts of its type that have no schema are intended.
    pub any: bool,
}

/// A parameter that the dispatcher fills.
#[derive(Clone, Debug)]
pub struct InjectedParameter {
    /// The parameter's name. Its value is looked up by name first.
    pub ident: Ident,
    /// The form in which the value is passed.
    pub form: InjectedForm,
    /// The type as written, for errors.
    pub ty: Type,
}

/// The context of a function's parameters.
pub(crate) struct ParameterContext<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) class: Option<&'a Type>,
    /// The lifetimes of the class.
    pub(crate) lifetimes: &'a [Lifetime],
    pub(crate) docs: &'a Docs,
    pub(crate) inject: &'a [String],
    pub(crate) inject_all: bool,
    /// `types(..)` of the class.
    pub(crate) types: Option<&'a ConversionTable<ConversionKind>>,
}

/// Reads all parameters but the receiver.
pub(crate) fn read_all(context: &ParameterContext<'_>, report: &mut Report) -> Vec<Parameter> {
    let typed = context.signature.inputs.iter().filter_map(|input| match input {
        FnArg::Typed(typed) => Some(typed),
        FnArg::Receiver(_) => None,
    });
    let parameters: Vec<Parameter> = typed.filter_map(|typed| read(typed, context, report)).collect();
    check::distinct_arguments(&parameters, report);
    check::distinct_aliases(&parameters, report);
    parameters
}

fn read(typed: &PatType, context: &ParameterContext<'_>, report: &mut Report) -> Option<Parameter> {
    check::no_conditional_parameter(&typed.attrs, report);
    let ident = name_of(&typed.pat, report)?;
    let name = ident.unraw().to_string();
    let arg = find(&typed.attrs, "arg");
    let inject = find(&typed.attrs, "inject");
    check::once(&typed.attrs, "arg", report);
    check::once(&typed.attrs, "inject", report);
    if let (Some(arg), true) = (arg, context.inject_all) {
        report.at(arg, "`#[arg]` has no effect here: every parameter of `new` is injected");
        return None;
    }
    if let (Some(_), Some(inject)) = (arg, inject) {
        report.at(inject, "a parameter is either filled by the model (`#[arg]`) or injected (`#[inject]`), not both");
        return None;
    }
    if let Some(inject) = inject
        && !matches!(inject.meta, syn::Meta::Path(_))
    {
        report.at(inject, "`#[inject]` takes no arguments; values are found by the parameter's name, then by its type");
    }
    let listed = context.inject.contains(&name);
    if let (Some(arg), true) = (arg, listed) {
        report.at(arg, format!("`{name}` is also listed in `inject = [..]`; remove one"));
    }
    let reserved = arg.is_none() && RESERVED.contains(&name.as_str());
    let ty = rewrite::detach(&typed.ty, context.signature, context.lifetimes, context.class);
    if reserved && inject.is_none() && !listed && !context.inject_all && ty::is_plain(&ty) {
        let message = format!(
            "`{name}` is injected by name, but `{}` looks like an argument; mark it `#[arg]` if the model fills it, \
             `#[inject]` if the application provides it",
            quote::quote!(#ty)
        );
        report.at(typed, message);
        return None;
    }
    if inject.is_some() || listed || reserved || context.inject_all {
        let form = report.keep(ty::injected_form(&ty))?;
        return Some(Parameter::Injected(InjectedParameter { ident, form, ty }));
    }
    let attr = match arg {
        Some(attribute) => report.keep(attrs::parse_attribute::<ArgAttr>(attribute))?,
        None => ArgAttr::default(),
    };
    report.keep(ty::no_static_reference(&typed.ty))?;
    let form = report.keep(ty::argument_form(&ty))?;
    Some(Parameter::Argument(argument(ident, name, ty, form, attr, typed, context, report)))
}

#[expect(clippy::too_many_arguments, reason = "the parts of one parameter")]
fn argument(
    ident: Ident,
    name: String,
    ty: Type,
    form: ArgumentForm,
    attr: ArgAttr,
    typed: &PatType,
    context: &ParameterContext<'_>,
    report: &mut Report,
) -> ArgumentParameter {
    let own_docs = Docs::read(&typed.attrs, &[]);
    if attr.description.is_none() {
        check::documentation_is_read(&own_docs, report);
    }
    let description = attr
        .description
        .as_ref()
        .map(syn::LitStr::value)
        .or_else(|| Some(own_docs.description).filter(|text| !text.is_empty()))
        .or_else(|| context.docs.argument(&name).map(str::to_owned))
        .filter(|text| !text.is_empty());
    check::argument(&attr, &typed.ty, typed.span(), report);
    let conversion = conversion::of_argument(&attr, &form, context.types, typed.ty.span(), report);
    if conversion.is_none() {
        value_kind::check_settings(&attr, &name, &form, typed.span(), report);
    }
    let name = match &attr.rename {
        Some(rename) => {
            check::argument_name(rename, report);
            rename.value()
        }
        None => name,
    };
    attr.alias.0.iter().for_each(|alias| check::argument_name(alias, report));
    let rules = rules(&attr);
    ArgumentParameter {
        ident,
        name,
        aliases: attr.alias.0,
        form,
        conversion: conversion.map(Box::new),
        ty,
        description,
        default: attr.default.map(darling::util::SpannedValue::into_inner),
        rules,
        secret: attr.secret.unwrap_or(false),
        any: attr.any.unwrap_or(false),
    }
}

pub(crate) fn rules(attr: &ArgAttr) -> Vec<Rule> {
    // Rules are `'static` because registrations are; here they live as long as the compiler or the generator.
    let keep = |text: String| -> &'static str { Box::leak(text.into_boxed_str()) };
    let mut rules = Vec::new();
    rules.extend(attr.min.as_ref().map(|least| Rule::Min(least.value)));
    rules.extend(attr.max.as_ref().map(|most| Rule::Max(most.value)));
    rules.extend(attr.min_length.map(Rule::MinLength));
    rules.extend(attr.max_length.map(Rule::MaxLength));
    rules.extend(attr.pattern.as_ref().map(|pattern| Rule::Pattern(keep(pattern.value()))));
    rules.extend(attr.one_of.as_ref().map(|values| Rule::OneOf(keep(Value::Array(values.0.clone()).to_string()))));
    rules
}

fn find<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a Attribute> {
    attributes.iter().find(|attribute| attrs::last_segment(attribute) == name)
}

fn name_of(pattern: &Pat, report: &mut Report) -> Option<Ident> {
    match pattern {
        Pat::Ident(name) if name.subpat.is_none() && name.by_ref.is_none() => Some(name.ident.clone()),
        other => {
            report.at(
                other,
                "a parameter of a tool needs a name, which the model uses; destructure it inside the function",
            );
            None
        }
    }
}
