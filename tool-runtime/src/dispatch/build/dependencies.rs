//! Everything that can be injected, and how a parameter finds it.

use std::any::{Any, TypeId};
use std::pin::Pin;
use std::sync::{Arc, LazyLock};

use tokio::sync::Mutex;

use crate::dispatch::build::problem::short_type;
use crate::inject::{CallFact, HeldValue, InjectError, InjectedValue, ValueProvider, ValueSlot};
use crate::{Dispatcher, Progress};

/// What listens where nobody does.
static NOBODY: LazyLock<Arc<Progress>> = LazyLock::new(Arc::default);

/// What an application provides.
#[derive(Default)]
pub(crate) struct Dependencies {
    pub(crate) providers: Vec<ValueProvider>,
    pub(crate) values: Vec<SharedDependency>,
    pub(crate) services: Vec<SharedDependency>,
    pub(crate) exclusive_services: Vec<ExclusiveService>,
    pub(crate) per_call: Vec<(TypeId, &'static str)>,
}

/// The guard of a locked service, its type erased.
type ServiceGuard = Pin<Box<dyn Future<Output = Box<dyn Any + Send>> + Send>>;

/// A service that each call has for itself, behind an async lock.
#[derive(Clone)]
pub(crate) struct ExclusiveService {
    pub(crate) type_id: TypeId,
    pub(crate) lock: Arc<dyn Fn() -> ServiceGuard + Send + Sync>,
}

impl ExclusiveService {
    pub(crate) fn new<S: Send + 'static>(service: S) -> Self {
        let mutex = Arc::new(Mutex::new(service));
        let lock = move || -> ServiceGuard {
            let mutex = mutex.clone();
            Box::pin(async move { Box::new(mutex.lock_owned().await) as Box<dyn Any + Send> })
        };
        Self { type_id: TypeId::of::<S>(), lock: Arc::new(lock) }
    }
}

/// A value that came with a call. Clones share it.
#[derive(Clone)]
pub(crate) struct CallValue {
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) slot: Arc<ValueSlot>,
}

impl CallValue {
    pub(crate) fn new<T: Send + 'static>(value: T) -> Self {
        let slot = ValueSlot::of(HeldValue::new(value));
        Self { type_id: TypeId::of::<T>(), type_name: std::any::type_name::<T>(), slot }
    }
}

/// A value that all calls share.
pub(crate) struct SharedDependency {
    /// The name under which it was given; a service has none.
    pub(crate) name: Option<String>,
    pub(crate) type_id: TypeId,
    pub(crate) type_name: &'static str,
    pub(crate) value: Arc<dyn Any + Send + Sync>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueSource {
    Provider(usize),
    Value(usize),
    Service(usize),
    PerCall(TypeId),
    /// What is known of every call.
    Fact(CallFact),
    /// What listens to the call, if anybody does.
    Progress,
    /// The dispatcher that runs the call.
    Tools,
}

impl Dependencies {
    /// The source of a name, with its type.
    pub(crate) fn by_name(&self, name: &str) -> Option<(ValueSource, TypeId, &'static str)> {
        let provider = self.providers.iter().position(|provider| provider.name == name);
        if let Some(index) = provider {
            let provider = &self.providers[index];
            return Some((ValueSource::Provider(index), provider.type_id, provider.type_name));
        }
        let index = self.values.iter().position(|value| value.name.as_deref() == Some(name))?;
        Some((ValueSource::Value(index), self.values[index].type_id, self.values[index].type_name))
    }

    /// Returns the only source of a type. A service that was passed as an `Arc` of it serves too, if `arc_type_id` is given.
    pub(crate) fn by_type(
        &self,
        type_id: TypeId,
        arc_type_id: Option<TypeId>,
        type_name: &str,
    ) -> Result<ValueSource, String> {
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
            [] => CallFact::of(type_id).map(ValueSource::Fact).ok_or_else(|| self.nothing_of_type(type_name)),
            several => {
                let names: Vec<String> = several.iter().map(|source| self.describe(*source)).collect();
                Err(format!("`{}` is provided more than once: {}", short_type(type_name), names.join(", ")))
            }
        }
    }

    /// Two types can have the same short name; then their paths tell them apart.
    fn nothing_of_type(&self, type_name: &'_ str) -> String {
        let shared = self.values.iter().chain(&self.services).map(|value| value.type_name);
        let provided = self.providers.iter().map(|provider| provider.type_name).chain(shared);
        let short = short_type(type_name);
        match provided.filter(|name| *name != type_name).find(|name| short_type(name) == short) {
            Some(other) => format!("nothing of type `{type_name}` is provided (`{other}` is another type)"),
            None => format!("nothing of type `{short}` is provided"),
        }
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let providers = self.providers.iter().map(|provider| provider.name.as_str());
        providers.chain(self.values.iter().filter_map(|value| value.name.as_deref()))
    }

    /// A source in words.
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
                format!("`.with(..)` of each call, a `{}`", short_type(name))
            }
            ValueSource::Fact(fact) => fact.describe().to_owned(),
            ValueSource::Progress => "whoever listens to the call".to_owned(),
            ValueSource::Tools => "the dispatcher that runs the call".to_owned(),
        }
    }

    /// The value of a source that needs no provider.
    pub(crate) fn ready_input(&self, source: ValueSource, with: &[CallValue]) -> Result<InjectedValue, InjectError> {
        match source {
            ValueSource::Value(index) => Ok(InjectedValue::Shared(self.values[index].value.clone())),
            ValueSource::Service(index) => Ok(InjectedValue::Shared(self.services[index].value.clone())),
            ValueSource::PerCall(id) => match with.iter().find(|given| given.type_id == id) {
                Some(given) => Ok(InjectedValue::Slot(given.slot.clone())),
                None => Err(self.not_given(id, with)),
            },
            ValueSource::Progress => match with.iter().find(|given| given.type_id == TypeId::of::<Progress>()) {
                Some(given) => Ok(InjectedValue::Slot(given.slot.clone())),
                None => Ok(InjectedValue::Shared(NOBODY.clone())),
            },
            ValueSource::Tools => match with.iter().find(|given| given.type_id == TypeId::of::<Dispatcher>()) {
                Some(given) => Ok(InjectedValue::Slot(given.slot.clone())),
                None => {
                    Err(InjectError::new("only a tool that takes a `&Dispatcher`, or was made at run time, has it"))
                }
            },
            ValueSource::Provider(_) | ValueSource::Fact(_) => {
                Err(InjectError::new(format!("{} is there only in a scope", self.describe(source))))
            }
        }
    }

    /// What did not come with a call. How to add it, and what came instead, is for the log: a model could not act on it.
    fn not_given(&self, id: TypeId, with: &[CallValue]) -> InjectError {
        let name = self.per_call.iter().find(|(known, _)| *known == id).map_or("", |(_, name)| name);
        let name = short_type(name);
        let came: Vec<String> = with.iter().map(|given| short_type(given.type_name)).collect();
        tracing::warn!(missing = name, ?came, "a value did not come with its call: add it with `.with(..)`");
        InjectError::new(format!("no `{name}` came with the call"))
    }
}
