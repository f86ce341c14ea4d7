//! Blanket traits with methods named like those that the macros use.

use rt::{Effect, tool, tool_class};

macro_rules! extensions {
    ($($name:ident($($receiver:tt)+)),* $(,)?) => {
        /// Methods that every value has, whether it is taken or borrowed.
        #[allow(clippy::wrong_self_convention)]
        pub trait Extensions {
            $(
                /// Not what the macros mean.
                fn $name($($receiver)+) where Self: Sized {}
            )*
        }
        impl<T: ?Sized> Extensions for T {}
    };
}

extensions! {
    answer(self), as_deref(self), as_ref(self), as_slice(self), borrow(&self), borrow_mut(&mut self), collect(self),
    constructor(self), describe(&self), finished(self), instance(self), instance_arc(self), instance_mut(self),
    invoke(&self), lend(&self), lent(self), lent_mut(self), map(self), mode(self), of(self), option_slot(&self),
    or_default(self), owned(self), read(&self), ready(self), run(self), schema(self), slot(&self), stop(self),
    stream(self), take(self), take_instance(self), type_id(&self), unwrap(self),
}

/// An argument that is parsed.
pub struct Parsed(u8);

impl std::str::FromStr for Parsed {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

/// Takes arguments in every way there is.
///
/// # Errors
/// Never.
#[expect(clippy::too_many_arguments, reason = "every way there is")]
#[tool(name = "extended.all", preview = "shown")]
pub fn all(
    number: u8,
    text: &str,
    numbers: &[u8],
    maybe: Option<&str>,
    some: Option<&[u8]>,
    path: impl AsRef<std::path::Path>,
    parsed: Parsed,
    #[arg(default)] absent: u8,
) -> Result<String, String> {
    let path: &std::path::Path = AsRef::as_ref(&path);
    let Parsed(parsed) = parsed;
    Ok(format!("{number} {text} {numbers:?} {maybe:?} {some:?} {} {parsed} {absent}", path.display()))
}

/// Shows what it would do.
#[expect(clippy::too_many_arguments, reason = "those of the tool")]
#[must_use]
pub fn shown(
    number: u8,
    _: &str,
    _: &[u8],
    _: Option<&str>,
    _: Option<&[u8]>,
    _: impl AsRef<std::path::Path>,
    _: Parsed,
    _: u8,
) -> Effect {
    Effect::from(format!("takes {number}"))
}

/// A service.
#[derive(Clone, Debug)]
pub struct ExtendedService(String);

#[tool_class]
impl ExtendedService {
    /// Makes one.
    #[must_use]
    pub fn new(session: &str) -> Self {
        Self(session.to_owned())
    }

    /// Borrows it.
    #[must_use]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// Changes it.
    pub fn push(&mut self, text: String) -> usize {
        self.0.push_str(&text);
        self.0.len()
    }

    /// Takes it.
    #[must_use]
    pub fn into_text(self) -> String {
        self.0
    }
}
