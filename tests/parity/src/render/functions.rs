//! Renders functions and classes.

use super::definitions::cfg;
use super::names::Names;
use crate::model::{Class, ClassForm, Form, Function, Output, Parameter, Project, Receiver};

/// Renders a function with its annotation.
pub(super) fn function(names: &mut Names<'_>, project: &Project, function: &Function) -> String {
    write(names, project, function, "", FunctionPart::Whole)
}

/// Renders a class: its type, and its annotated `impl` block. Also returns the text of each method.
pub(super) fn class(names: &mut Names<'_>, project: &Project, class: &Class) -> (String, Vec<String>) {
    let mut words = class.words.clone();
    let name = &class.name;
    if class.form == ClassForm::Generic {
        words.push(format!("instances({name}<u8>)"));
    }
    let annotation = annotation(names, "tool_runtime::tool_class", &words);
    let constructor = class.constructor.map(|text| format!("    {text}\n\n")).unwrap_or_default();
    let mut write_all = |part: FunctionPart| -> Vec<String> {
        class.methods.iter().map(|method| write(names, project, method, "    ", part)).collect()
    };
    let methods = match class.form {
        ClassForm::Trait | ClassForm::Declared => write_all(FunctionPart::Signature),
        _ => write_all(FunctionPart::Whole),
    };
    let all = methods.join("\n");
    let text = match class.form {
        ClassForm::Inherent => format!("pub struct {name};\n\n#[{annotation}]\nimpl {name} {{\n{constructor}{all}}}\n"),
        ClassForm::Generic => format!(
            "pub struct {name}<R>(pub std::marker::PhantomData<R>);\n\n#[{annotation}]\nimpl<R: Send> {name}<R> {{\n{all}}}\n"
        ),
        ClassForm::Borrowed => format!(
            "pub struct {name}<'a>(pub &'a str);\n\n#[{annotation}]\nimpl<'a> {name}<'a> {{\n    \
             pub fn new(anchor: &'a str) -> Self {{ Self(anchor) }}\n\n{all}}}\n"
        ),
        ClassForm::TraitImpl => {
            let declared = write_all(FunctionPart::Bare).join("\n");
            format!(
                "pub struct {name};\n\n#[allow(async_fn_in_trait)]\npub trait {name}Api {{\n{declared}}}\n\n\
                 #[{annotation}]\nimpl {name}Api for {name} {{\n{all}}}\n"
            )
        }
        ClassForm::Trait => format!("#[{annotation}]\npub trait {name}: Send + Sync {{\n{all}}}\n"),
        ClassForm::Declared => {
            let bodies = write_all(FunctionPart::Body).join("\n");
            let words =
                if words.is_empty() { String::new() } else { format!("    #[tool_class({})]\n", words.join(", ")) };
            format!(
                "pub struct {name};\n\nimpl {name} {{\n{bodies}}}\n\n::tool_runtime::tools! {{\n{words}    impl {name} {{\n{all}    }}\n}}\n"
            )
        }
    };
    (text, methods)
}

/// The part of a function to render.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FunctionPart {
    /// Everything.
    Whole,
    /// Documentation, attributes and signature.
    Signature,
    /// The signature alone.
    Bare,
    /// Signature and body, without attributes.
    Body,
}

impl FunctionPart {
    fn is_annotated(self) -> bool {
        matches!(self, Self::Whole | Self::Signature)
    }

    fn has_body(self) -> bool {
        matches!(self, Self::Whole | Self::Body)
    }
}

fn write(names: &mut Names<'_>, project: &Project, function: &Function, indent: &str, part: FunctionPart) -> String {
    let mut text = String::new();
    if part.is_annotated() {
        text += &function.docs.write(indent);
        text += &attributes(names, function, indent);
    }
    let mut parameters: Vec<String> = Vec::new();
    if let Receiver::Written(receiver) = function.receiver {
        let receiver = if part.has_body() { receiver } else { receiver.trim_start_matches("mut ") };
        parameters.push(format!("{indent}    {},\n", names.template(receiver)));
    }
    let written = function.parameters.iter().map(|parameter| self::parameter(names, project, parameter, indent, part));
    parameters.extend(written);
    let parameters = if parameters.is_empty() { String::new() } else { format!("\n{}{indent}", parameters.concat()) };
    let (output, body) = output(names, project, function);
    let visibility = if part == FunctionPart::Body { "pub " } else { function.visibility };
    let name = &function.name;
    let asynchronous = if function.is_async { "async " } else { "" };
    let end = if part.has_body() { format!(" {{\n{indent}    {body}\n{indent}}}") } else { ";".to_owned() };
    text + &format!("{indent}{visibility}{asynchronous}fn {name}({parameters}){output}{end}\n")
}

fn attributes(names: &mut Names<'_>, function: &Function, indent: &str) -> String {
    let mut attributes = vec![cfg(function.cfg, indent)];
    if let Some(words) = &function.tool {
        let tool = annotation(names, "tool_runtime::tool", words);
        // Inside a class a conditional annotation is an error.
        attributes.push(if indent.is_empty() && names.random.chance(4) {
            format!("{indent}#[cfg_attr(all(), {tool})]\n")
        } else {
            format!("{indent}#[{tool}]\n")
        });
    }
    if names.random.chance(50) {
        attributes.reverse();
    }
    if names.random.chance(10) {
        attributes.push(format!("{indent}#[allow(dead_code)]\n"));
    }
    attributes.concat()
}

fn annotation(names: &mut Names<'_>, path: &str, words: &[String]) -> String {
    let name = names.annotation(path);
    if words.is_empty() { name } else { format!("{name}({})", words.join(", ")) }
}

fn parameter(
    names: &mut Names<'_>,
    project: &Project,
    parameter: &Parameter,
    indent: &str,
    part: FunctionPart,
) -> String {
    let indent = format!("{indent}    ");
    let ty = form(names, project, &parameter.form);
    let mutable = if part.has_body() && names.random.chance(4) { "mut " } else { "" };
    let line = format!("{indent}{mutable}{}: {ty},\n", parameter.name);
    if !part.is_annotated() {
        return line;
    }
    let mut text = parameter.docs.write(&indent);
    let via = parameter.via.as_ref().map(|ty| format!("via({})", names.ty(project, ty)));
    if parameter.arg.is_some() || via.is_some() {
        let words: Vec<String> = parameter.arg.iter().flatten().cloned().chain(via).collect();
        let words = if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) };
        text += &format!("{indent}#[arg{words}]\n");
    }
    if parameter.inject {
        text += &format!("{indent}#[inject]\n");
    }
    text + &line
}

fn form(names: &mut Names<'_>, project: &Project, form: &Form) -> String {
    match form {
        Form::Owned(ty) => names.ty(project, ty),
        Form::Lent(ty) => format!("&{}", names.ty(project, ty)),
        Form::Slice(ty) => format!("&[{}]", names.ty(project, ty)),
        // The macro recognizes a reference inside by the identifier `Option` before it.
        Form::OptionLent(ty) => format!("Option<&{}>", names.ty(project, ty)),
        Form::OptionSlice(ty) => format!("Option<&[{}]>", names.ty(project, ty)),
        Form::Plain(text) => {
            let text = text.replace("{std::option::Option}<&", "Option<&");
            let text = text.replace("{std::option::Option}<impl ", "Option<impl ");
            names.template(&text)
        }
    }
}

/// Renders the return type, and a body of that type.
fn output(names: &mut Names<'_>, project: &Project, function: &Function) -> (String, &'static str) {
    let body = "unimplemented!()";
    match &function.output {
        Output::Unit => (String::new(), "()"),
        Output::Plain(ty) => (format!(" -> {}", names.ty(project, ty)), body),
        Output::Written(text) => (format!(" -> {}", names.template(text)), body),
        Output::Future(ty) => {
            let ty = names.ty(project, ty);
            (format!(" -> impl Future<Output = {ty}> + Send"), "std::future::pending()")
        }
        Output::Result(ty) => {
            let ty = names.ty(project, ty);
            // Derived from the name, because a signature that is written twice has the same error.
            let error = match function.name.len() % 4 {
                0 => names.library("std::string::String"),
                1 => format!("{}<dyn std::error::Error + Send + Sync>", names.library("std::boxed::Box")),
                2 => "&'static str".to_owned(),
                _ => return (format!(" -> {}<{ty}>", names.library("std::io::Result")), body),
            };
            let result = format!("{}<{ty}, {error}>", names.library("std::result::Result"));
            (format!(" -> {result}"), body)
        }
    }
}
