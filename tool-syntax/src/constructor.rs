//! Constructors: functions that return an instance of their class. A `new` with injected parameters builds it for each call.

use darling::FromMeta;
use proc_macro2::Span;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, ImplItem, ImplItemFn, ItemImpl, Meta, ReturnType, Token, Type, parse_quote};

use crate::attrs::{self, ClassAttr, ToolAttr};
use crate::class::name_of;
use crate::docs::Docs;
use crate::parameter::{self, ParameterContext};
use crate::tool::ClassDefaults;
use crate::{InjectedParameter, Parameter, Report, signature};

/// A `new` function whose parameters are all injected.
#[derive(Clone, Debug)]
pub struct ClassConstructor {
    /// The identifier `new`, for its span.
    pub ident: syn::Ident,
    /// The injected parameters.
    pub parameters: Vec<InjectedParameter>,
    /// `true` if the call must be awaited.
    pub is_async: bool,
    /// `true` if the function returns a `Result`.
    pub is_fallible: bool,
    /// The `#[cfg(..)]` attributes of the function.
    pub cfgs: Vec<Attribute>,
}

/// `new(pool: &Pool)`: the types with which `new` is called, if it stands in another `impl` block or takes `impl Into<T>`.
#[derive(Clone, Debug)]
pub(crate) struct ConstructorParameters {
    pub(crate) span: Span,
    inputs: Punctuated<FnArg, Token![,]>,
}

impl FromMeta for ConstructorParameters {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let Meta::List(list) = meta else {
            let message = "expected the parameters of `new`: `new(pool: &Pool)`";
            return Err(darling::Error::custom(message).with_span(meta));
        };
        let inputs = Punctuated::parse_terminated.parse2(list.tokens.clone())?;
        Ok(Self { span: list.path.span(), inputs })
    }
}

impl ConstructorParameters {
    /// Returns the block with this constructor, in place of its own. Only the reader sees it.
    pub(crate) fn add_to(&self, item: &ItemImpl) -> ItemImpl {
        let mut item = item.clone();
        item.items.retain(|member| !matches!(member, ImplItem::Fn(method) if name_of(method) == "new"));
        let (name, inputs) = (syn::Ident::new("new", self.span), &self.inputs);
        item.items.push(parse_quote!(fn #name(#inputs) -> Self {}));
        item
    }
}

/// The role of a method in its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodRole {
    /// `new`, returning the type or a `Result` of it.
    Constructor,
    /// Returns the type under another name, or in another wrapper, such as an `Arc`. Only the application calls it.
    Factory,
    Method,
}

/// Returns the role of a method, by its receiver and its result.
pub(crate) fn role(method: &ImplItemFn, type_name: &str) -> MethodRole {
    let ReturnType::Type(_, output) = &method.sig.output else { return MethodRole::Method };
    if method.sig.receiver().is_some() {
        return MethodRole::Method;
    }
    let output = crate::ty::future_output(output).unwrap_or(output);
    let bare = type_name.split('<').next().unwrap_or_default();
    let is_class = |ty: &Type| last_segment(ty).is_some_and(|last| last.ident == "Self" || last.ident == bare);
    let is_result =
        |ty: &Type| last_segment(ty).is_some_and(|last| last.ident.to_string().ends_with("Result")) && !is_class(ty);
    let built = if is_result(output) { crate::ty::first_argument(output).unwrap_or(output) } else { output };
    if name_of(method) == "new" && is_class(built) {
        MethodRole::Constructor
    } else if holds_instance(output, &is_class) {
        MethodRole::Factory
    } else {
        MethodRole::Method
    }
}

fn last_segment(ty: &Type) -> Option<&syn::PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        _ => None,
    }
}

/// Returns `true` if a result is the class itself or holds one instance of it. A list of instances is data.
fn holds_instance(ty: &Type, is_class: &dyn Fn(&Type) -> bool) -> bool {
    const WRAPPERS: [&str; 10] =
        ["Arc", "Rc", "Box", "Pin", "Option", "Mutex", "RwLock", "RefCell", "Cell", "ControlFlow"];
    match ty {
        Type::Group(group) => holds_instance(&group.elem, is_class),
        Type::Paren(paren) => holds_instance(&paren.elem, is_class),
        Type::Tuple(tuple) => tuple.elems.iter().any(|ty| holds_instance(ty, is_class)),
        ty if is_class(ty) => true,
        ty => last_segment(ty).is_some_and(|last| {
            let name = last.ident.to_string();
            let is_wrapper = name.ends_with("Result") || WRAPPERS.contains(&name.as_str());
            is_wrapper && crate::ty::first_argument(ty).is_some_and(|inner| holds_instance(inner, is_class))
        }),
    }
}

/// Returns the constructors that build an instance for each call: those that take injected values, and all of a class
/// that says `per_call`. The instance of any other class is passed to `.service(..)`, since its state would be lost.
pub(crate) fn read_all(
    methods: &[&ImplItemFn],
    attr: &ClassAttr,
    type_name: &str,
    class: &ClassDefaults<'_>,
    report: &mut Report,
) -> Vec<ClassConstructor> {
    let excluded = attr.exclude.0.iter().any(|name| name.value() == "new");
    let constructors = methods.iter().filter(|method| role(method, type_name) == MethodRole::Constructor && !excluded);
    let kept = constructors.filter(|method| {
        let marker = method.attrs.iter().find(|attribute| attrs::is_tool(attribute));
        marker.and_then(skip).is_none_or(|skip| !skip)
    });
    let mut constructors: Vec<_> =
        kept.filter_map(|method| read_constructor(method, type_name, class, report)).collect();
    let per_call = attr.per_call.as_ref().filter(|per_call| ***per_call);
    match per_call {
        Some(per_call) if constructors.is_empty() => {
            let message = "`per_call` needs a `pub fn new(..) -> Self` in this block, whose parameters are injected";
            report.push(syn::Error::new(per_call.span(), message));
        }
        Some(_) => {}
        None => constructors.retain(|constructor| !constructor.parameters.is_empty()),
    }
    constructors
}

/// The error for a class that borrows and has no constructor.
pub(crate) fn missing(type_name: &str, is_trait: bool) -> String {
    let place = if is_trait {
        "put `#[tool_class]` on the inherent `impl` block that has `new`, or repeat the parameters of `new` in the key \
         `new(..)`"
    } else {
        "`new` must be in this block, as in `pub fn new(session: &'a mut Session) -> Self`, or the key `new(session: &mut \
         Session)` must repeat its parameters"
    };
    format!(
        "`{type_name}` borrows, so it is built for each call, from a `new` that takes the borrowed values as injected \
         parameters; {place}"
    )
}

/// Returns the value of `skip` in an attribute.
fn skip(marker: &Attribute) -> Option<bool> {
    attrs::parse_attribute::<ToolAttr>(marker).ok()?.skip.map(|skip| *skip)
}

/// Reports attributes, lists and declarations that would make a constructor a tool.
pub(crate) fn check_constructor(
    method: &ImplItemFn,
    role: MethodRole,
    class: &ClassAttr,
    is_declared: bool,
    report: &mut Report,
) {
    let name = name_of(method);
    let message = match role {
        MethodRole::Constructor => {
            "`new` is the constructor and cannot be a tool; to keep it from being called, write `#[tool(skip)]`"
                .to_owned()
        }
        _ => format!(
            "`{name}` takes no `self` and returns the type itself: it is a constructor and cannot be a tool; to make it \
             one, call it from a function outside of the block that has `#[tool]`"
        ),
    };
    let mut markers = method.attrs.iter().filter(|attribute| attrs::is_tool(attribute)).peekable();
    if is_declared && role == MethodRole::Factory && markers.peek().is_none() {
        report.at(&method.sig.ident, &message);
    }
    markers.filter(|marker| skip(marker).is_none()).for_each(|marker| report.at(marker, &message));
    let included = class.include.iter().flat_map(|list| &list.0).filter(|included| included.value() == name);
    included.for_each(|name| report.at(name, &message));
}

/// Reads a constructor. Returns `None` if a parameter cannot be injected: the application then passes the instance with
/// `.service(..)`.
fn read_constructor(
    method: &ImplItemFn,
    type_name: &str,
    class: &ClassDefaults<'_>,
    report: &mut Report,
) -> Option<ClassConstructor> {
    let generic = method.sig.generics.params.iter().any(|param| !matches!(param, syn::GenericParam::Lifetime(_)));
    let unnamed = method.sig.inputs.iter().any(|input| match input {
        syn::FnArg::Typed(typed) => crate::ty::is_unnameable(&typed.ty) || !matches!(&*typed.pat, syn::Pat::Ident(_)),
        syn::FnArg::Receiver(_) => true,
    });
    if generic || unnamed || !matches!(method.sig.safety, syn::Safety::Default) {
        return None;
    }
    let docs = Docs::default();
    let context = ParameterContext {
        signature: &method.sig,
        class: Some(class.self_ty),
        lifetimes: class.lifetimes,
        docs: &docs,
        inject: &[],
        inject_all: true,
        types: None,
    };
    let marked =
        method.sig.inputs.iter().any(|input| matches!(input, syn::FnArg::Typed(typed) if !typed.attrs.is_empty()));
    let mut own = Report::default();
    let parameters = parameter::read_all(&context, &mut own);
    if let Err(errors) = own.into_result() {
        // Without attributes on its parameters, `new` is probably called by the application for `.service(..)`.
        if marked || !class.lifetimes.is_empty() {
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
        is_async: signature::output(&method.sig, Some(class)).is_async,
        is_fallible: is_fallible(method, type_name),
        cfgs: method.attrs.iter().filter(|attribute| attribute.path().is_ident("cfg")).cloned().collect(),
    })
}

fn is_fallible(method: &ImplItemFn, type_name: &str) -> bool {
    let ReturnType::Type(_, output) = &method.sig.output else { return false };
    let output = crate::ty::future_output(output).unwrap_or(output);
    let class = type_name.split('<').next().unwrap_or_default();
    let name = match output {
        Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
        _ => None,
    };
    name.is_some_and(|name| name.ends_with("Result") && name != class)
}
