//! Evaluation of plain expressions, for defaults and attributes, without running anything.

use serde_json::Value;
use syn::punctuated::Punctuated;
use syn::{BinOp, Expr, ExprCall, ExprCast, ExprLit, ExprMethodCall, ExprPath, Lit, Member, Path, Stmt, Token, UnOp};

use super::kind::SchemaKind;
use super::shape::TypeShapes;
use super::value::{EvaluationScope, PlainValue, fits, integer, limit, literal, owner, unwrapped};
use crate::text::source_text;
use crate::ty::{DefinitionId, Ty};

/// Methods that change the type of a literal but not its JSON.
const CONVERSIONS: [&str; 8] =
    ["to_string", "to_owned", "into", "to_vec", "clone", "to_path_buf", "into_boxed_str", "as_str"];

/// Types of the standard library whose `new` wraps a value.
const HOLDERS: [&str; 7] = ["Box", "Arc", "Rc", "Mutex", "RwLock", "Cell", "RefCell"];

/// Types of the standard library whose `from` takes a literal unchanged.
const FROM_LITERALS: [&str; 9] = ["String", "PathBuf", "Vec", "VecDeque", "LinkedList", "Box", "Arc", "Rc", "Cow"];

impl TypeShapes<'_> {
    /// Evaluates an expression to JSON, with the type that the expression shows.
    pub(super) fn literal(&self, expr: &Expr, env: &EvaluationScope) -> Result<Value, String> {
        let free = |value: PlainValue| match value {
            PlainValue::Bool(value) => Ok(value.into()),
            PlainValue::Int(number) => integer(number),
            PlainValue::Float(digits) => digits.parse::<f64>().map(Value::from).map_err(|error| error.to_string()),
            PlainValue::Text(text) => Ok(text.into()),
            PlainValue::Nothing => Ok(Value::Null),
            _ => Err(format!("`{}` is not a plain value", source_text(expr))),
        };
        match expr {
            Expr::Reference(reference) => self.literal(&reference.expr, env),
            Expr::Paren(paren) => self.literal(&paren.expr, env),
            Expr::Group(group) => self.literal(&group.expr, env),
            Expr::Array(array) => array.elems.iter().map(|item| self.literal(item, env)).collect(),
            Expr::Macro(call) if call.mac.path.is_ident("vec") => {
                let items = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                items.map_err(|error| error.to_string())?.iter().map(|item| self.literal(item, env)).collect()
            }
            Expr::Call(call) if call.args.is_empty() => match &*call.func {
                Expr::Path(function) => match self.types.function(&function.path, env.scope) {
                    Some((function, scope)) => {
                        let syn::ReturnType::Type(_, ty) = &function.sig.output else { return Ok(Value::Null) };
                        let ty = self.types.resolve(ty, scope, &[]);
                        let value = self.call(&function.block, &ty, &env.deeper(scope)?)?;
                        self.json(&value, &ty)
                    }
                    None => self.typed_literal(expr, env),
                },
                _ => Err(not_plain(expr)),
            },
            Expr::Struct(_) | Expr::Call(_) => self.typed_literal(expr, env),
            Expr::Path(path)
                if path.path.segments.len() > 1 && self.types.constant(&path.path, env.scope).is_none() =>
            {
                self.evaluate(expr, &Ty::Unknown(String::new()), env)
                    .and_then(free)
                    .or_else(|_| self.typed_literal(expr, env))
            }
            _ => free(self.evaluate(expr, &Ty::Unknown(String::new()), env)?),
        }
    }

    /// Evaluates an expression that begins with the name of its type.
    fn typed_literal(&self, expr: &Expr, env: &EvaluationScope) -> Result<Value, String> {
        let path = match expr {
            Expr::Struct(literal) => &literal.path,
            Expr::Path(path) => &path.path,
            Expr::Call(ExprCall { func, .. }) => match &**func {
                Expr::Path(path) => &path.path,
                _ => return Err(not_plain(expr)),
            },
            _ => return Err(not_plain(expr)),
        };
        let whole = self.named(path, env);
        // `Order` in `Order { .. }`, in `Order::new()` and in `Order::Paid`.
        let ty = match (whole, owner(path)) {
            (whole @ Ty::Defined { .. }, _) | (whole, None) => whole,
            (_, Some(owner)) => self.named(&owner, env),
        };
        self.json(&self.evaluate(expr, &ty, env)?, &ty)
    }

    /// Returns `true` if a path constructs a value of a definition, not one that is converted into it.
    pub(super) fn is_constructor_of(&self, path: &Path, id: DefinitionId, env: &EvaluationScope) -> bool {
        let is_it = |path: &Path| matches!(self.named(path, env), Ty::Defined { definition, .. } if definition == id);
        match &self.types.definition(id).item.data {
            syn::Data::Enum(_) => owner(path).is_none_or(|owner| is_it(&owner)),
            _ => is_it(path),
        }
    }

    /// Resolves a path as a type.
    pub(super) fn named(&self, path: &Path, env: &EvaluationScope) -> Ty {
        if let (true, Some(this)) = (path.is_ident("Self"), &env.this) {
            return this.clone();
        }
        let ty = syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: path.clone() });
        self.types.resolve(&ty, env.scope, &env.generics)
    }

    /// Evaluates an expression of a type.
    pub(super) fn evaluate(&self, expr: &Expr, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        let ty = unwrapped(ty);
        match expr {
            Expr::Lit(ExprLit { lit, .. }) => literal(lit).ok_or_else(|| not_plain(expr)),
            Expr::Paren(paren) => self.evaluate(&paren.expr, ty, env),
            Expr::Group(group) => self.evaluate(&group.expr, ty, env),
            Expr::Reference(reference) => self.evaluate(&reference.expr, ty, env),
            Expr::Cast(cast) => self.cast(cast, ty, env),
            Expr::Block(block) => self.call(&block.block, ty, env),
            Expr::Unary(unary) => match (&unary.op, self.evaluate(&unary.expr, ty, env)?) {
                (UnOp::Neg(_), PlainValue::Int(number)) => {
                    number.checked_neg().map(PlainValue::Int).ok_or_else(|| not_plain(expr))
                }
                (UnOp::Neg(_), PlainValue::Float(digits)) => Ok(PlainValue::Float(format!("-{digits}"))),
                (UnOp::Not(_), PlainValue::Bool(value)) => Ok(PlainValue::Bool(!value)),
                _ => Err(not_plain(expr)),
            },
            Expr::Binary(binary) => {
                let both = (self.evaluate(&binary.left, ty, env)?, self.evaluate(&binary.right, ty, env)?);
                let (PlainValue::Int(left), PlainValue::Int(right)) = both else { return Err(not_plain(expr)) };
                let result = match binary.op {
                    BinOp::Add(_) => left.checked_add(right),
                    BinOp::Sub(_) => left.checked_sub(right),
                    BinOp::Mul(_) => left.checked_mul(right),
                    BinOp::Div(_) => left.checked_div(right),
                    _ => None,
                };
                result.map(PlainValue::Int).ok_or_else(|| not_plain(expr))
            }
            Expr::Array(array) => self.list(array.elems.iter(), ty, env),
            Expr::Tuple(tuple) => {
                let Ty::Tuple(types) = ty else { return Err(not_plain(expr)) };
                let items = tuple.elems.iter().zip(types).map(|(item, ty)| self.evaluate(item, ty, env));
                items.collect::<Result<_, _>>().map(PlainValue::List)
            }
            Expr::Macro(call) => self.macro_call(&call.mac, ty, env).ok_or_else(|| not_plain(expr))?,
            Expr::MethodCall(call) => self.conversion(call, ty, env),
            Expr::Struct(literal) => self.struct_literal(literal, ty, env),
            Expr::Path(path) => self.path(path, ty, env),
            Expr::Call(call) => self.function_call(call, ty, env),
            _ => Err(not_plain(expr)),
        }
    }

    /// Evaluates a function's body, if it is one expression.
    pub(super) fn call(&self, block: &syn::Block, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        match block.stmts.as_slice() {
            [Stmt::Expr(expr, None)] => self.evaluate(expr, ty, env),
            [Stmt::Macro(call)] if call.semi_token.is_none() => self
                .macro_call(&call.mac, ty, env)
                .ok_or_else(|| "its function is more than one expression".to_owned())?,
            _ => Err("its function is more than one expression".into()),
        }
    }

    fn macro_call(&self, mac: &syn::Macro, ty: &Ty, env: &EvaluationScope) -> Option<Result<PlainValue, String>> {
        let name = mac.path.segments.last()?.ident.to_string();
        let items = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok();
        match name.as_str() {
            "vec" => Some(self.list(items?.iter(), ty, env)),
            "concat" => {
                let items = items?;
                let text = items.iter().map(|item| match self.evaluate(item, ty, env) {
                    Ok(PlainValue::Text(text) | PlainValue::Float(text)) => Ok(text),
                    Ok(PlainValue::Int(number)) => Ok(number.to_string()),
                    Ok(PlainValue::Bool(value)) => Ok(value.to_string()),
                    Ok(_) => Err("`concat!` takes only literals".to_owned()),
                    Err(why) => Err(why),
                });
                Some(text.collect::<Result<String, _>>().map(PlainValue::Text))
            }
            _ => None,
        }
    }

    fn list<'e>(
        &self,
        items: impl Iterator<Item = &'e Expr>,
        ty: &Ty,
        env: &EvaluationScope,
    ) -> Result<PlainValue, String> {
        let item_type = match self.kind(ty) {
            SchemaKind::List(item) | SchemaKind::Set(item) | SchemaKind::Array(item, _) => item,
            _ => Ty::Unknown(String::new()),
        };
        items.map(|item| self.evaluate(item, &item_type, env)).collect::<Result<_, _>>().map(PlainValue::List)
    }

    fn path(&self, path: &ExprPath, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        let not_plain = || not_plain(&Expr::Path(path.clone()));
        let last = path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if let Some((value, scope)) = self.types.constant(&path.path, env.scope) {
            return self.evaluate(&value, ty, &EvaluationScope { this: env.this.clone(), ..env.deeper(scope)? });
        }
        // The user's own `None` takes precedence.
        if let Ty::Defined { definition, .. } = ty {
            let made = self.is_constructor_of(&path.path, *definition, env);
            return match &self.types.definition(*definition).item.data {
                syn::Data::Enum(data) if made && data.variants.iter().any(|variant| variant.ident == last) => {
                    Ok(PlainValue::Variant(last, Vec::new()))
                }
                syn::Data::Struct(data) if made && data.fields.is_empty() => Ok(PlainValue::Struct(Vec::new())),
                _ => Err(not_plain()),
            };
        }
        if last == "None" && self.is_of_option(&path.path, env) {
            return Ok(PlainValue::Nothing);
        }
        let owner = owner(&path.path).and_then(|owner| owner.get_ident().map(ToString::to_string));
        owner.and_then(|owner| limit(&owner, &last)).ok_or_else(not_plain)
    }

    fn struct_literal(&self, literal: &syn::ExprStruct, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        let not_plain = || not_plain(&Expr::Struct(literal.clone()));
        let Ty::Defined { definition, arguments } = ty else { return Err(not_plain()) };
        let name = literal.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let fields =
            self.fields_of(*definition, &name).filter(|_| self.is_constructor_of(&literal.path, *definition, env));
        let fields = fields.ok_or_else(not_plain)?;
        let rest = match &literal.rest {
            Some(rest) => match self.evaluate(rest, ty, env)? {
                PlainValue::Struct(fields) => fields,
                _ => return Err(not_plain()),
            },
            None => Vec::new(),
        };
        let inner = self.inner_env(*definition, arguments);
        let values = fields.iter().map(|(member, field)| {
            let given = literal.fields.iter().find(|value| member_name(&value.member) == *member);
            let value = match given {
                Some(given) => {
                    let ty = self.types.resolve(field, inner.scope, &inner.generics);
                    self.evaluate(&given.expr, &ty, env)?
                }
                None => {
                    let kept = rest.iter().find(|(name, _)| name == member).map(|(_, value)| value.clone());
                    kept.ok_or_else(not_plain)?
                }
            };
            Ok((member.clone(), value))
        });
        let values = values.collect::<Result<Vec<_>, String>>()?;
        Ok(self.construct(*definition, &name, values))
    }

    pub(super) fn construct(&self, id: DefinitionId, name: &str, values: Vec<(String, PlainValue)>) -> PlainValue {
        match &self.types.definition(id).item.data {
            syn::Data::Enum(_) => PlainValue::Variant(name.to_owned(), values),
            _ => PlainValue::Struct(values),
        }
    }

    /// Returns the fields of a struct, or of a variant of an enum.
    pub(super) fn fields_of(&self, id: DefinitionId, variant: &str) -> Option<Vec<(String, syn::Type)>> {
        let definition = self.types.definition(id);
        let fields = match &definition.item.data {
            syn::Data::Struct(data) => &data.fields,
            syn::Data::Enum(data) => &data.variants.iter().find(|found| found.ident == variant)?.fields,
            syn::Data::Union(_) => return None,
        };
        let member = |(index, field): (usize, &syn::Field)| {
            let name = field.ident.as_ref().map_or_else(|| index.to_string(), ToString::to_string);
            (name, field.ty.clone())
        };
        Some(fields.iter().enumerate().map(member).collect())
    }

    pub(super) fn inner_env(&self, id: DefinitionId, arguments: &[Ty]) -> EvaluationScope {
        EvaluationScope {
            scope: self.types.definition(id).scope,
            generics: self.generics(id, arguments),
            this: Some(Ty::Defined { definition: id, arguments: arguments.to_vec() }),
            depth: 0,
        }
    }

    /// Evaluates a cast that keeps the number. `300u32 as u8` does not.
    pub(super) fn cast(&self, cast: &ExprCast, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        let not_plain = || not_plain(&Expr::Cast(cast.clone()));
        let PlainValue::Int(number) = self.evaluate(&cast.expr, &Ty::Unknown(String::new()), env)? else {
            return Err(not_plain());
        };
        let target = match &*cast.ty {
            syn::Type::Infer(_) => ty.clone(),
            target => self.types.resolve(target, env.scope, &env.generics),
        };
        let stays = target.library().is_some_and(|(krate, name)| krate.is_empty() && fits(number, name));
        if stays { Ok(PlainValue::Int(number)) } else { Err(not_plain()) }
    }

    /// Evaluates a conversion of a literal. The result of other methods is known only at run time.
    pub(super) fn conversion(
        &self,
        call: &ExprMethodCall,
        ty: &Ty,
        env: &EvaluationScope,
    ) -> Result<PlainValue, String> {
        let not_plain = || not_plain(&Expr::MethodCall(call.clone()));
        let is_known = call.args.is_empty() && CONVERSIONS.iter().any(|name| call.method == name);
        if !is_known || !self.is_literal(&call.receiver, env) {
            return Err(not_plain());
        }
        match (call.method == "to_string", self.evaluate(&call.receiver, ty, env)?) {
            (true, PlainValue::Int(number)) => Ok(PlainValue::Text(number.to_string())),
            (true, PlainValue::Bool(value)) => Ok(PlainValue::Text(value.to_string())),
            (true, PlainValue::Float(_)) => Err(not_plain()),
            (_, value) => Ok(value),
        }
    }

    /// Returns `true` for a literal, a constant that is one, or a list of them: the conversions of these types are
    /// known.
    fn is_literal(&self, expr: &Expr, env: &EvaluationScope) -> bool {
        match expr {
            // An `f32` that becomes an `f64` has other digits.
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.suffix() != "f32",
            Expr::Lit(_) => true,
            Expr::Paren(inner) => self.is_literal(&inner.expr, env),
            Expr::Group(inner) => self.is_literal(&inner.expr, env),
            Expr::Reference(inner) => self.is_literal(&inner.expr, env),
            Expr::Array(array) => array.elems.iter().all(|item| self.is_literal(item, env)),
            Expr::Macro(call) => call.mac.path.is_ident("concat"),
            Expr::MethodCall(call) => {
                CONVERSIONS.iter().any(|name| call.method == name) && self.is_literal(&call.receiver, env)
            }
            Expr::Path(path) => self
                .types
                .constant(&path.path, env.scope)
                .is_some_and(|(value, scope)| env.deeper(scope).is_ok_and(|env| self.is_literal(&value, &env))),
            _ => false,
        }
    }

    /// Returns `true` if a path such as `None` or `Option::Some` belongs to `Option`.
    pub(super) fn is_of_option(&self, path: &Path, env: &EvaluationScope) -> bool {
        owner(path).is_none_or(|owner| self.named(&owner, env).library() == Some(("std", "Option")))
    }

    pub(super) fn function_call(&self, call: &ExprCall, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        let not_plain = || not_plain(&Expr::Call(call.clone()));
        let Expr::Path(path) = &*call.func else { return Err(not_plain()) };
        let path = &path.path;
        let last = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if let Some(first) = call.args.first() {
            // The user's own `Some` takes precedence.
            return match ty {
                Ty::Defined { .. } => self.constructor_call(call, path, &last, ty, env),
                _ if last == "Some" && self.is_of_option(path, env) => {
                    let inner = match self.kind(ty) {
                        SchemaKind::Option(inner) => inner,
                        _ => Ty::Unknown(String::new()),
                    };
                    self.evaluate(first, &inner, env).map(|value| PlainValue::Some(Box::new(value)))
                }
                _ => self.library_call(call, path, &last, ty, env),
            };
        }
        if let Some((function, scope)) = self.types.function(path, env.scope) {
            return self.call(&function.block, ty, &env.deeper(scope)?);
        }
        let Some(owner) = owner(path) else { return Err(not_plain()) };
        let is_of_trait = last == "default" && owner.segments.last().is_some_and(|name| name.ident == "Default");
        let named = if is_of_trait { ty.clone() } else { self.named(&owner, env) };
        let is_empty = match last.as_str() {
            "default" => true,
            "new" => matches!(named.library(), Some(("std", _))),
            _ => false,
        };
        match ty {
            Ty::Unknown(_) if is_empty => self.default_of(&named, env),
            _ if is_empty && (is_of_trait || is_same(&named, ty)) => self.default_of(ty, env),
            _ => Err(not_plain()),
        }
    }

    /// Evaluates the constructor of a tuple struct or variant, or a call of the standard library.
    fn constructor_call(
        &self,
        call: &ExprCall,
        path: &Path,
        name: &str,
        ty: &Ty,
        env: &EvaluationScope,
    ) -> Result<PlainValue, String> {
        let Ty::Defined { definition, arguments } = ty else { return self.library_call(call, path, name, ty, env) };
        let Some(fields) = self.fields_of(*definition, name).filter(|_| self.is_constructor_of(path, *definition, env))
        else {
            return self.library_call(call, path, name, ty, env);
        };
        let inner = self.inner_env(*definition, arguments);
        let values = call.args.iter().zip(&fields).map(|(value, (member, field))| {
            let ty = self.types.resolve(field, inner.scope, &inner.generics);
            Ok((member.clone(), self.evaluate(value, &ty, env)?))
        });
        let values = values.collect::<Result<Vec<_>, String>>()?;
        Ok(self.construct(*definition, name, values))
    }

    /// Evaluates a function of the standard library or of the language.
    fn library_call(
        &self,
        call: &ExprCall,
        path: &Path,
        name: &str,
        ty: &Ty,
        env: &EvaluationScope,
    ) -> Result<PlainValue, String> {
        let not_plain = || not_plain(&Expr::Call(call.clone()));
        let (Some(first), Some(owner)) = (call.args.first(), owner(path)) else { return Err(not_plain()) };
        let named = self.named(&owner, env);
        let is_it = matches!(ty, Ty::Unknown(_)) || is_same(&named, ty);
        match (named.library().ok_or_else(not_plain)?, name) {
            (("std", holder), "new") if HOLDERS.contains(&holder) => self.evaluate(first, ty, env),
            (("std", "Duration"), "from_secs" | "from_millis") => {
                let PlainValue::Int(count) = self.evaluate(first, &Ty::Unknown(String::new()), env)? else {
                    return Err(not_plain());
                };
                let count = u64::try_from(count).map_err(|error| error.to_string())?;
                let (seconds, nanos) =
                    if name == "from_secs" { (count, 0) } else { (count / 1000, count % 1000 * 1_000_000) };
                Ok(PlainValue::Written(serde_json::json!({"secs": seconds, "nanos": nanos})))
            }
            (("std", known), "from") if FROM_LITERALS.contains(&known) && self.is_literal(first, env) => {
                self.evaluate(first, ty, env)
            }
            (("", _), "from") if is_it => self.evaluate(first, ty, env),
            (("std", _), "with_capacity") if is_it => self.default_of(&named, env),
            _ => Err(not_plain()),
        }
    }
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(ident) => ident.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

pub(super) fn not_plain(expr: &Expr) -> String {
    format!("`{}` cannot be evaluated", source_text(expr))
}

/// Returns `true` if two types are equal apart from their generic arguments, which `Vec::default()` does not show.
fn is_same(one: &Ty, other: &Ty) -> bool {
    match (one, other) {
        (Ty::Defined { definition: one, .. }, Ty::Defined { definition: other, .. }) => one == other,
        (Ty::Library { .. }, Ty::Library { .. }) => one.library() == other.library(),
        _ => false,
    }
}
