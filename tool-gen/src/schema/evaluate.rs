//! The values of plain expressions: what a default or an attribute says without running anything.

use serde_json::Value;
use syn::punctuated::Punctuated;
use syn::{BinOp, Expr, ExprCall, ExprLit, ExprPath, Member, Path, Stmt, Token, UnOp};

use super::kind::Kind;
use super::shape::Shapes;
use super::value::{Plain, Scene, integer, limit, literal, owner, unwrapped};
use crate::text::written;
use crate::ty::{DefinitionId, Ty};

impl Shapes<'_> {
    /// The JSON of an expression whose type only the expression tells.
    pub(super) fn literal(&self, expr: &Expr, scene: &Scene) -> Result<Value, String> {
        let free = |value: Plain| match value {
            Plain::Bool(value) => Ok(value.into()),
            Plain::Int(number) => integer(number),
            Plain::Float(digits) => digits.parse::<f64>().map(Value::from).map_err(|error| error.to_string()),
            Plain::Text(text) => Ok(text.into()),
            Plain::Nothing => Ok(Value::Null),
            _ => Err(format!("`{}` is no plain value", written(expr))),
        };
        match expr {
            Expr::Reference(reference) => self.literal(&reference.expr, scene),
            Expr::Paren(paren) => self.literal(&paren.expr, scene),
            Expr::Group(group) => self.literal(&group.expr, scene),
            Expr::Array(array) => array.elems.iter().map(|item| self.literal(item, scene)).collect(),
            Expr::Macro(call) if call.mac.path.is_ident("vec") => {
                let items = call.mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
                items.map_err(|error| error.to_string())?.iter().map(|item| self.literal(item, scene)).collect()
            }
            Expr::Call(call) if call.args.is_empty() => match &*call.func {
                Expr::Path(function) => match self.types.function(&function.path, scene.scope) {
                    Some((function, scope)) => {
                        let syn::ReturnType::Type(_, ty) = &function.sig.output else { return Ok(Value::Null) };
                        let ty = self.types.resolve(ty, scope, &[]);
                        let value = self.call(&function.block, &ty, &scene.deeper(scope)?)?;
                        self.json(&value, &ty)
                    }
                    None => self.typed_literal(expr, scene),
                },
                _ => Err(unplain(expr)),
            },
            Expr::Struct(_) | Expr::Call(_) => self.typed_literal(expr, scene),
            Expr::Path(path)
                if path.path.segments.len() > 1 && self.types.constant(&path.path, scene.scope).is_none() =>
            {
                self.evaluate(expr, &Ty::Unknown(String::new()), scene)
                    .and_then(free)
                    .or_else(|_| self.typed_literal(expr, scene))
            }
            _ => free(self.evaluate(expr, &Ty::Unknown(String::new()), scene)?),
        }
    }

    /// An expression that begins with the name of its type.
    fn typed_literal(&self, expr: &Expr, scene: &Scene) -> Result<Value, String> {
        let path = match expr {
            Expr::Struct(literal) => &literal.path,
            Expr::Path(path) => &path.path,
            Expr::Call(ExprCall { func, .. }) => match &**func {
                Expr::Path(path) => &path.path,
                _ => return Err(unplain(expr)),
            },
            _ => return Err(unplain(expr)),
        };
        let whole = self.named(path, scene);
        // `Order` in `Order { .. }`, but also in `Order::new()` and in `Order::Paid`.
        let ty = match (whole, owner(path)) {
            (whole @ Ty::Defined { .. }, _) | (whole, None) => whole,
            (_, Some(owner)) => self.named(&owner, scene),
        };
        self.json(&self.evaluate(expr, &ty, scene)?, &ty)
    }

    /// Whether a path makes a value of a definition, and not of another that is converted into it.
    pub(super) fn makes(&self, path: &Path, id: DefinitionId, scene: &Scene) -> bool {
        let is_it = |path: &Path| matches!(self.named(path, scene), Ty::Defined { definition, .. } if definition == id);
        match &self.types.definition(id).item.data {
            syn::Data::Enum(_) => owner(path).is_none_or(|owner| is_it(&owner)),
            _ => is_it(path),
        }
    }

    /// What a path names as a type.
    pub(super) fn named(&self, path: &Path, scene: &Scene) -> Ty {
        if let (true, Some(this)) = (path.is_ident("Self"), &scene.this) {
            return this.clone();
        }
        let ty = syn::Type::Path(syn::TypePath { attrs: Vec::new(), qself: None, path: path.clone() });
        self.types.resolve(&ty, scene.scope, &scene.generics)
    }

    /// The value of an expression of a type.
    pub(super) fn evaluate(&self, expr: &Expr, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let ty = unwrapped(ty);
        match expr {
            Expr::Lit(ExprLit { lit, .. }) => literal(lit).ok_or_else(|| unplain(expr)),
            Expr::Paren(paren) => self.evaluate(&paren.expr, ty, scene),
            Expr::Group(group) => self.evaluate(&group.expr, ty, scene),
            Expr::Reference(reference) => self.evaluate(&reference.expr, ty, scene),
            Expr::Cast(cast) => self.cast(cast, ty, scene),
            Expr::Block(block) => self.call(&block.block, ty, scene),
            Expr::Unary(unary) => match (&unary.op, self.evaluate(&unary.expr, ty, scene)?) {
                (UnOp::Neg(_), Plain::Int(number)) => number.checked_neg().map(Plain::Int).ok_or_else(|| unplain(expr)),
                (UnOp::Neg(_), Plain::Float(digits)) => Ok(Plain::Float(format!("-{digits}"))),
                (UnOp::Not(_), Plain::Bool(value)) => Ok(Plain::Bool(!value)),
                _ => Err(unplain(expr)),
            },
            Expr::Binary(binary) => {
                let both = (self.evaluate(&binary.left, ty, scene)?, self.evaluate(&binary.right, ty, scene)?);
                let (Plain::Int(left), Plain::Int(right)) = both else { return Err(unplain(expr)) };
                let result = match binary.op {
                    BinOp::Add(_) => left.checked_add(right),
                    BinOp::Sub(_) => left.checked_sub(right),
                    BinOp::Mul(_) => left.checked_mul(right),
                    BinOp::Div(_) => left.checked_div(right),
                    _ => None,
                };
                result.map(Plain::Int).ok_or_else(|| unplain(expr))
            }
            Expr::Array(array) => self.list(array.elems.iter(), ty, scene),
            Expr::Tuple(tuple) => {
                let Ty::Tuple(types) = ty else { return Err(unplain(expr)) };
                let items = tuple.elems.iter().zip(types).map(|(item, ty)| self.evaluate(item, ty, scene));
                items.collect::<Result<_, _>>().map(Plain::List)
            }
            Expr::Macro(call) => self.macro_call(&call.mac, ty, scene).ok_or_else(|| unplain(expr))?,
            Expr::MethodCall(call) => self.conversion(call, ty, scene),
            Expr::Struct(literal) => self.struct_literal(literal, ty, scene),
            Expr::Path(path) => self.path(path, ty, scene),
            Expr::Call(call) => self.function_call(call, ty, scene),
            _ => Err(unplain(expr)),
        }
    }

    /// The value of a function's body, if it is one expression.
    pub(super) fn call(&self, block: &syn::Block, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        match block.stmts.as_slice() {
            [Stmt::Expr(expr, None)] => self.evaluate(expr, ty, scene),
            [Stmt::Macro(call)] if call.semi_token.is_none() => self
                .macro_call(&call.mac, ty, scene)
                .ok_or_else(|| "its function is more than one plain expression".to_owned())?,
            _ => Err("its function is more than one plain expression".into()),
        }
    }

    fn macro_call(&self, mac: &syn::Macro, ty: &Ty, scene: &Scene) -> Option<Result<Plain, String>> {
        let name = mac.path.segments.last()?.ident.to_string();
        let items = mac.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated).ok();
        match name.as_str() {
            "vec" => Some(self.list(items?.iter(), ty, scene)),
            "concat" => {
                let items = items?;
                let text = items.iter().map(|item| match self.evaluate(item, ty, scene) {
                    Ok(Plain::Text(text) | Plain::Float(text)) => Ok(text),
                    Ok(Plain::Int(number)) => Ok(number.to_string()),
                    Ok(Plain::Bool(value)) => Ok(value.to_string()),
                    Ok(_) => Err("`concat!` takes literals".to_owned()),
                    Err(why) => Err(why),
                });
                Some(text.collect::<Result<String, _>>().map(Plain::Text))
            }
            _ => None,
        }
    }

    fn list<'e>(&self, items: impl Iterator<Item = &'e Expr>, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let item_type = match self.kind(ty) {
            Kind::List(item) | Kind::Set(item) | Kind::Array(item, _) => item,
            _ => Ty::Unknown(String::new()),
        };
        items.map(|item| self.evaluate(item, &item_type, scene)).collect::<Result<_, _>>().map(Plain::List)
    }

    fn path(&self, path: &ExprPath, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let unplain = || unplain(&Expr::Path(path.clone()));
        let last = path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if let Some((value, scope)) = self.types.constant(&path.path, scene.scope) {
            return self.evaluate(&value, ty, &Scene { this: scene.this.clone(), ..scene.deeper(scope)? });
        }
        // The user's own `None` comes before that of `Option`.
        if let Ty::Defined { definition, .. } = ty {
            let made = self.makes(&path.path, *definition, scene);
            return match &self.types.definition(*definition).item.data {
                syn::Data::Enum(data) if made && data.variants.iter().any(|variant| variant.ident == last) => {
                    Ok(Plain::Variant(last, Vec::new()))
                }
                syn::Data::Struct(data) if made && data.fields.is_empty() => Ok(Plain::Struct(Vec::new())),
                _ => Err(unplain()),
            };
        }
        if last == "None" && self.is_of_option(&path.path, scene) {
            return Ok(Plain::Nothing);
        }
        let owner = owner(&path.path).and_then(|owner| owner.get_ident().map(ToString::to_string));
        owner.and_then(|owner| limit(&owner, &last)).ok_or_else(unplain)
    }

    fn struct_literal(&self, literal: &syn::ExprStruct, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let unplain = || unplain(&Expr::Struct(literal.clone()));
        let Ty::Defined { definition, arguments } = ty else { return Err(unplain()) };
        let name = literal.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        let fields = self.fields_of(*definition, &name).filter(|_| self.makes(&literal.path, *definition, scene));
        let fields = fields.ok_or_else(unplain)?;
        let rest = match &literal.rest {
            Some(rest) => match self.evaluate(rest, ty, scene)? {
                Plain::Struct(fields) => fields,
                _ => return Err(unplain()),
            },
            None => Vec::new(),
        };
        let inner = self.inner_scene(*definition, arguments);
        let values = fields.iter().map(|(member, field)| {
            let given = literal.fields.iter().find(|value| member_name(&value.member) == *member);
            let value = match given {
                Some(given) => {
                    let ty = self.types.resolve(field, inner.scope, &inner.generics);
                    self.evaluate(&given.expr, &ty, scene)?
                }
                None => {
                    let kept = rest.iter().find(|(name, _)| name == member).map(|(_, value)| value.clone());
                    kept.ok_or_else(unplain)?
                }
            };
            Ok((member.clone(), value))
        });
        let values = values.collect::<Result<Vec<_>, String>>()?;
        Ok(self.built(*definition, &name, values))
    }

    pub(super) fn built(&self, id: DefinitionId, name: &str, values: Vec<(String, Plain)>) -> Plain {
        match &self.types.definition(id).item.data {
            syn::Data::Enum(_) => Plain::Variant(name.to_owned(), values),
            _ => Plain::Struct(values),
        }
    }

    /// The fields of a struct, or of a variant of an enum.
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

    pub(super) fn inner_scene(&self, id: DefinitionId, arguments: &[Ty]) -> Scene {
        Scene {
            scope: self.types.definition(id).scope,
            generics: self.generics(id, arguments),
            this: Some(Ty::Defined { definition: id, arguments: arguments.to_vec() }),
            depth: 0,
        }
    }
}

fn member_name(member: &Member) -> String {
    match member {
        Member::Named(ident) => ident.to_string(),
        Member::Unnamed(index) => index.index.to_string(),
    }
}

pub(super) fn unplain(expr: &Expr) -> String {
    format!("`{}` is no plain expression", written(expr))
}
