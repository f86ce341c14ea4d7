//! What the macros emit for a tool, and what a shim gives back.

use std::any::{Any, TypeId, type_name};
use std::fmt::Display;
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use tool_model::{Callable, ReturnType, TypeSchema, Types};

use crate::arguments::{self, ArgumentError, Decode, Reader, Repaired};
use crate::handler_future::HandlerFuture;
use crate::handler_result::{HandlerFailure, HandlerOutput, HandlerResult};
use crate::inject::{InjectError, Injection, Inputs};
use crate::{ErrorKind, ToolError};

/// How a tool is called.
pub struct Shim {
    /// Decodes the arguments and calls the function; asked for its types, says only those.
    pub invoke: fn(Invocation<'_>) -> Step,
    /// What the function needs besides its arguments.
    pub needs: &'static Needs,
}

impl Callable for Shim {
    fn types(&self) -> Types {
        let mut types = Types::default();
        (self.invoke)(Invocation { purpose: InvocationPurpose::Describe(&mut types), ready: None });
        types
    }
}

impl Shim {
    /// What is wrong with how absent arguments are filled: by index, what the type says.
    pub(crate) fn try_absent(&self, reader: Reader<'_>) -> Vec<(usize, String)> {
        let mut wrong = Vec::new();
        (self.invoke)(Invocation { purpose: InvocationPurpose::TryAbsent { reader, wrong: &mut wrong }, ready: None });
        wrong
    }
}

/// What a function needs besides its arguments.
pub struct Needs {
    /// The injected parameters, in order.
    pub injections: fn() -> Vec<Injection>,
    /// How the method takes its instance.
    pub receiver: Receiver,
    /// The class of a method.
    pub class: Option<fn() -> Class>,
}

impl Needs {
    /// Nothing.
    pub const NOTHING: Self = Self { injections: Vec::new, receiver: Receiver::None, class: None };
}

/// How a method takes its instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receiver {
    /// It takes none.
    None,
    /// `&self`
    Ref,
    /// `&mut self`
    Mut,
    /// `self`
    Owned,
    /// `self: Arc<Self>`
    Arc,
}

/// The type whose methods are tools.
pub struct Class {
    /// The type.
    pub type_id: TypeId,
    /// The type of an `Arc` of it. A trait object has no other.
    pub arc_type_id: TypeId,
    /// The name of the type.
    pub type_name: &'static str,
    /// Whether a shared instance can be handed over by value.
    pub is_clone: bool,
    /// How an instance is made for a call.
    pub constructor: Option<Constructor>,
}

impl Class {
    /// Returns the class of a type, without a constructor.
    #[must_use]
    pub fn of<S: 'static>() -> Self {
        Self {
            type_id: TypeId::of::<S>(),
            arc_type_id: TypeId::of::<Arc<S>>(),
            type_name: type_name::<S>(),
            is_clone: false,
            constructor: None,
        }
    }

    /// Returns the class of a trait object.
    #[must_use]
    pub fn object<S: ?Sized + SharedObject>() -> Self {
        Self {
            type_id: TypeId::of::<S>(),
            arc_type_id: TypeId::of::<Arc<S>>(),
            type_name: type_name::<S>(),
            is_clone: false,
            constructor: None,
        }
    }

    /// Returns `true` if a service of this type can be the instance.
    pub(crate) fn accepts(&self, service: TypeId) -> bool {
        service == self.type_id || service == self.arc_type_id
    }
}

/// A trait object that calls on several threads can share.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be shared between threads",
    label = "calls run on several threads",
    note = "add `Send + Sync` to the trait: `trait Name: Send + Sync`"
)]
pub trait SharedObject: Send + Sync + 'static {}

impl<S: ?Sized + Send + Sync + 'static> SharedObject for S {}

/// Returns the answer of a call whose instance could not be built from its injected values.
pub fn construction_failed(type_name: &str, error: &impl Display) -> HandlerResult {
    let message = format!("the call did not run: `{type_name}::new` failed: {error}");
    Err(HandlerFailure::new(ErrorKind::Injection, message))
}

/// `new`, which makes an instance for a call.
#[derive(Clone, Copy)]
pub struct Constructor {
    /// Its parameters.
    pub injections: fn() -> Vec<Injection>,
    /// Calls it.
    pub build: fn(Inputs) -> Result<Building, InjectError>,
}

type Built = Result<Box<dyn Any + Send>, String>;

/// An instance that is made, or being made.
pub enum Building {
    #[doc(hidden)]
    Ready(Built),
    #[doc(hidden)]
    Future(Pin<Box<dyn Future<Output = Built> + Send>>),
}

impl Building {
    /// From a constructor that is not `async`.
    #[must_use]
    pub fn ready(built: Built) -> Self {
        Self::Ready(built)
    }

    /// From an `async` constructor.
    pub fn future(building: impl Future<Output = Built> + Send + 'static) -> Self {
        Self::Future(Box::pin(building))
    }
}

/// What `new` may give back: the type itself, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "`new` of a tool class gives back `Self` or a `Result<Self, E>`, not `{Self}`",
    note = "the error must implement `Display`"
)]
pub trait Constructed<S> {
    #[doc(hidden)]
    fn finished(self) -> Built;
}

impl<S: Send + 'static> Constructed<S> for S {
    fn finished(self) -> Built {
        Ok(Box::new(self))
    }
}

impl<S: Send + 'static, E: Display> Constructed<S> for Result<S, E> {
    fn finished(self) -> Built {
        match self {
            Ok(instance) => Ok(Box::new(instance)),
            Err(error) => Err(format!("{error:#}")),
        }
    }
}

/// One call on its way into a shim.
pub struct Invocation<'a> {
    pub(crate) purpose: InvocationPurpose<'a>,
    /// What the function needs besides its arguments, if that is there already.
    pub(crate) ready: Option<Inputs>,
}

/// What a shim is invoked for.
pub(crate) enum InvocationPurpose<'a> {
    /// To call the function.
    Call { tool: &'a str, reader: Reader<'a>, repaired: &'a mut Option<Box<Repaired>> },
    /// To say what types its arguments have.
    Describe(&'a mut Types),
    /// To try how absent arguments are filled.
    TryAbsent { reader: Reader<'a>, wrong: &'a mut Vec<(usize, String)> },
    /// Not any more: the arguments were wrong.
    Refuse(Box<ToolError>),
}

impl Invocation<'_> {
    /// Decodes the arguments into their slots. Whether the function can be called; if not, [`stop`](Self::stop) says
    /// what is to be answered.
    pub fn read(&mut self, slots: &mut [&mut dyn Decode], returns: Option<ReturnType>) -> bool {
        match &mut self.purpose {
            InvocationPurpose::Call { reader, .. } => match arguments::read(reader, slots) {
                Ok(()) => true,
                Err(problems) => self.mend(slots, problems),
            },
            InvocationPurpose::Describe(types) => {
                types.arguments = slots.iter().map(|slot| slot.argument_type()).collect();
                types.returns = returns;
                false
            }
            InvocationPurpose::TryAbsent { reader, wrong } => {
                **wrong = reader.schemas.try_absent(slots);
                false
            }
            InvocationPurpose::Refuse(_) => false,
        }
    }

    /// Mends the arguments if that is allowed and possible; if not, the call is refused for what is wrong.
    #[cold]
    #[inline(never)]
    fn mend(&mut self, slots: &mut [&mut dyn Decode], problems: Vec<arguments::Problem>) -> bool {
        let InvocationPurpose::Call { tool, reader, repaired } = &mut self.purpose else { return false };
        let mended = match reader.schemas.is_mended(reader.repair) {
            true => arguments::repair(reader, slots, problems),
            false => Err(problems),
        };
        match mended {
            Ok(mended) => {
                **repaired = Some(Box::new(mended));
                true
            }
            Err(problems) => {
                self.purpose = InvocationPurpose::Refuse(Box::new(reader.schemas.explain(tool, reader.text, problems)));
                false
            }
        }
    }

    /// Refuses arguments that were read, for what is wrong with them together or what their type has against them.
    #[cold]
    pub(crate) fn refuse(self, errors: Vec<ArgumentError>) -> Step {
        match self.purpose {
            InvocationPurpose::Call { tool, reader, .. } => {
                Step::Refused(Box::new(reader.schemas.refusal_together(tool, errors)))
            }
            _ => self.stop(),
        }
    }

    /// What is answered when the function cannot be called.
    #[must_use]
    pub fn stop(self) -> Step {
        match self.purpose {
            InvocationPurpose::Refuse(error) => Step::Refused(error),
            InvocationPurpose::Call { .. } | InvocationPurpose::Describe(_) | InvocationPurpose::TryAbsent { .. } => {
                Step::Done(Ok(HandlerOutput::default()))
            }
        }
    }

    /// Runs the function now, or hands it back to be run when its inputs are there.
    #[inline]
    pub fn run<F>(self, function: F) -> Step
    where
        F: FnOnce(Inputs) -> Result<Step, InjectError> + Send + 'static,
    {
        match self.ready {
            Some(inputs) => Step::from_result(function(inputs)),
            None => Step::Waiting(Box::new(function)),
        }
    }
}

/// How far a shim got.
pub enum Step {
    /// The function has answered.
    Done(HandlerResult),
    /// The function is `async`.
    Future(HandlerFuture),
    /// The function blocks its thread.
    Blocking(Box<dyn FnOnce() -> HandlerResult + Send>),
    /// The arguments are decoded; the function waits for its inputs.
    Waiting(PreparedHandler),
    /// The arguments are wrong.
    Refused(Box<ToolError>),
}

pub(crate) type PreparedHandler = Box<dyn FnOnce(Inputs) -> Result<Step, InjectError> + Send>;

impl Step {
    /// The step of an `async` function.
    #[inline]
    pub fn future(future: impl Future<Output = HandlerResult> + Send + 'static) -> Self {
        Self::Future(HandlerFuture::new(future))
    }

    /// The step of a `blocking` function.
    pub fn blocking(function: impl FnOnce() -> HandlerResult + Send + 'static) -> Self {
        Self::Blocking(Box::new(function))
    }

    #[inline]
    pub(crate) fn from_result(step: Result<Self, InjectError>) -> Self {
        step.unwrap_or_else(|error| Self::Done(Err(HandlerFailure::new(ErrorKind::Injection, error.to_string()))))
    }
}

/// Asks for the schema of a result: of the success in a `Result`, of anything else itself.
pub struct Returned<T>(std::marker::PhantomData<T>);

impl<T> Returned<T> {
    /// The question.
    pub const NEW: Self = Self(std::marker::PhantomData);
}

impl<T: JsonSchema, E> Returned<Result<T, E>> {
    /// The schema of a success.
    #[must_use]
    pub fn tool_schema(self) -> Option<ReturnType> {
        Some(ReturnType { type_name: type_name::<T>(), schema: TypeSchema::of::<T>() })
    }
}

/// A plain result with a schema.
pub trait PlainReturned {
    /// The schema of the result.
    fn tool_schema(self) -> Option<ReturnType>;
}

impl<T: JsonSchema> PlainReturned for Returned<T> {
    fn tool_schema(self) -> Option<ReturnType> {
        Some(ReturnType { type_name: type_name::<T>(), schema: TypeSchema::of::<T>() })
    }
}

/// A result without a schema.
pub trait UnknownReturned {
    /// Nothing.
    fn tool_schema(self) -> Option<ReturnType>;
}

impl<T> UnknownReturned for &Returned<T> {
    fn tool_schema(self) -> Option<ReturnType> {
        None
    }
}
