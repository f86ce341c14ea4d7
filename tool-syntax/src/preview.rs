//! `preview = ".."`: the function that says what a call would do.

use syn::ext::IdentExt;
use syn::{Ident, ImplItemFn, LitStr, Path};

use crate::attrs::{self, ToolAttr};
use crate::docs::Docs;
use crate::parameter::{self, Surroundings};
use crate::signature::{self, Receiver};
use crate::tool::ClassDefaults;
use crate::{ArgumentParameter, Parameter, Report, Tool, check};

/// The function that `preview` names.
#[derive(Clone, Debug)]
pub enum Preview {
    /// A method of the same class.
    Method(PreviewMethod),
    /// A function that stands elsewhere: what it takes cannot be seen, so it must be what the tool takes.
    Function(Path),
}

/// A method that says what a call of another would do. It is no tool itself.
#[derive(Clone, Debug)]
pub struct PreviewMethod {
    /// The method.
    pub function: Ident,
    /// How it takes its instance.
    pub receiver: Receiver,
    /// All its parameters but the receiver, in its own order; arguments have the names of the tool's.
    pub parameters: Vec<Parameter>,
    /// Whether it must be awaited.
    pub is_async: bool,
}

/// The methods that are previews of others, each with the method it belongs to.
pub(crate) fn named_by(methods: &[&ImplItemFn]) -> Vec<(String, Ident)> {
    let previews = methods.iter().filter_map(|method| {
        let marker = method.attrs.iter().find(|attribute| attrs::is_tool(attribute))?;
        // What cannot be read is reported where the method itself is read.
        let preview = attrs::parse_attribute::<ToolAttr>(marker).ok()?.preview?;
        (preview.value() != name_of(&method.sig.ident)).then(|| (preview.value(), method.sig.ident.clone()))
    });
    previews.collect()
}

fn name_of(ident: &Ident) -> String {
    ident.unraw().to_string()
}

/// Reads the preview of a free function: the path of another.
pub(crate) fn function(preview: &LitStr, report: &mut Report) -> Option<Preview> {
    let path = preview
        .parse_with(Path::parse_mod_style)
        .map_err(|_| syn::Error::new_spanned(preview, "write the path of a function: `preview = \"show_changes\"`"));
    report.keep(path).map(Preview::Function)
}

/// Reads the preview of a method: another of the same class, which takes the same arguments.
pub(crate) fn method(
    preview: &LitStr,
    tool: &Tool,
    methods: &[&ImplItemFn],
    class: &ClassDefaults<'_>,
    report: &mut Report,
) -> Option<Preview> {
    let wanted = preview.value();
    if wanted == name_of(&tool.function) {
        report.at(preview, format!("`{wanted}` cannot be its own preview: that must not do what it shows"));
        return None;
    }
    let names: Vec<String> = methods.iter().map(|method| name_of(&method.sig.ident)).collect();
    let others: Vec<String> = names.into_iter().filter(|name| *name != name_of(&tool.function)).collect();
    check::names_exist(std::slice::from_ref(preview), "method", &others, report);
    let method = methods.iter().find(|method| name_of(&method.sig.ident) == wanted)?;
    signature::check(&method.sig, report);
    let injected = tool.parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Injected(injected) => Some(name_of(&injected.ident)),
        Parameter::Argument(_) => None,
    });
    let around = Surroundings {
        signature: &method.sig,
        class: Some(class.self_ty),
        docs: &Docs::default(),
        inject: &injected.chain(class.inject.clone()).collect::<Vec<_>>(),
        inject_all: false,
    };
    let mut parameters = parameter::read_all(&around, report);
    same_arguments(tool, &method.sig.ident, &mut parameters, report);
    Some(Preview::Method(PreviewMethod {
        function: method.sig.ident.clone(),
        receiver: signature::receiver(&method.sig, report),
        parameters,
        is_async: signature::output(&method.sig, Some(class.self_ty)).is_async,
    }))
}

/// Both are given one and the same text, so that what is shown is what will run. An argument that the preview does not
/// need is called `_name` there, as Rust wants it.
fn same_arguments(tool: &Tool, preview: &Ident, parameters: &mut [Parameter], report: &mut Report) {
    let source_name = |ident: &Ident| name_of(ident).trim_start_matches('_').to_owned();
    let mut missing: Vec<&ArgumentParameter> = arguments(&tool.parameters).collect();
    for parameter in parameters {
        let Parameter::Argument(argument) = parameter else { continue };
        if !argument.rules.is_empty() || argument.default.is_some() || argument.name != name_of(&argument.ident) {
            let message = format!("what `#[arg(..)]` says of `{}` holds for its preview too", tool.function);
            report.at(&argument.ident, format!("{message}; write it there alone"));
        }
        let known = missing.iter().position(|other| source_name(&other.ident) == source_name(&argument.ident));
        if let Some(index) = known {
            argument.name.clone_from(&missing.remove(index).name);
            continue;
        }
        let message = format!(
            "`{}` is no argument of `{}`, whose preview this is; mark it `#[inject]` if the application fills it",
            argument.ident, tool.function
        );
        report.at(&argument.ident, message);
    }
    for argument in missing {
        let message = format!(
            "`{preview}` is the preview of `{}` and must take its argument `{}` too, as `_{}` if it does not need it",
            tool.function,
            argument.ident,
            source_name(&argument.ident)
        );
        report.at(preview, message);
    }
}

fn arguments(parameters: &[Parameter]) -> impl Iterator<Item = &ArgumentParameter> {
    parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Argument(argument) => Some(argument),
        Parameter::Injected(_) => None,
    })
}
