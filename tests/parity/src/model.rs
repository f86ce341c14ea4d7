//! What a random crate consists of. Names are chosen here; how a module spells them is the renderer's affair.

use crate::docs::Docs;

/// Names a definition of the project.
pub type DefinitionId = usize;

/// A type as the model means it, whatever names lead to it.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// Of the language (`u32`) or of a library, by its full path (`std::vec::Vec`).
    Library(&'static str, Vec<Type>),
    /// `Cow<'static, str>`
    CowText,
    /// `Cow<'a, str>`, with the lifetime of the definition around it.
    LentText,
    /// `Box<[T]>`
    BoxedSlice(Box<Type>),
    /// `(A, B)`
    Tuple(Vec<Type>),
    /// `[T; N]`
    Array(Box<Type>, usize),
    /// A type parameter of the definition around it.
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

/// One word of an attribute such as `#[serde(..)]`.
#[derive(Clone, Debug)]
pub enum Word {
    /// As it is written: `rename_all = "camelCase"`.
    Plain(String),
    /// A key whose value is a type in quotes: `from = "u32"`.
    Typed(&'static str, Type),
}

/// An attribute of a type, field or variant, in words that can stand in one list or in several.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// `serde` or `schemars`.
    pub name: &'static str,
    /// What it says.
    pub word: Word,
    /// The predicate of a `cfg_attr` around it.
    pub cfg: Option<&'static str>,
}

/// Something with a name, a type and words about it.
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
    /// The predicate of a `cfg` on it.
    pub cfg: Option<&'static str>,
}

/// What a struct or a variant holds.
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
    /// What it holds.
    pub content: Content,
    /// The predicate of a `cfg` on it.
    pub cfg: Option<&'static str>,
}

/// What a definition is.
#[derive(Clone, Debug)]
pub enum Shape {
    /// A struct.
    Struct(Content),
    /// An enum.
    Enum(Vec<Variant>),
    /// `type A = B;`
    Alias(Type),
}

/// How `Default` comes to a type.
#[derive(Clone, Debug, PartialEq)]
pub enum DefaultImpl {
    /// Not at all.
    None,
    /// By `#[derive(Default)]`.
    Derived,
    /// By hand, with these values of the fields.
    ByHand(Vec<String>),
}

/// What a type can do for a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Is read, written and described.
    Full,
    /// Is read only: an argument that is `any`.
    Opaque,
    /// Is parsed from text only.
    Parsed,
    /// Is written and described, never read.
    Written,
    /// Is written only.
    Unseen,
    /// Nothing: it is injected.
    Injected,
}

/// A type of the project.
#[derive(Clone, Debug)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// The module it stands in.
    pub module: Vec<String>,
    /// Other paths that lead to it, through re-exports.
    pub exports: Vec<Vec<String>>,
    /// Whether it has a lifetime `'a`.
    pub lifetime: bool,
    /// Its type parameters, with their defaults.
    pub generics: Vec<(&'static str, Option<Type>)>,
    /// Its documentation.
    pub docs: Docs,
    /// Its attributes.
    pub attributes: Vec<Attribute>,
    /// What it is.
    pub shape: Shape,
    /// What it can do.
    pub role: Role,
    /// How it comes to `Default`.
    pub default: DefaultImpl,
    /// Whether it can be a key of a map.
    pub is_key: bool,
    /// Items that belong to it: functions that its attributes name, conversions.
    pub items: Vec<Companion>,
}

/// An item beside a definition.
#[derive(Clone, Debug)]
pub enum Companion {
    /// A function without parameters, as `default = ".."` names it.
    Function {
        /// Its name.
        name: String,
        /// What it gives back.
        ty: Type,
        /// Its body.
        value: String,
        /// Whether it stands in an `impl` of the definition.
        is_associated: bool,
    },
    /// A function that reads a value, as `deserialize_with = ".."` names it.
    Reader {
        /// Its name.
        name: String,
        /// What it reads.
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

/// How a parameter is written.
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
    /// As it is: `&str`, `impl AsRef<std::path::Path>`.
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
    /// The words of its `#[arg(..)]`, if it has one.
    pub arg: Option<Vec<String>>,
    /// Whether it is marked `#[inject]`.
    pub inject: bool,
}

/// How a method takes its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// Not at all, or there is none.
    None,
    /// As it is written: `&self`.
    Written(&'static str),
}

/// What a tool gives back.
#[derive(Clone, Debug)]
pub enum Output {
    /// Nothing.
    Unit,
    /// A value.
    Plain(Type),
    /// A value or an error.
    Result(Type),
    /// A future that is written out.
    Future(Type),
    /// As it is: `&'static str`.
    Written(&'static str),
}

/// A function or method, tool or not.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its documentation.
    pub docs: Docs,
    /// The words of its `#[tool(..)]`, if it has one.
    pub tool: Option<Vec<String>>,
    /// `pub`, `pub(crate)` or nothing.
    pub visibility: &'static str,
    /// Whether it is `async`.
    pub is_async: bool,
    /// How it takes its instance.
    pub receiver: Receiver,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it gives back.
    pub output: Output,
    /// The predicate of a `cfg` on it.
    pub cfg: Option<&'static str>,
}

/// The form in which a class is written.
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
    /// The form in which it is written.
    pub form: ClassForm,
    /// The type's name.
    pub name: String,
    /// The words of its `#[tool_class(..)]`.
    pub words: Vec<String>,
    /// The constructor as it is written, if there is one.
    pub constructor: Option<&'static str>,
    /// Its methods.
    pub methods: Vec<Function>,
}

/// Where the text of a module stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// In its parent's text.
    Inline,
    /// In `name.rs`.
    File,
    /// In `name/mod.rs`.
    Folder,
    /// In a file of another name, with `#[path]`.
    Path,
}

/// A module of the project, before its text is written.
#[derive(Clone, Debug)]
pub struct Module {
    /// Its path from the crate's root.
    pub path: Vec<String>,
    /// Where its text stands.
    pub placement: Placement,
    /// Whether it begins with `use super::*`.
    pub inherits: bool,
    /// The predicate of a `cfg` on it.
    pub cfg: Option<&'static str>,
    /// The types in it.
    pub definitions: Vec<DefinitionId>,
    /// `pub use` items as they are written.
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
    /// All types, in the order of their making: each refers to earlier ones, to itself or to its partner.
    pub definitions: Vec<Definition>,
    /// One module for each service.
    pub services: Vec<Module>,
}
