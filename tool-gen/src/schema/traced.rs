//! Types that are `Deserialize` but not `JsonSchema`, read from source as the program traces them.
//!
//! The program calls a type's `Deserialize` and records what it asks for ([`tool_model::trace`]). This module predicts
//! that from derives, and from hand-written code that passes its deserializer on at exactly one place.

use std::collections::BTreeSet;

use proc_macro2::Span;
use serde_derive_internals::ast::Style;
use serde_derive_internals::attr::TagType;
use serde_json::json;
use tool_model::trace::{
    TracedBody, TracedDefinition, TracedField, TracedFields, TracedForm, TracedType, TracedVariant, UnknownCause,
    library_schema,
};

use super::argument::is_optional;
use super::delegation::{DeserializerUse, deserializer_uses};
use super::language_form::{language_form, plain_number, repr};
use super::library::wrapped_type;
use super::shape::{AttributeView, FieldShape, ShapeData, TypeShape, TypeShapes, VariantShape};
use super::{LossKind, UnseenPart};
use crate::ty::{DefinitionId, ScopeId, Ty};

/// Returns the form of a type, and the parts of it that the source does not show.
pub(super) fn traced(shapes: &TypeShapes<'_>, ty: &Ty) -> (TracedType, Vec<UnseenPart>) {
    let mut reader = TraceReader {
        shapes,
        traced: TracedType::default(),
        unseen: Vec::new(),
        hidden: None,
        within: None,
        depth: 0,
        open: Vec::new(),
        is_unsure: false,
        is_ambiguous: false,
        unsure_types: BTreeSet::new(),
    };
    reader.traced.root = reader.form(ty);
    if reader.unseen.is_empty() {
        reader.unseen.extend(reader.hidden);
    }
    (reader.traced, reader.unseen)
}

/// The longest chain of types that deserialize as another. One that contains itself does not end.
const TOO_DEEP: usize = 64;

struct TraceReader<'w> {
    shapes: &'w TypeShapes<'w>,
    traced: TracedType,
    unseen: Vec<UnseenPart>,
    /// The first part that the program may not reach. Usually it is hidden by an unseen part, which is reported instead.
    hidden: Option<UnseenPart>,
    /// The definition that is being read, and the place in it.
    within: Option<(DefinitionId, Span)>,
    depth: usize,
    /// The structs and enums that are being read.
    open: Vec<Ty>,
    /// `true` if the program may have no sample value of what was read since this was reset. It can then not find out
    /// which of the fields behind it are required.
    is_unsure: bool,
    /// `true` if the program's answer about a field of the current struct cannot be predicted.
    is_ambiguous: bool,
    /// The structs and enums for which this is so.
    unsure_types: BTreeSet<String>,
}

/// A struct or enum with its generic parameters filled in.
struct TypeContext {
    id: DefinitionId,
    scope: ScopeId,
    generics: Vec<(String, Ty)>,
}

impl TraceReader<'_> {
    fn unknown(&mut self, ty: &Ty, why: &str) -> TracedForm {
        let what = self.shapes.type_name(ty);
        self.unseen_part(what, why)
    }

    /// Reports a part that the source does not show, once for each type.
    fn unseen_part(&mut self, what: String, why: &str) -> TracedForm {
        if !self.unseen.iter().any(|known| known.what == what) {
            let part = self.part(what.clone(), why);
            self.unseen.push(part);
        }
        self.is_unsure = true;
        TracedForm::unknown(what, UnknownCause::NotReached)
    }

    /// Reports a part that the program may not reach.
    fn hidden_part(&mut self, what: String, why: &str) -> TracedForm {
        let part = self.part(what.clone(), why);
        self.hidden.get_or_insert(part);
        self.is_unsure = true;
        TracedForm::unknown(what, UnknownCause::NotReached)
    }

    fn part(&self, what: String, why: &str) -> UnseenPart {
        let (inside, at) = self.within.unzip();
        let at = at.unwrap_or_else(Span::call_site);
        UnseenPart { what, why: why.to_owned(), inside, at, loss: LossKind::Leaf }
    }

    fn form(&mut self, ty: &Ty) -> TracedForm {
        self.depth += 1;
        let form = if self.depth > TOO_DEEP { TracedForm::default() } else { self.form_of(ty) };
        self.depth -= 1;
        form
    }

    fn form_of(&mut self, ty: &Ty) -> TracedForm {
        if let Some(("std", "Weak")) = ty.library() {
            return wrapped_type(ty).map_or_else(TracedForm::default, |inner| self.boxed(TracedForm::Option, inner));
        }
        if let Some(inner) = wrapped_type(ty) {
            return self.form(inner);
        }
        match ty {
            Ty::Tuple(items) if items.is_empty() => TracedForm::Schema(json!({"type": "null"})),
            Ty::Tuple(items) => TracedForm::Tuple(self.sequence(items.iter(), Self::form)),
            Ty::Array(item, Some(length)) => {
                TracedForm::Array(Box::new(self.form(item)), usize::try_from(*length).unwrap_or(usize::MAX))
            }
            Ty::Array(_, None) => self.unknown(ty, "its length could not be evaluated"),
            Ty::Slice(item) => self.boxed(TracedForm::List, item),
            Ty::Library { arguments, .. } => self.library(ty, arguments),
            Ty::Defined { .. } if self.open.contains(ty) && !self.traced.types.contains_key(&format!("{ty:?}")) => {
                // It contains itself, and nothing could be referred to.
                self.is_unsure = true;
                TracedForm::unknown(self.shapes.type_name(ty), UnknownCause::Recursive)
            }
            Ty::Defined { definition, arguments } => {
                self.open.push(ty.clone());
                let form = self.defined(ty, *definition, arguments);
                self.open.pop();
                form
            }
            Ty::Unknown(_) | Ty::Constant(_) | Ty::Reference(_) => {
                self.unknown(ty, "its definition is not in the scanned source")
            }
        }
    }

    /// Returns the forms of items that the program reads one after the other. Behind one that it may have
    /// no sample value of, it may see nothing.
    fn sequence<T>(
        &mut self,
        items: impl Iterator<Item = T>,
        mut form: impl FnMut(&mut Self, T) -> TracedForm,
    ) -> Vec<TracedForm> {
        let was_unsure = std::mem::take(&mut self.is_unsure);
        let mut forms = Vec::new();
        for item in items {
            let is_hidden = self.is_unsure;
            let read = form(self, item);
            let why = "only the program can tell what it sees behind a part without a sample value";
            forms.push(if is_hidden { self.hidden_part(format!("item {}", forms.len()), why) } else { read });
        }
        self.is_unsure |= was_unsure;
        forms
    }

    fn boxed(&mut self, form: fn(Box<TracedForm>) -> TracedForm, inner: &Ty) -> TracedForm {
        form(Box::new(self.form(inner)))
    }

    fn library(&mut self, ty: &Ty, arguments: &[Ty]) -> TracedForm {
        let (krate, name) = ty.library().unwrap_or_default();
        let integer = |name: &str| language_form(name).unwrap_or_default();
        match (krate, name, arguments) {
            ("std", "Option", [inner]) => self.boxed(TracedForm::Option, inner),
            ("std", "Vec" | "VecDeque" | "LinkedList" | "BinaryHeap", [item, ..]) => self.boxed(TracedForm::List, item),
            ("std", "HashSet" | "BTreeSet", [item, ..]) | ("indexmap", "IndexSet", [item, ..]) => {
                self.boxed(TracedForm::Set, item)
            }
            ("std", "HashMap" | "BTreeMap", [key, value, ..]) | ("indexmap", "IndexMap", [key, value, ..]) => {
                let mut forms = self.sequence([key, value].into_iter(), Self::form).into_iter().map(Box::new);
                // The map itself can be empty.
                self.is_unsure = false;
                TracedForm::Map(forms.next().unwrap_or_default(), forms.next().unwrap_or_default())
            }
            ("serde_json", "Map", _) => {
                let value = TracedForm::Schema(true.into());
                TracedForm::Map(Box::new(TracedForm::Schema(json!({"type": "string"}))), Box::new(value))
            }
            ("std", "Saturating", [inner]) => self.form(inner),
            ("std", "Result", [success, error]) => self.choice(ty, &[("Ok", Some(success)), ("Err", Some(error))]),
            ("either", "Either", [left, right]) => self.choice(ty, &[("Left", Some(left)), ("Right", Some(right))]),
            ("std", "Bound", [limit]) => {
                self.choice(ty, &[("Unbounded", None), ("Included", Some(limit)), ("Excluded", Some(limit))])
            }
            ("std", "Range" | "RangeInclusive", [limit]) => {
                let limit = self.form(limit);
                self.record(ty, name, &[("start", limit.clone()), ("end", limit)])
            }
            ("std", "RangeFrom", [limit]) => {
                let limit = self.form(limit);
                self.record(ty, name, &[("start", limit)])
            }
            ("std", "RangeTo", [limit]) => {
                let limit = self.form(limit);
                self.record(ty, name, &[("end", limit)])
            }
            ("std", "Duration", []) => self.record(ty, name, &[("secs", integer("u64")), ("nanos", integer("u32"))]),
            ("std", "SystemTime", []) => {
                let fields = [("secs_since_epoch", integer("u64")), ("nanos_since_epoch", integer("u32"))];
                self.record(ty, name, &fields)
            }
            ("std", "PhantomData", _) => TracedForm::Schema(json!({"type": "null"})),
            ("std", "String" | "PathBuf" | "Path" | "SocketAddr" | "SocketAddrV4" | "SocketAddrV6", []) => {
                TracedForm::Schema(json!({"type": "string"}))
            }
            ("chrono", "TimeDelta" | "Duration", []) => TracedForm::Tuple(vec![integer("i64"), integer("i32")]),
            ("time", ..) if !self.shapes.types.has_feature("time", "serde-human-readable") => {
                self.unknown(ty, "its form depends on the feature `serde-human-readable` of `time`")
            }
            (krate, name, arguments) => {
                let argument = arguments.first().map(|argument| self.shapes.type_name(argument));
                let of_language =
                    || if matches!(krate, "" | "std") { language_form(&plain_number(name)) } else { None };
                let non_zero = name.strip_prefix("NonZero").filter(|number| krate == "std" && !number.is_empty());
                let schema = match non_zero {
                    Some(number) => library_schema("std", "NonZero", Some(&number.to_ascii_lowercase())),
                    None => library_schema(krate, name, argument.as_deref()),
                };
                let known = schema.map(TracedForm::Schema).or_else(of_language);
                known.unwrap_or_else(|| self.unknown(ty, "its source is not scanned"))
            }
        }
    }

    /// Returns the form of an enum of a library.
    fn choice(&mut self, ty: &Ty, variants: &[(&str, Option<&Ty>)]) -> TracedForm {
        let name = ty.library().map_or("", |(_, name)| name);
        self.named(ty, name, |reader| {
            let variant = |(name, inner): &(&str, Option<&Ty>)| TracedVariant {
                name: (*name).to_owned(),
                content: inner.map(|inner| TracedBody::Newtype(reader.form(inner))),
            };
            TracedBody::Enum(variants.iter().map(variant).collect())
        })
    }

    /// Returns the form of a struct of a library.
    fn record(&mut self, ty: &Ty, name: &str, fields: &[(&str, TracedForm)]) -> TracedForm {
        let field = |(name, form): &(&str, TracedForm)| TracedField {
            name: (*name).to_owned(),
            required: true,
            form: form.clone(),
        };
        let fields = TracedFields { fields: fields.iter().map(field).collect(), denies_unknown: false };
        self.named(ty, name, |_| TracedBody::Struct(fields))
    }

    /// Returns a reference to a struct or enum, which is read at its first use.
    fn named(&mut self, ty: &Ty, name: &str, body: impl FnOnce(&mut Self) -> TracedBody) -> TracedForm {
        let id = format!("{ty:?}");
        if !self.traced.types.contains_key(&id) {
            // A placeholder lets the type refer to itself.
            let is_inline = matches!(ty.library(), Some(("either", _)));
            let definition = |body| TracedDefinition { name: name.to_owned(), is_inline, body };
            self.traced.types.insert(id.clone(), definition(TracedBody::Tuple(Vec::new())));
            let was_unsure = std::mem::take(&mut self.is_unsure);
            let was_ambiguous = std::mem::take(&mut self.is_ambiguous);
            let body = body(self);
            if std::mem::replace(&mut self.is_ambiguous, was_ambiguous) {
                // Without a definition, references to it accept any value.
                self.traced.types.remove(&id);
                self.is_unsure = true;
                return TracedForm::unknown(self.shapes.type_name(ty), UnknownCause::NotReached);
            }
            let has_bare_variant =
                matches!(&body, TracedBody::Enum(all) if all.iter().any(|variant| variant.content.is_none()));
            if self.is_unsure && !has_bare_variant {
                self.unsure_types.insert(id.clone());
            }
            self.is_unsure = was_unsure;
            self.traced.types.insert(id.clone(), definition(body));
        }
        self.is_unsure |= self.unsure_types.contains(&id);
        TracedForm::Named(id)
    }

    fn defined(&mut self, ty: &Ty, id: DefinitionId, arguments: &[Ty]) -> TracedForm {
        let definition = self.shapes.types.definition(id);
        let context = TypeContext { id, scope: definition.scope, generics: self.shapes.generics(id, arguments) };
        let outer = self.within.replace((id, definition.item.ident.span()));
        let is_rewritten = definition
            .item
            .attrs
            .iter()
            .any(|attribute| attribute.path().segments.last().is_some_and(|segment| segment.ident == "serde_as"));
        let form = if is_rewritten {
            self.unknown(ty, "`serde_as` rewrites it")
        } else if definition.derives("Deserialize") {
            match self.shapes.shape(id, AttributeView::Deserialize) {
                Ok(shape) => self.derived(ty, &shape, &context),
                Err(why) => self.unknown(ty, &why),
            }
        } else if definition.derives("Deserialize_repr") {
            let number = repr(&definition.item.attrs).and_then(|number| language_form(&number));
            number.unwrap_or_else(|| self.unknown(ty, "its `repr` is not a number"))
        } else if definition.derives("DeserializeFromStr") {
            TracedForm::Schema(json!({"type": "string"}))
        } else {
            let by_hand = definition.impls.iter().find(|(name, _)| name == "Deserialize");
            let function = by_hand.and_then(|(_, block)| {
                block.items.iter().find_map(|item| match item {
                    syn::ImplItem::Fn(function) if function.sig.ident == "deserialize" => Some(function),
                    _ => None,
                })
            });
            match function {
                Some(function) => self.delegated(ty, &function.sig, &function.block, &context),
                None => self.unknown(ty, "it does not derive `Deserialize`"),
            }
        };
        self.within = outer;
        form
    }

    fn derived(&mut self, ty: &Ty, shape: &TypeShape, context: &TypeContext) -> TracedForm {
        if let Some(field) = shape.transparent() {
            return self.field(field, context);
        }
        if let Some(converted) = shape.attrs.type_from().or(shape.attrs.type_try_from()) {
            let converted = self.resolve(converted, context);
            let form = self.form(&converted);
            self.is_unsure = true;
            return form;
        }
        let name = &shape.attrs.name().deserialize_name().value;
        match &shape.data {
            ShapeData::Struct(Style::Unit, _) => TracedForm::Schema(json!({"type": "null"})),
            ShapeData::Struct(Style::Struct, fields) if fields.iter().any(|field| field.attrs.flatten()) => {
                self.is_unsure = true;
                TracedForm::Buffered(self.shapes.type_name(ty))
            }
            ShapeData::Struct(style, fields) => self.named(ty, name, |reader| match style {
                Style::Newtype => TracedBody::Newtype(reader.field(&fields[0], context)),
                Style::Tuple => TracedBody::Tuple(reader.items(fields, context)),
                _ => {
                    let has_default = !shape.attrs.default().is_none();
                    TracedBody::Struct(reader.fields(fields, context, has_default, shape.attrs.deny_unknown_fields()))
                }
            }),
            ShapeData::Enum(variants) => self.enumeration(ty, name, shape, variants, context),
        }
    }

    fn enumeration(
        &mut self,
        ty: &Ty,
        name: &str,
        shape: &TypeShape,
        variants: &[VariantShape],
        context: &TypeContext,
    ) -> TracedForm {
        let accepted = || variants.iter().filter(|variant| !variant.attrs.skip_deserializing());
        let tags = || {
            let all = accepted().flat_map(|variant| variant.attrs.aliases()).map(|name| name.value.clone()).collect();
            Some(all).filter(|_| !accepted().any(|variant| variant.attrs.other()))
        };
        self.is_unsure |= !matches!(shape.attrs.tag(), TagType::External);
        match shape.attrs.tag() {
            TagType::None => TracedForm::unknown(self.shapes.type_name(ty), UnknownCause::AnyValue),
            _ if accepted().any(|variant| variant.attrs.untagged()) => {
                TracedForm::unknown(self.shapes.type_name(ty), UnknownCause::AnyValue)
            }
            TagType::External => {
                let denies = shape.attrs.deny_unknown_fields();
                self.named(ty, name, |reader| {
                    TracedBody::Enum(accepted().flat_map(|variant| reader.variant(variant, context, denies)).collect())
                })
            }
            TagType::Internal { tag } => TracedForm::Tagged { tag: tag.clone(), content: None, variants: tags() },
            TagType::Adjacent { tag, content } => {
                TracedForm::Tagged { tag: tag.clone(), content: Some(content.clone()), variants: tags() }
            }
        }
    }

    fn variant(&mut self, variant: &VariantShape, context: &TypeContext, denies_unknown: bool) -> Vec<TracedVariant> {
        let names: Vec<String> = variant.attrs.aliases().iter().map(|name| name.value.clone()).collect();
        let content = match variant.style {
            _ if variant.attrs.deserialize_with().is_some() => {
                let form = self.unseen_part(variant.ident.clone(), "a function deserializes it");
                Some(TracedBody::Newtype(form))
            }
            Style::Unit => None,
            Style::Newtype => Some(TracedBody::Newtype(self.field(&variant.fields[0], context))),
            Style::Tuple => Some(TracedBody::Tuple(self.items(&variant.fields, context))),
            Style::Struct => Some(TracedBody::Struct(self.fields(&variant.fields, context, false, denies_unknown))),
        };
        // A variant without data is listed with its aliases: a trace cannot tell its own name.
        let shown = if content.is_none() { names.len() } else { 1 };
        names.into_iter().take(shown).map(|name| TracedVariant { name, content: content.clone() }).collect()
    }

    fn items(&mut self, fields: &[FieldShape], context: &TypeContext) -> Vec<TracedForm> {
        let accepted = fields.iter().filter(|field| !field.attrs.skip_deserializing());
        self.sequence(accepted, |reader, field| reader.field(field, context))
    }

    fn fields(
        &mut self,
        fields: &[FieldShape],
        context: &TypeContext,
        has_default: bool,
        denies_unknown: bool,
    ) -> TracedFields {
        let mut traced = TracedFields { fields: Vec::new(), denies_unknown };
        let was_unsure = self.is_unsure;
        let mut is_unsure = false;
        for field in fields.iter().filter(|field| !field.attrs.skip_deserializing()) {
            self.is_unsure = false;
            let form = self.field(field, context);
            let is_option =
                field.attrs.deserialize_with().is_none() && is_optional(self.shapes, &self.resolve(&field.ty, context));
            let required = !has_default && field.attrs.default().is_none() && !is_option;
            let name = field.attrs.name().deserialize_name().value.clone();
            if is_unsure && !required && !matches!(form, TracedForm::Option(_)) {
                let why = "only the program can tell whether it is required, because of the fields before it";
                self.hidden_part(self.container_name(context.id), &format!("`{name}`: {why}"));
                self.is_ambiguous = true;
            }
            // Collections and options can be empty.
            let can_be_empty =
                matches!(form, TracedForm::Option(_) | TracedForm::List(_) | TracedForm::Set(_) | TracedForm::Map(..));
            is_unsure |= required && self.is_unsure && !can_be_empty;
            traced.fields.push(TracedField { name, required, form });
        }
        self.is_unsure = was_unsure || is_unsure;
        traced
    }

    fn field(&mut self, field: &FieldShape, context: &TypeContext) -> TracedForm {
        let place = syn::spanned::Spanned::span(&field.ty);
        self.within = Some((context.id, place));
        let Some(function) = field.attrs.deserialize_with() else {
            let ty = self.resolve(&field.ty, context);
            return self.form(&ty);
        };
        let what = crate::text::source_text(function);
        match self.shapes.types.function(&function.path, context.scope) {
            Some((function, scope)) => {
                let inner = TypeContext { id: context.id, scope, generics: Vec::new() };
                self.delegated(&Ty::Unknown(what), &function.sig, &function.block, &inner)
            }
            None => self.unseen_part(what, "a function of another crate deserializes it"),
        }
    }

    fn container_name(&self, id: DefinitionId) -> String {
        self.shapes.types.definition(id).item.ident.to_string()
    }

    fn resolve(&self, ty: &syn::Type, context: &TypeContext) -> Ty {
        self.shapes.types.resolve(ty, context.scope, &context.generics)
    }

    /// Returns the form that a hand-written function asks its deserializer for.
    fn delegated(
        &mut self,
        ty: &Ty,
        signature: &syn::Signature,
        body: &syn::Block,
        context: &TypeContext,
    ) -> TracedForm {
        let form = self.delegated_form(ty, signature, body, context);
        self.is_unsure = true;
        form
    }

    fn delegated_form(
        &mut self,
        ty: &Ty,
        signature: &syn::Signature,
        body: &syn::Block,
        context: &TypeContext,
    ) -> TracedForm {
        let why = "it deserializes by hand";
        match deserializer_uses(signature, body).as_slice() {
            [DeserializerUse::Type(inner)] => {
                let inner = self.resolve(inner, context);
                self.form(&inner)
            }
            [DeserializerUse::Method(method)] => match method.strip_prefix("deserialize_") {
                Some("any") => TracedForm::unknown(self.shapes.type_name(ty), UnknownCause::AnyValue),
                Some("str" | "string") => TracedForm::Schema(json!({"type": "string"})),
                Some("unit") => TracedForm::Schema(json!({"type": "null"})),
                Some(name) => language_form(name).unwrap_or_else(|| self.unknown(ty, why)),
                None => self.unknown(ty, why),
            },
            _ => self.unknown(ty, why),
        }
    }
}
