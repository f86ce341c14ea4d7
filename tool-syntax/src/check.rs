//! Rules about attributes and parameters, each with its reason.

use proc_macro2::Span;
use serde_json::Value;
use syn::{Attribute, Expr, ExprLit, Lit, LitStr, Type};
use tool_model::{Number, nearest};

use crate::attrs::{ArgAttr, DefaultValue, hides_tool, last_segment};
use crate::docs::Docs;
use crate::{Parameter, Report};

/// All rules about one `#[arg(..)]`.
pub(crate) fn argument(attr: &ArgAttr, ty: &Type, place: Span, report: &mut Report) {
    bounds_leave_room(attr, report);
    lengths_leave_room(attr, place, report);
    lengths_fit_the_array(attr, ty, place, report);
    pattern_compiles(attr, report);
    listed_values_are_allowed(attr, report);
    default_is_allowed(attr, report);
}

fn as_f64(number: Number) -> f64 {
    match number {
        #[expect(clippy::cast_precision_loss, reason = "only compared for order")]
        Number::Int(int) => int as f64,
        Number::Float(float) => float,
    }
}

/// An argument that no value fits makes the tool uncallable.
fn bounds_leave_room(attr: &ArgAttr, report: &mut Report) {
    if let (Some(min), Some(max)) = (&attr.min, &attr.max)
        && as_f64(min.value) > as_f64(max.value)
    {
        report.at(&max.expr, "`max` is less than `min`: no value would be accepted");
    }
}

fn lengths_leave_room(attr: &ArgAttr, place: Span, report: &mut Report) {
    if let (Some(least), Some(most)) = (attr.min_length, attr.max_length)
        && least > most
    {
        report.push(syn::Error::new(place, "`max_length` is less than `min_length`: no value would be accepted"));
    }
}

/// The pattern is compiled again when a dispatcher is built; here its author still looks at it.
fn pattern_compiles(attr: &ArgAttr, report: &mut Report) {
    let Some(pattern) = &attr.pattern else { return };
    if let Err(error) = regex_lite::Regex::new(&pattern.value()) {
        report.at(pattern, format!("this is no regular expression: {error}"));
    }
}

/// The lengths of arrays that stand in the signature are known here; those of other types when a dispatcher is built.
fn lengths_fit_the_array(attr: &ArgAttr, ty: &Type, place: Span, report: &mut Report) {
    let Some(length) = array_length(ty) else { return };
    for (name, refuses) in [
        ("min_length", attr.min_length.is_some_and(|least| least > length)),
        ("max_length", attr.max_length.is_some_and(|most| most < length)),
    ] {
        if refuses {
            let message = format!("the array has {length} items, which `{name}` refuses: no value would be accepted");
            report.push(syn::Error::new(place, message));
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

/// A value that another rule refuses, or that is listed twice, would only mislead the model.
fn listed_values_are_allowed(attr: &ArgAttr, report: &mut Report) {
    let Some(spanned) = &attr.one_of else { return };
    for (index, value) in spanned.0.iter().enumerate() {
        let twice = spanned.0[..index].contains(value).then_some("is already in the list");
        for why in twice.into_iter().chain(refusals(attr, value)) {
            report.push(syn::Error::new(spanned.span(), format!("`one_of` lists {value}, which {why}")));
        }
    }
}

/// A default that the rules refuse would make every call without the argument fail.
fn default_is_allowed(attr: &ArgAttr, report: &mut Report) {
    let Some(spanned) = &attr.default else { return };
    let (place, DefaultValue::Literal(default)) = (spanned.span(), &**spanned) else { return };
    let unlisted = attr.one_of.as_ref().filter(|values| !values.0.contains(default)).map(|_| "is not in `one_of`");
    for why in refusals(attr, default).chain(unlisted) {
        report.push(syn::Error::new(place, format!("the default {default} {why}")));
    }
}

/// What the rules other than `one_of` have against a value.
fn refusals(attr: &ArgAttr, value: &Value) -> impl Iterator<Item = &'static str> + use<> {
    let number = value.as_f64();
    let length = match value {
        Value::String(text) => Some(text.chars().count() as u64),
        Value::Array(items) => Some(items.len() as u64),
        _ => None,
    };
    let below = |least: Option<f64>| number.zip(least).is_some_and(|(number, least)| number < least);
    let above = |most: Option<f64>| number.zip(most).is_some_and(|(number, most)| number > most);
    // One that is no regular expression is reported by itself.
    let pattern = attr.pattern.as_ref().and_then(|pattern| regex_lite::Regex::new(&pattern.value()).ok());
    let refusals = [
        (below(attr.min.as_ref().map(|min| as_f64(min.value))), "is less than `min`"),
        (above(attr.max.as_ref().map(|max| as_f64(max.value))), "is more than `max`"),
        (length.zip(attr.min_length).is_some_and(|(length, least)| length < least), "is shorter than `min_length`"),
        (length.zip(attr.max_length).is_some_and(|(length, most)| length > most), "is longer than `max_length`"),
        (
            value.as_str().zip(pattern).is_some_and(|(text, pattern)| !pattern.is_match(text)),
            "does not match `pattern`",
        ),
    ];
    refusals.into_iter().filter(|(refuses, _)| *refuses).map(|(_, why)| why)
}

/// Providers take no other names for properties.
pub(crate) fn argument_name(rename: &LitStr, report: &mut Report) {
    let name = rename.value();
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(allowed) {
        report.at(rename, "an argument's name has 1 to 64 letters, digits, `_`, `-` and `.`");
    }
}

/// JSON objects have each key once.
pub(crate) fn distinct_arguments(parameters: &[Parameter], report: &mut Report) {
    let mut seen: Vec<&str> = Vec::new();
    for parameter in parameters {
        let Parameter::Argument(argument) = parameter else { continue };
        if seen.contains(&argument.name.as_str()) {
            report.at(&argument.ident, format!("two arguments are called `{}`; rename one", argument.name));
        }
        seen.push(&argument.name);
    }
}

/// A parameter that is there only sometimes would make two tools of one name.
pub(crate) fn no_conditional_parameter(attributes: &[Attribute], report: &mut Report) {
    for attribute in
        attributes.iter().filter(|attribute| matches!(last_segment(attribute).as_str(), "cfg" | "cfg_attr"))
    {
        let message = "a tool's parameter cannot depend on `cfg`: its schema would too; \
                       write two functions, each under its `cfg`";
        report.at(attribute, message);
    }
}

/// A model would not see documentation that is not a text here; rustc would show it to people.
pub(crate) fn documentation_is_read(docs: &Docs, report: &mut Report) {
    if let Some(value) = &docs.unread {
        let message =
            "this documentation cannot be read here; write it out, or give the text with `description = \"..\"`";
        report.at(value, message);
    }
}

/// The second of two would be overlooked.
pub(crate) fn once(attributes: &[Attribute], name: &str, report: &mut Report) {
    for second in attributes.iter().filter(|attribute| last_segment(attribute) == name).skip(1) {
        report.at(second, format!("`#[{name}]` stands here twice; write one"));
    }
}

/// Attribute macros see `cfg_attr` unexpanded, so such a `#[tool]` would be overlooked in silence.
pub(crate) fn no_conditional_tool(attributes: &[Attribute], report: &mut Report) {
    for attribute in attributes.iter().filter(|attribute| hides_tool(attribute)) {
        let message = "`#[tool_class]` cannot see a `#[tool]` inside `cfg_attr`; \
                       write two methods, each under its `#[cfg(..)]`";
        report.at(attribute, message);
    }
}

/// Names in `include`, `exclude` and `inject` must exist: a slip of the pen would export or hide the wrong thing.
pub(crate) fn names_exist(list: &[LitStr], what: &str, existing: &[String], report: &mut Report) {
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
                format!("; there is {}", existing.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
            }
        };
        report.at(name, format!("no {what} `{wanted}` here{hint}"));
    }
}
