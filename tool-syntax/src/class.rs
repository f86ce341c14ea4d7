//! A tool class: an `impl` block and its `#[tool_class(..)]` attribute.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, LitStr, Path, ReturnType, Type, Visibility};

use crate::attrs::{self, ClassAttr, ToolAttr};
use crate::docs::Docs;
use crate::parameter::{self, ParameterContext};
use crate::tool::{self, ClassDefaults, FunctionSource};
use crate::{InjectedParameter, Parameter, ParsedTool, Report, check, preview, signature};

/// A tool class as read from source.
#[derive(Clone, Debug)]
pub struct ParsedClass {
    /// The type of the `impl` block.
    pub self_ty: Type,
    /// The type's name with its generic arguments, as used in the paths of handlers.
    pub type_name: String,
    /// The tools, in source order.
    pub tools: Vec<ParsedTool>,
    /// The constructors of an instance for each call. Several only with mutually exclusive `cfg`s.
    pub constructors: Vec<ClassConstructor>,
    /// `manual`: offered only by a dispatcher that has the service.
    pub manual: bool,
    /// `crate = ..`: the path of the runtime crate, if it is not its own name.
    pub krate: Option<Path>,
}

/// A `new` function whose parameters are all injected.
#[derive(Clone, Debug)]
pub struct ClassConstructor {
    /// The identifier `new`, for its span.
    pub ident: syn::Ident,
    /// The injected parameters.
    pub parameters: Vec<InjectedParameter>,
    /// `true` if the call must be awaited.
    pub is_async: bool,
    /// The `#[cfg(..)]` attributes of the function.
    pub cfgs: Vec<Attribute>,
}

/// Reads an `impl` block with `#[tool_class(..)]`; `attribute` holds the tokens between the parentheses.
pub fn read_class(attribute: TokenStream, item: &ItemImpl) -> (Option<ParsedClass>, Report) {
    let mut report = Report::default();
    let Some(attr) = report.keep(attrs::parse::<ClassAttr>(attribute)) else { return (None, report) };
    let Some(type_name) = concrete_type(item, &mut report) else { return (None, report) };
    let methods: Vec<&ImplItemFn> = item.items.iter().filter_map(as_method).collect();
    check_lists(&attr, &methods, &mut report);

    let prefix = match &attr.prefix {
        Some(prefix) => {
            check_prefix(prefix, &mut report);
            prefix.value()
        }
        None => tool_model::name::prefix_of(type_name.split('<').next().unwrap_or_default()),
    };
    let defaults = ClassDefaults {
        self_ty: &item.self_ty,
        prefix: &prefix,
        keys: attr.keys.clone(),
        inject: attr.inject.0.iter().map(LitStr::value).collect(),
    };
    let previews = preview::preview_methods(&methods);
    let mut tools = Vec::new();
    for method in &methods {
        check::no_conditional_tool(&method.attrs, &mut report);
        check::once(&method.attrs, "tool", &mut report);
        let role = role(method, &type_name);
        if role != MethodRole::Method {
            check_new(method, role, &attr, &mut report);
        } else if let Some((_, of)) = previews.iter().find(|(preview, _)| *preview == name_of(method)) {
            check_preview(method, of, &attr, &mut report);
        } else {
            tools.extend(read_method(method, &methods, &attr, &defaults, &mut report));
        }
    }
    distinct_names(&tools, &mut report);
    let class = ParsedClass {
        constructors: constructors(&methods, &attr, &type_name, &item.self_ty, &mut report),
        self_ty: (*item.self_ty).clone(),
        type_name,
        tools,
        manual: attr.manual.unwrap_or(false),
        krate: attr.krate,
    };
    (Some(class), report)
}

fn as_method(item: &ImplItem) -> Option<&ImplItemFn> {
    if let ImplItem::Fn(method) = item { Some(method) } else { None }
}

fn name_of(method: &ImplItemFn) -> String {
    method.sig.ident.unraw().to_string()
}

/// Returns the name of the class's type. Tools are registered once, for one concrete type.
fn concrete_type(item: &ItemImpl, report: &mut Report) -> Option<String> {
    if let Some((path, _)) = &item.trait_ {
        report.at(path, "`#[tool_class]` cannot be used on a trait impl; put it on an inherent `impl` block");
        return None;
    }
    if !item.generics.params.is_empty() {
        let message = "a tool class cannot be generic, since its tools are registered for one type; \
                       put `#[tool_class]` on an `impl` of a concrete type, such as `impl Service<Postgres>`";
        report.at(&item.generics, message);
        return None;
    }
    if item.self_ty.to_token_stream().into_iter().flat_map(flatten).any(|word| word == "'") {
        report.at(&item.self_ty, "a tool class cannot borrow, since its instances live as long as the dispatcher; own the data, or share it with `Arc`");
        return None;
    }
    match &*item.self_ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last().map(|segment| {
            let arguments = segment.arguments.to_token_stream().to_string().replace(' ', "");
            format!("{}{arguments}", segment.ident.unraw())
        }),
        other => {
            report.at(other, "`#[tool_class]` requires the `impl` block of a struct or an enum");
            None
        }
    }
}

fn check_lists(attr: &ClassAttr, methods: &[&ImplItemFn], report: &mut Report) {
    let names: Vec<String> = methods.iter().map(|method| name_of(method)).collect();
    check::names_exist(&attr.exclude.0, "method", &names, report);
    let include = attr.include.as_ref().map(|list| list.0.as_slice()).unwrap_or_default();
    check::names_exist(include, "method", &names, report);
    for name in include.iter().filter(|name| attr.exclude.0.iter().any(|other| other.value() == name.value())) {
        report.at(name, format!("`{}` is both included and excluded", name.value()));
    }
    let parameters: Vec<String> = methods.iter().flat_map(|method| tool::parameter_names(&method.sig)).collect();
    check::names_exist(&attr.inject.0, "parameter", &parameters, report);
}

/// A prefix must be a valid tool name. An empty prefix leaves the methods' names unchanged.
fn check_prefix(prefix: &LitStr, report: &mut Report) {
    let text = prefix.value();
    if text.is_empty() {
        return;
    }
    if let Err(wrong) = tool_model::name::check(&text) {
        report.at(prefix, wrong.replace("a tool's name", "a prefix"));
    }
}

/// The role of a method in its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MethodRole {
    /// `new`, returning the type or a `Result` of it.
    Constructor,
    /// `new`, returning the type in another wrapper, such as an `Arc`. Only the application calls it.
    Factory,
    Method,
}

fn role(method: &ImplItemFn, type_name: &str) -> MethodRole {
    let ReturnType::Type(_, output) = &method.sig.output else { return MethodRole::Method };
    if name_of(method) != "new" || method.sig.receiver().is_some() {
        return MethodRole::Method;
    }
    let output = crate::ty::future_output(output).unwrap_or(output);
    let bare = type_name.split('<').next().unwrap_or_default();
    let is_class = |ty: &Type| matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Self" || last.ident == bare));
    let Type::Path(path) = output else { return MethodRole::Method };
    if is_class(output) {
        return MethodRole::Constructor;
    }
    let Some(last) = path.path.segments.last() else { return MethodRole::Method };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return MethodRole::Method };
    let first = arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    match first {
        Some(ty) if is_class(ty) && last.ident.to_string().ends_with("Result") => MethodRole::Constructor,
        _ if output.to_token_stream().into_iter().flat_map(flatten).any(|word| word == "Self" || word == bare) => {
            MethodRole::Factory
        }
        _ => MethodRole::Method,
    }
}

/// Returns the constructors that are not skipped and whose parameters can be injected.
fn constructors(
    methods: &[&ImplItemFn],
    attr: &ClassAttr,
    type_name: &str,
    self_ty: &Type,
    report: &mut Report,
) -> Vec<ClassConstructor> {
    let excluded = attr.exclude.0.iter().any(|name| name.value() == "new");
    let constructors = methods.iter().filter(|method| role(method, type_name) == MethodRole::Constructor && !excluded);
    let kept = constructors.filter(|method| {
        let marker = method.attrs.iter().find(|attribute| attrs::is_tool(attribute));
        marker.and_then(skip).is_none_or(|skip| !skip)
    });
    kept.filter_map(|method| read_constructor(method, self_ty, report)).collect()
}

/// Returns the value of `skip` in an attribute.
fn skip(marker: &Attribute) -> Option<bool> {
    attrs::parse_attribute::<ToolAttr>(marker).ok()?.skip.map(|skip| *skip)
}

/// Reports attributes and lists that would make a constructor a tool.
fn check_new(method: &ImplItemFn, role: MethodRole, class: &ClassAttr, report: &mut Report) {
    let message = match role {
        MethodRole::Constructor => {
            "`new` is the constructor and cannot be a tool; to keep it from being called, write `#[tool(skip)]`"
        }
        _ => "`new` returns the type itself and cannot be a tool; rename it to make it one",
    };
    let markers = method.attrs.iter().filter(|attribute| attrs::is_tool(attribute));
    markers.filter(|marker| skip(marker).is_none()).for_each(|marker| report.at(marker, message));
    let included = class.include.iter().flat_map(|list| &list.0).filter(|name| name.value() == "new");
    included.for_each(|name| report.at(name, message));
}

fn flatten(token: proc_macro2::TokenTree) -> Vec<String> {
    match token {
        proc_macro2::TokenTree::Group(group) => group.stream().into_iter().flat_map(flatten).collect(),
        other => vec![other.to_string()],
    }
}

/// Reads a constructor. Returns `None` if a parameter cannot be injected: the application then passes the instance with
/// `.service(..)`.
fn read_constructor(method: &ImplItemFn, self_ty: &Type, report: &mut Report) -> Option<ClassConstructor> {
    let generic = method.sig.generics.params.iter().any(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
    let unnamed = method.sig.inputs.iter().any(|input| match input {
        syn::FnArg::Typed(typed) => crate::ty::is_unnameable(&typed.ty) || !matches!(&*typed.pat, syn::Pat::Ident(_)),
        syn::FnArg::Receiver(_) => true,
    });
    if generic || unnamed || !matches!(method.sig.safety, syn::Safety::Default) {
        return None;
    }
    let docs = Docs::default();
    let context =
        ParameterContext { signature: &method.sig, class: Some(self_ty), docs: &docs, inject: &[], inject_all: true };
    let marked =
        method.sig.inputs.iter().any(|input| matches!(input, syn::FnArg::Typed(typed) if !typed.attrs.is_empty()));
    let mut own = Report::default();
    let parameters = parameter::read_all(&context, &mut own);
    if let Err(errors) = own.into_result() {
        // Without attributes on its parameters, `new` is probably called by the application for `.service(..)`.
        if marked {
            report.push(errors);
        }
        return None;
    }
    let parameters = parameters.into_iter().filter_map(|parameter| match parameter {
        Parameter::Injected(injected) => Some(injected),
        Parameter::Argument(_) => None,
    });
    Some(ClassConstructor {
        ident: method.sig.ident.clone(),
        parameters: parameters.collect(),
        is_async: signature::output(&method.sig, Some(self_ty)).is_async,
        cfgs: method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect(),
    })
}

/// Reports attributes and lists that would make a preview a tool of its own.
fn check_preview(method: &ImplItemFn, of: &syn::Ident, class: &ClassAttr, report: &mut Report) {
    let name = name_of(method);
    let message = format!("`{name}` is the preview of `{of}` and cannot be a tool itself");
    let is_marked = method.attrs.iter().any(attrs::is_tool);
    if is_marked {
        report.at(&method.sig.ident, format!("{message}; remove its `#[tool]`"));
    }
    let include = class.include.iter().flat_map(|list| &list.0);
    for included in include.filter(|included| included.value() == name) {
        report.at(included, &message);
    }
}

fn read_method(
    method: &ImplItemFn,
    methods: &[&ImplItemFn],
    class: &ClassAttr,
    defaults: &ClassDefaults<'_>,
    report: &mut Report,
) -> Option<ParsedTool> {
    let name = name_of(method);
    let has = |list: &[LitStr]| list.iter().any(|entry| entry.value() == name);
    let marker = method.attrs.iter().find(|attribute| attrs::is_tool(attribute));
    let attr = match marker {
        Some(attribute) => report.keep(attrs::parse_attribute::<ToolAttr>(attribute))?,
        None => ToolAttr::default(),
    };
    let skipped = attr.skip.as_ref().is_some_and(|skip| **skip);
    let included = class.include.as_ref().map(|list| has(&list.0));
    match (marker, skipped) {
        (Some(_), true) if included == Some(true) => {
            report.at(marker, format!("`{name}` is marked `skip` but listed in `include`"));
        }
        (Some(_), false) if has(&class.exclude.0) => {
            report.at(marker, format!("`{name}` is marked `#[tool]` but listed in `exclude`"));
        }
        (Some(_), false) if included == Some(false) => {
            report.at(marker, format!("`{name}` is marked `#[tool]` but not listed in `include`"));
        }
        _ => {}
    }
    let exported = match included {
        Some(included) => included,
        None => matches!(method.vis, Visibility::Public(_)) || marker.is_some(),
    };
    if skipped || !exported || has(&class.exclude.0) {
        return None;
    }
    if let Some(krate) = &attr.krate {
        report.at(krate, "`crate = ..` belongs in `#[tool_class(..)]`");
    }
    let source = FunctionSource { signature: &method.sig, attributes: &method.attrs };
    let preview = attr.preview.clone();
    let tool = tool::read(attr, &source, Some(defaults), report);
    let preview = preview.and_then(|name| preview::method(&name, &tool, methods, defaults, report));
    Some(ParsedTool { preview, ..tool })
}

/// Reports duplicate tool names. Methods with `cfg` attributes may share a name, since only one of them exists.
fn distinct_names(tools: &[ParsedTool], report: &mut Report) {
    for (index, tool) in tools.iter().enumerate() {
        let clash = tools[..index]
            .iter()
            .find(|other| other.name == tool.name && other.cfgs.is_empty() && tool.cfgs.is_empty());
        if let Some(other) = clash {
            let message = format!(
                "duplicate tool name `{}`, also used by `{}`; rename one with `#[tool(name = \"..\")]`",
                tool.name, other.function
            );
            report.at(&tool.function, message);
        }
    }
}
