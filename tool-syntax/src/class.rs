//! A tool class: an `impl` block or a trait, and its `#[tool_class(..)]` attribute.

use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::{ImplItem, ImplItemFn, ItemImpl, ItemTrait, Lifetime, LitStr, Path, Type, Visibility};
use tool_model::KeyKind;

use crate::attrs::{self, ClassAttr, ToolAttr};
use crate::constructor::{self, ClassConstructor, MethodRole};
use crate::declared::DeclaredClass;
use crate::instances::{self, ClassInstance};
use crate::tool::{self, ClassDefaults, FunctionSource};
use crate::{ParsedTool, Preview, Receiver, Report, check, object, preview, rewrite};

/// A tool class as read from source: an `impl` block, one instance of a generic block, or a trait.
#[derive(Clone, Debug)]
pub struct ParsedClass {
    /// The type that shims call methods on: `dyn Trait` for a trait. Lifetimes of a borrowing class are `'_`.
    pub self_ty: Type,
    /// The trait whose methods these are.
    pub trait_path: Option<Path>,
    /// The origin of the instance.
    pub instance: ClassKind,
    /// The type's name with its generic arguments, as used in the paths of handlers.
    pub type_name: String,
    /// The tools, in source order.
    pub tools: Vec<ParsedTool>,
    /// The constructors of an instance for each call. Several only with mutually exclusive `cfg`s.
    pub constructors: Vec<ClassConstructor>,
    /// `manual`: offered only by a dispatcher that has the service.
    pub manual: bool,
    /// `true` for a class of `tools!`, whose signatures are checked against the real methods.
    pub is_declared: bool,
    /// `crate = ..`: the path of the runtime crate, if it is not its own name.
    pub krate: Option<Path>,
}

/// The kinds of tool classes, by the origin of their instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassKind {
    /// A value that the application passes to `.service(..)`, or that `new` builds for each call.
    Owned,
    /// A value that borrows from injected values. `new` builds it inside each call.
    Borrowed,
    /// An `Arc<dyn Trait>` that the application passes to `.service(..)`.
    Object,
}

/// Reads an `impl` block with `#[tool_class(..)]`; `attribute` holds the tokens between the parentheses. A generic block
/// yields a class for each of its `instances(..)`.
pub fn read_class(attribute: TokenStream, item: &ItemImpl) -> (Vec<ParsedClass>, Report) {
    read_block(attribute, item, false)
}

/// Reads an `impl` block of `tools!`, whose methods have no bodies.
pub fn read_declared_class(declared: &DeclaredClass) -> (Vec<ParsedClass>, Report) {
    read_block(declared.attribute.clone(), &declared.block, true)
}

/// Reads a trait with `#[tool_class(..)]`. Its tools are called on an `Arc<dyn Trait>`.
pub fn read_trait(attribute: TokenStream, item: &ItemTrait) -> (Vec<ParsedClass>, Report) {
    let mut report = Report::default();
    let Some(attr) = report.keep(attrs::parse_class(attribute)) else { return (Vec::new(), report) };
    let per_call = attr.per_call.as_ref().map(|key| key.span());
    let instances = attr.instances.as_ref().map(|key| key.span());
    if let Some(key) = per_call.or(instances).or(attr.new.as_ref().map(|key| key.span)) {
        let message = "a trait has no instances of its own: remove `per_call`, `instances` and `new`, or put `#[tool_class]` on \
                       the `impl` block";
        report.push(syn::Error::new(key, message));
        return (Vec::new(), report);
    }
    let Some(block) = report.keep(object::to_impl(item)) else { return (Vec::new(), report) };
    let trait_path = Some(Path::from(item.ident.clone()));
    let form = ClassForm { kind: ClassKind::Object, trait_path, lifetimes: Vec::new(), is_declared: false };
    let class = read_one(&attr, &block, item.ident.unraw().to_string(), attr.prefix.as_ref(), form, &mut report);
    check_tables(&attr, &mut report);
    (class.into_iter().collect(), report)
}

fn read_block(attribute: TokenStream, item: &ItemImpl, is_declared: bool) -> (Vec<ParsedClass>, Report) {
    let mut report = Report::default();
    let Some(attr) = report.keep(attrs::parse_class(attribute)) else { return (Vec::new(), report) };
    let with_new = attr.new.as_ref().map(|new| new.add_to(item));
    let item = with_new.as_ref().unwrap_or(item);
    let is_generic = !instances::type_parameters(&item.generics).is_empty();
    let mut classes = Vec::new();
    match (&attr.instances, is_generic) {
        (None, false) => classes.extend(read_concrete(&attr, item, attr.prefix.as_ref(), is_declared, &mut report)),
        (None, true) => report.at(&item.generics, missing_instances(item)),
        (Some(list), false) => {
            let message = "`instances(..)` has no effect here: the `impl` block has no type parameters";
            report.push(syn::Error::new(list.span(), message));
        }
        (Some(list), true) => {
            for instance in &list.0 {
                let Some(item) = report.keep(instances::instantiate(item, &instance.ty)) else { break };
                let prefix = instance.prefix.as_ref().or(attr.prefix.as_ref());
                classes.extend(read_concrete(&attr, &item, prefix, is_declared, &mut report));
                if report.has_errors() {
                    // The other instances would repeat the same errors.
                    break;
                }
            }
            distinct_instances(&classes, &list.0, &mut report);
            no_shared_aliases(&classes, &mut report);
        }
    }
    check_tables(&attr, &mut report);
    (classes, report)
}

/// Reports rows of `types(..)` and `results(..)` that match nothing. After other errors, a row may be unused for them.
fn check_tables(attr: &ClassAttr, report: &mut Report) {
    if !report.has_errors() {
        attr.types.check_used("an argument", report);
        attr.results.check_used("a result", report);
    }
}

/// Shows the attribute line with the author's own type.
fn missing_instances(item: &ItemImpl) -> String {
    let mut ty = (*item.self_ty).clone();
    let mut notes = Vec::new();
    for parameter in instances::type_parameters(&item.generics) {
        let bound = instances::main_bound(&item.generics, parameter);
        let name = match bound.and_then(|path| path.segments.last()) {
            Some(bound) => quote::format_ident!("My{}", bound.ident),
            None => quote::format_ident!("My{}", parameter),
        };
        notes.extend(bound.map(|bound| format!("`{name}` implements `{}`", tokens(bound))));
        ty = rewrite::replace_ident(&ty, parameter, &name);
    }
    let where_note = if notes.is_empty() { String::new() } else { format!(", where {}", notes.join(" and ")) };
    format!(
        "a generic tool class must name its concrete types: `#[tool_class(instances({}))]`{where_note}",
        tokens(&ty)
    )
}

/// Formats tokens as they are usually written.
pub(crate) fn tokens(tokens: &impl ToTokens) -> String {
    let text = tokens.to_token_stream().to_string();
    text.replace(" <", "<").replace("< ", "<").replace(" >", ">").replace(" ,", ",").replace(" :: ", "::")
}

/// Two instances with one prefix would have tools of the same names.
fn distinct_instances(classes: &[ParsedClass], instances: &[ClassInstance], report: &mut Report) {
    for (index, class) in classes.iter().enumerate() {
        let names = classes[..index].iter().flat_map(|other| &other.tools).map(|tool| &tool.name);
        let known: Vec<&String> = names.collect();
        if let Some(tool) = class.tools.iter().find(|tool| known.contains(&&tool.name)) {
            let message = format!(
                "two instances have a tool `{}`; give each a prefix, `{} as \"..\"`, and no `name = \"..\"`",
                tool.name, class.type_name
            );
            report.at(&instances[index].ty, message);
        }
    }
}

/// An alias is a whole name, so that all instances would have the same one.
fn no_shared_aliases(classes: &[ParsedClass], report: &mut Report) {
    let [class, _, ..] = classes else { return };
    let has_alias = |tool: &&ParsedTool| tool.keys.iter().any(|(key, _)| key.kind == KeyKind::Names);
    for tool in class.tools.iter().filter(has_alias) {
        let message = format!(
            "`alias` would be an alias of `{}` in each of the {} instances; remove it, or the other instances",
            tool.function,
            classes.len()
        );
        report.at(&tool.function, message);
    }
}

/// The form of a class, apart from its methods.
struct ClassForm {
    kind: ClassKind,
    trait_path: Option<Path>,
    lifetimes: Vec<Lifetime>,
    is_declared: bool,
}

fn read_concrete(
    attr: &ClassAttr,
    item: &ItemImpl,
    prefix: Option<&LitStr>,
    is_declared: bool,
    report: &mut Report,
) -> Option<ParsedClass> {
    let type_name = type_name(item, report)?;
    let lifetimes = item.generics.lifetimes().map(|param| param.lifetime.clone()).collect();
    let kind = match &*item.self_ty {
        Type::TraitObject(_) => ClassKind::Object,
        ty if rewrite::has_lifetime(ty) => ClassKind::Borrowed,
        _ => ClassKind::Owned,
    };
    let trait_path = item.trait_.as_ref().map(|(path, _)| rewrite::path_with_lifetimes(path, "'_"));
    let form = ClassForm { kind, trait_path, lifetimes, is_declared };
    if form.trait_path.is_none() {
        return read_one(attr, item, type_name, prefix, form, report);
    }
    let mut item = item.clone();
    instances::inline_associated_types(&mut item);
    read_one(attr, &item, type_name, prefix, form, report)
}

fn read_one(
    attr: &ClassAttr,
    item: &ItemImpl,
    type_name: String,
    prefix: Option<&LitStr>,
    form: ClassForm,
    report: &mut Report,
) -> Option<ParsedClass> {
    let methods: Vec<&ImplItemFn> = item.items.iter().filter_map(as_method).collect();
    check_lists(attr, &methods, report);
    let prefix = match prefix {
        Some(prefix) => {
            check_prefix(prefix, report);
            prefix.value()
        }
        None => tool_model::name::prefix_of(type_name.split('<').next().unwrap_or_default()),
    };
    let static_ty = rewrite::with_lifetimes(&item.self_ty, "'static");
    let defaults = ClassDefaults {
        self_ty: &static_ty,
        lifetimes: &form.lifetimes,
        prefix: &prefix,
        keys: attr.keys.clone(),
        inject: attr.inject.0.iter().map(LitStr::value).collect(),
        types: &attr.types,
        results: &attr.results,
    };
    let exports_all = form.trait_path.is_some() || form.is_declared;
    let previews = preview::preview_methods(&methods);
    let mut tools = Vec::new();
    for method in &methods {
        check::no_conditional_tool(&method.attrs, report);
        check::once(&method.attrs, "tool", report);
        let role = constructor::role(method, &type_name);
        if role != MethodRole::Method {
            constructor::check_constructor(method, role, attr, form.is_declared, report);
        } else if let Some((_, of)) = previews.iter().find(|(preview, _)| *preview == name_of(method)) {
            check_preview(method, of, attr, report);
        } else {
            tools.extend(read_method(method, &methods, attr, &defaults, exports_all, report));
        }
    }
    distinct_names(&tools, report);
    match &form.trait_path {
        // The type of a trait's block is made up here.
        Some(path) if form.kind == ClassKind::Object => check_exports(attr, path, &type_name, &tools, report),
        _ => check_exports(attr, &item.self_ty, &type_name, &tools, report),
    }
    if form.kind == ClassKind::Object {
        no_exclusive_methods(&tools, report);
    }
    let constructors = constructor::read_all(&methods, attr, &type_name, &defaults, report);
    if form.kind == ClassKind::Borrowed {
        check_borrowing(attr, item, &type_name, &constructors, &tools, report);
    }
    Some(ParsedClass {
        self_ty: rewrite::with_lifetimes(&item.self_ty, "'_"),
        trait_path: form.trait_path,
        instance: form.kind,
        type_name,
        tools,
        constructors,
        manual: attr.manual.unwrap_or(false),
        is_declared: form.is_declared,
        krate: attr.krate.clone(),
    })
}

fn as_method(item: &ImplItem) -> Option<&ImplItemFn> {
    if let ImplItem::Fn(method) = item { Some(method) } else { None }
}

pub(crate) fn name_of(method: &ImplItemFn) -> String {
    method.sig.ident.unraw().to_string()
}

/// Returns the name of the class's type with its generic arguments, lifetimes aside.
fn type_name(item: &ItemImpl, report: &mut Report) -> Option<String> {
    let path = match &*item.self_ty {
        Type::Path(path) if path.qself.is_none() => Some(&path.path),
        Type::TraitObject(object) => object.bounds.iter().find_map(|bound| match bound {
            syn::TypeParamBound::Trait(bound) => Some(&bound.path),
            _ => None,
        }),
        _ => None,
    };
    let Some(segment) = path.and_then(|path| path.segments.last()) else {
        report.at(&item.self_ty, "`#[tool_class]` requires the `impl` block of a struct or an enum");
        return None;
    };
    let mut arguments = segment.arguments.clone();
    if let syn::PathArguments::AngleBracketed(list) = &mut arguments {
        let kept = list.args.iter().filter(|argument| !matches!(argument, syn::GenericArgument::Lifetime(_)));
        list.args = kept.cloned().collect();
        if list.args.is_empty() {
            arguments = syn::PathArguments::None;
        }
    }
    let arguments = arguments.to_token_stream().to_string().replace(' ', "");
    Some(format!("{}{arguments}", segment.ident.unraw()))
}

fn check_lists(attr: &ClassAttr, methods: &[&ImplItemFn], report: &mut Report) {
    let names: Vec<String> = methods.iter().map(|method| name_of(method)).collect();
    check::names_exist(&attr.exclude.0, "method", &names, report);
    let include = attr.include.as_ref().map(|list| list.0.as_slice()).unwrap_or_default();
    check::names_exist(include, "method", &names, report);
    for name in include.iter().filter(|name| attr.exclude.0.iter().any(|other| other.value() == name.value())) {
        report.at(name, format!("`{}` is both included and excluded", name.value()));
    }
    if let Some(opt_in) = attr.opt_in.as_ref().filter(|_| attr.is_opt_in())
        && (attr.include.is_some() || !attr.exclude.0.is_empty())
    {
        let message = "`opt_in` exports the methods marked `#[tool]`; remove `include` and `exclude`, or `opt_in`";
        report.push(syn::Error::new(opt_in.span(), message));
    }
    let parameters: Vec<String> = methods.iter().flat_map(|method| tool::parameter_names(&method.sig)).collect();
    check::names_exist(&attr.inject.0, "parameter", &parameters, report);
}

/// A class without a tool would be a mistake that nothing reports: the block registers nothing.
fn check_exports(attr: &ClassAttr, place: impl ToTokens, type_name: &str, tools: &[ParsedTool], report: &mut Report) {
    if !tools.is_empty() || report.has_errors() {
        return;
    }
    let message = if attr.is_opt_in() {
        format!("`{type_name}` has no tools: `opt_in` exports only methods that are marked `#[tool]`; mark one")
    } else if attr.include.is_some() || !attr.exclude.0.is_empty() {
        format!("`{type_name}` has no tools: `include` and `exclude` leave no method; name those to export")
    } else {
        format!(
            "`{type_name}` has no tools: public methods are exported, constructors aside; make one `pub`, mark a private \
             one `#[tool]`, or remove `#[tool_class]`"
        )
    };
    report.at(place, message);
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
    exports_all: bool,
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
        _ if class.is_opt_in() => marker.is_some(),
        Some(included) => included,
        None => exports_all || matches!(method.vis, Visibility::Public(_)) || marker.is_some(),
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

/// A class that borrows is built inside each call, by one constructor.
fn check_borrowing(
    attr: &ClassAttr,
    item: &ItemImpl,
    type_name: &str,
    constructors: &[ClassConstructor],
    tools: &[ParsedTool],
    report: &mut Report,
) {
    if constructors.is_empty() && !report.has_errors() {
        report.at(&item.self_ty, constructor::missing(type_name, item.trait_.is_some()));
    }
    if let Some(second) = constructors.get(1) {
        report.at(&second.ident, "a class that borrows has one `new`; put the `cfg`s inside of it");
    }
    if attr.manual == Some(true) {
        report.at(&item.self_ty, "`manual` waits for a service, and a class that borrows has none; remove `manual`");
    }
    let is_async = constructors.iter().any(|constructor| constructor.is_async);
    for tool in tools.iter().filter(|tool| is_async && tool.blocking && tool.receiver != Receiver::None) {
        let message = "`blocking` cannot be combined with an `async` constructor of a class that borrows";
        report.at(&tool.function, message);
    }
}

/// All calls share the trait object, so no call can have it for itself.
fn no_exclusive_methods(tools: &[ParsedTool], report: &mut Report) {
    let previews = |tool: &ParsedTool| matches!(&tool.preview, Some(Preview::Method(preview)) if preview.receiver == Receiver::Mut);
    for tool in tools.iter().filter(|tool| tool.receiver == Receiver::Mut || previews(tool)) {
        let message = format!(
            "`{0}` or its preview takes `&mut self`, but all calls share the trait object; take `&self`, exclude it with \
             `exclude = [\"{0}\"]`, or put `#[tool_class]` on an `impl` block",
            tool.function
        );
        report.at(&tool.function, message);
    }
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
