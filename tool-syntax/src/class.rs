//! One class: an `impl` block and its `#[tool_class(..)]`.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, LitStr, Path, ReturnType, Type, Visibility};

use crate::attrs::{self, ClassAttr, ToolAttr};
use crate::docs::Docs;
use crate::parameter::{self, Surroundings};
use crate::tool::{self, ClassDefaults, FunctionSource};
use crate::{InjectedParameter, Parameter, Report, Tool, check, preview, signature};

/// A class as the source describes it.
#[derive(Clone, Debug)]
pub struct Class {
    /// The type of the `impl` block.
    pub self_ty: Type,
    /// The type's own name with its generic arguments, which stands in the handlers' paths.
    pub type_name: String,
    /// Its tools, in the order of the source.
    pub tools: Vec<Tool>,
    /// How an instance is made for each call; several only under `cfg`s that exclude each other.
    pub constructors: Vec<Constructor>,
    /// `manual`: offered only by a dispatcher that is given the service.
    pub manual: bool,
    /// `crate = ..`
    pub krate: Option<Path>,
}

/// `new`, whose parameters are all injected.
#[derive(Clone, Debug)]
pub struct Constructor {
    /// `new`, for its place.
    pub ident: syn::Ident,
    /// Its parameters.
    pub parameters: Vec<InjectedParameter>,
    /// Whether it must be awaited.
    pub is_async: bool,
    /// The `#[cfg(..)]`s under which it exists.
    pub cfgs: Vec<Attribute>,
}

/// Reads an `impl` block under `#[tool_class(..)]`; `attribute` is what stands between the parentheses.
pub fn read_class(attribute: TokenStream, item: &ItemImpl) -> (Option<Class>, Report) {
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
    let previews = preview::named_by(&methods);
    let mut tools = Vec::new();
    for method in &methods {
        check::no_conditional_tool(&method.attrs, &mut report);
        check::once(&method.attrs, "tool", &mut report);
        let role = role(method, &type_name);
        if role != Role::Method {
            check_new(method, role, &attr, &mut report);
        } else if let Some((_, of)) = previews.iter().find(|(preview, _)| *preview == name_of(method)) {
            check_preview(method, of, &attr, &mut report);
        } else {
            tools.extend(read_method(method, &methods, &attr, &defaults, &mut report));
        }
    }
    distinct_names(&tools, &mut report);
    let class = Class {
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

/// The tools of a class are registered once, for one type: a generic one, or a trait's, cannot be named there.
fn concrete_type(item: &ItemImpl, report: &mut Report) -> Option<String> {
    if let Some((path, _)) = &item.trait_ {
        report.at(path, "`#[tool_class]` goes on the type's own `impl` block, not on that of a trait");
        return None;
    }
    if !item.generics.params.is_empty() {
        let message = "a class of tools cannot be generic: its tools are registered once, for one type; \
                       put `#[tool_class]` on an `impl` for a concrete type, such as `impl Service<Postgres>`";
        report.at(&item.generics, message);
        return None;
    }
    if item.self_ty.to_token_stream().into_iter().flat_map(flatten).any(|word| word == "'") {
        report.at(&item.self_ty, "a class of tools cannot borrow: its instances live as long as the dispatcher; own the data, or share it with `Arc`");
        return None;
    }
    match &*item.self_ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last().map(|segment| {
            let arguments = segment.arguments.to_token_stream().to_string().replace(' ', "");
            format!("{}{arguments}", segment.ident.unraw())
        }),
        other => {
            report.at(other, "`#[tool_class]` needs the `impl` block of a struct or an enum");
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

/// A prefix is a name with nothing after it; an empty one leaves the methods' names alone.
fn check_prefix(prefix: &LitStr, report: &mut Report) {
    let text = prefix.value();
    if text.is_empty() {
        return;
    }
    if let Err(wrong) = tool_model::name::check(&text) {
        report.at(prefix, wrong.replace("a tool's name", "a prefix"));
    }
}

/// What a method is to its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// `new`, which gives back the type or a `Result` of it.
    Constructor,
    /// `new`, which gives back the type in some other form, such as an `Arc`: for the application alone.
    Maker,
    Method,
}

fn role(method: &ImplItemFn, type_name: &str) -> Role {
    let ReturnType::Type(_, output) = &method.sig.output else { return Role::Method };
    if name_of(method) != "new" || method.sig.receiver().is_some() {
        return Role::Method;
    }
    let output = crate::ty::future_output(output).unwrap_or(output);
    let bare = type_name.split('<').next().unwrap_or_default();
    let is_class = |ty: &Type| matches!(ty, Type::Path(path) if path.path.segments.last().is_some_and(|last| last.ident == "Self" || last.ident == bare));
    let Type::Path(path) = output else { return Role::Method };
    if is_class(output) {
        return Role::Constructor;
    }
    let Some(last) = path.path.segments.last() else { return Role::Method };
    let syn::PathArguments::AngleBracketed(arguments) = &last.arguments else { return Role::Method };
    let first = arguments.args.iter().find_map(|argument| match argument {
        syn::GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    match first {
        Some(ty) if is_class(ty) && last.ident.to_string().ends_with("Result") => Role::Constructor,
        _ if output.to_token_stream().into_iter().flat_map(flatten).any(|word| word == "Self" || word == bare) => {
            Role::Maker
        }
        _ => Role::Method,
    }
}

/// The constructors that are not left out and whose parameters can be injected.
fn constructors(
    methods: &[&ImplItemFn],
    attr: &ClassAttr,
    type_name: &str,
    self_ty: &Type,
    report: &mut Report,
) -> Vec<Constructor> {
    let excluded = attr.exclude.0.iter().any(|name| name.value() == "new");
    let constructors = methods.iter().filter(|method| role(method, type_name) == Role::Constructor && !excluded);
    let kept = constructors.filter(|method| {
        let marker = method.attrs.iter().find(|attribute| attrs::is_tool(attribute));
        marker.and_then(skip).is_none_or(|skip| !skip)
    });
    kept.filter_map(|method| read_constructor(method, self_ty, report)).collect()
}

/// What an attribute says with `skip`, if it says so.
fn skip(marker: &Attribute) -> Option<bool> {
    attrs::parse_attribute::<ToolAttr>(marker).ok()?.skip.map(|skip| *skip)
}

/// A `new` that makes the type is no tool, whatever is said of it.
fn check_new(method: &ImplItemFn, role: Role, class: &ClassAttr, report: &mut Report) {
    let message = match role {
        Role::Constructor => "`new` is the constructor, never a tool; to keep it from being one, write `#[tool(skip)]`",
        _ => "`new` makes the type itself, and is never a tool; a tool needs another name",
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

/// A constructor that takes something that cannot be injected leaves the class to `.service(..)`.
fn read_constructor(method: &ImplItemFn, self_ty: &Type, report: &mut Report) -> Option<Constructor> {
    let generic = method.sig.generics.params.iter().any(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
    let unnamed = method.sig.inputs.iter().any(|input| match input {
        syn::FnArg::Typed(typed) => crate::ty::is_unnameable(&typed.ty) || !matches!(&*typed.pat, syn::Pat::Ident(_)),
        syn::FnArg::Receiver(_) => true,
    });
    if generic || unnamed || !matches!(method.sig.safety, syn::Safety::Default) {
        return None;
    }
    let docs = Docs::default();
    let around =
        Surroundings { signature: &method.sig, class: Some(self_ty), docs: &docs, inject: &[], inject_all: true };
    let marked =
        method.sig.inputs.iter().any(|input| matches!(input, syn::FnArg::Typed(typed) if !typed.attrs.is_empty()));
    let mut own = Report::default();
    let parameters = parameter::read_all(&around, &mut own);
    if let Err(errors) = own.into_result() {
        // Where nobody has marked anything, `new` may well be for the application alone, with `.service(..)`.
        if marked {
            report.push(errors);
        }
        return None;
    }
    let parameters = parameters.into_iter().filter_map(|parameter| match parameter {
        Parameter::Injected(injected) => Some(injected),
        Parameter::Argument(_) => None,
    });
    Some(Constructor {
        ident: method.sig.ident.clone(),
        parameters: parameters.collect(),
        is_async: signature::output(&method.sig, Some(self_ty)).is_async,
        cfgs: method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect(),
    })
}

/// A preview only shows; as a tool of its own it would have another name for the model, and other arguments one day.
fn check_preview(method: &ImplItemFn, of: &syn::Ident, class: &ClassAttr, report: &mut Report) {
    let name = name_of(method);
    let message = format!("`{name}` is the preview of `{of}`, and a preview is no tool itself");
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
) -> Option<Tool> {
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
            report.at(marker, format!("`{name}` is skipped here, but named in `include`"));
        }
        (Some(_), false) if has(&class.exclude.0) => {
            report.at(marker, format!("`{name}` is a tool here, but named in `exclude`"));
        }
        (Some(_), false) if included == Some(false) => {
            report.at(marker, format!("`{name}` is a tool here, but not named in `include`; add it there"));
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
        report.at(krate, "`crate = ..` belongs into `#[tool_class(..)]`");
    }
    let source = FunctionSource { signature: &method.sig, attributes: &method.attrs };
    let preview = attr.preview.clone();
    let tool = tool::read(attr, &source, Some(defaults), report);
    let preview = preview.and_then(|name| preview::method(&name, &tool, methods, defaults, report));
    Some(Tool { preview, ..tool })
}

/// Two tools of one name: the model could not say which it means. Two methods under opposite `cfg`s may share one.
fn distinct_names(tools: &[Tool], report: &mut Report) {
    for (index, tool) in tools.iter().enumerate() {
        let clash = tools[..index]
            .iter()
            .find(|other| other.name == tool.name && other.cfgs.is_empty() && tool.cfgs.is_empty());
        if let Some(other) = clash {
            let message = format!(
                "`{}` is the name of `{}` too; rename one with `#[tool(name = \"..\")]`",
                tool.name, other.function
            );
            report.at(&tool.function, message);
        }
    }
}
