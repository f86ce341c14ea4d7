//! Functions and classes.

use super::definitions::cfg;
use super::names::Names;
use crate::model::{Class, Form, Function, Output, Parameter, Project, Receiver};

/// A function with its annotation.
pub(super) fn function(names: &mut Names<'_>, project: &Project, function: &Function) -> String {
    write(names, project, function, "")
}

/// A class: its type, and its `impl` block with the annotation. Also the text of each method.
pub(super) fn class(names: &mut Names<'_>, project: &Project, class: &Class) -> (String, Vec<String>) {
    let annotation = annotation(names, "tool_runtime::tool_class", &class.words);
    let constructor = class.constructor.map(|text| format!("    {text}\n\n")).unwrap_or_default();
    let methods: Vec<String> = class.methods.iter().map(|method| write(names, project, method, "    ")).collect();
    let name = &class.name;
    let all = methods.join("\n");
    (format!("pub struct {name};\n\n#[{annotation}]\nimpl {name} {{\n{constructor}{all}}}\n"), methods)
}

fn write(names: &mut Names<'_>, project: &Project, function: &Function, indent: &str) -> String {
    let mut text = function.docs.write(indent);
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
    text += &attributes.concat();
    let mut parameters: Vec<String> = Vec::new();
    if let Receiver::Written(receiver) = function.receiver {
        parameters.push(format!("{indent}    {},\n", names.template(receiver)));
    }
    parameters.extend(function.parameters.iter().map(|parameter| self::parameter(names, project, parameter, indent)));
    let parameters = if parameters.is_empty() { String::new() } else { format!("\n{}{indent}", parameters.concat()) };
    let (output, body) = output(names, project, &function.output);
    let (visibility, name) = (function.visibility, &function.name);
    let asynchronous = if function.is_async { "async " } else { "" };
    text + &format!(
        "{indent}{visibility}{asynchronous}fn {name}({parameters}){output} {{\n{indent}    {body}\n{indent}}}\n"
    )
}

fn annotation(names: &mut Names<'_>, path: &str, words: &[String]) -> String {
    let name = names.annotation(path);
    if words.is_empty() { name } else { format!("{name}({})", words.join(", ")) }
}

fn parameter(names: &mut Names<'_>, project: &Project, parameter: &Parameter, indent: &str) -> String {
    let indent = format!("{indent}    ");
    let mut text = parameter.docs.write(&indent);
    if let Some(words) = &parameter.arg {
        let words = if words.is_empty() { String::new() } else { format!("({})", words.join(", ")) };
        text += &format!("{indent}#[arg{words}]\n");
    }
    if parameter.inject {
        text += &format!("{indent}#[inject]\n");
    }
    let ty = form(names, project, &parameter.form);
    let mutable = if names.random.chance(4) { "mut " } else { "" };
    text + &format!("{indent}{mutable}{}: {ty},\n", parameter.name)
}

fn form(names: &mut Names<'_>, project: &Project, form: &Form) -> String {
    match form {
        Form::Owned(ty) => names.ty(project, ty),
        Form::Lent(ty) => format!("&{}", names.ty(project, ty)),
        Form::Slice(ty) => format!("&[{}]", names.ty(project, ty)),
        // A reference inside is recognised by the word `Option` before it.
        Form::OptionLent(ty) => format!("Option<&{}>", names.ty(project, ty)),
        Form::OptionSlice(ty) => format!("Option<&[{}]>", names.ty(project, ty)),
        Form::Plain(text) => {
            let text = text.replace("{std::option::Option}<&", "Option<&");
            names.template(&text)
        }
    }
}

/// The result as it is written, and a body that has it.
fn output(names: &mut Names<'_>, project: &Project, output: &Output) -> (String, &'static str) {
    let body = "unimplemented!()";
    match output {
        Output::Unit => (String::new(), "()"),
        Output::Plain(ty) => (format!(" -> {}", names.ty(project, ty)), body),
        Output::Written(text) => (format!(" -> {}", names.template(text)), body),
        Output::Future(ty) => {
            let ty = names.ty(project, ty);
            (format!(" -> impl Future<Output = {ty}> + Send"), "std::future::pending()")
        }
        Output::Result(ty) => {
            let ty = names.ty(project, ty);
            let error = match names.random.below(4) {
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
