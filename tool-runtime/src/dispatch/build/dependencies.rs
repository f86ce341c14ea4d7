//! The values that can be injected, and the lookup of a parameter's source.

use std::any::{Any, TypeId};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use tokio::sync::Mutex;

use crate::dispatch::build::problem::{short_type, with_article};
use crate::inject::{CallFact, HeldValue, InjectError, InjectedValue, ValueProvider, ValueSlot};
use crate::{Dispatcher, Progress};

/// The progress of calls without a listener.
static NO_LISTENER: LazyLock<Arc<Progress>> = LazyLock::new(Arc::default);

/// The values, services and providers of an application.
#[derive(Default)]
pub(crate) struct Dependencies {
    pub(crate) providers: Vec<ValueProvider>,
    pub(crate) values: Vec<SharedDependency>,
    pub(crate) services: Vec<SharedDependency>,
    pub(crate) exclusive_services: Vec<ExclusiveService>,
    /// The types of the services whose tools are offered beside the manifest.
    pub(crate) beside_manifest: Vec<TypeId>,
    pub(crate) per_call: Vec<(TypeId, &'static str)>,
}

/// A future of the type-erased guard of a locked service.
type ServiceGuard = Pin<Box<dyn Future<Output = Box<dyn Any + Send>> + Send>>;

/// A service that each call has for itself, behind an async lock.
#[derive(Clone)]
pub(crate) struct ExclusiveService {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) try_lock: Arc<dyn Fn() -> Option<Box<dyn Any + Send>> + Send + Sync>,
    pub(crate) lock: Arc<dyn Fn() -> ServiceGuard + Send + Sync>,
}

impl ExclusiveService {
    pub(crate) fn new<S: Send + 'static>(service: S) -> Self {
        let mutex = Arc::new(Mutex::new(service));
        let tried = mutex.clone();
        let try_lock = move || Some(Box::new(tried.clone().try_lock_owned().ok()?) as Box<dyn Any + Send>);
        let lock = move || -> ServiceGuard {
            let mutex = mutex.clone();
            Box::pin(async move { Box::new(mutex.lock_owned().await) as Box<dyn Any + Send> })
        };
        let type_name = std::any::type_name::<S>();
        Self { type_id: TypeId::of::<S>(), type_name, try_lock: Arc::new(try_lock), lock: Arc::new(lock) }
    }
}

/// The reason why no single source provides a type.
#[derive(Debug)]
pub(crate) enum SourceError {
    /// `other` is a provided type of the same short name.
    NotProvided {
        type_name: String,
        other: Option<&'static str>,
    },
    Ambiguous {
        type_name: String,
        sources: Vec<String>,
    },
}

impl std::fmt::Display for SourceError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NotProvided { type_name, other: None } => write!(f, "nothing of type `{type_name}` is provided"),
            Self::NotProvided { type_name, other: Some(other) } => {
                write!(f, "nothing of type `{type_name}` is provided (`{other}` is another type)")
            }
            Self::Ambiguous { type_name, sources } => {
                write!(f, "`{type_name}` is provided more than once: {}", sources.join(", "))
            }
        }
    }
}

/// A value passed to [`Call::with`](crate::Call::with). Clones share it.
#[derive(Clone)]
pub(crate) struct CallValue {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) slot: Arc<ValueSlot>,
}

impl CallValue {
    pub(crate) fn new<T: Send + 'static>(value: T) -> Self {
        let slot = ValueSlot::new(HeldValue::new(value));
        Self { type_id: TypeId::of::<T>(), type_name: std::any::type_name::<T>(), slot }
    }
}

/// A value or service that all calls share.
pub(crate) struct SharedDependency {
    /// The name of a value; a service has none.
    pub(crate) name: Option<String>,
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) value: Arc<dyn Any + Send + Sync>,
}

/// The source of an injected value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSource {
    Provider(usize),
    Value(usize),
    Service(usize),
    PerCall(TypeId),
    /// A fact that every call has.
    Fact(CallFact),
    /// The progress listener of the call.
    Progress,
    /// The dispatcher that runs the call.
    Tools,
}

impl Dependencies {
    /// Returns the source with this name, and its type.
    pub(crate) fn by_name(&self, name: &str) -> Option<(ValueSource, TypeId, &'static str)> {
        let provider = self.providers.iter().position(|provider| provider.name == name);
        if let Some(index) = provider {
            let provider = &self.providers[index];
            return Some((ValueSource::Provider(index), provider.type_id, provider.type_name));
        }
        let index = self.values.iter().position(|value| value.name.as_deref() == Some(name))?;
        Some((ValueSource::Value(index), self.values[index].type_id, self.values[index].type_name))
    }

    /// Returns the only source of a type.
    /// A service that was passed as an `Arc` of the type serves too, if `arc_type_id` is given.
    pub(crate) fn by_type(
        &self,
        type_id: TypeId,
        arc_type_id: Option<TypeId>,
        type_name: &str,
    ) -> Result<ValueSource, SourceError> {
        if type_id == TypeId::of::<Progress>() {
            return Ok(ValueSource::Progress);
        }
        if type_id == TypeId::of::<Dispatcher>() {
            return Ok(ValueSource::Tools);
        }
        let per_call = self.per_call.iter().filter(|(id, _)| *id == type_id).map(|(id, _)| ValueSource::PerCall(*id));
        let providers = self.providers.iter().enumerate().filter(|(_, provider)| provider.type_id == type_id);
        let values = self.values.iter().enumerate().filter(|(_, value)| value.type_id == type_id);
        let is_service =
            |service: &SharedDependency| service.type_id == type_id || Some(service.type_id) == arc_type_id;
        let services = self.services.iter().enumerate().filter(|(_, service)| is_service(service));
        let sources: Vec<ValueSource> = per_call
            .chain(providers.map(|(index, _)| ValueSource::Provider(index)))
            .chain(values.map(|(index, _)| ValueSource::Value(index)))
            .chain(services.map(|(index, _)| ValueSource::Service(index)))
            .collect();
        match sources.as_slice() {
            [only] => Ok(*only),
            [] => CallFact::from_type(type_id).map(ValueSource::Fact).ok_or_else(|| self.not_provided(type_name)),
            several => {
                let sources = several.iter().map(|source| self.describe(*source)).collect();
                Err(SourceError::Ambiguous { type_name: short_type(type_name), sources })
            }
        }
    }

    /// Returns `true` if a source lends a part of this type.
    pub(crate) fn lends(&self, source: ValueSource, type_id: TypeId) -> bool {
        let ValueSource::Provider(index) = source else { return false };
        self.providers[index].lent.as_ref().is_some_and(|part| part.type_id == type_id)
    }

    /// Returns the only provider that lends a part of this type, or `error` if there is none.
    pub(crate) fn lender(&self, type_id: TypeId, error: SourceError) -> Result<ValueSource, SourceError> {
        let providers = (0..self.providers.len()).map(ValueSource::Provider);
        let lenders: Vec<ValueSource> = providers.filter(|source| self.lends(*source, type_id)).collect();
        match (lenders.as_slice(), error) {
            ([only], _) => Ok(*only),
            ([_, _, ..], SourceError::NotProvided { type_name, .. }) => {
                let sources = lenders.iter().map(|source| self.describe(*source)).collect();
                Err(SourceError::Ambiguous { type_name, sources })
            }
            (_, error) => Err(error),
        }
    }

    /// Returns the named source that a parameter without one probably means: an `Arc` of its type, or a similar name.
    pub(crate) fn near_miss(&self, parameter: &str, arc_type_id: TypeId) -> Option<String> {
        let name = match self.names().find(|name| self.by_name(name).is_some_and(|(_, id, _)| id == arc_type_id)) {
            Some(name) => name,
            None => *tool_model::nearest(parameter, self.names()).first()?,
        };
        let (source, _, type_name) = self.by_name(name)?;
        Some(format!("{} is {}: did you mean it?", self.describe(source), with_article(&short_type(type_name))))
    }

    /// Names both types by their paths if a provided type has the same short name.
    fn not_provided(&self, type_name: &str) -> SourceError {
        let shared = self.values.iter().chain(&self.services).map(|value| value.type_name);
        let provided = self.providers.iter().map(|provider| provider.type_name).chain(shared);
        let short = short_type(type_name);
        match provided.filter(|name| *name != type_name).find(|name| short_type(name) == short) {
            Some(other) => SourceError::NotProvided { type_name: type_name.to_owned(), other: Some(other) },
            None => SourceError::NotProvided { type_name: short, other: None },
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let providers = self.providers.iter().map(|provider| provider.name.as_str());
        providers.chain(self.values.iter().filter_map(|value| value.name.as_deref()))
    }

    /// Describes a source, for messages.
    pub(crate) fn describe(&self, source: ValueSource) -> String {
        match source {
            ValueSource::Provider(index) => format!("the provider {:?}", self.providers[index].name),
            ValueSource::Value(index) => match &self.values[index].name {
                Some(name) => format!("the value {name:?}"),
                None => format!("the shared `{}`", short_type(self.values[index].type_name)),
            },
            ValueSource::Service(index) => format!("the service `{}`", short_type(self.services[index].type_name)),
            ValueSource::PerCall(id) => {
                let name = self.per_call.iter().find(|(known, _)| *known == id).map_or("", |(_, name)| name);
                format!("`.with(..)` of each call, {}", with_article(&short_type(name)))
            }
            ValueSource::Fact(fact) => fact.describe().to_owned(),
            ValueSource::Progress => "the progress listener of the call".to_owned(),
            ValueSource::Tools => "the dispatcher that runs the call".to_owned(),
        }
    }

    /// Returns the value of a source that needs no scope.
    pub(crate) fn ready_input(&self, source: ValueSource, values: &[CallValue]) -> Result<InjectedValue, InjectError> {
        match source {
            ValueSource::Value(index) => Ok(InjectedValue::Shared(self.values[index].value.clone())),
            ValueSource::Service(index) => Ok(InjectedValue::Shared(self.services[index].value.clone())),
            ValueSource::PerCall(id) => match values.iter().find(|value| value.type_id == id) {
                Some(value) => Ok(InjectedValue::Slot(value.slot.clone())),
                None => Err(self.missing_call_value(id, values)),
            },
            ValueSource::Progress => match values.iter().find(|value| value.type_id == TypeId::of::<Progress>()) {
                Some(value) => Ok(InjectedValue::Slot(value.slot.clone())),
                None => Ok(InjectedValue::Shared(NO_LISTENER.clone())),
            },
            ValueSource::Tools => match values.iter().find(|value| value.type_id == TypeId::of::<Dispatcher>()) {
                Some(value) => Ok(InjectedValue::Slot(value.slot.clone())),
                None => {
                    Err(InjectError::new("only a tool that takes a `&Dispatcher`, or was made at run time, has it"))
                }
            },
            ValueSource::Provider(_) | ValueSource::Fact(_) => {
                Err(InjectError::new(format!("{} is there only in a scope", self.describe(source))))
            }
        }
    }

    /// Returns the error for a missing per-call value. The remedy is for the application, so it goes to the log.
    fn missing_call_value(&self, id: TypeId, values: &[CallValue]) -> InjectError {
        let name = self.per_call.iter().find(|(known, _)| *known == id).map_or("", |(_, name)| name);
        let name = short_type(name);
        let passed: Vec<String> = values.iter().map(|value| short_type(value.type_name)).collect();
        tracing::warn!(missing = name, ?passed, "a per-call value is missing: add it with `.with(..)`");
        InjectError::new(format!("no `{name}` came with the call"))
    }
}
