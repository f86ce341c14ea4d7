//! Slots: the decode targets of single arguments.
//!
//! The macros write `(&Ask::<T>::NEW).tool_slot()` for a parameter of type `T` and `(&Lend::<T>::NEW).tool_slot()` for one
//! of type `&T`. Method resolution selects the method by the traits of `T`: inherent methods on a reference first, then
//! traits on the type by reference, then traits on a reference, then traits by value. The reader sees a slot only as
//! [`Decode`], so the reader is compiled once and decoding once per type. The prefix `tool_` avoids clashes of names.

use std::any::type_name;
use std::borrow::Borrow;
use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error as _, IgnoredAny};
use serde_json::Error;
use tool_model::trace::trace;
use tool_model::validate::DecodeReason;
use tool_model::{ArgumentType, TypeSchema};

use super::absent;
use super::decode_error::message_of;
use super::integer::integer;

/// The interface between the argument reader and a slot.
pub trait Decode {
    /// Decodes the value that starts at `at`, and moves `at` behind it.
    ///
    /// # Errors
    /// If there is no value of the slot's type.
    fn decode(&mut self, text: &str, at: &mut usize) -> Result<(), Undecodable>;

    /// Fills the slot of an absent argument. Returns `false` if the argument is required.
    fn absent(&mut self) -> bool;

    /// Returns `true` if the slot is filled.
    fn is_filled(&self) -> bool;

    /// Empties the slot.
    fn clear(&mut self);

    /// Returns the properties of the argument's type.
    fn argument_type(&self) -> ArgumentType;
}

/// The error of a slot whose value could not be decoded. Boxed, so that the result of a successful call fits into registers.
pub struct Undecodable(pub(super) Box<DecodeFailure>);

/// Reasons of an [`Undecodable`] value.
pub(super) enum DecodeFailure {
    /// The type's own error.
    Type(Error),
    /// The value was decoded, and its conversion failed. The indexes of list items lead to it.
    Conversion { items: Vec<usize>, error: Error },
    /// A module refused the value.
    Module(Error),
    /// The type read an integer up to its point or exponent.
    Fraction,
}

impl Undecodable {
    /// Creates the error of a conversion; the indexes of list items lead to the value.
    #[cold]
    pub(super) fn conversion(items: Vec<usize>, error: Error) -> Self {
        Self(Box::new(DecodeFailure::Conversion { items, error }))
    }

    /// Returns `true` if the value was decoded, and its conversion failed.
    pub(super) fn is_conversion(&self) -> bool {
        matches!(*self.0, DecodeFailure::Conversion { .. })
    }
}

impl Display for Undecodable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &*self.0 {
            DecodeFailure::Type(error) | DecodeFailure::Module(error) | DecodeFailure::Conversion { error, .. } => {
                f.write_str(&message_of(error))
            }
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

/// The decode target of one argument.
pub struct Slot<A> {
    value: Option<A>,
    /// Decodes in place; a returned value would be moved.
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
            // The type's own code may run here. A panic must not prevent the definition.
            optional: crate::panics::catch(|| (self.absent)().is_some()).unwrap_or(false),
            variants: (self.variants)(),
        }
    }
}

impl<A> Slot<A> {
    /// Returns the decoded value.
    ///
    /// # Panics
    /// If the slot is empty; the reader has refused the call in that case.
    #[inline]
    #[track_caller]
    pub fn take(self) -> A {
        self.value.expect("the reader fills every slot or refuses the call")
    }

    /// Returns the decoded value and leaves the slot empty.
    ///
    /// # Panics
    /// If the slot is empty.
    pub(super) fn take_value(&mut self) -> A {
        self.value.take().expect("a slot that has decoded a value is filled")
    }

    /// Uses `Default::default()` if the argument is absent.
    #[must_use]
    pub fn or_default(self) -> Self
    where
        A: Default,
    {
        Self { absent: || Some(A::default()), ..self }
    }
}

/// Detects references among types with a lifetime: an alias (`type Text<'a> = &'a str`) hides them from the macros.
pub struct Aliased<A>(PhantomData<A>);

impl<A> Aliased<A> {
    /// The probe.
    pub const NEW: Self = Self(PhantomData);
}

impl<'a, T: ?Sized> Aliased<&'a T> {
    /// Rejects a reference with a diagnostic.
    pub fn tool_is_owned(self)
    where
        &'a T: OwnedArgument,
    {
    }
}

/// A type that is not a reference.
pub trait NoReference: Sized {
    /// Accepts the type.
    fn tool_is_owned(self) {}
}

impl<A> NoReference for Aliased<A> {}

/// A type that owns its data. No reference implements it.
#[diagnostic::on_unimplemented(
    message = "an argument cannot be an alias for `{Self}`: decoded values are owned and then borrowed",
    label = "an alias for a reference",
    note = "write the reference itself, such as `&str` or `&[T]`, or the owned type"
)]
pub trait OwnedArgument {}

/// Selects the slot of a type by its traits.
pub struct Ask<A>(PhantomData<A>);

// The last resort takes the question by value, from behind a reference.
impl<A> Clone for Ask<A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<A> Copy for Ask<A> {}

impl<A> Ask<A> {
    /// The probe.
    pub const NEW: Self = Self(PhantomData);
}

impl<A: DeserializeOwned + JsonSchema> Ask<A> {
    /// Creates a slot that uses the type's `Deserialize` and `JsonSchema`.
    #[must_use]
    #[inline]
    pub fn tool_slot(&self) -> Slot<A> {
        described_slot()
    }
}

/// A type without `JsonSchema`: its schema is traced.
pub trait Undescribed {
    /// The type of the argument.
    type Argument;

    /// Creates a slot that uses the type's `Deserialize`.
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

/// Creates a slot of a type without `JsonSchema`, whose schema comes from tracing its `Deserialize`.
fn undescribed_slot<A: DeserializeOwned>() -> Slot<A> {
    json_slot(Some(TypeSchema::Traced(trace::<A>)))
}

#[inline]
fn json_slot<A: DeserializeOwned>(schema: Option<TypeSchema>) -> Slot<A> {
    Slot { value: None, decode: fill_json::<A>, absent: absent::absent::<A>, variants: absent::variants::<A>, schema }
}

/// `Option<T>` and `Vec<T>` of a type with `FromStr` but without `Deserialize`.
pub trait OptionalText {
    /// The type of the argument.
    type Argument;

    /// Creates a slot that parses strings.
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
                let parsed = items
                    .map(|(index, text)| A::parse(&text).map_err(|error| Undecodable::conversion(vec![index], error)));
                *value = Some(parsed.collect::<Result<_, _>>()?);
                Ok(())
            },
            absent: || None,
            variants: || &[],
            schema: Some(TypeSchema::Texts(text_format::<A>())),
        }
    }
}

fn parse<A: TextArgument>(text: &str) -> Result<A, Undecodable> {
    A::parse(text).map_err(|error| Undecodable::conversion(Vec::new(), error))
}

fn text_slot<A: TextArgument>() -> Slot<A> {
    Slot {
        value: None,
        decode: |text, at, value| {
            *value = Some(parse(&decode_json::<String>(text, at)?)?);
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
            *value = Some(decode_json::<Option<String>>(text, at)?.map(|text| parse(&text)).transpose()?);
            Ok(())
        },
        absent: || Some(None),
        variants: || &[],
        schema: Some(TypeSchema::Text(text_format::<A>())),
    }
}

/// A type with `FromStr` but without `Deserialize`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool's argument: it implements neither `Deserialize` nor `FromStr`",
    label = "not an argument",
    note = "derive `serde::Deserialize` for it (and `schemars::JsonSchema`, so that the model sees its shape), or implement `FromStr`",
    note = "if the type cannot be changed, convert the argument with `#[arg(via(T))]` or `#[arg(with = \"module\")]`",
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

/// The fallback of [`Ask`]. The bound is on the method, so that the compiler reports it.
pub trait Undecoded {
    /// The type of the argument.
    type Argument;

    /// Creates a slot that parses a string.
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

/// Selects the slot of the owned form of a borrowed type.
pub struct Lend<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> Clone for Lend<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Lend<T> {}

impl<T: ?Sized> Lend<T> {
    /// The probe.
    pub const NEW: Self = Self(PhantomData);
}

impl<T: DeserializeOwned + JsonSchema> Lend<T> {
    /// Creates a slot of the type.
    #[must_use]
    pub fn tool_slot(&self) -> Slot<T> {
        described_slot()
    }

    /// Creates a slot of an `Option` of the type.
    #[must_use]
    pub fn tool_option_slot(&self) -> Slot<Option<T>> {
        described_slot()
    }
}

/// A type without `JsonSchema`: its schema is traced.
pub trait LendUndescribed {
    /// The type.
    type Argument;

    /// Creates a slot of the type.
    fn tool_slot(&self) -> Slot<Self::Argument>;

    /// Creates a slot of an `Option` of the type.
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

/// Unsized types such as `str` and `Path`, which are decoded in their owned form.
pub trait LendUnsized {
    /// The owned form.
    type Owned;

    /// Creates a slot of the owned form.
    fn tool_slot(&self) -> Slot<Self::Owned>;

    /// Creates a slot of an `Option` of the type.
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

/// The fallback of [`Lend`], like [`Undecoded`] for [`Ask`].
pub trait LendUndecoded {
    /// The type.
    type Argument;

    /// Creates a slot that parses a string.
    fn tool_slot(self) -> Slot<Self::Argument>
    where
        Self::Argument: TextArgument;

    /// Creates a slot that parses an optional string.
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

/// Borrows an owned value as the type of the parameter.
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
    // Only an iterator exposes the offset of the deserializer.
    *at += deserializer.into_iter::<IgnoredAny>().byte_offset();
    Ok(value)
}

/// Returns the format of `url::Url`, the one common string type whose crate has no `JsonSchema`.
fn text_format<A>() -> Option<&'static str> {
    (type_name::<A>() == "url::Url").then_some("uri")
}
