//! The `Registration` of a tool.

use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;
use tool_model::{Number, Rule};
use tool_syntax::{ArgumentParameter, DefaultValue, Parameter, ParsedClass, ParsedTool};

use crate::emit::literal;
use crate::{preview, shim};

/// Returns the registration as an expression, with the `cfg` attributes of its method.
pub(crate) fn registration(tool: &ParsedTool, class: Option<&ParsedClass>) -> TokenStream {
    let name = literal(&tool.name);
    let path = match class {
        Some(class) => format!("::{}::{}", class.type_name, unraw(&tool.function)),
        None => format!("::{}", unraw(&tool.function)),
    };
    let path = literal(&path);
    let description = literal(&tool.description);
    let arguments = arguments(tool).map(spec);
    let options = options(tool, class);
    let call = shim::shim(tool, class);
    // The `cfg` attributes of a method go on its array element, those of a function on the whole block.
    let cfgs = if class.is_some() { tool.cfgs.as_slice() } else { &[] };
    // The line of the function: a class has one attribute for many functions.
    let line = tool.function.span().unwrap().line();
    let line = proc_macro2::Literal::usize_unsuffixed(line);
    quote! {
        #(#cfgs)*
        __tool::Registration {
            name: #name,
            handler: ::core::concat!(::core::module_path!(), #path),
            description: #description,
            source: __tool::Source { file: ::core::file!(), line: #line },
            arguments: &[#(#arguments),*],
            options: #options,
            call: #call,
        }
    }
}

fn unraw(ident: &syn::Ident) -> String {
    syn::ext::IdentExt::unraw(ident).to_string()
}

/// Returns the parameters that the model fills.
pub(crate) fn arguments(tool: &ParsedTool) -> impl Iterator<Item = &ArgumentParameter> {
    tool.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Argument(argument) => Some(argument),
        Parameter::Injected(_) => None,
    })
}

fn options(tool: &ParsedTool, class: Option<&ParsedClass>) -> TokenStream {
    let mut fields = TokenStream::new();
    if !tool.keys.is_empty() {
        let keys = tool.keys.iter().map(|(key, value)| key_value(key.name, value));
        fields.extend(quote!(keys: &[#(#keys),*],));
    }
    if let Some(preview) = &tool.preview {
        let preview = preview::shim(tool, preview, class);
        fields.extend(quote!(preview: ::core::option::Option::Some(#preview),));
    }
    if let Some(explicit) = &tool.explicit {
        let text = literal(explicit);
        fields.extend(quote!(explicit: ::core::option::Option::Some(#text),));
    }
    if class.is_some_and(|class| class.manual) {
        fields.extend(quote!(manual: true,));
    }
    if fields.is_empty() {
        return quote!(&__tool::Options::NONE);
    }
    quote!(&__tool::Options { #fields ..__tool::Options::NONE })
}

fn key_value(name: &str, value: &Value) -> TokenStream {
    let value = match value {
        Value::Bool(value) => quote!(Bool(#value)),
        Value::String(text) => {
            let text = literal(text);
            quote!(Text(#text))
        }
        Value::Array(words) => {
            let words = words.iter().filter_map(Value::as_str).map(literal);
            quote!(Words(&[#(#words),*]))
        }
        number => {
            let milliseconds = number.as_u64().unwrap_or(u64::MAX);
            quote!(Millis(#milliseconds))
        }
    };
    let name = literal(name);
    quote!((#name, __tool::KeyValue::#value))
}

fn spec(argument: &ArgumentParameter) -> TokenStream {
    let name = literal(&argument.name);
    let description = literal(argument.description.as_deref().unwrap_or_default());
    let details = details(argument);
    quote!(__tool::ArgumentSpec { name: #name, description: #description, details: #details })
}

fn details(argument: &ArgumentParameter) -> TokenStream {
    let mut fields = TokenStream::new();
    match &argument.default {
        Some(DefaultValue::Literal(value)) => {
            let text = literal(&value.to_string());
            fields.extend(quote!(default: ::core::option::Option::Some(#text),));
        }
        Some(DefaultValue::Trait) => fields.extend(quote!(or_default: true,)),
        None => {}
    }
    if !argument.aliases.is_empty() {
        let aliases = argument.aliases.iter().map(|alias| literal(&alias.value()));
        fields.extend(quote!(aliases: &[#(#aliases),*],));
    }
    if !argument.rules.is_empty() {
        let rules = argument.rules.iter().map(rule);
        fields.extend(quote!(rules: &[#(#rules),*],));
    }
    if argument.secret {
        fields.extend(quote!(secret: true,));
    }
    if argument.any {
        fields.extend(quote!(any: true,));
    }
    if fields.is_empty() {
        return quote!(&__tool::ArgumentDetails::NONE);
    }
    quote!(&__tool::ArgumentDetails { #fields ..__tool::ArgumentDetails::NONE })
}

fn rule(rule: &Rule) -> TokenStream {
    let number = |number: Number| match number {
        Number::Int(int) => {
            let int = proc_macro2::Literal::i128_unsuffixed(int);
            quote!(__tool::Number::Int(#int))
        }
        Number::Float(float) => quote!(__tool::Number::Float(#float)),
    };
    match *rule {
        Rule::Min(least) => {
            let least = number(least);
            quote!(__tool::Rule::Min(#least))
        }
        Rule::Max(most) => {
            let most = number(most);
            quote!(__tool::Rule::Max(#most))
        }
        Rule::MinLength(least) => quote!(__tool::Rule::MinLength(#least)),
        Rule::MaxLength(most) => quote!(__tool::Rule::MaxLength(#most)),
        Rule::Pattern(pattern) => quote!(__tool::Rule::Pattern(#pattern)),
        Rule::OneOf(values) => quote!(__tool::Rule::OneOf(#values)),
    }
}
