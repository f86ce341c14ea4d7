//! `preview = ".."`: the function that describes the effect of a call.

use syn::ext::IdentExt;
use syn::{Ident, ImplItemFn, LitStr, Path};

use crate::attrs::{self, ToolAttr};
use crate::docs::Docs;
use crate::parameter::{self, ParameterContext};
use crate::signature::{self, Receiver};
use crate::tool::ClassDefaults;
use crate::{ArgumentParameter, Parameter, ParsedTool, Report, check};

/// The function that `preview` names.
#[derive(Clone, Debug)]
pub enum Preview {
    /// A method of the same class.
    Method(PreviewMethod),
    /// A function defined elsewhere. Its signature is not visible here and must match the tool's.
    Function(Path),
}

/// A method that describes the effect of a call of another method. It is not a tool.
#[derive(Clone, Debug)]
pub struct PreviewMethod {
    /// The name of the method.
    pub function: Ident,
    /// The receiver of the method.
    pub receiver: Receiver,
    /// All parameters but the receiver, in order. Arguments have the names of the tool's arguments.
    pub parameters: Vec<Parameter>,
    /// `true` if the call must be awaited.
    pub is_async: bool,
}

/// Returns the methods that are previews, each with the method that names it.
pub(crate) fn preview_methods(methods: &[&ImplItemFn]) -> Vec<(String, Ident)> {
    let previews = methods.iter().filter_map(|method| {
        let marker = method.attrs.iter().find(|attribute| attrs::is_tool(attribute))?;
        // Errors in the attribute are reported when the method is read.
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
        .map_err(|_| syn::Error::new_spanned(preview, "expected the path of a function: `preview = \"show_changes\"`"));
    report.keep(path).map(Preview::Function)
}

/// Reads the preview of a method: another of the same class, which takes the same arguments.
pub(crate) fn method(
    preview: &LitStr,
    tool: &ParsedTool,
    methods: &[&ImplItemFn],
    class: &ClassDefaults<'_>,
    report: &mut Report,
) -> Option<Preview> {
    let wanted = preview.value();
    if wanted == name_of(&tool.function) {
        report.at(preview, format!("`{wanted}` cannot be its own preview"));
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
    let context = ParameterContext {
        signature: &method.sig,
        class: Some(class.self_ty),
        lifetimes: class.lifetimes,
        docs: &Docs::default(),
        inject: &injected.chain(class.inject.clone()).collect::<Vec<_>>(),
        inject_all: false,
        types: None,
    };
    let mut parameters = parameter::read_all(&context, report);
    same_arguments(tool, &method.sig.ident, &mut parameters, report);
    Some(Preview::Method(PreviewMethod {
        function: method.sig.ident.clone(),
        receiver: signature::receiver(&method.sig, report),
        parameters,
        is_async: signature::output(&method.sig, Some(class)).is_async,
    }))
}

/// Matches the preview's arguments with the tool's: both decode the same text. An argument that the preview does not
/// need may be called `_name`.
fn same_arguments(tool: &ParsedTool, preview: &Ident, parameters: &mut [Parameter], report: &mut Report) {
    let source_name = |ident: &Ident| name_of(ident).trim_start_matches('_').to_owned();
    let mut missing: Vec<&ArgumentParameter> = arguments(&tool.parameters).collect();
    for parameter in parameters {
        let Parameter::Argument(argument) = parameter else { continue };
        let is_plain = argument.rules.is_empty()
            && argument.default.is_none()
            && argument.conversion.is_none()
            && argument.aliases.is_empty();
        if !is_plain || argument.name != name_of(&argument.ident) {
            let message = format!("`#[arg(..)]` on `{}` also applies to its preview; remove it here", tool.function);
            report.at(&argument.ident, message);
        }
        let known = missing.iter().position(|other| source_name(&other.ident) == source_name(&argument.ident));
        if let Some(index) = known {
            argument.name.clone_from(&missing.remove(index).name);
            continue;
        }
        let message = format!(
            "`{}` is not an argument of `{}`; mark it `#[inject]` if the application provides it",
            argument.ident, tool.function
        );
        report.at(&argument.ident, message);
    }
    for argument in missing {
        let message = format!(
            "`{preview}` is the preview of `{}` and must take its argument `{}` too (as `_{}` if it is unused)",
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
