//! Candidates for tool classes: inherent `impl`s, traits, and `impl`s of traits that cannot be trait objects.

use std::collections::HashSet;

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, ImplItem, ImplItemFn, ItemImpl, ItemTrait, TraitItem, Type, TypeParamBound, Visibility};
use tool_syntax::{ParsedClass, Report, read_class, read_trait};

use super::method::{MethodContext, method_role};
use super::traits::{DecisiveTrait, TraitLookup};
use super::{
    AdoptFinding, AdoptReason, CandidateKind, ClassCandidate, DependencySources, EditPlace, Fit, MethodCandidate,
    TypeRole,
};
use crate::source::{NamedEntity, SourceTree, import_path};
use crate::text::source_text;
use crate::ty::{ScopeId, Ty, TypeSource};
use crate::{Error, Result};

/// Reads the candidates of all scanned crates.
pub(crate) fn read(
    sources: &SourceTree,
    dependencies: &DependencySources,
    instances: &[String],
) -> Result<Vec<ClassCandidate>> {
    let parsed = instances.iter().map(|instance| {
        syn::parse_str(instance).map_err(|error| Error::new(format!("`{instance}` is not a type: {error}")))
    });
    let instances = parsed.collect::<Result<Vec<Type>>>()?;
    let scopes = sources.parse_all();
    let reader = ClassReader { sources, dependencies, traits: TraitLookup::new(sources), scopes, instances };
    let mut classes = Vec::new();
    // Traits that serve as classes, so that their `impl`s need no attribute.
    let mut serving = HashSet::new();
    for &id in &reader.scopes {
        let scope = sources.scope(id);
        for item in sources.items(&scope, id).map(|items| items.traits.as_slice()).unwrap_or_default() {
            let class = reader.trait_class(id, item);
            if class.as_ref().is_none_or(|class| class.findings.is_empty()) {
                serving.insert((id, item.ident.unraw().to_string()));
            }
            classes.extend(class);
        }
    }
    for &id in &reader.scopes {
        let scope = sources.scope(id);
        for (_, item) in sources.items(&scope, id).map(|items| items.impls.as_slice()).unwrap_or_default() {
            if reader.may_be_class(id, item, &serving) {
                classes.extend(reader.impl_class(id, item));
            }
        }
    }
    // The `impl`s of such a trait are listed in its place.
    let has_impl = |name: &str| classes.iter().any(|class| class.of_trait.as_deref() == Some(name));
    let kept: Vec<bool> = classes
        .iter()
        .map(|class| {
            class.candidate.kind != CandidateKind::Trait
                || class.findings.is_empty()
                || !has_impl(&class.candidate.name)
        })
        .collect();
    let mut kept = kept.into_iter();
    classes.retain(|_| kept.next().unwrap_or(true));
    let mut classes: Vec<ClassCandidate> = classes.into_iter().map(|class| class.candidate).collect();
    classes.sort_by(|a, b| (&a.place.file, a.place.line).cmp(&(&b.place.file, b.place.line)));
    Ok(classes)
}

/// A candidate with the trait that it implements.
struct FoundClass {
    candidate: ClassCandidate,
    of_trait: Option<String>,
}

impl std::ops::Deref for FoundClass {
    type Target = ClassCandidate;

    fn deref(&self) -> &ClassCandidate {
        &self.candidate
    }
}

pub(super) struct ClassReader<'a> {
    pub(super) sources: &'a SourceTree,
    dependencies: &'a DependencySources,
    traits: TraitLookup<'a>,
    pub(super) scopes: Vec<ScopeId>,
    /// The instances that the user has named.
    pub(super) instances: Vec<Type>,
}

impl ClassReader<'_> {
    /// Returns `true` for inherent `impl`s and for `impl`s of the crate's own traits that cannot serve themselves.
    fn may_be_class(&self, id: ScopeId, item: &ItemImpl, serving: &HashSet<(ScopeId, String)>) -> bool {
        let Some((path, _)) = &item.trait_ else { return true };
        let Some(NamedEntity::Other(at)) = self.sources.entity(id, &import_path(path)) else { return false };
        let krate = self.sources.crate_of(at);
        let is_foreign = krate.directory().is_none_or(|directory| {
            let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
            self.dependencies.is_foreign(&directory) && !krate.is_scanned()
        });
        let name = path.segments.last().map(|last| last.ident.unraw().to_string()).unwrap_or_default();
        !is_foreign && !serving.contains(&(at, name))
    }

    fn is_enabled(&self, id: ScopeId, attributes: &[Attribute]) -> bool {
        self.sources.crate_of(id).cfg.is_enabled_expanded(attributes)
    }

    fn trait_class(&self, id: ScopeId, item: &ItemTrait) -> Option<FoundClass> {
        let methods: Vec<_> = item
            .items
            .iter()
            .filter_map(|member| match member {
                TraitItem::Fn(method) if self.is_enabled(id, &method.attrs) => Some(method),
                _ => None,
            })
            .collect();
        if methods.is_empty() {
            return None;
        }
        let mut whole = item.clone();
        whole.attrs.retain(|attribute| !is_annotation(attribute));
        let mut findings = Vec::new();
        let (classes, report) = read_trait(TokenStream::new(), &whole);
        if let (true, Err(error)) = (classes.is_empty(), report.into_result()) {
            let remedy = "put `#[tool_class]` on the `impl` blocks of the trait";
            findings.push(AdoptFinding::new(AdoptReason::NotDynCompatible, error.to_string(), remedy));
        } else if !is_shared(item) {
            let message = format!("`dyn {}` is not `Send + Sync`, and calls run on several threads", item.ident);
            let remedy =
                format!("write `trait {}: Send + Sync`, or put `#[tool_class]` on an `impl` block", item.ident);
            findings.push(AdoptFinding::new(AdoptReason::NotShared, message, remedy));
        }
        let context = MethodContext {
            reader: self,
            traits: &self.traits,
            id,
            type_name: item.ident.unraw().to_string(),
            is_object: true,
            placeholders: &[],
            class_findings: &findings,
            class_errors: Vec::new(),
            read: &|inject, method| {
                let mut single = whole.clone();
                single
                    .items
                    .retain(|member| matches!(member, TraitItem::Fn(other) if other.sig.ident == method.sig.ident));
                single.items.push(syn::parse_quote!(
                    fn any_other(&self);
                ));
                let names = inject.iter();
                read_trait(quote!(inject = [#(#names),*]), &single)
            },
        };
        let methods = methods.iter().map(|method| {
            let signature = &method.sig;
            let as_method: ImplItemFn = syn::parse_quote!(pub #signature {});
            context.method(&as_method, *method)
        });
        let mut candidate = self.candidate(id, CandidateKind::Trait, item, item.ident.span(), methods.collect());
        candidate.name = item.ident.unraw().to_string();
        candidate.is_public = matches!(item.vis, Visibility::Public(_));
        candidate.findings = findings;
        candidate.is_annotated = self.annotation(id, &item.attrs);
        Some(FoundClass { candidate: annotated(candidate), of_trait: None })
    }

    fn impl_class(&self, id: ScopeId, item: &ItemImpl) -> Option<FoundClass> {
        let is_trait = item.trait_.is_some();
        let offered: Vec<&ImplItemFn> = item
            .items
            .iter()
            .filter_map(|member| match member {
                ImplItem::Fn(method) if self.is_enabled(id, &method.attrs) => Some(method),
                _ => None,
            })
            .filter(|method| is_trait || matches!(method.vis, Visibility::Public(_)))
            .collect();
        let name = type_name(&item.self_ty)?;
        if offered.is_empty() {
            return None;
        }
        let instance = self.instance(id, item);
        let constructor = self.declared_constructor(id, item);
        let mut bare = item.clone();
        bare.attrs.retain(|attribute| !is_annotation(attribute));
        bare.items.retain(|member| match member {
            ImplItem::Fn(method) => is_new(method),
            _ => true,
        });
        let read = |inject: &[String], method: Option<&ImplItemFn>| -> (Vec<ParsedClass>, Report) {
            let mut single = bare.clone();
            // A class without tools would be an error of its own.
            single.items.push(syn::parse_quote!(
                pub fn any_other(&self) {}
            ));
            single.items.extend(method.filter(|method| !is_new(method)).cloned().map(ImplItem::Fn));
            let instances = instance.iter().map(|instance| &instance.ty);
            let names = inject.iter();
            let new = constructor.iter();
            read_class(quote!(#(instances(#instances),)* #(new(#new),)* inject = [#(#names),*]), &single)
        };
        let (findings, class_errors) = class_findings(item, read(&[], None));
        let no_placeholders = Vec::new();
        let context = MethodContext {
            reader: self,
            traits: &self.traits,
            id,
            type_name: name.clone(),
            is_object: false,
            placeholders: instance.as_ref().map_or(&no_placeholders, |instance| &instance.placeholders),
            class_findings: &findings,
            class_errors,
            read: &|inject, method| read(inject, Some(method)),
        };
        let methods = offered.iter().map(|&method| {
            let mut bare = method.clone();
            bare.attrs.retain(|attribute| !is_annotation(attribute));
            context.method(&bare, method)
        });
        let mut methods: Vec<MethodCandidate> = methods.collect();
        let keys: Vec<String> = instance
            .iter()
            .map(|instance| format!("instances({})", source_text(&instance.ty)))
            .chain(constructor.iter().map(|inputs| format!("new({})", source_text(inputs).replace(" : ", ": "))))
            .collect();
        if let Some(instance) = &instance {
            let remedy = instance.remedy(&keys);
            add_to_operations(&mut methods, AdoptReason::Instances, "the block is generic", &remedy);
        }
        if constructor.is_some() {
            let remedy = format!("`#[tool_class({})]`", keys.join(", "));
            add_to_operations(&mut methods, AdoptReason::Constructor, "`new` is in another block or generic", &remedy);
        }
        let kind = if is_trait { CandidateKind::TraitImpl } else { CandidateKind::Inherent };
        let mut candidate = self.candidate(id, kind, item, item.impl_token.span, methods);
        candidate.name = name;
        candidate.keys = keys;
        candidate.placeholders = instance.as_ref().is_some_and(|instance| !instance.placeholders.is_empty());
        candidate.findings.extend(findings);
        candidate.is_annotated = self.annotation(id, &item.attrs);
        candidate.is_borrowing = is_borrowing(item);
        let resolved = self.sources.resolve(&item.self_ty, id, &[]);
        if let Ty::Defined { definition, .. } = &resolved {
            candidate.is_public = matches!(self.sources.definition(*definition).item.vis, Visibility::Public(_));
        }
        candidate.role = self.role(&resolved, &offered, &candidate.name);
        let of_trait = item.trait_.as_ref().and_then(|(path, _)| path.segments.last());
        let of_trait = of_trait.map(|last| last.ident.unraw().to_string());
        Some(FoundClass { candidate: annotated(candidate), of_trait })
    }

    fn candidate(
        &self,
        id: ScopeId,
        kind: CandidateKind,
        item: &(impl ToTokens + WithoutAttributes),
        span: Span,
        methods: Vec<MethodCandidate>,
    ) -> ClassCandidate {
        let place = self.sources.scope(id).file.place(span);
        ClassCandidate {
            name: String::new(),
            kind,
            header: place.text.split(" {").next().unwrap_or_default().trim().to_owned(),
            place,
            is_public: false,
            role: TypeRole::Service,
            is_borrowing: false,
            is_annotated: false,
            keys: Vec::new(),
            findings: Vec::new(),
            methods,
            placeholders: false,
            at: item.edit_place(),
        }
    }

    fn annotation(&self, id: ScopeId, attributes: &[Attribute]) -> bool {
        self.sources.take_annotation(id, &mut attributes.to_vec()).is_some()
    }

    fn role(&self, ty: &Ty, methods: &[&ImplItemFn], name: &str) -> TypeRole {
        let Ty::Defined { definition, .. } = ty else { return TypeRole::Service };
        let definition = self.sources.definition(*definition);
        let is_serde = [DecisiveTrait::Serialize, DecisiveTrait::Deserialize].iter().any(|&wanted| {
            definition.derives(if wanted == DecisiveTrait::Serialize { "Serialize" } else { "Deserialize" })
        });
        let is_error = definition.derives("Error") || definition.implements("Error");
        if is_serde || is_error || matches!(definition.item.data, syn::Data::Enum(_)) {
            return TypeRole::Data;
        }
        let setters = methods.iter().filter(|method| method_role(&method.sig, name) == Some(Fit::Setter)).count();
        let constructors =
            methods.iter().filter(|method| method_role(&method.sig, name) == Some(Fit::Constructor)).count();
        if setters > 0 && setters * 2 >= methods.len() - constructors { TypeRole::Builder } else { TypeRole::Service }
    }

    /// Returns the path of a type of the scanned crate, from its root.
    pub(super) fn path_in_crate(&self, ty: &Ty) -> Option<syn::Path> {
        let Ty::Defined { definition, .. } = ty else { return None };
        let definition = self.sources.definition(*definition);
        let is_scanned = self.sources.crate_of(definition.scope).is_scanned();
        let path = definition.module.split_once("::").map_or_else(String::new, |(_, path)| format!("{path}::"));
        let path = syn::parse_str(&format!("crate::{path}{}", definition.item.ident));
        path.ok().filter(|_| is_scanned)
    }
}

/// Marks the methods of a class that is annotated already.
fn annotated(mut class: ClassCandidate) -> ClassCandidate {
    if class.is_annotated {
        class.findings.clear();
        for method in &mut class.methods {
            method.fit = Fit::Annotated;
            method.findings.clear();
        }
    }
    class
}

/// Adds the need for a key of the class to its operations.
fn add_to_operations(methods: &mut [MethodCandidate], reason: AdoptReason, message: &str, remedy: &str) {
    for method in methods.iter_mut().filter(|method| !matches!(method.fit, Fit::Constructor | Fit::Setter)) {
        method.findings.push(AdoptFinding::new(reason, message, remedy));
        method.fit = Fit::from_findings(&method.findings);
    }
}

/// Returns the problems of a block without its methods, and the errors that each reading of it repeats.
fn class_findings(item: &ItemImpl, (_, report): (Vec<ParsedClass>, Report)) -> (Vec<AdoptFinding>, Vec<String>) {
    let Err(errors) = report.into_result() else { return (Vec::new(), Vec::new()) };
    let errors: Vec<String> = errors.into_iter().map(|error| error.to_string()).collect();
    let finding = |message: &String| match is_borrowing(item) {
        true => AdoptFinding::new(
            AdoptReason::Borrows,
            message,
            "add a `new` that takes the borrowed values to this block, or declare the calls with `tools!` on the owner",
        ),
        false => AdoptFinding::new(AdoptReason::Class, message, "move the methods to an `impl` block of a struct"),
    };
    (errors.iter().map(finding).collect(), errors)
}

pub(super) fn is_borrowing(item: &ItemImpl) -> bool {
    let lifetimes = item.self_ty.to_token_stream().to_string().matches('\'').count();
    lifetimes > item.self_ty.to_token_stream().to_string().matches("'static").count()
}

pub(super) fn is_new(method: &ImplItemFn) -> bool {
    method.sig.ident == "new" && method.sig.receiver().is_none()
}

/// Returns `true` for our attributes, by name.
pub(super) fn is_annotation(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|last| last.ident == "tool_class" || last.ident == "tool")
}

/// Returns `true` if a trait has the supertraits `Send` and `Sync`.
fn is_shared(item: &ItemTrait) -> bool {
    let has = |name: &str| {
        item.supertraits.iter().any(|bound| {
            matches!(bound, TypeParamBound::Trait(bound) if bound.path.segments.last().is_some_and(|last| last.ident == name))
        })
    };
    has("Send") && has("Sync")
}

/// Returns the last name of a type.
pub(super) fn type_name(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) if path.qself.is_none() => Some(path.path.segments.last()?.ident.unraw().to_string()),
        _ => None,
    }
}

/// Items whose attributes can be left out.
pub(super) trait WithoutAttributes {
    /// Returns the place of the first token that belongs to no attribute.
    fn edit_place(&self) -> EditPlace;
}

macro_rules! without_attributes {
    ($($item:ty),*) => {$(
        impl WithoutAttributes for $item {
            fn edit_place(&self) -> EditPlace {
                let mut item = self.clone();
                item.attrs.clear();
                let first = item.to_token_stream().into_iter().next();
                EditPlace(first.map_or_else(Span::call_site, |token| token.span()).start())
            }
        }
    )*};
}

without_attributes!(ItemImpl, ItemTrait, ImplItemFn, syn::TraitItemFn);
