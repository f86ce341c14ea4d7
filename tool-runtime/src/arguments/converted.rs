//! Slots of arguments whose type is not decoded itself: `#[arg(parse)]`, `#[arg(via(..))]` and `#[arg(with = "..")]`.
//!
//! The macros write `converted((&Ask::<Vec<String>>::NEW).tool_slot(), list(Parse::<T>::NEW.tool_conversion()))` for a
//! parsed parameter of type `Vec<T>`. The schema is that of the decoded type.

use std::fmt::Display;
use std::marker::PhantomData;
use std::str::FromStr;

use serde::de::{DeserializeOwned, Error as _};
use serde_json::Error;
use tool_model::ArgumentType;

use super::slot::{Decode, DecodeFailure, Slot, Undecodable, decode_json};

/// A type that a string is parsed into.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be parsed from a string: it does not implement `FromStr`",
    label = "not `FromStr`",
    note = "implement `FromStr` for it, or use `#[arg(via(T))]` with a type that it is converted from"
)]
pub trait ParsedArgument: FromStr {}

impl<A: FromStr> ParsedArgument for A {}

/// A type that a decoded value is converted into.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be converted from `{V}`: it implements neither `From<{V}>` nor `TryFrom<{V}>`",
    label = "not converted from `{V}`",
    note = "implement one of them, or use `#[arg(with = \"module\")]` with a function `module::deserialize`"
)]
pub trait ConvertedArgument<V>: TryFrom<V> {}

impl<V, A: TryFrom<V>> ConvertedArgument<V> for A {}

/// An error of a conversion, which the model reads.
#[diagnostic::on_unimplemented(
    message = "an argument cannot be refused with `{Self}`: the model reads the error as text, and it does not implement `Display`",
    label = "the conversion fails with a `{Self}`",
    note = "implement `std::fmt::Display` for it, or use `#[arg(with = \"module\")]` with a function `module::deserialize`"
)]
pub trait ConversionFailure: Display {}

impl<E: ?Sized + Display> ConversionFailure for E {}

/// The error of a conversion, with the indexes of the list items that lead to the value, from the inside.
pub struct ConversionError {
    items: Vec<usize>,
    error: Error,
}

impl From<ConversionError> for Undecodable {
    #[cold]
    fn from(ConversionError { mut items, error }: ConversionError) -> Self {
        items.reverse();
        Self::conversion(items, error)
    }
}

/// A conversion of decoded values.
pub trait Conversion: Copy {
    /// The type before the conversion.
    type Decoded;
    /// The type after the conversion.
    type Converted;

    /// Converts a value.
    ///
    /// # Errors
    /// If the type refuses the value.
    fn convert(self, value: Self::Decoded) -> Result<Self::Converted, ConversionError>;
}

/// The conversion of a single value.
pub struct SingleConversion<V, A>(fn(V) -> Result<A, Error>);

impl<V, A> Clone for SingleConversion<V, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<V, A> Copy for SingleConversion<V, A> {}

impl<V, A> Conversion for SingleConversion<V, A> {
    type Decoded = V;
    type Converted = A;

    fn convert(self, value: V) -> Result<A, ConversionError> {
        (self.0)(value).map_err(|error| ConversionError { items: Vec::new(), error })
    }
}

/// Selects the conversion of `#[arg(parse)]`. A type without `FromStr` takes the fallback, whose bound the compiler
/// reports, as [`Undecoded`](super::slot::Undecoded) does for types without `Deserialize`.
pub struct Parse<A>(PhantomData<A>);

impl<A> Parse<A> {
    /// The probe.
    pub const NEW: Self = Self(PhantomData);
}

impl<A: FromStr> Parse<A> {
    /// Creates a conversion that uses `FromStr`.
    pub fn tool_conversion(self) -> SingleConversion<String, A>
    where
        A::Err: ConversionFailure,
    {
        SingleConversion(|text| text.parse().map_err(Error::custom))
    }
}

/// The fallback of [`Parse`].
pub trait Unparsed: Sized {
    /// The type of the argument.
    type Argument;

    /// Reports that the type is not parsed.
    fn tool_conversion(self) -> SingleConversion<String, Self::Argument>
    where
        Self::Argument: ParsedArgument,
    {
        SingleConversion(|text| text.parse().map_err(|_| Error::custom("the string cannot be parsed")))
    }
}

impl<A> Unparsed for Parse<A> {
    type Argument = A;
}

/// Selects the conversion of `#[arg(via(V))]`, like [`Parse`].
pub struct Via<V, A>(PhantomData<(V, A)>);

impl<V, A> Via<V, A> {
    /// The probe.
    pub const NEW: Self = Self(PhantomData);
}

impl<V, A: TryFrom<V>> Via<V, A> {
    /// Creates a conversion that uses `From` or `TryFrom`.
    pub fn tool_conversion(self) -> SingleConversion<V, A>
    where
        A::Error: ConversionFailure,
    {
        SingleConversion(|value| A::try_from(value).map_err(Error::custom))
    }
}

/// The fallback of [`Via`].
pub trait Unconverted: Sized {
    /// The type that is decoded.
    type Decoded;
    /// The type of the argument.
    type Argument;

    /// Reports that the type is not converted.
    fn tool_conversion(self) -> SingleConversion<Self::Decoded, Self::Argument>
    where
        Self::Argument: ConvertedArgument<Self::Decoded>,
    {
        SingleConversion(|value| value.try_into().map_err(|_| Error::custom("the value cannot be converted")))
    }
}

impl<V, A> Unconverted for Via<V, A> {
    type Decoded = V;
    type Argument = A;
}

/// Takes the value out of the type whose `Deserialize` calls a module: `#[arg(with = "module")]`.
#[must_use]
pub fn with<V, A>(take: fn(V) -> Result<A, Error>) -> SingleConversion<V, A> {
    SingleConversion(take)
}

/// Converts what an `Option` holds.
#[derive(Clone, Copy)]
pub struct OptionConversion<C>(C);

/// Creates the conversion of an `Option`.
#[must_use]
pub fn option<C>(inner: C) -> OptionConversion<C> {
    OptionConversion(inner)
}

impl<C: Conversion> Conversion for OptionConversion<C> {
    type Decoded = Option<C::Decoded>;
    type Converted = Option<C::Converted>;

    fn convert(self, value: Self::Decoded) -> Result<Self::Converted, ConversionError> {
        value.map(|value| self.0.convert(value)).transpose()
    }
}

/// Converts the items of a list.
#[derive(Clone, Copy)]
pub struct ListConversion<C>(C);

/// Creates the conversion of a list.
#[must_use]
pub fn list<C>(inner: C) -> ListConversion<C> {
    ListConversion(inner)
}

impl<C: Conversion> Conversion for ListConversion<C> {
    type Decoded = Vec<C::Decoded>;
    type Converted = Vec<C::Converted>;

    fn convert(self, value: Self::Decoded) -> Result<Self::Converted, ConversionError> {
        let items = value.into_iter().enumerate().map(|(index, item)| {
            self.0.convert(item).map_err(|mut error| {
                error.items.push(index);
                error
            })
        });
        items.collect()
    }
}

/// Decodes a value behind an offset, with the slot that describes it.
type DecodeFunction<S, V> = fn(&mut Slot<S>, &str, &mut usize) -> Result<V, Undecodable>;

/// The decode target of an argument that is converted.
pub struct ConvertedSlot<S, C: Conversion> {
    /// Describes the JSON, and decodes it unless a module does.
    described: Slot<S>,
    decode: DecodeFunction<S, C::Decoded>,
    conversion: C,
    value: Option<C::Converted>,
    default: Option<fn() -> C::Converted>,
}

/// Creates a slot that decodes the described type.
#[must_use]
pub fn converted<C: Conversion>(described: Slot<C::Decoded>, conversion: C) -> ConvertedSlot<C::Decoded, C> {
    let decode = |slot: &mut Slot<C::Decoded>, text: &str, at: &mut usize| {
        slot.decode(text, at)?;
        Ok(slot.take_value())
    };
    ConvertedSlot { described, decode, conversion, value: None, default: None }
}

/// Creates a slot that decodes another type than the described one.
#[must_use]
pub fn described_as<S, C>(described: Slot<S>, conversion: C) -> ConvertedSlot<S, C>
where
    C: Conversion<Decoded: DeserializeOwned>,
{
    let decode = |_: &mut Slot<S>, text: &str, at: &mut usize| {
        decode_json(text, at).map_err(|error| match *error.0 {
            DecodeFailure::Type(error) => Undecodable(Box::new(DecodeFailure::Module(error))),
            _ => error,
        })
    };
    ConvertedSlot { described, decode, conversion, value: None, default: None }
}

impl<S, C: Conversion> ConvertedSlot<S, C> {
    /// Returns the converted value.
    ///
    /// # Panics
    /// If the slot is empty; the reader has refused the call in that case.
    #[track_caller]
    pub fn take(self) -> C::Converted {
        self.value.expect("the reader fills every slot or refuses the call")
    }

    /// Uses `Default::default()` if the argument is absent.
    #[must_use]
    pub fn or_default(self) -> Self
    where
        C::Converted: Default,
    {
        Self { default: Some(C::Converted::default), ..self }
    }
}

impl<S, C: Conversion> Decode for ConvertedSlot<S, C> {
    fn decode(&mut self, text: &str, at: &mut usize) -> Result<(), Undecodable> {
        let decoded = (self.decode)(&mut self.described, text, at)?;
        self.value = Some(self.conversion.convert(decoded)?);
        Ok(())
    }

    fn absent(&mut self) -> bool {
        if let Some(default) = self.default {
            self.value = Some(default());
            return true;
        }
        let accepts_absence = self.described.absent();
        self.described.clear();
        accepts_absence && self.decode("null", &mut 0).is_ok()
    }

    fn is_filled(&self) -> bool {
        self.value.is_some()
    }

    fn clear(&mut self) {
        self.value = None;
    }

    fn argument_type(&self) -> ArgumentType {
        self.described.argument_type()
    }
}
