//! Shims: the functions that the macros generate to decode arguments and call a handler.

use std::any::{Any, TypeId, type_name};
use std::pin::Pin;
use std::sync::Arc;

use schemars::JsonSchema;
use tool_model::validate::Violation;
use tool_model::{Callable, ReturnType, TypeSchema, Types};

use crate::ToolError;
use crate::arguments::{self, ArgumentReader, Decode, RepairedArguments};
use crate::handler_failure::{BoxError, HandlerFailure};
use crate::handler_future::HandlerFuture;
use crate::handler_result::{HandlerOutput, HandlerResult};
use crate::inject::{HandlerInputs, InjectError, Injection};

/// The generated entry point of a tool.
pub struct Shim {
    /// Decodes the arguments and calls the function, or does what `InvocationPurpose` asks for instead.
    pub invoke: fn(Invocation<'_>) -> HandlerStep,
    /// The inputs of the function besides its arguments.
    pub needs: &'static HandlerNeeds,
}

impl Callable for Shim {
    fn types(&self) -> Types {
        let mut types = Types::default();
        (self.invoke)(Invocation { purpose: InvocationPurpose::Describe(&mut types), ready: None });
        types
    }
}

impl Shim {
    /// Returns the errors of reading the defaults and listed values of arguments, by index.
    pub(crate) fn try_settings(&self, reader: ArgumentReader<'_>) -> Vec<(usize, String)> {
        let mut wrong = Vec::new();
        (self.invoke)(Invocation {
            purpose: InvocationPurpose::TrySettings { reader, wrong: &mut wrong },
            ready: None,
        });
        wrong
    }
}

/// The inputs of a function besides its arguments.
pub struct HandlerNeeds {
    /// The injected parameters, in order.
    pub injections: fn() -> Vec<Injection>,
    /// The receiver of the method.
    pub receiver: ReceiverKind,
    /// The class of a method.
    pub class: Option<fn() -> ToolClass>,
}

impl HandlerNeeds {
    /// No inputs.
    pub const NOTHING: Self = Self { injections: Vec::new, receiver: ReceiverKind::None, class: None };
}

/// The receiver of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReceiverKind {
    /// Not at all.
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
pub struct ToolClass {
    /// The type.
    pub type_id: TypeId,
    /// The type of an `Arc` of it, the only form in which a trait object is passed.
    pub arc_type_id: TypeId,
    /// The name of the type.
    pub type_name: &'static str,
    /// `true` if a shared instance can be cloned for `self`.
    pub is_clone: bool,
    /// Creates an instance for a call.
    pub constructor: Option<InstanceConstructor>,
}

impl ToolClass {
    /// Creates the description of a class without a constructor.
    #[must_use]
    pub fn new<S: 'static>() -> Self {
        Self::of_type::<S>()
    }

    /// Creates the description of a trait object's class.
    #[must_use]
    pub fn object<S: ?Sized + SharedObject>() -> Self {
        Self::of_type::<S>()
    }

    fn of_type<S: ?Sized + 'static>() -> Self {
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

/// Returns the result of a call whose instance could not be built from its injected values.
pub fn construction_failed(type_name: &str, error: impl Into<BoxError>) -> HandlerResult {
    let error = InjectError::caused(format!("`{type_name}::new` failed"), error.into());
    Err(HandlerFailure::injection(error))
}

/// The constructor `new`, which creates an instance for a call.
#[derive(Clone, Copy)]
pub struct InstanceConstructor {
    /// The injected parameters.
    pub injections: fn() -> Vec<Injection>,
    /// Calls the constructor.
    pub build: fn(HandlerInputs) -> Result<BuiltInstance, InjectError>,
}

type Built = Result<Box<dyn Any + Send>, BoxError>;

/// An instance that is ready, or a future of it.
pub enum BuiltInstance {
    #[doc(hidden)]
    Ready(Built),
    #[doc(hidden)]
    Future(Pin<Box<dyn Future<Output = Built> + Send>>),
}

impl BuiltInstance {
    /// Wraps the result of a constructor that is not `async`.
    #[must_use]
    pub fn ready(built: Built) -> Self {
        Self::Ready(built)
    }

    /// Wraps the future of an `async` constructor.
    pub fn future(building: impl Future<Output = Built> + Send + 'static) -> Self {
        Self::Future(Box::pin(building))
    }
}

/// A type that `new` may return: the class itself, or a `Result` of it.
#[diagnostic::on_unimplemented(
    message = "`new` of a tool class returns `Self` or a `Result<Self, E>`, not `{Self}`",
    note = "the error is a `std::error::Error`, a `String` or an `anyhow::Error`"
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

impl<S: Send + 'static, E: Into<BoxError>> Constructed<S> for Result<S, E> {
    fn finished(self) -> Built {
        match self {
            Ok(instance) => Ok(Box::new(instance)),
            Err(error) => Err(error.into()),
        }
    }
}

/// One invocation of a shim.
pub struct Invocation<'a> {
    pub(crate) purpose: InvocationPurpose<'a>,
    /// The inputs of the function, if they are ready.
    pub(crate) ready: Option<HandlerInputs>,
}

/// The purpose of an invocation.
pub(crate) enum InvocationPurpose<'a> {
    /// Call the function.
    Call { tool: &'a str, reader: ArgumentReader<'a>, repaired: &'a mut Option<Box<RepairedArguments>> },
    /// Describe the types of the arguments.
    Describe(&'a mut Types),
    /// Try the defaults and listed values of the arguments.
    TrySettings { reader: ArgumentReader<'a>, wrong: &'a mut Vec<(usize, String)> },
    /// Refuse the call: the arguments are invalid.
    Refuse(Box<ToolError>),
}

impl Invocation<'_> {
    /// Decodes the arguments into their slots. Returns `true` if the function can be called; otherwise
    /// [`stop`](Self::stop) returns the step to return.
    pub fn read(&mut self, slots: &mut [&mut dyn Decode], returns: Option<ReturnType>) -> bool {
        match &mut self.purpose {
            InvocationPurpose::Call { reader, .. } => match arguments::read(reader, slots) {
                Ok(()) => true,
                Err(problems) => self.repair(slots, problems),
            },
            InvocationPurpose::Describe(types) => {
                types.arguments = slots.iter().map(|slot| slot.argument_type()).collect();
                types.returns = returns;
                false
            }
            InvocationPurpose::TrySettings { reader, wrong } => {
                **wrong = reader.schemas.try_settings(slots);
                false
            }
            InvocationPurpose::Refuse(_) => false,
        }
    }

    /// Replaces aliases by the names of their arguments, and repairs the arguments if that is allowed and possible.
    /// Otherwise refuses the call.
    #[cold]
    #[inline(never)]
    fn repair(&mut self, slots: &mut [&mut dyn Decode], problems: Vec<arguments::ArgumentProblem>) -> bool {
        let InvocationPurpose::Call { tool, reader, repaired } = &mut self.purpose else { return false };
        match arguments::repair(reader, slots, problems) {
            Ok(arguments) => {
                **repaired = Some(Box::new(arguments));
                true
            }
            Err(refused) => {
                let error = reader.schemas.explain(tool, &refused.text, refused.problems);
                self.purpose = InvocationPurpose::Refuse(Box::new(error));
                false
            }
        }
    }

    /// Refuses arguments that were decoded but are invalid together, or that their type rejects.
    #[cold]
    pub(crate) fn refuse(self, violations: Vec<Violation>) -> HandlerStep {
        match self.purpose {
            InvocationPurpose::Call { tool, reader, .. } => {
                HandlerStep::Refused(Box::new(reader.schemas.refuse_own(tool, violations)))
            }
            _ => self.stop(),
        }
    }

    /// Returns the step of a function that cannot be called.
    #[must_use]
    pub fn stop(self) -> HandlerStep {
        match self.purpose {
            InvocationPurpose::Refuse(error) => HandlerStep::Refused(error),
            InvocationPurpose::Call { .. } | InvocationPurpose::Describe(_) | InvocationPurpose::TrySettings { .. } => {
                HandlerStep::Done(Ok(HandlerOutput::default()))
            }
        }
    }

    /// Runs the function now, or returns it to be run once its inputs are ready.
    #[inline]
    pub fn run<F>(self, function: F) -> HandlerStep
    where
        F: FnOnce(HandlerInputs) -> Result<HandlerStep, InjectError> + Send + 'static,
    {
        match self.ready {
            Some(inputs) => HandlerStep::from_result(function(inputs)),
            None => HandlerStep::Waiting(Box::new(function)),
        }
    }
}

/// The result of an invocation.
pub enum HandlerStep {
    /// The function has returned.
    Done(HandlerResult),
    /// The function is `async`.
    Future(HandlerFuture),
    /// The function is blocking.
    Blocking(Box<dyn FnOnce() -> HandlerResult + Send>),
    /// The arguments are decoded; the function waits for its inputs.
    Waiting(PreparedHandler),
    /// The arguments are invalid.
    Refused(Box<ToolError>),
}

pub(crate) type PreparedHandler = Box<dyn FnOnce(HandlerInputs) -> Result<HandlerStep, InjectError> + Send>;

impl HandlerStep {
    /// Creates the step of an `async` function.
    #[inline]
    pub fn future(future: impl Future<Output = HandlerResult> + Send + 'static) -> Self {
        Self::Future(HandlerFuture::new(future))
    }

    /// Creates the step of a `blocking` function.
    pub fn blocking(function: impl FnOnce() -> HandlerResult + Send + 'static) -> Self {
        Self::Blocking(Box::new(function))
    }

    #[inline]
    pub(crate) fn from_result(step: Result<Self, InjectError>) -> Self {
        step.unwrap_or_else(|error| Self::Done(Err(HandlerFailure::injection(error))))
    }
}

/// A probe for the schema of a return type: that of the success type for a `Result`, otherwise that of the type.
pub struct ReturnProbe<T>(std::marker::PhantomData<T>);

impl<T> ReturnProbe<T> {
    /// Creates the probe.
    pub const NEW: Self = Self(std::marker::PhantomData);
}

impl<T: JsonSchema, E> ReturnProbe<Result<T, E>> {
    /// Returns the schema of the success type.
    #[must_use]
    pub fn tool_schema(self) -> Option<ReturnType> {
        Some(ReturnType { type_name: type_name::<T>(), schema: TypeSchema::from_type::<T>() })
    }
}

/// A return type with a schema.
pub trait PlainReturned {
    /// Returns the schema.
    fn tool_schema(self) -> Option<ReturnType>;
}

impl<T: JsonSchema> PlainReturned for ReturnProbe<T> {
    fn tool_schema(self) -> Option<ReturnType> {
        Some(ReturnType { type_name: type_name::<T>(), schema: TypeSchema::from_type::<T>() })
    }
}

/// A return type without a schema.
pub trait UnknownReturned {
    /// Returns `None`.
    fn tool_schema(self) -> Option<ReturnType>;
}

impl<T> UnknownReturned for &ReturnProbe<T> {
    fn tool_schema(self) -> Option<ReturnType> {
        None
    }
}
