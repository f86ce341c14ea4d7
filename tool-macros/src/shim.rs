//! The shim of a tool: decodes the arguments, takes the injected values and calls the function.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use tool_syntax::{
    ArgumentForm, ArgumentParameter, ClassConstructor, ClassKind, DefaultValue, InjectedForm, InjectedParameter,
    ListItem, Parameter, ParsedClass, ParsedTool, Receiver,
};

use crate::conversion;
use crate::emit::literal;
use crate::instance::InstanceCode;
use crate::registration::arguments;
use crate::reply::{reply, reply_of_stream, whole_result};

/// Returns the shim of a tool, as an expression for the registration.
pub(crate) fn shim(tool: &ParsedTool, class: Option<&ParsedClass>) -> TokenStream {
    let invoke = invoke_name(tool);
    let progress = tool.delivery.is_stream().then(|| quote!(__tool::Progress::of_stream()));
    let needs = needs(&tool.parameters, tool.receiver, progress, class);
    quote!(&__tool::Shim { invoke: #invoke, needs: #needs })
}

/// Returns the name of the function that a shim invokes.
fn invoke_name(tool: &ParsedTool) -> Ident {
    format_ident!("__invoke_{}", syn::ext::IdentExt::unraw(&tool.function))
}

/// Returns the requirements of a function besides its arguments: injected values, and an instance.
pub(crate) fn needs(
    parameters: &[Parameter],
    receiver: Receiver,
    progress: Option<TokenStream>,
    class: Option<&ParsedClass>,
) -> TokenStream {
    let built = borrowing_constructor(class, receiver);
    let constructor = built.into_iter().flat_map(|constructor| &constructor.parameters);
    let wants: Vec<TokenStream> = constructor.chain(injected(parameters)).map(want).chain(progress).collect();
    let class = class.filter(|class| class.instance != ClassKind::Borrowed);
    if wants.is_empty() && class.is_none() {
        return quote!(&__tool::HandlerNeeds::NOTHING);
    }
    let injections = if wants.is_empty() { quote!(::std::vec::Vec::new) } else { quote!(|| ::std::vec![#(#wants),*]) };
    let (class, receiver) = match class {
        Some(_) => (quote!(::core::option::Option::Some(__class)), receiver),
        None => (quote!(::core::option::Option::None), Receiver::None),
    };
    let receiver = Ident::new(&format!("{receiver:?}"), Span::call_site());
    quote!(&__tool::HandlerNeeds { injections: #injections, class: #class, receiver: __tool::ReceiverKind::#receiver })
}

/// Returns the constructor of a class that borrows, if the function has a receiver.
fn borrowing_constructor(class: Option<&ParsedClass>, receiver: Receiver) -> Option<&ClassConstructor> {
    let class = class.filter(|class| class.instance == ClassKind::Borrowed && receiver != Receiver::None)?;
    class.constructors.first()
}

/// Returns the path of a method.
pub(crate) fn method_path(class: Option<&ParsedClass>, name: &Ident, span: Span) -> TokenStream {
    match class {
        None => quote!(#name),
        Some(ParsedClass { self_ty, trait_path: Some(path), .. }) => {
            quote_spanned!(span=> <#self_ty as #path>::#name)
        }
        Some(ParsedClass { self_ty, .. }) => quote_spanned!(span=> <#self_ty>::#name),
    }
}

/// Returns the path of a tool's function, with the generic arguments that `generics(..)` names.
fn function_path(tool: &ParsedTool, class: Option<&ParsedClass>, span: Span) -> TokenStream {
    let path = method_path(class, &tool.function, span);
    match tool.turbofish.as_slice() {
        [] => path,
        arguments => quote_spanned!(span=> #path::<#(#arguments),*>),
    }
}

pub(crate) fn injected(parameters: &[Parameter]) -> impl Iterator<Item = &InjectedParameter> {
    parameters.iter().filter_map(|parameter| match parameter {
        Parameter::Injected(injected) => Some(injected),
        Parameter::Argument(_) => None,
    })
}

/// Returns the span of the decoded type. The span of `&T` itself would cover only the `&`.
fn form_span(form: &ArgumentForm) -> Span {
    match form {
        ArgumentForm::Owned(ty)
        | ArgumentForm::Lent(ty)
        | ArgumentForm::LentSlice(ty)
        | ArgumentForm::OptionLent(ty)
        | ArgumentForm::OptionLentSlice(ty)
        | ArgumentForm::AsRef(ty)
        | ArgumentForm::AsRefSlice(ty)
        | ArgumentForm::OptionAsRef(ty)
        | ArgumentForm::Iter(ty) => ty.span(),
        ArgumentForm::LentReferences(item) | ArgumentForm::References(item) | ArgumentForm::IterReferences(item) => {
            item.borrowed.span()
        }
    }
}

/// Returns the slot that an argument is decoded into.
pub(crate) fn slot(argument: &ArgumentParameter) -> TokenStream {
    let span = call_site(form_span(&argument.form));
    let slot = match &argument.conversion {
        Some(conversion) => conversion::slot(conversion),
        None => decoded_slot(argument, span),
    };
    match argument.default {
        Some(DefaultValue::Trait) => quote_spanned!(span=> #slot.or_default()),
        _ => slot,
    }
}

/// Returns the slot of an argument whose type is decoded itself.
fn decoded_slot(argument: &ArgumentParameter, span: Span) -> TokenStream {
    match &argument.form {
        ArgumentForm::Owned(ty) if argument.form.may_be_alias_of_reference() => quote_spanned! {span=>
            { __tool::Aliased::<#ty>::NEW.tool_is_owned(); (&__tool::Ask::<#ty>::NEW).tool_slot() }
        },
        ArgumentForm::Owned(ty) => quote_spanned!(span=> (&__tool::Ask::<#ty>::NEW).tool_slot()),
        ArgumentForm::Lent(ty) | ArgumentForm::AsRef(ty) => {
            quote_spanned!(span=> (&__tool::Lend::<#ty>::NEW).tool_slot())
        }
        ArgumentForm::LentSlice(ty) | ArgumentForm::AsRefSlice(ty) | ArgumentForm::Iter(ty) => {
            quote_spanned!(span=> (&__tool::Ask::<::std::vec::Vec<#ty>>::NEW).tool_slot())
        }
        ArgumentForm::OptionLent(ty) | ArgumentForm::OptionAsRef(ty) => {
            quote_spanned!(span=> (&__tool::Lend::<#ty>::NEW).tool_option_slot())
        }
        ArgumentForm::LentReferences(item) | ArgumentForm::References(item) | ArgumentForm::IterReferences(item) => {
            let owned = &item.owned;
            quote_spanned!(span=> (&__tool::Ask::<::std::vec::Vec<#owned>>::NEW).tool_slot())
        }
        ArgumentForm::OptionLentSlice(ty) => {
            quote_spanned!(span=> (&__tool::Ask::<::core::option::Option<::std::vec::Vec<#ty>>>::NEW).tool_slot())
        }
    }
}

/// Returns the expression that passes a decoded argument to the function.
fn pass(argument: &ArgumentParameter, local: &Ident) -> TokenStream {
    let span = call_site(argument.ty.span());
    let local = Ident::new(&local.to_string(), span);
    match &argument.form {
        ArgumentForm::Owned(_)
        | ArgumentForm::AsRef(_)
        | ArgumentForm::AsRefSlice(_)
        | ArgumentForm::OptionAsRef(_) => quote!(#local),
        ArgumentForm::LentReferences(item) => {
            let references = references(item, &local, span);
            quote_spanned!(span=> ::std::vec::Vec::as_slice(&#references))
        }
        ArgumentForm::References(item) => references(item, &local, span),
        ArgumentForm::Iter(_) => quote_spanned!(span=> ::core::iter::IntoIterator::into_iter(#local)),
        ArgumentForm::IterReferences(item) => {
            let references = references(item, &local, span);
            quote_spanned!(span=> ::core::iter::IntoIterator::into_iter(#references))
        }
        ArgumentForm::Lent(ty) => quote_spanned!(span=> __tool::lend::<#ty, _>(&#local)),
        ArgumentForm::LentSlice(_) => quote_spanned!(span=> ::std::vec::Vec::as_slice(&#local)),
        ArgumentForm::OptionLent(ty) => {
            quote_spanned!(span=> ::core::option::Option::map(::core::option::Option::as_ref(&#local), __tool::lend::<#ty, _>))
        }
        ArgumentForm::OptionLentSlice(_) => quote_spanned!(span=> ::core::option::Option::as_deref(&#local)),
    }
}

/// Returns a list of references to the items of a decoded list.
fn references(item: &ListItem, local: &Ident, span: Span) -> TokenStream {
    let borrowed = &item.borrowed;
    quote_spanned! {span=>
        ::core::iter::Iterator::collect::<::std::vec::Vec<_>>(
            ::core::iter::Iterator::map(#local.iter(), __tool::lend::<#borrowed, _>)
        )
    }
}

/// Returns the registration's entry for an injected parameter.
pub(crate) fn want(parameter: &InjectedParameter) -> TokenStream {
    let name = literal(&syn::ext::IdentExt::unraw(&parameter.ident).to_string());
    let span = call_site(parameter.ty.span());
    match &parameter.form {
        InjectedForm::Owned(ty) => quote_spanned!(span=> __tool::InjectionRequest::<#ty>::NEW.tool_owned(#name)),
        InjectedForm::Lent(ty) => quote_spanned!(span=> __tool::InjectionRequest::<#ty>::NEW.tool_lent(#name)),
        InjectedForm::LentMut(ty) => quote_spanned!(span=> __tool::InjectionRequest::<#ty>::NEW.tool_lent_mut(#name)),
        InjectedForm::LentObject(ty) => {
            quote_spanned!(span=> __tool::InjectionRequest::<::std::sync::Arc<#ty>>::NEW.tool_lent(#name))
        }
        InjectedForm::LentMutObject(ty) => {
            quote_spanned!(span=> __tool::InjectionRequest::<::std::boxed::Box<#ty>>::NEW.tool_lent_mut(#name))
        }
    }
}

/// Moves the injected values into locals. Cloned and shared values come first, since `&mut` borrows hold on to the inputs.
fn take_injected(parameters: &[&InjectedParameter]) -> (TokenStream, Vec<TokenStream>) {
    let mut early = TokenStream::new();
    let mut late = TokenStream::new();
    let mut handed = Vec::new();
    for (index, parameter) in parameters.iter().enumerate() {
        let local = format_ident!("__injected_{index}");
        let span = call_site(parameter.ty.span());
        match &parameter.form {
            InjectedForm::Owned(ty) => {
                early.extend(
                    quote_spanned!(span=> let #local = __tool::InjectionRequest::<#ty>::NEW.tool_take(&__inputs, #index)?;),
                );
                handed.push(quote!(#local));
            }
            InjectedForm::Lent(ty) => {
                early.extend(
                    quote_spanned!(span=> let #local = __tool::InjectionRequest::<#ty>::NEW.tool_borrow(&__inputs, #index)?;),
                );
                handed.push(quote_spanned!(span=> __tool::lend::<#ty, _>(&*#local)));
            }
            InjectedForm::LentMut(ty) => {
                late.extend(
                    quote_spanned!(span=> let mut #local = __tool::InjectionRequest::<#ty>::NEW.tool_borrow_mut(&__inputs, #index)?;),
                );
                handed.push(quote_spanned!(span=> #local.lend()));
            }
            InjectedForm::LentObject(ty) => {
                early.extend(quote_spanned! {span=>
                    let #local = __tool::InjectionRequest::<::std::sync::Arc<#ty>>::NEW.tool_borrow(&__inputs, #index)?;
                });
                handed.push(quote_spanned!(span=> &**#local));
            }
            InjectedForm::LentMutObject(ty) => {
                late.extend(quote_spanned! {span=>
                    let mut #local = __tool::InjectionRequest::<::std::boxed::Box<#ty>>::NEW.tool_borrow_mut(&__inputs, #index)?;
                });
                handed.push(quote_spanned!(span=> &mut **#local.lend()));
            }
        }
    }
    early.extend(late);
    (early, handed)
}

/// The function that a shim calls once the arguments are decoded: the handler or its preview.
pub(crate) struct Callee<'a> {
    /// The name of the emitted function.
    pub(crate) shim: Ident,
    pub(crate) path: TokenStream,
    pub(crate) span: Span,
    pub(crate) receiver: Receiver,
    pub(crate) class: Option<&'a ParsedClass>,
    pub(crate) parameters: &'a [Parameter],
    /// Additional values taken from `__inputs`.
    pub(crate) takes: TokenStream,
    /// The result's type, if it has a schema.
    pub(crate) output: Option<&'a syn::Type>,
}

impl Callee<'_> {
    /// Returns `true` if the instance is built inside the call by an `async` constructor.
    pub(crate) fn is_built_async(&self) -> bool {
        borrowing_constructor(self.class, self.receiver).is_some_and(|constructor| constructor.is_async)
    }
}

/// Returns the function that the shim of a tool invokes.
pub(crate) fn invoke(tool: &ParsedTool, class: Option<&ParsedClass>) -> TokenStream {
    let span = call_site(tool.function.span());
    let is_stream = tool.delivery.is_stream();
    let constructor = borrowing_constructor(class, tool.receiver);
    let progress =
        constructor.map_or(0, |constructor| constructor.parameters.len()) + injected(&tool.parameters).count();
    let takes = is_stream.then(
        || quote!(let __progress = __tool::InjectionRequest::<__tool::Progress>::NEW.tool_take(&__inputs, #progress)?;),
    );
    let callee = Callee {
        shim: invoke_name(tool),
        path: function_path(tool, class, span),
        span,
        receiver: tool.receiver,
        class,
        parameters: &tool.parameters,
        takes: takes.unwrap_or_default(),
        output: tool.output.as_ref().filter(|_| tool.result.is_none()),
    };
    let is_async = tool.is_async || callee.is_built_async();
    let awaited = tool.is_async.then(|| quote!(.await));
    decode(tool, &callee, is_stream || is_async || tool.blocking, |call, instance| {
        let call = quote_spanned!(span=> #call #awaited);
        if is_stream {
            let reply = instance.wrap(reply_of_stream(tool, &call, span));
            return quote_spanned!(span=> __tool::HandlerStep::future(async move { #reply }));
        }
        let call = whole_result(tool, class, call, span);
        let call = conversion::error(tool.error.as_ref(), conversion::result(tool.result.as_ref(), call));
        // Bound to a local, since the value may borrow from injected values and must be dropped before them.
        let reply = reply(tool, &call, span);
        let reply = instance.wrap(quote_spanned!(span=> let __reply = #reply; __reply.tool_result()));
        if is_async {
            quote_spanned!(span=> __tool::HandlerStep::future(async move { #reply }))
        } else if tool.blocking {
            quote_spanned!(span=> __tool::HandlerStep::blocking(move || { #reply }))
        } else {
            quote_spanned!(span=> __tool::HandlerStep::Done({ #reply }))
        }
    })
}

/// Returns a function that decodes the arguments of a tool and calls the callee. `step` wraps the call; a lazy step does
/// nothing until it is polled or run.
pub(crate) fn decode(
    tool: &ParsedTool,
    callee: &Callee<'_>,
    is_lazy: bool,
    step: impl FnOnce(TokenStream, &InstanceCode) -> TokenStream,
) -> TokenStream {
    let all: Vec<&ArgumentParameter> = arguments(tool).collect();
    let locals: Vec<Ident> = (0..all.len()).map(|index| format_ident!("__argument_{index}")).collect();
    let slots = all.iter().map(|argument| slot(argument));
    let constructor = borrowing_constructor(callee.class, callee.receiver);
    let of_constructor = constructor.into_iter().flat_map(|constructor| &constructor.parameters);
    let (take, mut handed) = take_injected(&of_constructor.chain(injected(callee.parameters)).collect::<Vec<_>>());
    let handed_to_method = handed.split_off(constructor.map_or(0, |constructor| constructor.parameters.len()));
    let instance = InstanceCode::new(callee, constructor, &handed);
    let mut handed = handed_to_method.into_iter();
    let parameters = callee.parameters.iter().map(|parameter| match parameter {
        Parameter::Argument(parameter) => {
            let local = all.iter().zip(&locals).find(|(argument, _)| argument.name == parameter.name);
            local.map(|(_, local)| pass(parameter, local)).unwrap_or_default()
        }
        Parameter::Injected(_) => handed.next().unwrap_or_default(),
    });
    let Callee { shim, path, span, takes, .. } = callee;
    let this = &instance.this;
    let call = quote_spanned!(*span=> #path(#this #(#parameters),*));
    let step = step(call, &instance);
    let instance = &instance.take;
    // A lazy step that needs no inputs needs no closure.
    let waits_for_inputs = !instance.is_empty() || !take.is_empty() || !takes.is_empty();
    let run = if waits_for_inputs || !is_lazy {
        quote! {
            __call.run(move |mut __inputs: __tool::HandlerInputs| {
                #instance
                #take
                #takes
                ::core::result::Result::Ok(#step)
            })
        }
    } else {
        step
    };
    let returns = match callee.output {
        Some(output) => quote!(__tool::ReturnProbe::<#output>::NEW.tool_schema()),
        None => quote!(::core::option::Option::None),
    };
    let cfgs = &tool.cfgs;
    quote! {
        #(#cfgs)*
        fn #shim(mut __call: __tool::Invocation<'_>) -> __tool::HandlerStep {
            #(let mut #locals = #slots;)*
            if !__tool::Invocation::read(&mut __call, &mut [#(&mut #locals),*], #returns) {
                return __call.stop();
            }
            #(let #locals = #locals.take();)*
            #run
        }
    }
}

/// Locates errors at the user's tokens while resolving names at the call site, even if the item was emitted by another
/// macro.
pub(crate) fn call_site(span: Span) -> Span {
    span.resolved_at(Span::call_site())
}

/// Returns the items that all shims of a class share: its type and its constructor.
pub(crate) fn class(class: &ParsedClass) -> TokenStream {
    let self_ty = &class.self_ty;
    if class.instance == ClassKind::Object {
        return quote! {
            type __Class = #self_ty;
            fn __class() -> __tool::ToolClass {
                __tool::ToolClass::object::<__Class>()
            }
        };
    }
    let constructors = class.constructors.iter().map(|constructor| constructor_of(class, constructor));
    let by_value = class.tools.iter().any(|tool| tool.receiver == Receiver::Owned);
    let is_clone = by_value.then(
        || quote!(__class.is_clone = __tool::InjectionRequest::<__Class>::NEW.tool_owned("self").mode == __tool::InjectionMode::Clone;),
    );
    quote! {
        type __Class = #self_ty;
        fn __class() -> __tool::ToolClass {
            let mut __class = __tool::ToolClass::new::<__Class>();
            #(#constructors)*
            #is_clone
            __class
        }
    }
}

fn constructor_of(class: &ParsedClass, constructor: &ClassConstructor) -> TokenStream {
    let parameters: Vec<&InjectedParameter> = constructor.parameters.iter().collect();
    let wants = parameters.iter().map(|parameter| want(parameter));
    let (take, handed) = take_injected(&parameters);
    let cfgs = &constructor.cfgs;
    let span = call_site(constructor.ident.span());
    let path = method_path(Some(class), &constructor.ident, span);
    let call = quote_spanned!(span=> #path(#(#handed),*));
    let building = if constructor.is_async {
        quote_spanned!(span=> __tool::BuiltInstance::future(async move { __tool::Constructed::<__Class>::finished(#call.await) }))
    } else {
        quote_spanned!(span=> __tool::BuiltInstance::ready(__tool::Constructed::<__Class>::finished(#call)))
    };
    quote! {
        #(#cfgs)*
        {
            __class.constructor = ::core::option::Option::Some(__tool::InstanceConstructor {
                injections: || ::std::vec![#(#wants),*],
                build: |mut __inputs| {
                    #take
                    ::core::result::Result::Ok(#building)
                },
            });
        }
    }
}
