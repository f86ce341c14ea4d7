//! Evaluation of `#[cfg(..)]`.

use std::collections::BTreeSet;

use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, ExprLit, Lit, Meta, Token};

/// The configuration that `#[cfg(..)]` is evaluated with: rustc's `--cfg` options without the crate's features.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cfg {
    set: BTreeSet<(String, Option<String>)>,
}

impl Cfg {
    /// Creates an empty configuration.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a name, such as `unix`.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.set.insert((name.into(), None));
        self
    }

    /// Adds a value, such as `target_os = "linux"`.
    #[must_use]
    pub fn value(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.set.insert((name.into(), Some(value.into())));
        self
    }
}

impl Cfg {
    /// Returns the configuration that Cargo passes to a build script, for the target of the build.
    ///
    /// `debug_assertions` is set if Cargo says so, for any profile. Cargo before 1.93 does not say it; for those
    /// versions it is set in debug builds.
    ///
    /// Values that the script itself sets with `cargo::rustc-cfg` are not included. Add them with [`name`](Self::name)
    /// or [`value`](Self::value).
    #[must_use]
    pub fn from_build_script() -> Self {
        let mut cfg = Self::new();
        for (key, values) in std::env::vars_os() {
            let (Some(key), Some(values)) = (key.to_str(), values.to_str()) else { continue };
            let Some(name) = key.strip_prefix("CARGO_CFG_").map(str::to_lowercase) else { continue };
            match (name.as_str(), values) {
                // Features belong to one crate.
                ("feature", _) => {}
                (_, "") => cfg = cfg.name(name),
                _ => cfg = values.split(',').fold(cfg, |cfg, value| cfg.value(name.as_str(), value)),
            }
        }
        let is_debug = std::env::var_os("PROFILE").is_some_and(|profile| profile == "debug");
        let is_set = cfg.set.contains(&("debug_assertions".to_owned(), None));
        if is_debug && !is_set && !cargo_version().is_none_or(|version| passes_debug_assertions(&version)) {
            cfg = cfg.name("debug_assertions");
        }
        cfg
    }

    /// Returns the configuration of a debug build for this machine.
    #[must_use]
    pub fn from_this_machine() -> Self {
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

    /// Joins two configurations.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.set.extend(other.set);
        self
    }

    /// Returns the configuration without the values of a name.
    pub(crate) fn without(&self, name: &str) -> Self {
        Self { set: self.set.iter().filter(|(known, _)| known != name).cloned().collect() }
    }

    /// Returns the configuration of the build script, or else of this machine.
    pub(crate) fn from_environment() -> Self {
        if is_build_script() { Self::from_build_script() } else { Self::from_this_machine() }
    }

    /// Returns `true` if no `cfg` disables an item with these attributes.
    pub(crate) fn is_enabled(&self, attributes: &[Attribute]) -> bool {
        attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).all(|attribute| {
            // A `cfg` that does not parse is an error of rustc.
            attribute.parse_args_with(one_predicate).is_ok_and(|predicate| self.evaluate(&predicate))
        })
    }

    /// Returns `true` if no `cfg` disables an item with these attributes, including the `cfg`s inside of `cfg_attr`.
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

    /// Replaces each `cfg_attr` by its attributes, or removes it if its condition is false.
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

    /// Removes the disabled fields and variants of a struct or an enum.
    pub(crate) fn strip(&self, item: &mut syn::DeriveInput) {
        CfgStripper(self).visit_derive_input_mut(item);
    }
}

/// Returns `true` if this process is a build script.
pub(crate) fn is_build_script() -> bool {
    std::env::var_os("CARGO_CFG_TARGET_ARCH").is_some() && std::env::var_os("OUT_DIR").is_some()
}

/// Returns the version of the Cargo that runs this build script: `cargo 1.95.0 (..)`.
fn cargo_version() -> Option<String> {
    let output = std::process::Command::new(std::env::var_os("CARGO")?).arg("--version").output().ok()?;
    String::from_utf8(output.stdout).ok()
}

/// Returns `true` if this version of Cargo passes `debug_assertions` to build scripts.
fn passes_debug_assertions(version: &str) -> bool {
    let number = version.split_whitespace().nth(1).unwrap_or_default();
    let mut parts = number.split('.').map_while(|part| part.parse::<u32>().ok());
    let version = (parts.next(), parts.next());
    version.0.is_none() || version >= (Some(1), Some(93))
}

/// The condition of a `cfg`.
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
        _ => Err(content.error("expected `all(..)`, `any(..)`, `not(..)`, a name, or a name with a value")),
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

/// Returns the string of `name = "text"` among the attributes.
pub(crate) fn string_value(attributes: &[Attribute], name: &str) -> Option<String> {
    attributes.iter().find_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident(name) => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        },
        _ => None,
    })
}

/// Parses one `--cfg` option: `name` or `name="value"`.
impl std::str::FromStr for Cfg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |_| format!("`{text}` is not a cfg; expected `name` or `name=\"value\"`");
        match one_predicate.parse_str(text).map_err(wrong)? {
            CfgPredicate::Set(name, None) => Ok(Self::new().name(name)),
            CfgPredicate::Set(name, Some(value)) => Ok(Self::new().value(name, value)),
            _ => Err(format!("`{text}` is a condition; expected `name` or `name=\"value\"`")),
        }
    }
}

#[cfg(test)]
mod tests {
    use syn::parse_quote;

    use super::*;

    #[test]
    fn evaluates_conditions() {
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
    fn expands_conditional_attributes() {
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
    fn removes_disabled_fields_and_variants() {
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
    fn knows_which_cargo_passes_debug_assertions() {
        assert!(
            passes_debug_assertions("cargo 1.95.0 (abc 2026-04-01)")
                && passes_debug_assertions("cargo 1.93.0-nightly (abc)")
        );
        assert!(passes_debug_assertions("cargo 2.0.0") && passes_debug_assertions("something else"));
        assert!(
            !passes_debug_assertions("cargo 1.88.0 (873a06493 2025-05-10)") && !passes_debug_assertions("cargo 1.92.0")
        );
    }

    #[test]
    fn parses_a_cfg_option() {
        assert_eq!("loom".parse(), Ok(Cfg::new().name("loom")));
        assert_eq!("a=\"b\"".parse(), Ok(Cfg::new().value("a", "b")));
        assert!("a b".parse::<Cfg>().is_err());
    }
}
