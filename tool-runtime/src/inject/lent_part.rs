//! Parts of provided values: a `&mut SqliteConnection` out of a `Transaction`.

use std::any::{Any, TypeId, type_name};

use super::HeldValue;

type AnyBox = Box<dyn Any + Send>;
type Projection<P> = Box<dyn for<'a> Fn(&'a mut (dyn Any + Send)) -> Option<&'a mut P> + Send + Sync>;

/// A part that handlers borrow from a provided value, as [`Builder::lend`](crate::Builder::lend) declares it.
pub(crate) struct LentPart {
    /// The type of the part.
    pub(crate) type_id: TypeId,
    /// The type of the value that has the part.
    pub(crate) owner: (TypeId, &'static str),
    take: fn(&mut HeldValue) -> Option<AnyBox>,
    /// A [`Projection`] to the part's type.
    project: Box<dyn Any + Send + Sync>,
}

impl LentPart {
    pub(crate) fn new<T, P>(project: impl Fn(&mut T) -> &mut P + Send + Sync + 'static) -> Self
    where
        T: Send + 'static,
        P: Send + 'static,
    {
        let project: Projection<P> = Box::new(move |owner| Some(project(owner.downcast_mut::<T>()?)));
        Self {
            type_id: TypeId::of::<P>(),
            owner: (TypeId::of::<T>(), type_name::<T>()),
            take: |held| held.take_value::<T>().map(|owner| Box::new(owner) as AnyBox),
            project: Box::new(project),
        }
    }

    /// Moves the value that has the part out, unless it is lent.
    pub(super) fn take_owner(&self, held: &mut HeldValue) -> Option<AnyBox> {
        (self.take)(held)
    }

    /// Borrows the part.
    pub(super) fn borrow<'a, P: 'static>(&self, owner: &'a mut AnyBox) -> Option<&'a mut P> {
        self.project.downcast_ref::<Projection<P>>()?(&mut **owner)
    }
}
