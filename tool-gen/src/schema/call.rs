//! Casts, conversions and calls in plain expressions: only those whose result is known whatever the program does.

use syn::{Expr, ExprCall, ExprCast, ExprLit, ExprMethodCall, Lit, Path};

use super::evaluate::unplain;
use super::kind::Kind;
use super::shape::Shapes;
use super::value::{Plain, Scene, fits, owner};
use crate::ty::Ty;

/// Methods that change the type of a literal but not what it is in JSON.
const CONVERSIONS: [&str; 8] =
    ["to_string", "to_owned", "into", "to_vec", "clone", "to_path_buf", "into_boxed_str", "as_str"];

/// Types of the standard library that hold another: `new` puts the value into them as it is.
const HOLDERS: [&str; 7] = ["Box", "Arc", "Rc", "Mutex", "RwLock", "Cell", "RefCell"];

/// Types of the standard library for which `from` takes a literal as it is.
const FROM_LITERALS: [&str; 9] = ["String", "PathBuf", "Vec", "VecDeque", "LinkedList", "Box", "Arc", "Rc", "Cow"];

impl Shapes<'_> {
    /// `300u32 as u8` is another number: only one that stays what it is is seen.
    pub(super) fn cast(&self, cast: &ExprCast, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let unplain = || unplain(&Expr::Cast(cast.clone()));
        let Plain::Int(number) = self.evaluate(&cast.expr, &Ty::Unknown(String::new()), scene)? else {
            return Err(unplain());
        };
        let target = match &*cast.ty {
            syn::Type::Infer(_) => ty.clone(),
            target => self.types.resolve(target, scene.scope, &scene.generics),
        };
        let stays = target.library().is_some_and(|(krate, name)| krate.is_empty() && fits(number, name));
        if stays { Ok(Plain::Int(number)) } else { Err(unplain()) }
    }

    /// A method that makes another type of a literal. Of anything else only the program knows what it makes.
    pub(super) fn conversion(&self, call: &ExprMethodCall, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let unplain = || unplain(&Expr::MethodCall(call.clone()));
        let is_known = call.args.is_empty() && CONVERSIONS.iter().any(|name| call.method == name);
        if !is_known || !self.is_literal(&call.receiver, scene) {
            return Err(unplain());
        }
        match (call.method == "to_string", self.evaluate(&call.receiver, ty, scene)?) {
            (true, Plain::Int(number)) => Ok(Plain::Text(number.to_string())),
            (true, Plain::Bool(value)) => Ok(Plain::Text(value.to_string())),
            (true, Plain::Float(_)) => Err(unplain()),
            (_, value) => Ok(value),
        }
    }

    /// A literal, a constant that is one, or a list of them: types of the language, whose conversions are known.
    fn is_literal(&self, expr: &Expr, scene: &Scene) -> bool {
        match expr {
            // An `f32` that becomes an `f64` has other digits.
            Expr::Lit(ExprLit { lit: Lit::Float(number), .. }) => number.suffix() != "f32",
            Expr::Lit(_) => true,
            Expr::Paren(inner) => self.is_literal(&inner.expr, scene),
            Expr::Group(inner) => self.is_literal(&inner.expr, scene),
            Expr::Reference(inner) => self.is_literal(&inner.expr, scene),
            Expr::Array(array) => array.elems.iter().all(|item| self.is_literal(item, scene)),
            Expr::Macro(call) => call.mac.path.is_ident("concat"),
            Expr::MethodCall(call) => {
                CONVERSIONS.iter().any(|name| call.method == name) && self.is_literal(&call.receiver, scene)
            }
            Expr::Path(path) => self
                .types
                .constant(&path.path, scene.scope)
                .is_some_and(|(value, scope)| scene.deeper(scope).is_ok_and(|scene| self.is_literal(&value, &scene))),
            _ => false,
        }
    }

    /// Whether a path such as `None` or `Option::Some` is one of `Option`'s.
    pub(super) fn is_of_option(&self, path: &Path, scene: &Scene) -> bool {
        owner(path).is_none_or(|owner| self.named(&owner, scene).library() == Some(("std", "Option")))
    }

    pub(super) fn function_call(&self, call: &ExprCall, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let unplain = || unplain(&Expr::Call(call.clone()));
        let Expr::Path(path) = &*call.func else { return Err(unplain()) };
        let path = &path.path;
        let last = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if let Some(first) = call.args.first() {
            // The user's own `Some` comes before that of `Option`.
            return match ty {
                Ty::Defined { .. } => self.made(call, path, &last, ty, scene),
                _ if last == "Some" && self.is_of_option(path, scene) => {
                    let inner = match self.kind(ty) {
                        Kind::Option(inner) => inner,
                        _ => Ty::Unknown(String::new()),
                    };
                    self.evaluate(first, &inner, scene).map(|value| Plain::Some(Box::new(value)))
                }
                _ => self.library_call(call, path, &last, ty, scene),
            };
        }
        if let Some((function, scope)) = self.types.function(path, scene.scope) {
            return self.call(&function.block, ty, &scene.deeper(scope)?);
        }
        let Some(owner) = owner(path) else { return Err(unplain()) };
        let is_of_trait = last == "default" && owner.segments.last().is_some_and(|name| name.ident == "Default");
        let named = if is_of_trait { ty.clone() } else { self.named(&owner, scene) };
        let is_empty = match last.as_str() {
            "default" => true,
            "new" => matches!(named.library(), Some(("std", _))),
            _ => false,
        };
        match ty {
            Ty::Unknown(_) if is_empty => self.default_of(&named, scene),
            _ if is_empty && (is_of_trait || is_same(&named, ty)) => self.default_of(ty, scene),
            _ => Err(unplain()),
        }
    }

    /// A struct or a variant of a tuple's form, or one that the standard library holds.
    fn made(&self, call: &ExprCall, path: &Path, name: &str, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let Ty::Defined { definition, arguments } = ty else { return self.library_call(call, path, name, ty, scene) };
        let Some(fields) = self.fields_of(*definition, name).filter(|_| self.makes(path, *definition, scene)) else {
            return self.library_call(call, path, name, ty, scene);
        };
        let inner = self.inner_scene(*definition, arguments);
        let values = call.args.iter().zip(&fields).map(|(value, (member, field))| {
            let ty = self.types.resolve(field, inner.scope, &inner.generics);
            Ok((member.clone(), self.evaluate(value, &ty, scene)?))
        });
        let values = values.collect::<Result<Vec<_>, String>>()?;
        Ok(self.built(*definition, name, values))
    }

    /// A function of a type of the standard library or of the language.
    fn library_call(&self, call: &ExprCall, path: &Path, name: &str, ty: &Ty, scene: &Scene) -> Result<Plain, String> {
        let unplain = || unplain(&Expr::Call(call.clone()));
        let (Some(first), Some(owner)) = (call.args.first(), owner(path)) else { return Err(unplain()) };
        let named = self.named(&owner, scene);
        let is_it = matches!(ty, Ty::Unknown(_)) || is_same(&named, ty);
        match (named.library().ok_or_else(unplain)?, name) {
            (("std", holder), "new") if HOLDERS.contains(&holder) => self.evaluate(first, ty, scene),
            (("std", "Duration"), "from_secs" | "from_millis") => {
                let Plain::Int(count) = self.evaluate(first, &Ty::Unknown(String::new()), scene)? else {
                    return Err(unplain());
                };
                let count = u64::try_from(count).map_err(|error| error.to_string())?;
                let (seconds, nanos) =
                    if name == "from_secs" { (count, 0) } else { (count / 1000, count % 1000 * 1_000_000) };
                Ok(Plain::Written(serde_json::json!({"secs": seconds, "nanos": nanos})))
            }
            (("std", known), "from") if FROM_LITERALS.contains(&known) && self.is_literal(first, scene) => {
                self.evaluate(first, ty, scene)
            }
            (("", _), "from") if is_it => self.evaluate(first, ty, scene),
            (("std", _), "with_capacity") if is_it => self.default_of(&named, scene),
            _ => Err(unplain()),
        }
    }
}

/// Whether two types are the same but for what they hold: `Vec` in `Vec::default()` does not say it.
fn is_same(one: &Ty, other: &Ty) -> bool {
    match (one, other) {
        (Ty::Defined { definition: one, .. }, Ty::Defined { definition: other, .. }) => one == other,
        (Ty::Library { .. }, Ty::Library { .. }) => one.library() == other.library(),
        _ => false,
    }
}
