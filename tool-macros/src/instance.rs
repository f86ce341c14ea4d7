//! The instance of a method: taken from the inputs, or built inside the call.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;
use tool_syntax::{ClassConstructor, ClassKind, Receiver};

use crate::emit::literal;
use crate::shim::{Callee, call_site, method_path};

/// The code that provides the instance of a method.
pub(crate) struct InstanceCode {
    /// Takes the instance out of the inputs, before the step.
    pub(crate) take: TokenStream,
    /// The receiver in the call, with a comma.
    pub(crate) this: TokenStream,
    /// Builds the instance of a class that borrows, inside the step.
    build: Option<InstanceBuild>,
}

struct InstanceBuild {
    call: TokenStream,
    type_name: String,
    is_fallible: bool,
    span: Span,
}

impl InstanceCode {
    pub(crate) fn new(callee: &Callee<'_>, constructor: Option<&ClassConstructor>, handed: &[TokenStream]) -> Self {
        let span = call_site(callee.path.span());
        if let (Some(constructor), Some(class)) = (constructor, callee.class) {
            let this = match callee.receiver {
                Receiver::None => TokenStream::new(),
                Receiver::Ref => quote_spanned!(span=> &__this,),
                Receiver::Mut => quote_spanned!(span=> &mut __this,),
                Receiver::Owned => quote_spanned!(span=> __this,),
                Receiver::Arc => quote_spanned!(span=> ::std::sync::Arc::new(__this),),
            };
            let span = call_site(constructor.ident.span());
            let path = method_path(Some(class), &constructor.ident, span);
            let awaited = constructor.is_async.then(|| quote!(.await));
            let build = InstanceBuild {
                call: quote_spanned!(span=> #path(#(#handed),*) #awaited),
                type_name: class.type_name.clone(),
                is_fallible: constructor.is_fallible,
                span,
            };
            return Self { take: TokenStream::new(), this, build: Some(build) };
        }
        let is_object = callee.class.is_some_and(|class| class.instance == ClassKind::Object);
        let (take, this) = match callee.receiver {
            Receiver::None => (TokenStream::new(), TokenStream::new()),
            Receiver::Ref if is_object => (
                quote_spanned!(span=> let __this = __tool::HandlerInputs::object::<__Class>(&mut __inputs)?;),
                quote_spanned!(span=> &*__this,),
            ),
            Receiver::Arc if is_object => (
                quote_spanned!(span=> let __this = __tool::HandlerInputs::object_arc::<__Class>(&mut __inputs)?;),
                quote_spanned!(span=> __this,),
            ),
            Receiver::Ref => (
                quote_spanned!(span=> let __this = __tool::HandlerInputs::instance::<__Class>(&mut __inputs)?;),
                quote_spanned!(span=> &*__this,),
            ),
            Receiver::Mut => (
                quote_spanned!(span=> let mut __this = __tool::HandlerInputs::instance_mut::<__Class>(&mut __inputs)?;),
                quote_spanned!(span=> &mut *__this,),
            ),
            Receiver::Owned => (
                quote_spanned!(span=> let __this = __tool::InjectionRequest::<__Class>::NEW.tool_take_instance(&mut __inputs)?;),
                quote_spanned!(span=> __this,),
            ),
            Receiver::Arc => (
                quote_spanned!(span=> let __this = __tool::HandlerInputs::instance_arc::<__Class>(&mut __inputs)?;),
                quote_spanned!(span=> __this,),
            ),
        };
        Self { take, this, build: None }
    }

    /// Wraps the statements that call the method and return its answer.
    pub(crate) fn wrap(&self, body: TokenStream) -> TokenStream {
        let Some(InstanceBuild { call, type_name, is_fallible, span }) = &self.build else { return body };
        if !is_fallible {
            return quote_spanned!(*span=> let mut __this = #call; #body);
        }
        let type_name = literal(type_name);
        quote_spanned! {*span=>
            match #call {
                ::core::result::Result::Ok(mut __this) => { #body }
                ::core::result::Result::Err(__error) => __tool::construction_failed(#type_name, __error),
            }
        }
    }
}
