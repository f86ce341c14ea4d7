//! Conversions of types that serde does not know: `parse`, `via(..)` and `with = ".."` of arguments, `result = ..` of
//! results, and the tables `types(..)` and `results(..)` of a class.

use std::cell::Cell;

use darling::{Error, FromMeta};
use proc_macro2::Span;
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, LitStr, Meta, Path, PathArguments, Token, Type, TypePath, parenthesized, parse_quote};

use crate::attrs::ArgAttr;
use crate::ty::{self, ArgumentForm};
use crate::{Report, class};

/// A container around a converted type. The conversion applies to what the container holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Container {
    /// `Option<T>`
    Option,
    /// `Vec<T>`; a slice around results.
    List,
}

/// The conversion of an argument from a decoded value.
#[derive(Clone, Debug)]
pub struct ArgumentConversion {
    /// The conversion of a single value.
    pub kind: ConversionKind,
    /// The containers around the value, from the outside.
    pub containers: Vec<Container>,
    /// The type of a single value after the conversion.
    pub target: Type,
}

/// The ways to convert a decoded value.
#[derive(Clone, Debug)]
pub enum ConversionKind {
    /// `parse`: a string, by `FromStr`.
    Parse,
    /// `via(T)`: a `T`, by `From` or `TryFrom`.
    Via(Type),
    /// `with = "module"`: by `module::deserialize`. The type describes the JSON.
    With(Path, Option<Type>),
}

impl ArgumentConversion {
    /// Returns the type whose schema describes a single value; `None` for `any`.
    #[must_use]
    pub fn described(&self) -> Option<Type> {
        match &self.kind {
            ConversionKind::Parse => Some(parse_quote!(::std::string::String)),
            ConversionKind::Via(ty) => Some(ty.clone()),
            ConversionKind::With(_, ty) => ty.clone(),
        }
    }
}

/// The conversion of a result to one that serializes.
#[derive(Clone, Debug)]
pub struct ResultConversion {
    /// The conversion of a single value.
    pub format: ResultFormat,
    /// `true` for the success type of a `Result`.
    pub is_fallible: bool,
    /// The containers around the value, from the outside, inside of the `Result`.
    pub containers: Vec<Container>,
    /// The type of a single value, for errors.
    pub ty: Type,
}

/// The ways to convert a result.
#[derive(Clone, Debug)]
pub enum ResultFormat {
    /// `display`: the text of `Display`.
    Display,
    /// `debug`: the text of `Debug`.
    Debug,
    /// A function from the value, or a reference to it, to one that serializes.
    Function(Path),
}

/// The type of `via(T)`.
#[derive(Clone, Debug)]
pub(crate) struct ViaType(pub(crate) Type);

impl FromMeta for ViaType {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let Meta::List(list) = meta else {
            return Err(Error::custom("expected the type to decode: `via(u64)`").with_span(meta));
        };
        via_type.parse2(list.tokens.clone()).map(Self).map_err(Error::from)
    }
}

fn via_type(input: ParseStream<'_>) -> syn::Result<Type> {
    let ty: Type = input.parse()?;
    ty::no_borrow(&ty)?;
    Ok(ty)
}

fn module(path: &LitStr) -> syn::Result<Path> {
    path.parse_with(Path::parse_mod_style)
        .map_err(|_| syn::Error::new_spanned(path, "expected the path of a module with a function `deserialize`"))
}

impl Parse for ConversionKind {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let wrong = "expected `parse`, `via(T)` or `with(\"module\", via(T))`";
        let key: Ident = input.parse().map_err(|error| syn::Error::new(error.span(), wrong))?;
        let content;
        match key.to_string().as_str() {
            "parse" => Ok(Self::Parse),
            "via" => {
                parenthesized!(content in input);
                content.call(via_type).map(Self::Via)
            }
            "with" => {
                parenthesized!(content in input);
                let path: LitStr = content.parse()?;
                let has_more = content.parse::<Option<Token![,]>>()?.is_some() && !content.is_empty();
                match if has_more { Some(content.parse()?) } else { None } {
                    Some(Self::Via(ty)) => Ok(Self::With(module(&path)?, Some(ty))),
                    _ => Err(syn::Error::new(
                        path.span(),
                        "expected `with(\"module\", via(T))`, where `T` is what the module reads",
                    )),
                }
            }
            _ => Err(syn::Error::new_spanned(key, wrong)),
        }
    }
}

impl Parse for ResultFormat {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let path: Path =
            input.parse().map_err(|error| syn::Error::new(error.span(), ResultFormat::WRONG.to_owned()))?;
        Ok(Self::from_path(path))
    }
}

impl ResultFormat {
    const WRONG: &'static str = "expected `display`, `debug` or the path of a function";

    fn from_path(path: Path) -> Self {
        match path.get_ident().map(ToString::to_string).as_deref() {
            Some("display") => Self::Display,
            Some("debug") => Self::Debug,
            _ => Self::Function(path),
        }
    }
}

impl FromMeta for ResultFormat {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        match meta {
            Meta::NameValue(pair) => match &pair.value {
                Expr::Path(path) if path.qself.is_none() => Ok(Self::from_path(path.path.clone())),
                other => Err(Error::custom(Self::WRONG).with_span(other)),
            },
            other => Err(Error::custom(format!("{}: `result = display`", Self::WRONG)).with_span(other)),
        }
    }
}

/// A row of `types(..)` or `results(..)`: `CommitSha = parse`.
#[derive(Debug)]
struct ConversionRow<C> {
    ty: TypePath,
    conversion: C,
    is_used: Cell<bool>,
}

impl<C: Parse> Parse for ConversionRow<C> {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let ty = input.parse()?;
        input.parse::<Token![=]>()?;
        Ok(Self { ty, conversion: input.parse()?, is_used: Cell::new(false) })
    }
}

/// The contents of `types(..)` or `results(..)`: conversions for all tools of a class, by the name of the type.
#[derive(Debug)]
pub(crate) struct ConversionTable<C>(Vec<ConversionRow<C>>);

impl<C> Default for ConversionTable<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C: Parse> FromMeta for ConversionTable<C> {
    fn from_meta(meta: &Meta) -> darling::Result<Self> {
        let Meta::List(list) = meta else {
            return Err(Error::custom("expected a list of types and their conversions in parentheses").with_span(meta));
        };
        let rows = Punctuated::<ConversionRow<C>, Token![,]>::parse_terminated.parse2(list.tokens.clone())?;
        let rows: Vec<_> = rows.into_iter().collect();
        for (index, row) in rows.iter().enumerate() {
            if rows[..index].iter().any(|other| other.ty == row.ty) {
                let message = format!("duplicate row for `{}`", class::tokens(&row.ty));
                return Err(Error::custom(message).with_span(&row.ty));
            }
        }
        Ok(Self(rows))
    }
}

impl<C: Clone> ConversionTable<C> {
    /// Returns the conversion of a type.
    fn find(&self, ty: &Type) -> Option<C> {
        let Type::Path(path) = without_references(ty) else { return None };
        let row = self.0.iter().find(|row| names(&row.ty, path))?;
        row.is_used.set(true);
        Some(row.conversion.clone())
    }

    /// Reports rows that match no type: a misspelt name would have no effect.
    pub(crate) fn check_used(&self, place: &str, report: &mut Report) {
        for row in self.0.iter().filter(|row| !row.is_used.get()) {
            let name = class::tokens(&row.ty);
            let message = format!(
                "no tool of this class has {place} of type `{name}`; correct the name as the signatures write it, or \
                 remove the row"
            );
            report.at(&row.ty, message);
        }
    }
}

/// Returns `true` if a row names a type: the segments of the row end the path of the type, with the same generic
/// arguments where the row has any.
fn names(row: &TypePath, ty: &TypePath) -> bool {
    let (row, ty) = (&row.path.segments, &ty.path.segments);
    let is_same = |(ours, theirs): (&syn::PathSegment, &syn::PathSegment)| {
        ours.ident == theirs.ident
            && (matches!(ours.arguments, PathArguments::None) || ours.arguments == theirs.arguments)
    };
    row.len() <= ty.len() && row.iter().rev().zip(ty.iter().rev()).all(is_same)
}

fn without_references(ty: &Type) -> &Type {
    match ty::ungroup(ty) {
        Type::Reference(reference) => without_references(&reference.elem),
        other => other,
    }
}

/// Returns the containers of a type and the type inside of them.
fn split(ty: &Type, mut containers: Vec<Container>) -> (Vec<Container>, Type) {
    let mut ty = ty::ungroup(ty);
    loop {
        let (container, inner) = match (ty::argument_of(ty, &["Option"]), ty::argument_of(ty, &["Vec"])) {
            (Some(inner), _) => (Container::Option, inner),
            (_, Some(inner)) => (Container::List, inner),
            (None, None) => return (containers, ty.clone()),
        };
        containers.push(container);
        ty = inner;
    }
}

/// Returns the containers of an argument and the type inside of them, which is `None` for `impl AsRef<T>`.
fn argument_parts(form: &ArgumentForm) -> (Vec<Container>, Option<Type>) {
    let (containers, ty) = match form {
        ArgumentForm::Owned(ty) => (vec![], ty.clone()),
        ArgumentForm::Lent(ty) => (vec![], sized(ty)),
        ArgumentForm::OptionLent(ty) => (vec![Container::Option], sized(ty)),
        ArgumentForm::LentSlice(ty) | ArgumentForm::AsRefSlice(ty) | ArgumentForm::Iter(ty) => {
            (vec![Container::List], ty.clone())
        }
        ArgumentForm::OptionLentSlice(ty) => (vec![Container::Option, Container::List], ty.clone()),
        ArgumentForm::LentReferences(item) | ArgumentForm::References(item) | ArgumentForm::IterReferences(item) => {
            (vec![Container::List], item.owned.clone())
        }
        ArgumentForm::AsRef(_) | ArgumentForm::OptionAsRef(_) => return (vec![], None),
    };
    let (containers, ty) = split(&ty, containers);
    (containers, Some(ty))
}

/// Returns `String` for `str`. Any other type is its own: a type called `Path` may be the application's.
fn sized(ty: &Type) -> Type {
    match ty {
        Type::Path(path) if path.path.is_ident("str") => ty::owned_form(ty),
        other => other.clone(),
    }
}

/// Reads the conversion of an argument: its own, or that of its class.
pub(crate) fn of_argument(
    attr: &ArgAttr,
    form: &ArgumentForm,
    class: Option<&ConversionTable<ConversionKind>>,
    span: Span,
    report: &mut Report,
) -> Option<ArgumentConversion> {
    let (containers, target) = argument_parts(form);
    // A row that every argument overrides is unused.
    let kind = own_conversion(attr, report)
        .or_else(|| class.zip(target.as_ref()).and_then(|(table, target)| table.find(target)))?;
    let Some(target) = target else {
        let message = "`impl AsRef<T>` does not name the type to convert to; name it, as in `&T`";
        report.push(syn::Error::new(span, message));
        return None;
    };
    Some(ArgumentConversion { kind, containers, target })
}

fn own_conversion(attr: &ArgAttr, report: &mut Report) -> Option<ConversionKind> {
    if let Some(parse) = attr.parse.as_ref().filter(|parse| !***parse) {
        report.push(syn::Error::new(parse.span(), "`parse = false` has no effect; remove it"));
        return None;
    }
    let parse = attr.parse.as_ref();
    if let Some(parse) = parse
        && (attr.via.is_some() || attr.with.is_some())
    {
        let message = "`parse` already decodes a string; remove it, or remove `via(..)` and `with`";
        report.push(syn::Error::new(parse.span(), message));
        return None;
    }
    let via = attr.via.as_ref().map(|via| via.0.clone());
    if let Some(path) = &attr.with
        && via.is_none()
        && attr.any != Some(true)
    {
        let message = "the model cannot see what a module reads; add `via(T)`, the type that it deserializes, or `any`";
        report.push(syn::Error::new(path.span(), message));
        return None;
    }
    match (parse, &attr.with, via) {
        (Some(_), ..) => Some(ConversionKind::Parse),
        (None, Some(path), via) => report.keep(module(path)).map(|module| ConversionKind::With(module, via)),
        (None, None, Some(via)) => Some(ConversionKind::Via(via)),
        (None, None, None) => None,
    }
}

/// Reads the conversion of an error, which needs a `Result`.
pub(crate) fn of_error(
    own: Option<&darling::util::SpannedValue<ResultFormat>>,
    output: Option<&Type>,
    report: &mut Report,
) -> Option<ResultFormat> {
    let own = own?;
    if output.and_then(ty::success_of).is_none() {
        let message = "`error` has no effect here: the function does not return a `Result`";
        report.push(syn::Error::new(own.span(), message));
        return None;
    }
    Some((**own).clone())
}

/// Reads the conversion of a result: the tool's own, or that of its class.
pub(crate) fn of_result(
    own: Option<&darling::util::SpannedValue<ResultFormat>>,
    output: Option<&Type>,
    class: Option<&ConversionTable<ResultFormat>>,
    report: &mut Report,
) -> Option<ResultConversion> {
    let success = output.and_then(ty::success_of);
    let (containers, ty) = match success.or(output) {
        Some(value) => result_parts(value),
        None => (Vec::new(), parse_quote!(())),
    };
    if let Some(own) = own
        && matches!(&ty, Type::Tuple(unit) if unit.elems.is_empty())
    {
        report.push(syn::Error::new(own.span(), "`result` has no effect: the function returns no value; remove it"));
        return None;
    }
    let of_class = class.and_then(|table| table.find(&ty));
    let format = own.map(|own| (**own).clone()).or(of_class)?;
    Some(ResultConversion { format, is_fallible: success.is_some(), containers, ty })
}

/// Returns the containers of a result, or of the items of a stream, and the type inside of them.
fn result_parts(value: &Type) -> (Vec<Container>, Type) {
    let mut containers = Vec::new();
    let mut ty = ty::ungroup(value);
    let slice = match ty {
        Type::Reference(reference) => match ty::ungroup(&reference.elem) {
            Type::Slice(slice) => Some(&*slice.elem),
            elem => ty::argument_of(elem, &["Vec"]),
        },
        _ => None,
    };
    if let Some(item) = slice {
        containers.push(Container::List);
        ty = item;
    }
    split(ty, containers)
}

#[cfg(test)]
mod tests {
    use quote::quote;

    use super::*;
    use crate::Parameter;

    fn read(attribute: proc_macro2::TokenStream, block: &syn::ItemImpl) -> Result<crate::ParsedClass, String> {
        let (mut classes, report) = crate::read_class(attribute, block);
        report.into_result().map_err(|error| error.to_string())?;
        classes.pop().ok_or_else(|| "no class".to_owned())
    }

    fn conversion(class: &crate::ParsedClass, index: usize) -> Option<&ArgumentConversion> {
        match &class.tools[0].parameters[index] {
            Parameter::Argument(argument) => argument.conversion.as_deref(),
            Parameter::Injected(_) => None,
        }
    }

    #[test]
    fn a_row_names_a_type_by_the_end_of_its_path_and_by_its_arguments() {
        let block = parse_quote! {
            impl Service {
                pub fn run(&self, a: model::Id<Run>, b: Id<Job>, c: other::Sha, d: git::Sha, e: u8) {}
            }
        };
        let class = read(quote!(types(Id<Run> = parse, git::Sha = via(u64))), &block).unwrap();
        let converted: Vec<bool> = (0..5).map(|index| conversion(&class, index).is_some()).collect();
        assert_eq!(converted, [true, false, false, true, false]);
        let class = read(quote!(types(Id = parse)), &block).unwrap();
        assert!(conversion(&class, 0).is_some() && conversion(&class, 1).is_some());
    }

    #[test]
    fn a_conversion_applies_inside_of_containers() {
        let block = parse_quote! {
            impl Service {
                pub fn run(&self, a: Option<&[Sha]>, b: &[&Sha], c: &Vec<Option<Sha>>, d: Option<Vec<Sha>>) {}
            }
        };
        let class = read(quote!(types(Sha = parse)), &block).unwrap();
        let containers = |index| conversion(&class, index).map(|found| found.containers.clone()).unwrap();
        assert_eq!(containers(0), [Container::Option, Container::List]);
        assert_eq!(containers(1), [Container::List]);
        assert_eq!(containers(2), [Container::List, Container::Option]);
        assert_eq!(containers(3), [Container::Option, Container::List]);
    }

    #[test]
    fn a_result_is_converted_inside_of_its_containers() {
        let result = |output: Type| {
            let block = parse_quote!(impl Service { pub fn run(&self) -> #output { } });
            let class = read(quote!(results(Sha = debug)), &block)?;
            Ok::<_, String>(class.tools[0].result.clone().map(|result| (result.is_fallible, result.containers)))
        };
        let list = Container::List;
        assert_eq!(result(parse_quote!(io::Result<Option<&Sha>>)), Ok(Some((true, vec![Container::Option]))));
        assert_eq!(result(parse_quote!(&[Sha])), Ok(Some((false, vec![list]))));
        assert_eq!(result(parse_quote!(impl Iterator<Item = Sha>)), Ok(Some((false, vec![list]))));
        assert_eq!(result(parse_quote!(impl Stream<Item = Result<Sha, E>>)), Ok(Some((true, vec![]))));
        assert_eq!(result(parse_quote!(Pin<Box<dyn Future<Output = Sha>>>)), Ok(Some((false, vec![]))));
        assert!(result(parse_quote!(HashMap<Sha, u8>)).unwrap_err().contains("no tool of this class has a result"));
    }

    /// The row of a method that is not exported has no effect.
    #[test]
    fn a_row_for_a_skipped_method_is_reported() {
        let block = parse_quote!(impl Service { #[tool(skip)] pub fn run(&self, sha: Sha) {} pub fn stop(&self) {} });
        let error = read(quote!(types(Sha = parse)), &block).unwrap_err();
        assert!(error.contains("no tool of this class has an argument of type `Sha`"), "{error}");
    }
}
