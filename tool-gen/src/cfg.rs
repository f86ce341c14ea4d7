//! Which `#[cfg(..)]`s hold.

use std::collections::BTreeSet;

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The configuration under which a crate is read: what rustc's `--cfg` says, but for the crate's features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cfg {
    set: BTreeSet<(String, Option<String>)>,
}

impl Cfg {
    /// A configuration in which nothing is set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// With a name, such as `unix`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.set.insert((name.into(), None));
        self
    }

    /// With a value, such as `target_os = "linux"`.
    #[must_use]
    pub fn value(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set.insert((name.into(), Some(value.into())));
        self
    }
}

impl Cfg {
    /// The configuration that Cargo tells a build script, for the target of the build.
    ///
    /// `debug_assertions` is as Cargo says it, whatever the profile is called. Cargo before 1.93 never says it: there
    /// it is taken to be set in debug builds.
    ///
    /// What the script itself sets with `cargo::rustc-cfg` is not in it: add it with [`name`](Self::name) or
    /// [`value`](Self::value).
    #[must_use]
    pub fn of_build_script() -> Self {
        let mut cfg = Self::new();
        for (key, values) in std::env::vars_os() {
            let (Some(key), Some(values)) = (key.to_str(), values.to_str()) else { continue };
            let Some(name) = key.strip_prefix("CARGO_CFG_").map(str::to_lowercase) else { continue };
            match (name.as_str(), values) {
                // A crate's features are its own.
                ("feature", _) => {}
                (_, "") => cfg = cfg.name(name),
                _ => cfg = values.split(',').fold(cfg, |cfg, value| cfg.value(name.as_str(), value)),
            }
        }
        let is_debug = std::env::var_os("PROFILE").is_some_and(|profile| profile == "debug");
        let is_said = cfg.set.contains(&("debug_assertions".to_owned(), None));
        if is_debug && !is_said && !cargo_version().is_none_or(|version| tells_assertions(&version)) {
            cfg = cfg.name("debug_assertions");
        }
        cfg
    }

    /// The configuration of a debug build for this machine.
    #[must_use]
    pub fn of_this_machine() -> Self {
        let family = std::env::consts::FAMILY;
        Self::new()
            .name(family)
            .name("debug_assertions")
            .value("target_family", family)
            .value("target_os", std::env::consts::OS)
            .value("target_arch", std::env::consts::ARCH)
            .value("target_pointer_width", usize::BITS.to_string())
            .value("target_endian", if cfg!(target_endian = "big") { "big" } else { "little" })
            .value("panic", "unwind")
    }

    /// Everything that is set in either.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.set.extend(other.set);
        self
    }

    /// Without anything of this name.
    pub(crate) fn without(&self, name: &str) -> Self {
        Self { set: self.set.iter().filter(|(known, _)| known != name).cloned().collect() }
    }

    /// The build script's or this machine's.
    pub(crate) fn from_environment() -> Self {
        if is_build_script() { Self::of_build_script() } else { Self::of_this_machine() }
    }

    /// Whether everything under these attributes is there.
    pub(crate) fn is_enabled(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).all(|attribute| {
            // What cannot be read is rustc's to complain about.
            attribute.parse_args_with(one_predicate).is_ok_and(|predicate| self.evaluate(&predicate))
        })
    }

    /// Whether everything under these attributes is there, those included that a `cfg_attr` holds.
    pub(crate) fn is_enabled_expanded(&self, attributes: &[Attribute]) -> bool {
        let mut attributes = attributes.to_vec();
        self.expand(&mut attributes);
        self.is_enabled(&attributes)
    }

    fn evaluate(&self, predicate: &CfgPredicate) -> bool {
        match predicate {
            CfgPredicate::Is(value) => *value,
            CfgPredicate::Set(name, value) => self.set.contains(&(name.clone(), value.clone())),
            CfgPredicate::All(parts) => parts.iter().all(|part| self.evaluate(part)),
            CfgPredicate::Any(parts) => parts.iter().any(|part| self.evaluate(part)),
            CfgPredicate::Not(part) => !self.evaluate(part),
        }
    }

    /// Puts what a `cfg_attr` holds in its place, or nothing if its condition is false.
    pub(crate) fn expand(&self, attributes: &mut Vec<Attribute>) {
        if !attributes.iter().any(|attribute| attribute.path().is_ident("cfg_attr")) {
            return;
        }
        *attributes = std::mem::take(attributes)
            .into_iter()
            .flat_map(|attribute| {
                if attribute.path().is_ident("cfg_attr") { self.expand_cfg_attr(&attribute) } else { vec![attribute] }
            })
            .collect();
    }

    fn expand_cfg_attr(&self, attribute: &Attribute) -> Vec<Attribute> {
        let Ok((predicate, metas)) = attribute.parse_args_with(condition_and_attributes) else { return Vec::new() };
        if !self.evaluate(&predicate) {
            return Vec::new();
        }
        let mut held: Vec<Attribute> = metas.into_iter().map(|meta| Attribute { meta, ..attribute.clone() }).collect();
        self.expand(&mut held);
        held
    }

    /// Takes out of a struct or an enum what is not there.
    pub(crate) fn strip(&self, item: &mut syn::DeriveInput) {
        CfgStripper(self).visit_derive_input_mut(item);
    }
}

/// Whether this program is a build script.
pub(crate) fn is_build_script() -> bool {
    std::env::var_os("CARGO_CFG_TARGET_ARCH").is_some() && std::env::var_os("OUT_DIR").is_some()
}

/// What the Cargo that runs this build script says of itself: `cargo 1.95.0 (..)`.
fn cargo_version() -> Option<String> {
    let output = std::process::Command::new(std::env::var_os("CARGO")?).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// Whether a Cargo of this version tells build scripts of `debug_assertions`.
fn tells_assertions(version: &str) -> bool {
    let number = version.split_whitespace().nth(1).unwrap_or_default();
    let mut parts = number.split('.').map_while(|part| part.parse::<u32>().ok());
    let version = (parts.next(), parts.next());
    version.0.is_none() || version >= (Some(1), Some(93))
}

/// A condition of a `cfg`.
enum CfgPredicate {
    Is(bool),
    Set(String, Option<String>),
    All(Vec<CfgPredicate>),
    Any(Vec<CfgPredicate>),
    Not(Box<CfgPredicate>),
}

fn one_predicate(input: syn::parse::ParseStream<'_>) -> syn::Result<CfgPredicate> {
    let predicate = predicate(input)?;
    input.parse::<Option<Token![,]>>()?;
    Ok(predicate)
}

fn predicate(input: syn::parse::ParseStream<'_>) -> syn::Result<CfgPredicate> {
    if input.peek(syn::LitBool) {
        return Ok(CfgPredicate::Is(input.parse::<syn::LitBool>()?.value));
    }
    let name =
        syn::ext::IdentExt::parse_any(input).map(|name: syn::Ident| syn::ext::IdentExt::unraw(&name).to_string())?;
    if input.parse::<Option<Token![=]>>()?.is_some() {
        return Ok(CfgPredicate::Set(name, Some(input.parse::<syn::LitStr>()?.value())));
    }
    if !input.peek(syn::token::Paren) {
        return Ok(match name.as_str() {
            "true" => CfgPredicate::Is(true),
            "false" => CfgPredicate::Is(false),
            _ => CfgPredicate::Set(name, None),
        });
    }
    let content;
    syn::parenthesized!(content in input);
    let parts: Vec<CfgPredicate> =
        Punctuated::<CfgPredicate, Token![,]>::parse_terminated_with(&content, predicate)?.into_iter().collect();
    match (name.as_str(), parts.len()) {
        ("all", _) => Ok(CfgPredicate::All(parts)),
        ("any", _) => Ok(CfgPredicate::Any(parts)),
        ("not", 1) => Ok(CfgPredicate::Not(Box::new(parts.into_iter().next().unwrap_or(CfgPredicate::Is(false))))),
        _ => Err(content.error("a condition is `all(..)`, `any(..)`, `not(..)`, a name, or a name with a value")),
    }
}

fn condition_and_attributes(input: syn::parse::ParseStream<'_>) -> syn::Result<(CfgPredicate, Vec<Meta>)> {
    let condition = predicate(input)?;
    input.parse::<Token![,]>()?;
    Ok((condition, Punctuated::<Meta, Token![,]>::parse_terminated(input)?.into_iter().collect()))
}

struct CfgStripper<'a>(&'a Cfg);

impl CfgStripper<'_> {
    fn keep<T>(&self, items: &mut Punctuated<T, Token![,]>, attributes: impl Fn(&mut T) -> &mut Vec<Attribute>) {
        *items = std::mem::take(items)
            .into_iter()
            .filter_map(|mut item| {
                self.0.expand(attributes(&mut item));
                self.0.is_enabled(attributes(&mut item)).then_some(item)
            })
            .collect();
    }
}

impl VisitMut for CfgStripper<'_> {
    fn visit_derive_input_mut(&mut self, item: &mut syn::DeriveInput) {
        self.0.expand(&mut item.attrs);
        visit_mut::visit_derive_input_mut(self, item);
    }

    fn visit_fields_named_mut(&mut self, fields: &mut syn::FieldsNamed) {
        self.keep(&mut fields.named, |field| &mut field.attrs);
    }

    fn visit_fields_unnamed_mut(&mut self, fields: &mut syn::FieldsUnnamed) {
        self.keep(&mut fields.unnamed, |field| &mut field.attrs);
    }

    fn visit_data_enum_mut(&mut self, data: &mut syn::DataEnum) {
        self.keep(&mut data.variants, |variant| &mut variant.attrs);
        visit_mut::visit_data_enum_mut(self, data);
    }
}

/// The text of `name = "text"` among the attributes.
pub(crate) fn text_of(attributes: &[Attribute], name: &str) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident(name) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Reads one `--cfg` as rustc takes it: `name` or `name="value"`.
impl std::str::FromStr for Cfg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |_| format!("`{text}` is no cfg: write `name` or `name=\"value\"`");
        match one_predicate.parse_str(text).map_err(wrong)? {
            CfgPredicate::Set(name, None) => Ok(Self::new().name(name)),
            CfgPredicate::Set(name, Some(value)) => Ok(Self::new().value(name, value)),
            _ => Err(format!("`{text}` is a condition; write `name` or `name=\"value\"`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn conditions_are_evaluated() {
        let cfg = Cfg::new().name("unix").value("target_os", "linux").value("feature", "a-b");
        let holds = |attribute: Attribute| cfg.is_enabled(&[attribute]);
        assert!(holds(parse_quote!(#[cfg(unix)])));
        assert!(holds(parse_quote!(#[cfg(all(unix, not(test), target_os = "linux",))])));
        assert!(holds(parse_quote!(#[cfg(any(windows, feature = "a-b"))])));
        assert!(holds(parse_quote!(#[cfg(true)])));
        assert!(holds(parse_quote!(#[cfg(all())])));
        assert!(!holds(parse_quote!(#[cfg(any())])));
        assert!(!holds(parse_quote!(#[cfg(false)])));
        assert!(!holds(parse_quote!(#[cfg(test)])));
        assert!(!holds(parse_quote!(#[cfg(not(unix))])));
        assert!(!holds(parse_quote!(#[cfg(target_os = "windows")])));
        assert!(!holds(parse_quote!(#[cfg(what is this)])));
    }

    #[test]
    fn conditional_attributes_are_put_in_their_place() {
        let cfg = Cfg::new().name("unix");
        let mut attributes: Vec<Attribute> = vec![
            parse_quote!(#[a]),
            parse_quote!(#[cfg_attr(unix, b, cfg_attr(all(), c(1)), cfg_attr(windows, d))]),
            parse_quote!(#[cfg_attr(windows, e)]),
        ];
        cfg.expand(&mut attributes);
        let names: Vec<String> = attributes.iter().map(|a| a.path().get_ident().unwrap().to_string()).collect();
        assert_eq!(names, ["a", "b", "c"]);
    }

    #[test]
    fn fields_and_variants_that_are_not_there_are_gone() {
        let cfg = Cfg::new().name("unix");
        let mut item: syn::DeriveInput = parse_quote! {
            #[cfg_attr(unix, derive(X))]
            enum A { #[cfg(windows)] B, C { #[cfg(not(unix))] d: u8, #[cfg(unix)] e: u8 } }
        };
        cfg.strip(&mut item);
        let text = quote::quote!(#item).to_string().replace(' ', "");
        assert_eq!(text, "#[derive(X)]enumA{C{#[cfg(unix)]e:u8}}");
    }

    #[test]
    fn newer_cargos_tell_of_assertions() {
        assert!(tells_assertions("cargo 1.95.0 (abc 2026-04-01)") && tells_assertions("cargo 1.93.0-nightly (abc)"));
        assert!(tells_assertions("cargo 2.0.0") && tells_assertions("something else"));
        assert!(!tells_assertions("cargo 1.88.0 (873a06493 2025-05-10)") && !tells_assertions("cargo 1.92.0"));
    }

    #[test]
    fn a_cfg_is_read_as_rustc_takes_it() {
        assert_eq!("loom".parse(), Ok(Cfg::new().name("loom")));
        assert_eq!("a=\"b\"".parse(), Ok(Cfg::new().value("a", "b")));
        assert!("a b".parse::<Cfg>().is_err());
    }
}
