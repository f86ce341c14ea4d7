//! A place for one argument of one type, filled from JSON text.
//!
//! The macros write `(&Ask::<T>::NEW).tool_slot()` for a parameter of type `T` and `(&Lend::<T>::NEW).tool_slot()` for one of
//! type `&T`. Which method that is, method resolution decides from what the type implements: inherent ones that take a
//! reference first, then traits that do, then traits on a reference, then traits that take the value. The reader sees a slot only as [`Decode`], so that it exists once and not once
//! per tool, and decoding exists once per type. The methods are called `tool_..`, so that those of the traits in an
//! author's scope do not stand in their way.

use std::any::type_name;
use std::borrow::Borrow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde_json::Error;
use tool_model::validate::DecodeReason;
use tool_model::{ArgumentType, TypeSchema};

use super::absent;
use super::decode_error::message_of;
use super::integer::integer;

/// A slot as the reader sees it.
pub trait Decode {
    /// Decodes the value that starts at `at`, and moves `at` behind it.
    ///
    /// # Errors
    /// When there is no value of the slot's type.
    fn decode(&mut self, text: &str, at: &mut usize) -> Result<(), Undecodable>;

    /// Fills the slot for an argument that was not sent. False when the argument is required.
    fn absent(&mut self) -> bool;

    /// Whether the slot is filled.
    fn is_filled(&self) -> bool;

    /// Empties the slot, to be filled again.
    fn clear(&mut self);

    /// What the type system says of the argument.
    fn argument_type(&self) -> ArgumentType;
}

/// The error of a slot whose value could not be decoded. Boxed, so that the result of a successful call fits into registers.
pub struct Undecodable(pub(super) Box<DecodeFailure>);

/// Reasons of an [`Undecodable`] value.
pub(super) enum DecodeFailure {
    /// The type's own error.
    Type(Error),
    /// The error for one item of a list of parsed strings.
    Item { index: usize, text: String, error: Error },
    /// The type read an integer up to its point or exponent.
    Fraction,
}

impl Display for Undecodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.0 {
            DecodeFailure::Type(error) | DecodeFailure::Item { error, .. } => f.write_str(&message_of(error)),
            DecodeFailure::Fraction => DecodeReason::Fraction.fmt(f),
        }
    }
}

impl From<Error> for Undecodable {
    #[cold]
    fn from(error: Error) -> Self {
        Self(Box::new(DecodeFailure::Type(error)))
    }
}

/// A place for one argument.
pub struct Slot<A> {
    value: Option<A>,
    /// Fills the value where it lies: what it gives back would be moved.
    decode: fn(&str, &mut usize, &mut Option<A>) -> Result<(), Undecodable>,
    absent: fn() -> Option<A>,
    variants: fn() -> &'static [&'static str],
    schema: Option<TypeSchema>,
}

impl<A> Decode for Slot<A> {
    fn decode(&mut self, text: &str, at: &mut usize) -> Result<(), Undecodable> {
        (self.decode)(text, at, &mut self.value)
    }

    fn absent(&mut self) -> bool {
        self.value = (self.absent)();
        self.value.is_some()
    }

    fn is_filled(&self) -> bool {
        self.value.is_some()
    }

    fn clear(&mut self) {
        self.value = None;
    }

    fn argument_type(&self) -> ArgumentType {
        ArgumentType {
            type_name: type_name::<A>(),
            schema: self.schema,
            // Code of the type's own may run here, and whatever it does, a definition is made.
            optional: crate::panics::catch(|| (self.absent)().is_some()).unwrap_or(false),
            variants: (self.variants)(),
        }
    }
}

impl<A> Slot<A> {
    /// The decoded value.
    ///
    /// # Panics
    /// When the slot was not filled; the reader has answered the call in that case.
    #[inline]
    #[track_caller]
    pub fn take(self) -> A {
        self.value.expect("the reader fills every slot or answers the call")
    }

    /// With `Default::default()` where the argument is not sent.
    #[must_use]
    pub fn or_default(self) -> Self
    where
        A: Default,
    {
        Self { absent: || Some(A::default()), ..self }
    }
}

/// Asks whether a type whose name has a lifetime is a reference: an alias (`type Text<'a> = &'a str`) hides that from the
/// macros.
pub struct Aliased<A>(PhantomData<A>);

impl<A> Aliased<A> {
    /// The question.
    pub const NEW: Self = Self(PhantomData);
}

impl<'a, T: ?Sized> Aliased<&'a T> {
    /// Refuses a reference, with a reason.
    pub fn tool_is_owned(self)
    where
        &'a T: OwnedArgument,
    {
    }
}

/// A type that is no reference.
pub trait NoReference: Sized {
    /// Accepts the type.
    fn tool_is_owned(self) {}
}

impl<A> NoReference for Aliased<A> {}

/// What no reference is.
#[diagnostic::on_unimplemented(
    message = "an argument cannot be an alias for `{Self}`: what is decoded has to be owned, and then lent",
    label = "an alias for a reference",
    note = "write the reference itself, such as `&str` or `&[T]`, or the owned type"
)]
pub trait OwnedArgument {}

/// Asks what a type can do, to decode it.
pub struct Ask<A>(PhantomData<A>);

// The last resort takes the question by value, from behind a reference.
impl<A> Clone for Ask<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Ask<A> {}

impl<A> Ask<A> {
    /// The question.
    pub const NEW: Self = Self(PhantomData);
}

impl<A: DeserializeOwned + JsonSchema> Ask<A> {
    /// A slot that is decoded by the type's `Deserialize` and described by its `JsonSchema`.
    #[must_use]
    #[inline]
    pub fn tool_slot(&self) -> Slot<A> {
        described_slot()
    }
}

/// A type without `JsonSchema`: the argument is `any`.
pub trait Undescribed {
    /// The type of the argument.
    type Argument;

    /// A slot that is decoded by the type's `Deserialize`.
    fn tool_slot(&self) -> Slot<Self::Argument>;
}

impl<A: DeserializeOwned> Undescribed for Ask<A> {
    type Argument = A;

    #[inline]
    fn tool_slot(&self) -> Slot<A> {
        undescribed_slot()
    }
}

#[inline]
fn described_slot<A: DeserializeOwned + JsonSchema>() -> Slot<A> {
    json_slot(Some(TypeSchema::Derived(SchemaGenerator::subschema_for::<A>)))
}

/// Described only if its name is known: the schema must not depend on which features other crates switch on.
fn undescribed_slot<A: DeserializeOwned>() -> Slot<A> {
    json_slot(match type_name::<A>() {
        "url::Url" | "core::option::Option<url::Url>" => Some(TypeSchema::Text(Some("uri"))),
        "alloc::vec::Vec<url::Url>" | "core::option::Option<alloc::vec::Vec<url::Url>>" => {
            Some(TypeSchema::Texts(Some("uri")))
        }
        _ => None,
    })
}

#[inline]
fn json_slot<A: DeserializeOwned>(schema: Option<TypeSchema>) -> Slot<A> {
    Slot { value: None, decode: fill_json::<A>, absent: absent::absent::<A>, variants: absent::variants::<A>, schema }
}

/// `Option<T>` and `Vec<T>` of a type that can only be parsed from text.
pub trait OptionalText {
    /// The type of the argument.
    type Argument;

    /// A slot whose strings are parsed.
    fn tool_slot(&self) -> Slot<Self::Argument>;
}

impl<A: FromStr<Err: Display>> OptionalText for &Ask<Option<A>> {
    type Argument = Option<A>;

    fn tool_slot(&self) -> Slot<Option<A>> {
        optional_text_slot()
    }
}

impl<A: FromStr<Err: Display>> OptionalText for &Ask<Vec<A>> {
    type Argument = Vec<A>;

    fn tool_slot(&self) -> Slot<Vec<A>> {
        Slot {
            value: None,
            decode: |text, at, value| {
                let items = decode_json::<Vec<String>>(text, at)?.into_iter().enumerate();
                let parsed = items.map(|(index, text)| {
                    A::parse(&text).map_err(|error| Undecodable(Box::new(DecodeFailure::Item { index, text, error })))
                });
                *value = Some(parsed.collect::<Result<_, _>>()?);
                Ok(())
            },
            absent: || None,
            variants: || &[],
            schema: Some(TypeSchema::Texts(text_format::<A>())),
        }
    }
}

fn text_slot<A: TextArgument>() -> Slot<A> {
    Slot {
        value: None,
        decode: |text, at, value| {
            *value = Some(A::parse(&decode_json::<String>(text, at)?)?);
            Ok(())
        },
        absent: || None,
        variants: || &[],
        schema: Some(TypeSchema::Text(text_format::<A>())),
    }
}

fn optional_text_slot<A: TextArgument>() -> Slot<Option<A>> {
    Slot {
        value: None,
        decode: |text, at, value| {
            *value = Some(decode_json::<Option<String>>(text, at)?.map(|text| A::parse(&text)).transpose()?);
            Ok(())
        },
        absent: || Some(None),
        variants: || &[],
        schema: Some(TypeSchema::Text(text_format::<A>())),
    }
}

/// A type that is not `Deserialize` can still be an argument if it can be parsed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's argument: nothing says how to read it from JSON",
    label = "not an argument",
    note = "derive `serde::Deserialize` for it (and `schemars::JsonSchema`, so that the model sees its shape), or implement `FromStr`",
    note = "if the application provides the value, mark the parameter `#[inject]`"
)]
pub trait TextArgument: Sized {
    #[doc(hidden)]
    fn parse(text: &str) -> Result<Self, Error>;
}

impl<A: FromStr<Err: Display>> TextArgument for A {
    fn parse(text: &str) -> Result<Self, Error> {
        text.parse().map_err(Error::custom)
    }
}

/// The last resort of [`Ask`]: the bound stands on the method, so that its absence is explained.
pub trait Undecoded {
    /// The type of the argument.
    type Argument;

    /// A slot whose string is parsed.
    fn tool_slot(self) -> Slot<Self::Argument>
    where
        Self::Argument: TextArgument;
}

impl<A> Undecoded for Ask<A> {
    type Argument = A;

    fn tool_slot(self) -> Slot<A>
    where
        A: TextArgument,
    {
        text_slot()
    }
}

/// Asks for the owned form of a type that is lent.
pub struct Lend<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Clone for Lend<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Lend<T> {}

impl<T: ?Sized> Lend<T> {
    /// The question.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: DeserializeOwned + JsonSchema> Lend<T> {
    /// A slot of the type itself.
    #[must_use]
    pub fn tool_slot(&self) -> Slot<T> {
        described_slot()
    }

    /// A slot of an `Option` of it.
    #[must_use]
    pub fn tool_option_slot(&self) -> Slot<Option<T>> {
        described_slot()
    }
}

/// A type without `JsonSchema`: the argument is `any`.
pub trait LendUndescribed {
    /// The type.
    type Argument;

    /// A slot of the type itself.
    fn tool_slot(&self) -> Slot<Self::Argument>;

    /// A slot of an `Option` of it.
    fn tool_option_slot(&self) -> Slot<Option<Self::Argument>>;
}

impl<T: DeserializeOwned> LendUndescribed for Lend<T> {
    type Argument = T;

    fn tool_slot(&self) -> Slot<T> {
        undescribed_slot()
    }

    fn tool_option_slot(&self) -> Slot<Option<T>> {
        undescribed_slot()
    }
}

/// `str`, `Path` and the like are decoded in their owned form.
pub trait LendUnsized {
    /// The owned form.
    type Owned;

    /// A slot of the owned form.
    fn tool_slot(&self) -> Slot<Self::Owned>;

    /// A slot of an `Option` of it.
    fn tool_option_slot(&self) -> Slot<Option<Self::Owned>>;
}

impl<T: ?Sized + ToOwned<Owned: DeserializeOwned + JsonSchema>> LendUnsized for &Lend<T> {
    type Owned = T::Owned;

    fn tool_slot(&self) -> Slot<T::Owned> {
        described_slot()
    }

    fn tool_option_slot(&self) -> Slot<Option<T::Owned>> {
        described_slot()
    }
}

/// The last resort of [`Lend`], as [`Undecoded`] is that of [`Ask`].
pub trait LendUndecoded {
    /// The type.
    type Argument;

    /// A slot whose string is parsed.
    fn tool_slot(self) -> Slot<Self::Argument>
    where
        Self::Argument: TextArgument;

    /// A slot whose string, if there is one, is parsed.
    fn tool_option_slot(self) -> Slot<Option<Self::Argument>>
    where
        Self::Argument: TextArgument;
}

impl<T> LendUndecoded for Lend<T> {
    type Argument = T;

    fn tool_slot(self) -> Slot<T>
    where
        T: TextArgument,
    {
        text_slot()
    }

    fn tool_option_slot(self) -> Slot<Option<T>>
    where
        T: TextArgument,
    {
        optional_text_slot()
    }
}

/// Lends an owned value as what the function takes.
#[inline]
pub fn lend<T: ?Sized, O: Borrow<T>>(owned: &O) -> &T {
    owned.borrow()
}

fn fill_json<A: DeserializeOwned>(text: &str, at: &mut usize, value: &mut Option<A>) -> Result<(), Undecodable> {
    *value = Some(decode_json(text, at)?);
    Ok(())
}

#[inline]
pub(super) fn decode_json<A: DeserializeOwned>(text: &str, at: &mut usize) -> Result<A, Undecodable> {
    let rest = text.get(*at..).unwrap_or_default();
    if let Some((value, length)) = integer(rest.as_bytes()) {
        *at += length;
        return Ok(value);
    }
    let mut deserializer = serde_json::Deserializer::from_str(rest);
    let value = A::deserialize(&mut deserializer)?;
    // Not iterated: an iterator is what tells how far the deserializer has come.
    *at += deserializer.into_iter::<IgnoredAny>().byte_offset();
    Ok(value)
}

/// The one text type in wide use whose crate brings no schema of its own: its full name is what tells it.
fn text_format<A>() -> Option<&'static str> {
    (type_name::<A>() == "url::Url").then_some("uri")
}
