//! A tool: a function and its `#[tool(..)]` attribute.

use darling::util::SpannedValue;
use proc_macro2::TokenStream;
use serde_json::{Map, Value, json};
use syn::ext::IdentExt;
use syn::{Attribute, GenericArgument, Ident, ItemFn, Lifetime, Path, Signature, Type};
use tool_model::{KEYS, Key, KeyKind};

use crate::attrs::{self, KeyValues, ToolAttr};
use crate::conversion::{self, ConversionKind, ConversionTable, ResultFormat};
use crate::docs::Docs;
use crate::parameter::{self, ParameterContext};
use crate::signature::{self, Delivery, Receiver};
use crate::{ArgumentParameter, Parameter, Preview, Report, ResultConversion, check, generics, preview};

/// A tool as read from source.
#[derive(Clone, Debug)]
pub struct ParsedTool {
    /// The tool's name, such as `metrics.newest`.
    pub name: String,
    /// The name of the function.
    pub function: Ident,
    /// The generic arguments of the call. Empty if all are inferred.
    pub turbofish: Vec<GenericArgument>,
    /// The description that the model reads, possibly empty.
    pub description: String,
    /// `true` if the documentation says that the function is for tests.
    pub is_for_tests: bool,
    /// The receiver of the method.
    pub receiver: Receiver,
    /// All parameters but the receiver, in order.
    pub parameters: Vec<Parameter>,
    /// `true` if the call must be awaited.
    pub is_async: bool,
    /// The delivery of the result: at once or as a stream.
    pub delivery: Delivery,
    /// The result's type, if it is not `()` and can be named outside of the function.
    pub output: Option<Type>,
    /// `true` if the error of the result may borrow.
    pub has_borrowed_error: bool,
    /// The conversion of a result that does not serialize. A converted result has no schema.
    pub result: Option<ResultConversion>,
    /// The conversion of an error that does not implement `Display`.
    pub error: Option<ResultFormat>,
    /// `true` if the function declares no result.
    pub is_unit: bool,
    /// `preview`: the function that describes the effect of a call.
    pub preview: Option<Preview>,
    /// The values of [keys](tool_model::KEYS), in the order of the table.
    pub keys: Vec<(&'static Key, Value)>,
    /// `blocking`: the handler runs on a thread that may block.
    pub blocking: bool,
    /// `arguments(..)`, as a JSON object in text form.
    pub explicit: Option<String>,
    /// The `#[cfg(..)]`s under which the function exists.
    pub cfgs: Vec<Attribute>,
    /// `crate = ..`: the path of the runtime crate, if it is not its own name.
    pub krate: Option<Path>,
}

/// Reads a free function with `#[tool(..)]`; `attribute` holds the tokens between the parentheses.
pub fn read_function(attribute: TokenStream, function: &ItemFn) -> (Option<ParsedTool>, Report) {
    let mut report = Report::default();
    let Some(attr) = report.keep(attrs::parse::<ToolAttr>(attribute)) else { return (None, report) };
    if function.sig.receiver().is_some() {
        let message = "`#[tool]` on a method needs `#[tool_class]` on its `impl` block";
        report.at(&function.sig.ident, message);
        return (None, report);
    }
    if let Some(skip) = &attr.skip {
        report.push(syn::Error::new(
            skip.span(),
            "`skip` has no effect outside of `#[tool_class]`; remove `#[tool]` instead",
        ));
    }
    let source = FunctionSource { signature: &function.sig, attributes: &function.attrs };
    let preview = attr.preview.as_ref().and_then(|path| preview::function(path, &mut report));
    let tool = read(attr, &source, None, &mut report);
    (Some(ParsedTool { preview, ..tool }), report)
}

/// The signature and attributes of a function or method.
pub(crate) struct FunctionSource<'a> {
    pub(crate) signature: &'a Signature,
    pub(crate) attributes: &'a [Attribute],
}

/// Settings that a class applies to all its methods.
pub(crate) struct ClassDefaults<'a> {
    /// The class's type, its lifetimes replaced by `'static`.
    pub(crate) self_ty: &'a Type,
    /// The lifetimes of the class.
    pub(crate) lifetimes: &'a [Lifetime],
    pub(crate) prefix: &'a str,
    pub(crate) keys: KeyValues<true>,
    pub(crate) inject: Vec<String>,
    /// `types(..)`
    pub(crate) types: &'a ConversionTable<ConversionKind>,
    /// `results(..)`
    pub(crate) results: &'a ConversionTable<ResultFormat>,
}

pub(crate) fn read(
    attr: ToolAttr,
    source: &FunctionSource<'_>,
    class: Option<&ClassDefaults<'_>>,
    report: &mut Report,
) -> ParsedTool {
    let specialized = attr.generics.as_ref().map(|types| generics::specialize(source.signature, types, class, report));
    let signature = specialized.as_ref().map_or(source.signature, |specialized| &specialized.signature);
    let inlined = signature::inline_type_parameters(signature);
    let signature = inlined.as_ref().unwrap_or(signature);
    signature::check(signature, report);
    let parameter_names = parameter_names(signature);
    let docs = Docs::read(source.attributes, &parameter_names);
    if attr.description.is_none() {
        check::documentation_is_read(&docs, report);
    }
    check::described_parameters_exist(&docs, &parameter_names, report);
    let inject: Vec<String> = attr.inject.0.iter().map(syn::LitStr::value).collect();
    check::names_exist(&attr.inject.0, "parameter", &parameter_names, report);
    let inject_here: Vec<String> =
        inject.into_iter().chain(class.iter().flat_map(|class| class.inject.clone())).collect();
    let context = ParameterContext {
        signature,
        class: class.map(|class| class.self_ty),
        lifetimes: class.map(|class| class.lifetimes).unwrap_or_default(),
        docs: &docs,
        inject: &inject_here,
        inject_all: false,
        types: class.map(|class| class.types),
    };
    let parameters = parameter::read_all(&context, report);
    let output = signature::output(signature, class);
    let results = class.map(|class| class.results);
    let result = conversion::of_result(attr.result.as_ref(), output.value.as_ref(), results, report);
    let error = conversion::of_error(attr.error.as_ref(), output.value.as_ref(), report);
    let blocking = attr.blocking.filter(|blocking| **blocking);
    if let Some(blocking) = blocking
        && (output.is_async || output.delivery.is_stream())
    {
        let message = if output.is_async {
            "`blocking` has no effect on an `async` function; remove one of the two"
        } else {
            "`blocking` does not apply to a function that returns a stream"
        };
        report.push(syn::Error::new(blocking.span(), message));
    }
    let is_set = |name| attr.keys.0.iter().find(|pair| pair.0.name == name && pair.1 == true);
    if let (Some(_), Some(destructive)) = (is_set("read_only"), is_set("destructive")) {
        report.push(syn::Error::new(destructive.span(), "`read_only` and `destructive` are mutually exclusive"));
    }
    let name = tool_name(&attr, source.signature, class, report);
    check_aliases(&attr.keys, &name, report);
    ParsedTool {
        name,
        function: source.signature.ident.clone(),
        turbofish: specialized.as_ref().map(|specialized| specialized.turbofish.clone()).unwrap_or_default(),
        is_for_tests: docs.is_for_tests,
        description: attr.description.as_ref().map_or(docs.description, syn::LitStr::value),
        receiver: signature::receiver(source.signature, report),
        explicit: explicit(&attr, &parameters, report),
        parameters,
        is_async: output.is_async,
        delivery: output.delivery,
        has_borrowed_error: output.has_borrowed_error(),
        output: output.ty,
        result,
        error,
        is_unit: matches!(signature.output, syn::ReturnType::Default),
        cfgs: source.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect(),
        krate: attr.krate.clone(),
        preview: None,
        blocking: blocking.is_some(),
        keys: keys(&attr.keys, class, output.delivery),
    }
}

/// Returns the names of all parameters.
pub(crate) fn parameter_names(signature: &Signature) -> Vec<String> {
    let names = signature.inputs.iter().filter_map(|input| match input {
        syn::FnArg::Typed(typed) => match &*typed.pat {
            syn::Pat::Ident(name) => Some(name.ident.unraw().to_string()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    });
    names.collect()
}

fn tool_name(attr: &ToolAttr, signature: &Signature, class: Option<&ClassDefaults<'_>>, report: &mut Report) -> String {
    if let Some(name) = &attr.name {
        if let Err(wrong) = tool_model::name::check(&name.value()) {
            report.at(name, wrong);
        }
        return name.value();
    }
    let function = signature.ident.unraw().to_string();
    let name = match class {
        Some(class) if !class.prefix.is_empty() => format!("{}.{function}", class.prefix),
        _ => function,
    };
    // The prefix is checked where it is read; only the function's own name can still be invalid.
    if let Err(wrong) = tool_model::name::check(&name) {
        report.at(&signature.ident, format!("{wrong}; set one with `#[tool(name = \"..\")]`"));
    }
    name
}

/// Checks the aliases of a tool: whole names, which are not prefixed. Those of other tools are checked by `build()`.
fn check_aliases(keys: &KeyValues<false>, name: &str, report: &mut Report) {
    let Some(aliases) = keys.0.iter().find(|pair| pair.0.kind == KeyKind::Names) else { return };
    let mut seen: Vec<&str> = Vec::new();
    for alias in aliases.1.as_array().into_iter().flatten().filter_map(Value::as_str) {
        let wrong = match tool_model::name::check(alias) {
            Err(wrong) => wrong,
            Ok(()) if alias == name => format!("`{alias}` is the tool's own name; remove the alias"),
            Ok(()) if seen.contains(&alias) => format!("duplicate alias `{alias}`"),
            Ok(()) => {
                seen.push(alias);
                continue;
            }
        };
        report.push(syn::Error::new(aliases.span(), wrong));
    }
}

/// Merges the keys of a tool with those of its class. The tool's value replaces the class's value, except that lists
/// are joined. A flag that another flag [implies](Key::implies) is set unless one of the two attributes sets it to `false`.
fn keys(tool: &KeyValues<false>, class: Option<&ClassDefaults<'_>>, delivery: Delivery) -> Vec<(&'static Key, Value)> {
    let class_keys = class.map(|class| class.keys.0.as_slice()).unwrap_or_default();
    let merged = KEYS.iter().filter_map(|key| {
        let find = |keys: &[SpannedValue<(&'static Key, Value)>]| {
            keys.iter().find(|pair| pair.0.name == key.name).map(|pair| pair.1.clone())
        };
        let is_on = |other: &Key| {
            let own = tool.0.iter().chain(class_keys).find(|pair| pair.0.name == other.name);
            own.is_some_and(|pair| pair.1 == true)
        };
        let implied = || {
            let is_streaming = key.name == "supports_streaming" && delivery.is_stream();
            (is_streaming || key.is_implied(is_on)).then_some(Value::Bool(true))
        };
        let (class, tool) = (find(class_keys), find(&tool.0));
        let value = match key.kind {
            KeyKind::Words => joined([class, tool].into_iter().flatten()),
            _ => tool.or(class).or_else(implied)?,
        };
        let is_set = match key.kind {
            KeyKind::Flag => value == true,
            KeyKind::Words => value != Value::Array(Vec::new()),
            _ => true,
        };
        is_set.then_some((key, value))
    });
    merged.collect()
}

/// Joins lists, keeping the first occurrence of each word.
fn joined(lists: impl Iterator<Item = Value>) -> Value {
    let mut words: Vec<Value> = Vec::new();
    for list in lists {
        for word in list.as_array().into_iter().flatten() {
            if !words.contains(word) {
                words.push(word.clone());
            }
        }
    }
    Value::Array(words)
}

/// Reads `arguments(..)`, which must describe every argument: none may be left without a schema.
fn explicit(attr: &ToolAttr, parameters: &[Parameter], report: &mut Report) -> Option<String> {
    let explicit = attr.arguments.as_ref()?;
    let arguments: Vec<_> = parameters
        .iter()
        .filter_map(|parameter| match parameter {
            Parameter::Argument(argument) => Some(argument),
            Parameter::Injected(_) => None,
        })
        .collect();
    let mut described = Map::new();
    let mut misspelt: Vec<&str> = Vec::new();
    for (name, span, schema) in &explicit.arguments {
        let Some(argument) = arguments.iter().find(|argument| argument.name == *name) else {
            let near = tool_model::nearest(name, arguments.iter().map(|argument| argument.name.as_str()));
            let hint = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            misspelt.extend(near.first().copied());
            report.push(syn::Error::new(*span, format!("the function has no argument `{name}`{hint}")));
            continue;
        };
        if !argument.rules.is_empty() || argument.default.is_some() {
            report.push(syn::Error::new(
                *span,
                format!("`{name}` is described both here and by `#[arg(..)]`; remove one"),
            ));
        }
        if schema.contains_key("aliases") {
            let message = format!(
                "`aliases` has no effect here; write `#[arg(alias = \"..\")]` on the parameter `{}`",
                argument.ident
            );
            report.push(syn::Error::new(*span, message));
        }
        let schema = complete(schema.clone(), argument);
        if let Err(wrong) = check_schema(name, &schema) {
            report.push(syn::Error::new(*span, wrong));
        }
        if described.insert(name.clone(), Value::Object(schema)).is_some() {
            report.push(syn::Error::new(*span, format!("duplicate description of `{name}`")));
        }
    }
    for argument in arguments.iter().filter(|argument| !described.contains_key(&argument.name)) {
        if misspelt.contains(&argument.name.as_str()) {
            continue;
        }
        let message =
            format!("`arguments(..)` replaces the inferred schemas, so it must describe `{}` too", argument.name);
        report.push(syn::Error::new_spanned(&argument.ident, message));
    }
    Some(Value::Object(described).to_string())
}

/// Adds the settings of `#[arg(..)]` that do not describe the schema.
fn complete(mut schema: Map<String, Value>, argument: &ArgumentParameter) -> Map<String, Value> {
    schema.entry("type").or_insert_with(|| json!("any"));
    let has_default = schema.contains_key("default");
    schema.entry("required").or_insert_with(|| json!(!has_default));
    if let Some(text) = &argument.description {
        schema.entry("description").or_insert_with(|| json!(text));
    }
    if argument.secret {
        schema.insert("writeOnly".to_owned(), json!(true));
    }
    if !argument.aliases.is_empty() {
        schema.insert("aliases".to_owned(), argument.aliases.iter().map(syn::LitStr::value).collect());
    }
    schema
}

/// A schema written by hand must be one that the validator can enforce.
fn check_schema(name: &str, schema: &Map<String, Value>) -> Result<(), String> {
    let argument: tool_model::Argument =
        serde_json::from_value(Value::Object(schema.clone())).map_err(|error| format!("`{name}`: {error}"))?;
    let types = ["string", "integer", "number", "boolean", "array", "object", "null", "any"];
    if !types.contains(&argument.type_name.as_str()) {
        return Err(format!("`{name}`: unknown type {:?}; expected one of {}", argument.type_name, types.join(", ")));
    }
    tool_model::validate::Validator::new(&argument.schema(), &std::collections::BTreeMap::new())
        .map(drop)
        .map_err(|error| format!("`{name}`: {error}"))
}
