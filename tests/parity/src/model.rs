//! The model of a random crate. Names are chosen here; the renderer chooses how a module spells them.

use crate::docs::Docs;

/// Names a definition of the project.
pub type DefinitionId = usize;

/// A type, whatever names lead to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// A primitive (`u32`) or a library type by its full path (`std::vec::Vec`).
    Library(&'static str, Vec<Type>),
    /// `Cow<'static, str>`
    CowText,
    /// `Cow<'a, str>`, with the lifetime of the enclosing definition.
    LentText,
    /// `Box<[T]>`
    BoxedSlice(Box<Type>),
    /// `(A, B)`
    Tuple(Vec<Type>),
    /// `[T; N]`
    Array(Box<Type>, usize),
    /// A type parameter of the enclosing definition.
    Parameter(&'static str),
    /// A definition of the project, with its generic arguments.
    Defined(DefinitionId, Vec<Type>),
}

impl Type {
    /// A type without arguments.
    #[must_use]
    pub fn library(path: &'static str) -> Self {
        Self::Library(path, Vec::new())
    }

    /// `Option<T>`
    #[must_use]
    pub fn option(inner: Self) -> Self {
        Self::Library("std::option::Option", vec![inner])
    }

    /// `Vec<T>`
    #[must_use]
    pub fn list(inner: Self) -> Self {
        Self::Library("std::vec::Vec", vec![inner])
    }

    /// `Box<T>`
    #[must_use]
    pub fn boxed(inner: Self) -> Self {
        Self::Library("std::boxed::Box", vec![inner])
    }

    /// The path of a library's type.
    #[must_use]
    pub fn path(&self) -> Option<&'static str> {
        if let Self::Library(path, _) = self { Some(path) } else { None }
    }
}

/// One entry of an attribute such as `#[serde(..)]`.
#[derive(Clone, Debug)]
pub enum AttributeEntry {
    /// Literal text: `rename_all = "camelCase"`.
    Plain(String),
    /// A key whose value is a type in quotes: `from = "u32"`.
    Typed(&'static str, Type),
}

/// An attribute of a type, field or variant, whose entries may be split into several lists.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// `serde` or `schemars`.
    pub name: &'static str,
    /// Its entries.
    pub word: AttributeEntry,
    /// The predicate of an enclosing `cfg_attr`.
    pub cfg: Option<&'static str>,
}

/// A field.
#[derive(Clone, Debug)]
pub struct Field {
    /// Empty in a tuple.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its documentation.
    pub docs: Docs,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// The predicate of its `cfg`.
    pub cfg: Option<&'static str>,
}

/// The contents of a struct or a variant.
#[derive(Clone, Debug)]
pub enum Content {
    /// Nothing.
    Unit,
    /// `(A, B)`
    Tuple(Vec<Field>),
    /// `{ a: A }`
    Struct(Vec<Field>),
}

/// One variant of an enum.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub docs: Docs,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its contents.
    pub content: Content,
    /// The predicate of its `cfg`.
    pub cfg: Option<&'static str>,
}

/// The kind of a definition.
#[derive(Clone, Debug)]
pub enum DefinitionKind {
    /// A struct.
    Struct(Content),
    /// An enum.
    Enum(Vec<Variant>),
    /// `type A = B;`
    Alias(Type),
}

/// The `Default` implementation of a type.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultImpl {
    /// Not at all.
    None,
    /// By `#[derive(Default)]`.
    Derived,
    /// By hand, with these values of the fields.
    ByHand(Vec<String>),
}

/// The traits of a type that matter to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TypeRole {
    /// Deserializes, serializes and has a schema.
    Full,
    /// Deserializes only: an argument whose schema is traced.
    Opaque,
    /// Implements `FromStr` only.
    Parsed,
    /// Serializes and has a schema, but does not deserialize.
    Written,
    /// Serializes only.
    Unseen,
    /// None: it is injected.
    Injected,
}

/// A type of the project.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// The module that contains it.
    pub module: Vec<String>,
    /// Other paths that lead to it, through re-exports.
    pub exports: Vec<Vec<String>>,
    /// `true` if it has a lifetime `'a`.
    pub lifetime: bool,
    /// Its type parameters, with their defaults.
    pub generics: Vec<(&'static str, Option<Type>)>,
    /// Its documentation.
    pub docs: Docs,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// Its kind.
    pub shape: DefinitionKind,
    /// Its traits.
    pub role: TypeRole,
    /// Its `Default` implementation.
    pub default: DefaultImpl,
    /// `true` if it can be a key of a map.
    pub is_key: bool,
    /// Items that belong to it: functions named by its attributes, conversions.
    pub items: Vec<Companion>,
}

/// An item beside a definition.
#[derive(Clone, Debug)]
pub enum Companion {
    /// A function without parameters, named by `default = ".."`.
    Function {
        /// Its name.
        name: String,
        /// Its return type.
        ty: Type,
        /// Its body.
        value: String,
        /// `true` if it is an associated function of the definition.
        is_associated: bool,
    },
    /// A function that deserializes a value, named by `deserialize_with = ".."`.
    Reader {
        /// Its name.
        name: String,
        /// The type it returns.
        ty: Type,
    },
    /// A number.
    Constant {
        /// Its name.
        name: String,
        /// Its type.
        ty: &'static str,
        /// Its value.
        value: String,
    },
    /// `impl From<ty> for` the definition.
    From(Type),
    /// `impl TryFrom<ty> for` the definition.
    TryFrom(Type),
    /// `impl From<the definition> for ty`.
    Into(Type),
}

/// The form of a parameter.
#[derive(Clone, Debug)]
pub enum Form {
    /// `T`
    Owned(Type),
    /// `&T`
    Lent(Type),
    /// `&[T]`
    Slice(Type),
    /// `Option<&T>`
    OptionLent(Type),
    /// `Option<&[T]>`
    OptionSlice(Type),
    /// Literal text: `&str`, `impl AsRef<std::path::Path>`.
    Plain(&'static str),
}

/// A parameter of a tool.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub form: Form,
    /// Its documentation.
    pub docs: Docs,
    /// The entries of its `#[arg(..)]`, if it has one.
    pub arg: Option<Vec<String>>,
    /// The type of its `#[arg(via(..))]`.
    pub via: Option<Type>,
    /// `true` if it is marked `#[inject]`.
    pub inject: bool,
}

/// The receiver of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// None.
    None,
    /// Literal text: `&self`.
    Written(&'static str),
}

/// The return type of a tool.
#[derive(Clone, Debug)]
pub enum Output {
    /// Nothing.
    Unit,
    /// A value.
    Plain(Type),
    /// A value or an error.
    Result(Type),
    /// An explicit future.
    Future(Type),
    /// Literal text: `&'static str`.
    Written(&'static str),
}

/// A function or method, tool or not.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub docs: Docs,
    /// The entries of its `#[tool(..)]`, if it has one.
    pub tool: Option<Vec<String>>,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: &'static str,
    /// `true` if it is `async`.
    pub is_async: bool,
    /// Its receiver.
    pub receiver: Receiver,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// Its return type.
    pub output: Output,
    /// The predicate of its `cfg`.
    pub cfg: Option<&'static str>,
}

/// The syntactic form of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassForm {
    /// `impl Name`
    Inherent,
    /// `impl<R> Name<R>` with `instances(Name<u8>)`.
    Generic,
    /// `impl<'a> Name<'a>` with a `new` that borrows.
    Borrowed,
    /// `impl NameApi for Name`
    TraitImpl,
    /// `trait Name`
    Trait,
    /// `tools! { impl Name as ".." { .. } }`
    Declared,
}

/// A class: a type and its `impl` block, or a trait.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its syntactic form.
    pub form: ClassForm,
    /// The name of the type.
    pub name: String,
    /// The entries of its `#[tool_class(..)]`.
    pub words: Vec<String>,
    /// The source of the constructor, if there is one.
    pub constructor: Option<&'static str>,
    /// Its methods.
    pub methods: Vec<Function>,
}

/// The place of a module's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Inside its parent.
    Inline,
    /// In `name.rs`.
    File,
    /// In `name/mod.rs`.
    Folder,
    /// In a file with another name, through `#[path]`.
    Path,
}

/// A module of the project, before it is rendered.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its path from the crate's root.
    pub path: Vec<String>,
    /// The place of its text.
    pub placement: Placement,
    /// `true` if it starts with `use super::*`.
    pub inherits: bool,
    /// The predicate of its `cfg`.
    pub cfg: Option<&'static str>,
    /// The types in it.
    pub definitions: Vec<DefinitionId>,
    /// The source of its `pub use` items.
    pub exports: Vec<String>,
    /// The functions in it that are tools.
    pub functions: Vec<Function>,
    /// The classes in it.
    pub classes: Vec<Class>,
    /// The modules in it.
    pub children: Vec<Module>,
}

impl Module {
    /// An empty module.
    #[must_use]
    pub fn new(path: Vec<String>, placement: Placement) -> Self {
        Self {
            path,
            placement,
            inherits: false,
            cfg: None,
            definitions: Vec::new(),
            exports: Vec::new(),
            functions: Vec::new(),
            classes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.path.last().map_or("crate", String::as_str)
    }
}

/// A random crate: its types, and its modules, one for each service.
#[derive(Clone, Debug, Default)]
pub struct Project {
    /// All types in order of creation: each refers to earlier ones, to itself or to its partner.
    pub definitions: Vec<Definition>,
    /// One module for each service.
    pub services: Vec<Module>,
}
