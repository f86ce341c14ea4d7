//! Rules about attributes and parameters, each with its reason.

use proc_macro2::Span;
use serde_json::Value;
use syn::{Attribute, LitStr};
use tool_model::{Number, nearest};

use crate::attrs::{ArgAttr, DefaultValue, hides_tool, last_segment};
use crate::docs::Docs;
use crate::{Parameter, Report};

/// All rules about one `#[arg(..)]`.
pub(crate) fn argument(attr: &ArgAttr, place: Span, report: &mut Report) {
    bounds_leave_room(attr, report);
    lengths_leave_room(attr, place, report);
    pattern_compiles(attr, report);
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

/// A default that the rules refuse would make every call without the argument fail.
fn default_is_allowed(attr: &ArgAttr, report: &mut Report) {
    let Some(spanned) = &attr.default else { return };
    let (place, DefaultValue::Literal(default)) = (spanned.span(), &**spanned) else { return };
    let mut refuse = |why: String| report.push(syn::Error::new(place, format!("the default {default} {why}")));
    if let Some(number) = default.as_f64() {
        if attr.min.as_ref().is_some_and(|min| number < as_f64(min.value)) {
            refuse("is less than `min`".to_owned());
        }
        if attr.max.as_ref().is_some_and(|max| number > as_f64(max.value)) {
            refuse("is more than `max`".to_owned());
        }
    }
    let length = match default {
        Value::String(text) => Some(text.chars().count() as u64),
        Value::Array(items) => Some(items.len() as u64),
        _ => None,
    };
    if let Some(length) = length {
        if attr.min_length.is_some_and(|least| length < least) {
            refuse("is shorter than `min_length`".to_owned());
        }
        if attr.max_length.is_some_and(|most| length > most) {
            refuse("is longer than `max_length`".to_owned());
        }
    }
    if let Some(values) = &attr.one_of
        && !values.0.contains(default)
    {
        refuse("is not in `one_of`".to_owned());
    }
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
