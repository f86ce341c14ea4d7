//! Hand-written deserialization that passes its deserializer on.

use syn::visit::{self, Visit};

/// Returns the uses of the deserializer, the first parameter, in a function.
pub(super) fn deserializer_uses(signature: &syn::Signature, body: &syn::Block) -> Vec<DeserializerUse> {
    let mut uses = DeserializerUses { name: deserializer_name(signature), found: Vec::new() };
    uses.visit_block(body);
    uses.found
}

fn deserializer_name(signature: &syn::Signature) -> Option<syn::Ident> {
    match signature.inputs.first()? {
        syn::FnArg::Typed(parameter) => match &*parameter.pat {
            syn::Pat::Ident(pattern) => Some(pattern.ident.clone()),
            _ => None,
        },
        syn::FnArg::Receiver(_) => None,
    }
}

/// A use of a deserializer.
pub(super) enum DeserializerUse {
    /// `T::deserialize(deserializer)`
    Type(Box<syn::Type>),
    /// `deserializer.deserialize_str(..)`
    Method(String),
    /// Anything else.
    Other,
}

/// Finds the uses of a deserializer in a function.
struct DeserializerUses {
    name: Option<syn::Ident>,
    found: Vec<DeserializerUse>,
}

impl DeserializerUses {
    fn is_deserializer(&self, expr: &syn::Expr) -> bool {
        matches!(expr, syn::Expr::Path(path) if path.path.get_ident().is_some() && path.path.get_ident() == self.name.as_ref())
    }
}

impl<'ast> Visit<'ast> for DeserializerUses {
    fn visit_expr_call(&mut self, call: &'ast syn::ExprCall) {
        if call.args.len() == 1
            && self.is_deserializer(&call.args[0])
            && let syn::Expr::Path(function) = &*call.func
        {
            self.found.push(deserialized_type(function).map_or(DeserializerUse::Other, DeserializerUse::Type));
            return;
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if self.is_deserializer(&call.receiver) {
            self.found.push(DeserializerUse::Method(call.method.to_string()));
            call.args.iter().for_each(|argument| self.visit_expr(argument));
            return;
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        if self.is_deserializer(expr) {
            self.found.push(DeserializerUse::Other);
        }
        visit::visit_expr(self, expr);
    }

    // A macro may use it in any way.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let Some(name) = &self.name else { return };
        if call.tokens.to_string().split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| name == word) {
            self.found.push(DeserializerUse::Other);
        }
    }

    // Items have their own deserializers.
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}

/// Returns the type in `T::deserialize` or `<T as Deserialize>::deserialize`.
fn deserialized_type(function: &syn::ExprPath) -> Option<Box<syn::Type>> {
    let segments = &function.path.segments;
    if segments.last()?.ident != "deserialize" {
        return None;
    }
    if let Some(qself) = &function.qself {
        return Some(qself.ty.clone());
    }
    let mut path = function.path.clone();
    path.segments.pop();
    path.segments.pop_punct();
    if path.segments.last()?.ident == "Deserialize" {
        return None;
    }
    Some(Box::new(syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path })))
}
