//! Default values from `Default` and serde's default functions, where they can be evaluated.

use serde_derive_internals::attr::Default as SerdeDefault;
use serde_json::Value;
use syn::{ImplItem, TypeParamBound, WherePredicate};

use super::generator::ContainerContext;
use super::shape::{FieldShape, TypeShapes, mentioned};
use super::value::{EvaluationScope, PlainValue, is_skipped, unwrapped};
use crate::ty::{DefinitionId, Ty};

impl TypeShapes<'_> {
    /// Returns the default of a field in JSON, or `None` where schemars shows none.
    pub(super) fn field_default(
        &self,
        field: &FieldShape,
        context: &ContainerContext,
        of_container: &SerdeDefault,
    ) -> Result<Option<Value>, String> {
        let env = EvaluationScope::in_container(context);
        let ty = self.types.resolve(&field.ty, env.scope, &env.generics);
        if !self.is_serializable(&ty) || !has_serialize_bound(field, context) {
            return Ok(None);
        }
        let value = match (field.attrs.default(), of_container) {
            (SerdeDefault::Default, _) => self.default_of(&ty, &env)?,
            (SerdeDefault::Path(path), _) => self.default_function(path, &ty, &env)?,
            (SerdeDefault::None, of_container) => {
                let whole = match of_container {
                    SerdeDefault::Path(path) => self.default_function(path, &context.ty(), &env)?,
                    _ => self.default_of(&context.ty(), &env)?,
                };
                let PlainValue::Struct(fields) = whole else { return Err("its default is not a struct".into()) };
                let found = fields.into_iter().find(|(name, _)| *name == field.member);
                found.ok_or("its default has no such field")?.1
            }
        };
        if let Some(predicate) = field.attrs.skip_serializing_if()
            && is_skipped(&value, &predicate.path)?
        {
            return Ok(None);
        }
        if field.attrs.serialize_with().is_some() {
            return Err("it has its own serialization function".into());
        }
        // A value that cannot be serialized is not shown.
        self.json(&value, &ty).map(Some)
    }

    fn default_function(&self, path: &syn::ExprPath, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        let call = syn::Expr::Call(syn::ExprCall {
            attrs: Vec::new(),
            func: Box::new(syn::Expr::Path(path.clone())),
            paren_token: syn::token::Paren::default(),
            args: syn::punctuated::Punctuated::new(),
        });
        self.evaluate(&call, ty, env)
    }

    /// Returns the value of `Default::default()` for a type.
    pub(super) fn default_of(&self, ty: &Ty, env: &EvaluationScope) -> Result<PlainValue, String> {
        let ty = unwrapped(ty);
        match ty {
            Ty::Tuple(items) => {
                items.iter().map(|item| self.default_of(item, env)).collect::<Result<_, _>>().map(PlainValue::List)
            }
            // Longer arrays have neither a `Default` nor a schema.
            Ty::Array(item, Some(length)) if *length <= 32 => {
                let item = self.default_of(item, env)?;
                Ok(PlainValue::List((0..*length).map(|_| item.clone()).collect()))
            }
            Ty::Defined { definition, arguments } => self.defined_default(*definition, arguments, env),
            Ty::Library { .. } => {
                let unknown = || format!("the default of `{}` is unknown", self.type_name(ty));
                Ok(match ty.library().ok_or_else(unknown)? {
                    ("" | "std", "bool" | "AtomicBool") => PlainValue::Bool(false),
                    ("" | "std", "f32" | "f64") => PlainValue::Float("0.0".into()),
                    ("" | "std", "str" | "String" | "PathBuf" | "Path") => PlainValue::Text(String::new()),
                    ("" | "std", "char") => PlainValue::Text("\0".into()),
                    ("std", "Option") => PlainValue::Nothing,
                    (
                        "std",
                        "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap" | "HashSet" | "BTreeSet" | "HashMap"
                        | "BTreeMap",
                    ) => PlainValue::List(Vec::new()),
                    ("serde_json", "Map") => PlainValue::List(Vec::new()),
                    ("serde_json", "Value") | ("std", "PhantomData") => PlainValue::Written(Value::Null),
                    ("std", "Duration") => PlainValue::Written(serde_json::json!({"secs": 0, "nanos": 0})),
                    ("uuid", "Uuid") => PlainValue::Text("00000000-0000-0000-0000-000000000000".into()),
                    ("" | "std", name) if is_integer(name.trim_start_matches("Atomic")) => PlainValue::Int(0),
                    _ => return Err(unknown()),
                })
            }
            _ => Err(format!("the default of `{}` is unknown", self.type_name(ty))),
        }
    }

    fn defined_default(&self, id: DefinitionId, arguments: &[Ty], env: &EvaluationScope) -> Result<PlainValue, String> {
        if env.depth > 16 {
            return Err("the calls are nested too deeply".into());
        }
        let definition = self.types.definition(id);
        let inner = EvaluationScope { depth: env.depth + 1, ..self.inner_env(id, arguments) };
        if let Some((_, block)) = definition.impls.iter().find(|(name, _)| name == "Default") {
            let function = block.items.iter().find_map(|item| match item {
                ImplItem::Fn(function) if function.sig.ident == "default" => Some(function),
                _ => None,
            });
            let function = function.ok_or("its `Default` has no function `default`")?;
            let this = Ty::Defined { definition: id, arguments: arguments.to_vec() };
            return self.call(&function.block, &this, &inner);
        }
        if !definition.derives("Default") {
            return Err(format!("the `Default` of `{}` was not found", definition.item.ident));
        }
        let variant = match &definition.item.data {
            syn::Data::Enum(data) => {
                let is_default = |variant: &&syn::Variant| {
                    variant.attrs.iter().any(|attribute| attribute.path().is_ident("default"))
                };
                let variant = data.variants.iter().find(is_default).ok_or("no variant is marked `#[default]`")?;
                return Ok(PlainValue::Variant(variant.ident.to_string(), Vec::new()));
            }
            _ => "",
        };
        let fields = self.fields_of(id, variant).unwrap_or_default().into_iter().map(|(member, ty)| {
            let ty = self.types.resolve(&ty, inner.scope, &inner.generics);
            Ok((member, self.default_of(&ty, &inner)?))
        });
        fields.collect::<Result<_, String>>().map(PlainValue::Struct)
    }
}

fn is_integer(name: &str) -> bool {
    let width = name.trim_start_matches(['i', 'u', 'I', 'U']);
    width.len() < name.len() && matches!(width, "8" | "16" | "32" | "64" | "128" | "size")
}

/// Returns `true` if the bounds of a generic type show that a field is `Serialize`. Otherwise schemars shows no
/// default.
fn has_serialize_bound(field: &FieldShape, context: &ContainerContext) -> bool {
    let generics = &context.definition.item.generics;
    let is_serialize = |bound: &TypeParamBound| match bound {
        TypeParamBound::Trait(bound) => bound.path.segments.last().is_some_and(|segment| segment.ident == "Serialize"),
        _ => false,
    };
    let is_bound = |parameter: &String| {
        let at_parameter =
            generics.type_params().any(|found| found.ident == parameter && found.bounds.iter().any(is_serialize));
        let in_where =
            generics.where_clause.iter().flat_map(|clause| &clause.predicates).any(|predicate| match predicate {
                WherePredicate::Type(predicate) => {
                    let is_it = matches!(&predicate.bounded_ty, syn::Type::Path(path) if path.path.is_ident(parameter));
                    is_it && predicate.bounds.iter().any(is_serialize)
                }
                _ => false,
            });
        at_parameter || in_where
    };
    mentioned(&field.ty, generics).iter().all(is_bound)
}
