//! Checks of attributes and parameters. Each check states why its rule exists.

use proc_macro2::Span;
use serde_json::Value;
use syn::ext::IdentExt;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Type};
use tool_model::{Number, name, nearest};

use crate::attrs::{ArgAttr, DefaultValue, hides_tool, last_segment};
use crate::docs::Docs;
use crate::{Parameter, Report};

/// Runs all checks of one `#[arg(..)]`.
pub(crate) fn argument(attr: &ArgAttr, ty: &Type, span: Span, report: &mut Report) {
    range_is_not_empty(attr, report);
    length_range_is_not_empty(attr, span, report);
    lengths_fit_the_array(attr, ty, span, report);
    pattern_compiles(attr, report);
    listed_values_are_allowed(attr, report);
    default_is_allowed(attr, report);
    default_is_not_secret(attr, report);
}

fn as_f64(number: Number) -> f64 {
    match number {
        #[expect(clippy::cast_precision_loss, reason = "only compared for order")]
        Number::Int(int) => int as f64,
        Number::Float(float) => float,
    }
}

/// A range without values would make the tool uncallable.
fn range_is_not_empty(attr: &ArgAttr, report: &mut Report) {
    if let (Some(min), Some(max)) = (&attr.min, &attr.max)
        && as_f64(min.value) > as_f64(max.value)
    {
        report.at(&max.expr, "`max` is less than `min`, so no value is valid");
    }
}

/// A length range without values would make the tool uncallable.
fn length_range_is_not_empty(attr: &ArgAttr, span: Span, report: &mut Report) {
    if let (Some(least), Some(most)) = (attr.min_length, attr.max_length)
        && least > most
    {
        report.push(syn::Error::new(span, "`max_length` is less than `min_length`, so no value is valid"));
    }
}

/// An invalid pattern would otherwise be reported only when a dispatcher is built.
fn pattern_compiles(attr: &ArgAttr, report: &mut Report) {
    let Some(pattern) = &attr.pattern else { return };
    if let Err(error) = regex_lite::Regex::new(&pattern.value()) {
        report.at(pattern, format!("invalid regular expression: {error}"));
    }
}

/// A fixed-size array has one length, so a bound that excludes it would make the tool uncallable. Only lengths written
/// as literals are visible here; `build()` checks the others.
fn lengths_fit_the_array(attr: &ArgAttr, ty: &Type, span: Span, report: &mut Report) {
    let Some(length) = array_length(ty) else { return };
    for (name, excludes) in [
        ("min_length", attr.min_length.is_some_and(|least| least > length)),
        ("max_length", attr.max_length.is_some_and(|most| most < length)),
    ] {
        if excludes {
            let message = format!("`{name}` excludes the array's length of {length}, so no value is valid");
            report.push(syn::Error::new(span, message));
        }
    }
}

fn array_length(ty: &Type) -> Option<u64> {
    match ty {
        Type::Array(array) => match &array.len {
            Expr::Lit(ExprLit { lit: Lit::Int(length), .. }) => length.base10_parse().ok(),
            _ => None,
        },
        Type::Reference(reference) => array_length(&reference.elem),
        Type::Group(group) => array_length(&group.elem),
        Type::Paren(paren) => array_length(&paren.elem),
        _ => None,
    }
}

/// A listed value that another rule rejects, or a duplicate, would mislead the model.
fn listed_values_are_allowed(attr: &ArgAttr, report: &mut Report) {
    let Some(spanned) = &attr.one_of else { return };
    for (index, value) in spanned.0.iter().enumerate() {
        if spanned.0[..index].contains(value) {
            report.push(syn::Error::new(spanned.span(), format!("duplicate value {value} in `one_of`")));
        }
        for why in rejections(attr, value) {
            report.push(syn::Error::new(spanned.span(), format!("`one_of` lists {value}, which {why}")));
        }
    }
}

/// A default that the rules reject would make every call without the argument fail.
fn default_is_allowed(attr: &ArgAttr, report: &mut Report) {
    let Some(spanned) = &attr.default else { return };
    let (span, DefaultValue::Literal(default)) = (spanned.span(), &**spanned) else { return };
    let unlisted = attr.one_of.as_ref().filter(|values| !values.0.contains(default)).map(|_| "is not in `one_of`");
    for why in rejections(attr, default).chain(unlisted) {
        report.push(syn::Error::new(span, format!("the default {default} {why}")));
    }
}

/// The schema shows the default to the model, to clients and in the manifest, so it would not be secret.
fn default_is_not_secret(attr: &ArgAttr, report: &mut Report) {
    let Some(spanned) = attr.default.as_ref().filter(|_| attr.secret == Some(true)) else { return };
    if let DefaultValue::Literal(_) = &**spanned {
        let message = "the schema shows this default, so it is no secret; take an `Option` and fill it in the \
                       function, or inject the value";
        report.push(syn::Error::new(spanned.span(), message));
    }
}

/// Returns the reasons why the rules other than `one_of` reject a value.
fn rejections(attr: &ArgAttr, value: &Value) -> impl Iterator<Item = &'static str> + use<> {
    let number = value.as_f64();
    let length = match value {
        Value::String(text) => Some(text.chars().count() as u64),
        Value::Array(items) => Some(items.len() as u64),
        _ => None,
    };
    let below = |least: Option<f64>| number.zip(least).is_some_and(|(number, least)| number < least);
    let above = |most: Option<f64>| number.zip(most).is_some_and(|(number, most)| number > most);
    // An invalid pattern is reported by `pattern_compiles`.
    let pattern = attr.pattern.as_ref().and_then(|pattern| regex_lite::Regex::new(&pattern.value()).ok());
    let rejections = [
        (below(attr.min.as_ref().map(|min| as_f64(min.value))), "is less than `min`"),
        (above(attr.max.as_ref().map(|max| as_f64(max.value))), "is more than `max`"),
        (length.zip(attr.min_length).is_some_and(|(length, least)| length < least), "is shorter than `min_length`"),
        (length.zip(attr.max_length).is_some_and(|(length, most)| length > most), "is longer than `max_length`"),
        (
            value.as_str().zip(pattern).is_some_and(|(text, pattern)| !pattern.is_match(text)),
            "does not match `pattern`",
        ),
    ];
    rejections.into_iter().filter(|(rejects, _)| *rejects).map(|(_, why)| why)
}

/// Model providers reject other property names.
pub(crate) fn argument_name(rename: &LitStr, report: &mut Report) {
    if !name::is_argument_name(&rename.value()) {
        report.at(rename, name::ARGUMENT_NAME);
    }
}

/// A JSON object has each key once.
pub(crate) fn distinct_arguments(parameters: &[Parameter], report: &mut Report) {
    let mut seen: Vec<&str> = Vec::new();
    for parameter in parameters {
        let Parameter::Argument(argument) = parameter else { continue };
        if seen.contains(&argument.name.as_str()) {
            report.at(&argument.ident, format!("duplicate argument name `{}`; rename one", argument.name));
        }
        seen.push(&argument.name);
    }
}

/// An alias stands for one argument. A name of an injected parameter would suggest that a model can pass its value.
pub(crate) fn distinct_aliases(parameters: &[Parameter], report: &mut Report) {
    let mut seen: Vec<(String, &str)> = Vec::new();
    for parameter in parameters {
        let Parameter::Argument(argument) = parameter else { continue };
        for alias in &argument.aliases {
            let name = alias.value();
            let of_parameter = parameters.iter().find_map(|other| match other {
                Parameter::Argument(other) if other.name == name => Some("an argument"),
                Parameter::Injected(other) if other.ident.unraw() == name => Some("an injected parameter"),
                _ => None,
            });
            if argument.name == name {
                report.at(alias, format!("`{name}` is the argument's own name; remove the alias"));
            } else if let Some(kind) = of_parameter {
                report.at(alias, format!("`{name}` is the name of {kind}; an alias must be a name of its own"));
            } else if let Some((_, other)) = seen.iter().find(|(known, _)| *known == name) {
                let message = match *other == argument.name {
                    true => format!("duplicate alias `{name}`"),
                    false => format!("`{name}` is an alias of `{other}` too; remove one"),
                };
                report.at(alias, message);
            }
            seen.push((name, &argument.name));
        }
    }
}

/// A conditional parameter would give one tool two schemas.
pub(crate) fn no_conditional_parameter(attributes: &[Attribute], report: &mut Report) {
    for attribute in
        attributes.iter().filter(|attribute| matches!(last_segment(attribute).as_str(), "cfg" | "cfg_attr"))
    {
        let message = "a parameter of a tool cannot depend on `cfg`, since the schema would too; \
                       write two functions, each with its own `#[cfg(..)]`";
        report.at(attribute, message);
    }
}

/// rustdoc would show documentation that the macro cannot evaluate, but the model would not see it.
pub(crate) fn documentation_is_read(docs: &Docs, report: &mut Report) {
    if let Some(value) = &docs.unread {
        let message = "this documentation cannot be evaluated here; write it out, or set `description = \"..\"`";
        report.at(value, message);
    }
}

/// A description of something that is no parameter would be lost, and a parameter be left without one.
pub(crate) fn described_parameters_exist(docs: &Docs, parameters: &[String], report: &mut Report) {
    for (name, span) in &docs.unknown {
        let near = nearest(name, parameters.iter().map(String::as_str));
        let hint = near.first().map(|near| format!("; did you mean `{near}`?"));
        let hint = hint.unwrap_or_else(|| "; remove the line, or name a parameter".to_owned());
        let message = format!("`# Arguments` describes `{name}`, but there is no such parameter{hint}");
        report.push(syn::Error::new(*span, message));
    }
}

/// A second attribute would be ignored.
pub(crate) fn once(attributes: &[Attribute], name: &str, report: &mut Report) {
    for second in attributes.iter().filter(|attribute| last_segment(attribute) == name).skip(1) {
        report.at(second, format!("duplicate `#[{name}]`"));
    }
}

/// Attribute macros see `cfg_attr` unexpanded, so a `#[tool]` inside would be ignored silently.
pub(crate) fn no_conditional_tool(attributes: &[Attribute], report: &mut Report) {
    for attribute in attributes.iter().filter(|attribute| hides_tool(attribute)) {
        let message = "`#[tool_class]` cannot see a `#[tool]` inside `cfg_attr`; \
                       write two methods, each with its own `#[cfg(..)]`";
        report.at(attribute, message);
    }
}

/// A misspelt name in `include`, `exclude` or `inject` would export or hide the wrong thing.
pub(crate) fn names_exist(list: &[LitStr], kind: &str, existing: &[String], report: &mut Report) {
    for name in list {
        let wanted = name.value();
        if existing.contains(&wanted) {
            continue;
        }
        let near = nearest(&wanted, existing.iter().map(String::as_str));
        let hint = match near.first() {
            Some(near) => format!("; did you mean `{near}`?"),
            None if existing.is_empty() => String::new(),
            None => {
                format!(
                    "; available: {}",
                    existing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
                )
            }
        };
        report.at(name, format!("there is no {kind} `{wanted}`{hint}"));
    }
}
