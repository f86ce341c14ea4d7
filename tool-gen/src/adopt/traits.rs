//! The traits that a resolved type implements, as far as the sources show.

use std::cell::RefCell;
use std::collections::HashMap;

use syn::{GenericArgument, PathArguments};

use super::macro_types::MacroTypes;
use crate::source::{KNOWN_PACKAGES, SourceTree};
use crate::ty::{DefinitionId, Ty, TypeDefinition, TypeSource};

/// A trait that decides whether a type can be an argument or a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum DecisiveTrait {
    Deserialize,
    Serialize,
    FromStr,
    Display,
    Debug,
}

/// An answer from the sources. `No` and `Unknown` name the type that decides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No(String),
    Unknown(String),
}

impl DecisiveTrait {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Deserialize => "Deserialize",
            Self::Serialize => "Serialize",
            Self::FromStr => "FromStr",
            Self::Display => "Display",
            Self::Debug => "Debug",
        }
    }

    /// Returns a text in every file with an `impl` of the trait.
    fn needle(self) -> &'static str {
        match self {
            Self::Deserialize => "Deserialize<",
            Self::Serialize => "Serialize for",
            Self::FromStr => "FromStr for",
            Self::Display => "Display for",
            Self::Debug => "Debug for",
        }
    }

    /// Returns the derives that implement the trait.
    pub(super) fn derives(self) -> &'static [&'static str] {
        match self {
            Self::Deserialize => &["Deserialize", "Deserialize_repr", "DeserializeFromStr"],
            Self::Serialize => &["Serialize", "Serialize_repr", "SerializeDisplay"],
            Self::FromStr => &["FromStr", "EnumString"],
            Self::Display => &["Display", "Error", "Snafu"],
            Self::Debug => &["Debug"],
        }
    }

    fn is_serde(self) -> bool {
        matches!(self, Self::Deserialize | Self::Serialize)
    }
}

/// Looks up traits, each once.
pub(super) struct TraitLookup<'a> {
    pub(super) sources: &'a SourceTree,
    known: RefCell<HashMap<(DefinitionId, DecisiveTrait), bool>>,
    macro_types: MacroTypes,
}

/// Types of std with the traits of all their arguments.
const CONTAINERS: [&str; 27] = [
    "Option",
    "Vec",
    "VecDeque",
    "LinkedList",
    "BinaryHeap",
    "HashSet",
    "BTreeSet",
    "HashMap",
    "BTreeMap",
    "Result",
    "Bound",
    "Range",
    "RangeInclusive",
    "RangeFrom",
    "RangeTo",
    "Reverse",
    "Wrapping",
    "Saturating",
    "Box",
    "Rc",
    "Arc",
    "Weak",
    "Cow",
    "Cell",
    "RefCell",
    "Mutex",
    "RwLock",
];

/// Types of std that serde supports, besides numbers and containers.
const PLAIN: [&str; 19] = [
    "String",
    "PathBuf",
    "Path",
    "Duration",
    "SystemTime",
    "IpAddr",
    "Ipv4Addr",
    "Ipv6Addr",
    "SocketAddr",
    "SocketAddrV4",
    "SocketAddrV6",
    "OsString",
    "OsStr",
    "CString",
    "CStr",
    "Arguments",
    "PhantomData",
    "str",
    "NonZero",
];

/// Types that macros convert from.
const PRIMITIVES: [&str; 7] = ["String", "u64", "i64", "u32", "i32", "u16", "usize"];

impl<'a> TraitLookup<'a> {
    pub(super) fn new(sources: &'a SourceTree) -> Self {
        Self { sources, known: RefCell::default(), macro_types: MacroTypes::default() }
    }

    /// Returns `true` if the type certainly implements the trait.
    pub(super) fn has(&self, ty: &Ty, wanted: DecisiveTrait) -> bool {
        self.implements(ty, wanted) == Answer::Yes
    }

    pub(super) fn implements(&self, ty: &Ty, wanted: DecisiveTrait) -> Answer {
        let is_compound = matches!(wanted, DecisiveTrait::Display | DecisiveTrait::FromStr);
        match ty {
            Ty::Reference(inner) => self.implements(inner, wanted),
            Ty::Tuple(_) | Ty::Array(..) | Ty::Slice(_) if is_compound => Answer::No(self.name(ty)),
            Ty::Tuple(items) => self.all(items, wanted),
            Ty::Array(_, Some(length)) if *length > 32 && wanted.is_serde() => Answer::No(self.name(ty)),
            Ty::Array(item, _) | Ty::Slice(item) => self.implements(item, wanted),
            Ty::Constant(_) => Answer::Yes,
            Ty::Library { arguments, .. } => self.of_library(ty, arguments, wanted),
            Ty::Defined { definition, arguments } => {
                if self.of_definition(*definition, wanted) {
                    self.all(arguments, wanted)
                } else {
                    Answer::No(self.name(ty))
                }
            }
            Ty::Unknown(text) if text.starts_with("dyn") => {
                let is_error = text.ends_with("Error") || text.contains("Error +");
                let shown = matches!(wanted, DecisiveTrait::Display | DecisiveTrait::Debug);
                if is_error && shown { Answer::Yes } else { Answer::No(text.clone()) }
            }
            Ty::Unknown(text) if text.starts_with("fn") || text.starts_with('*') => Answer::No(text.clone()),
            Ty::Unknown(text) => match self.macro_types.find(self.sources, text) {
                Some(declared) if declared.implements(wanted) => Answer::Yes,
                Some(_) => Answer::No(text.clone()),
                None => Answer::Unknown(text.clone()),
            },
        }
    }

    fn all(&self, types: &[Ty], wanted: DecisiveTrait) -> Answer {
        let mut answers = types.iter().map(|ty| self.implements(ty, wanted)).filter(|answer| *answer != Answer::Yes);
        let first = answers.next();
        first
            .into_iter()
            .chain(answers)
            .reduce(|one, other| if matches!(one, Answer::No(_)) { one } else { other })
            .unwrap_or(Answer::Yes)
    }

    fn of_library(&self, ty: &Ty, arguments: &[Ty], wanted: DecisiveTrait) -> Answer {
        let (krate, name) = ty.library().unwrap_or_default();
        let yes_if = |holds: bool| if holds { Answer::Yes } else { Answer::No(self.name(ty)) };
        match (krate, wanted) {
            ("" | "__tool", _) => Answer::Yes,
            ("std", DecisiveTrait::Display) if ["Box", "Rc", "Arc", "Cow"].contains(&name) => {
                self.all(arguments, wanted)
            }
            ("std", DecisiveTrait::Display) => yes_if(
                name.ends_with("Error")
                    || name == "Infallible"
                    || name.ends_with("Addr")
                    || name.starts_with("NonZero")
                    || name == "String",
            ),
            ("std", DecisiveTrait::FromStr) => yes_if(
                name.ends_with("Addr")
                    || name.starts_with("NonZero")
                    || ["String", "PathBuf", "OsString"].contains(&name),
            ),
            ("std", _) if CONTAINERS.contains(&name) => {
                // The hasher of a map does not matter.
                let counted = if name.starts_with("Hash") { arguments.len().min(2) } else { arguments.len() };
                self.all(&arguments[..counted], wanted)
            }
            ("std", DecisiveTrait::Debug) => Answer::Yes,
            ("std", _) => yes_if(PLAIN.contains(&name) || name.starts_with("NonZero") || name.starts_with("Atomic")),
            (known, _) if KNOWN_PACKAGES.contains(&known) && name.ends_with("Error") => yes_if(!wanted.is_serde()),
            ("serde_json", DecisiveTrait::FromStr) => yes_if(matches!(name, "Value" | "Number")),
            ("either" | "indexmap", _) => self.all(&arguments[..arguments.len().min(2)], wanted),
            (known, _) if KNOWN_PACKAGES.contains(&known) => Answer::Yes,
            _ => Answer::Unknown(self.name(ty)),
        }
    }

    fn of_definition(&self, id: DefinitionId, wanted: DecisiveTrait) -> bool {
        if let Some(known) = self.known.borrow().get(&(id, wanted)) {
            return *known;
        }
        let definition = self.sources.definition(id);
        let found = wanted.derives().iter().any(|name| definition.derives(name))
            || definition.implements(wanted.name())
            || !self.sources.trait_impls(id, wanted.name(), wanted.needle()).is_empty();
        self.known.borrow_mut().insert((id, wanted), found);
        found
    }

    /// Returns the type, as written, from which a type can be converted and which can be decoded: the `T` of `From<T>`
    /// or `TryFrom<T>`. Numbers and strings take precedence.
    pub(super) fn convertible_from(&self, ty: &Ty) -> Option<String> {
        if let Ty::Unknown(text) = ty {
            let declared = self.macro_types.find(self.sources, text)?;
            return declared.origins().find(|origin| PRIMITIVES.contains(origin)).map(str::to_owned);
        }
        let Ty::Defined { definition, .. } = ty else { return None };
        let impls = [("From", "From<"), ("TryFrom", "TryFrom<")]
            .into_iter()
            .flat_map(|(name, needle)| self.sources.trait_impls(*definition, name, needle));
        let mut origins: Vec<(bool, String)> = impls
            .filter(|(_, item)| item.generics.type_params().next().is_none())
            .filter_map(|(scope, item)| {
                let last = item.trait_.as_ref()?.0.segments.last()?.clone();
                let PathArguments::AngleBracketed(list) = last.arguments else { return None };
                let Some(GenericArgument::Type(origin)) = list.args.first() else { return None };
                let resolved = self.sources.resolve(origin, scope, &[]);
                let is_library = matches!(&resolved, Ty::Library { .. });
                let is_owned = !matches!(resolved, Ty::Reference(_));
                (is_library && is_owned && self.has(&resolved, DecisiveTrait::Deserialize))
                    .then(|| (resolved.library().is_some_and(|(krate, _)| krate.is_empty()), self.name(&resolved)))
            })
            .collect();
        origins.sort_by_key(|(is_number, name)| (!is_number, name != "String", name.clone()));
        origins.into_iter().next().map(|(_, name)| name)
    }

    /// Returns `true` for a handle rather than data: a struct with private fields that serde does not know.
    pub(super) fn is_handle(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Defined { definition, .. } => {
                let serde = [DecisiveTrait::Deserialize, DecisiveTrait::Serialize];
                has_private_fields(&self.sources.definition(*definition))
                    && !serde.iter().any(|&wanted| self.of_definition(*definition, wanted))
            }
            Ty::Reference(inner) => self.is_handle(inner),
            Ty::Library { arguments, .. } => {
                let holds = |name: &str| ["Arc", "Rc", "Box", "Option", "Mutex", "RwLock", "Vec"].contains(&name);
                ty.library().is_some_and(|(krate, name)| krate == "std" && holds(name))
                    && arguments.iter().any(|inner| self.is_handle(inner))
            }
            Ty::Unknown(text) => text.starts_with("dyn") && !text.contains("Error"),
            _ => false,
        }
    }

    /// Returns the name of a type for messages.
    pub(super) fn name(&self, ty: &Ty) -> String {
        crate::schema::TypeShapes::new(self.sources).type_name(ty)
    }
}

fn has_private_fields(definition: &TypeDefinition) -> bool {
    match &definition.item.data {
        syn::Data::Struct(data) => data.fields.iter().any(|field| !matches!(field.vis, syn::Visibility::Public(_))),
        _ => false,
    }
}
