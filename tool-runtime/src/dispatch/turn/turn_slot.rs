//! The slots of a turn: how many of its calls run at a time, and which run alone.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The slots of a turn, in the order of its calls.
///
/// A sequential call waits for the calls before it, and the calls after it wait. A call that waits for its approval is
/// suspended: it holds up no other call, and waits for its slot again once it is decided. Its preview needs a slot as
/// well, so that no more calls and previews run at a time than allowed, but does not have to run alone.
pub(crate) struct TurnSlots {
    limit: usize,
    plan: Mutex<TurnPlan>,
}

#[derive(Default)]
struct TurnPlan {
    calls: Vec<PlannedCall>,
    /// The calls that are yet to run, unless they are suspended. The sets hold indices of `calls`.
    pending: BTreeSet<usize>,
    /// The pending calls that run alone.
    pending_alone: BTreeSet<usize>,
    /// The pending calls that wait for their slot.
    waiting: BTreeSet<usize>,
    running: usize,
    /// Set while a sequential call runs.
    is_alone: bool,
    /// The number of times a call was examined to decide whether it may run.
    #[cfg(test)]
    examined: usize,
}

struct PlannedCall {
    alone: bool,
    phase: SlotPhase,
    /// Notified when the call may run.
    turn: Arc<Notify>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotPhase {
    /// The call has not asked for its slot yet.
    Coming,
    /// The call waits for an approval.
    Suspended,
    Waiting {
        alone: bool,
    },
    Running,
    Over,
}

/// The slot of one call. Dropping it ends the call.
pub(crate) struct TurnSlot {
    slots: Arc<TurnSlots>,
    index: usize,
}

/// The slot of a call that is being approved or previewed. Dropping this makes the call pending again.
pub(crate) struct SuspendedSlot(Arc<TurnSlot>);

impl TurnSlots {
    /// Creates the slots for calls, each of which is sequential or not.
    pub(crate) fn new(limit: usize, alone: impl IntoIterator<Item = bool>) -> Arc<Self> {
        let planned = |alone| PlannedCall { alone, phase: SlotPhase::Coming, turn: Arc::default() };
        let mut plan = TurnPlan { calls: alone.into_iter().map(planned).collect(), ..TurnPlan::default() };
        (0..plan.calls.len()).for_each(|index| plan.put(index, SlotPhase::Coming));
        Arc::new(Self { limit, plan: Mutex::new(plan) })
    }

    /// Returns the slot of a call. Must be called once per call.
    pub(crate) fn slot(self: &Arc<Self>, index: usize) -> TurnSlot {
        TurnSlot { slots: self.clone(), index }
    }

    fn plan(&self) -> MutexGuard<'_, TurnPlan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Moves a call to another phase, and admits the calls that may run then.
    fn put(&self, index: usize, phase: SlotPhase) {
        let mut plan = self.plan();
        plan.put(index, phase);
        plan.admit(self.limit);
    }
}

impl TurnPlan {
    fn put(&mut self, index: usize, phase: SlotPhase) {
        let PlannedCall { alone, phase: before, .. } = self.calls[index];
        if before == SlotPhase::Running {
            self.running -= 1;
            self.is_alone = false;
        }
        let (is_pending, alone) = match phase {
            SlotPhase::Coming => (true, alone),
            SlotPhase::Waiting { alone } => (true, alone),
            SlotPhase::Suspended | SlotPhase::Running | SlotPhase::Over => (false, false),
        };
        let put = |set: &mut BTreeSet<usize>, is_in| if is_in { set.insert(index) } else { set.remove(&index) };
        put(&mut self.pending, is_pending);
        put(&mut self.pending_alone, is_pending && alone);
        put(&mut self.waiting, matches!(phase, SlotPhase::Waiting { .. }));
        self.calls[index].phase = phase;
    }

    /// Admits waiting calls in their order. What blocks the first waiting call blocks all calls after it.
    fn admit(&mut self, limit: usize) {
        while let Some(&index) = self.waiting.first() {
            #[cfg(test)]
            {
                self.examined += 1;
            }
            let alone = self.calls[index].phase == SlotPhase::Waiting { alone: true };
            let may_run = match alone {
                true => self.running == 0 && self.pending.first() == Some(&index),
                false => {
                    let is_behind = self.pending_alone.first().is_some_and(|first| *first < index);
                    self.running < limit && !self.is_alone && !is_behind
                }
            };
            if !may_run {
                return;
            }
            self.put(index, SlotPhase::Running);
            self.running += 1;
            self.is_alone = alone;
            self.calls[index].turn.notify_one();
        }
    }
}

impl TurnSlot {
    /// Waits until the call may run.
    pub(crate) async fn enter(&self) {
        let alone = self.slots.plan().calls[self.index].alone;
        self.wait(alone).await;
    }

    /// Waits until the preview of the call may run.
    pub(crate) async fn preview(self: &Arc<Self>) -> SuspendedSlot {
        self.wait(false).await;
        SuspendedSlot(self.clone())
    }

    async fn wait(&self, alone: bool) {
        self.slots.put(self.index, SlotPhase::Waiting { alone });
        let turn = self.slots.plan().calls[self.index].turn.clone();
        turn.notified().await;
    }

    /// Suspends the slot while the call waits for an approval.
    pub(crate) fn suspend(self: &Arc<Self>) -> SuspendedSlot {
        self.slots.put(self.index, SlotPhase::Suspended);
        SuspendedSlot(self.clone())
    }
}

impl Drop for TurnSlot {
    fn drop(&mut self) {
        self.slots.put(self.index, SlotPhase::Over);
    }
}

impl Drop for SuspendedSlot {
    fn drop(&mut self) {
        self.0.slots.put(self.0.index, SlotPhase::Coming);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::properties;

    /// The steps of a call before it runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Before {
        Nothing,
        Asks,
        Previews,
    }

    fn before() -> impl Strategy<Value = Before> {
        prop_oneof![Just(Before::Nothing), Just(Before::Asks), Just(Before::Previews)]
    }

    /// The slots of a turn, and the calls that are being previewed.
    struct SimulatedTurn {
        slots: Arc<TurnSlots>,
        previewed: BTreeSet<usize>,
    }

    impl SimulatedTurn {
        fn new(limit: usize, alone: &[bool]) -> Self {
            Self { slots: TurnSlots::new(limit, alone.iter().copied()), previewed: BTreeSet::new() }
        }

        /// Advances a call by one step.
        fn step(&mut self, index: usize, before: Before) {
            let PlannedCall { phase, alone, .. } = self.slots.plan().calls[index];
            let next = match (phase, before) {
                (SlotPhase::Coming, Before::Asks) => SlotPhase::Suspended,
                (SlotPhase::Coming, Before::Previews) => {
                    self.previewed.insert(index);
                    SlotPhase::Waiting { alone: false }
                }
                (SlotPhase::Coming | SlotPhase::Suspended, _) => SlotPhase::Waiting { alone },
                (SlotPhase::Running, _) if self.previewed.remove(&index) => SlotPhase::Coming,
                (SlotPhase::Running, _) => SlotPhase::Over,
                (SlotPhase::Waiting { .. } | SlotPhase::Over, _) => return,
            };
            self.slots.put(index, next);
        }

        /// Returns the phase of each call, and whether it has to run alone now.
        fn phases(&self) -> Vec<(bool, SlotPhase)> {
            let plan = self.slots.plan();
            let all = plan.calls.iter().enumerate();
            all.map(|(index, call)| (call.alone && !self.previewed.contains(&index), call.phase)).collect()
        }
    }

    /// Examining every call whenever one starts or ends would take ten million steps.
    #[test]
    fn the_work_of_a_turn_is_linear_in_its_calls() {
        const CALLS: usize = 3_000;
        let slots = TurnSlots::new(16, (0..CALLS).map(|index| index % 100 == 99));
        (0..CALLS).for_each(|index| slots.put(index, SlotPhase::Waiting { alone: index % 100 == 99 }));
        let is_running = |index: &usize| slots.plan().calls[*index].phase == SlotPhase::Running;
        let mut first = 0;
        while let Some(index) = (first..CALLS).take(17).find(is_running) {
            slots.put(index, SlotPhase::Over);
            first += usize::from(index == first);
        }
        let plan = slots.plan();
        assert!(plan.calls.iter().all(|call| call.phase == SlotPhase::Over));
        assert!(plan.examined <= 4 * CALLS, "{}", plan.examined);
    }

    proptest! {
        #![proptest_config(properties(500))]

        #[test]
        fn sequential_calls_run_alone_and_every_call_runs(
            alone in proptest::collection::vec(any::<bool>(), 1..8),
            limit in 1..4_usize,
            steps in proptest::collection::vec((0..8_usize, before()), 0..100),
        ) {
            let mut turn = SimulatedTurn::new(limit, &alone);
            for (index, before) in steps {
                turn.step(index % alone.len(), before);
                let phases = turn.phases();
                let running: Vec<bool> =
                    phases.iter().filter(|(_, phase)| *phase == SlotPhase::Running).map(|(alone, _)| *alone).collect();
                prop_assert!(running.len() <= limit);
                prop_assert!(!running.contains(&true) || running.len() == 1, "{phases:?}");
                // No call waits without a reason.
                let waits = |phase: &SlotPhase| matches!(phase, SlotPhase::Waiting { .. });
                let is_idle = running.is_empty() && phases.iter().all(|(_, phase)| *phase != SlotPhase::Coming);
                prop_assert!(!is_idle || !phases.iter().any(|(_, phase)| waits(phase)), "{phases:?}");
            }
            for _ in 0..alone.len() * 6 {
                (0..alone.len()).for_each(|index| turn.step(index, Before::Nothing));
            }
            let phases = turn.phases();
            prop_assert!(phases.iter().all(|(_, phase)| *phase == SlotPhase::Over), "{phases:?}");
        }

        /// Without approvals and previews, no call overtakes a sequential call, and a sequential call overtakes none.
        #[test]
        fn keeps_the_order_around_sequential_calls(
            alone in proptest::collection::vec(any::<bool>(), 1..8),
            steps in proptest::collection::vec(0..8_usize, 0..100),
        ) {
            let mut turn = SimulatedTurn::new(4, &alone);
            for index in steps {
                turn.step(index % alone.len(), Before::Nothing);
                let phases = turn.phases();
                let has_begun = |phase| matches!(phase, SlotPhase::Running | SlotPhase::Over);
                for (later, (later_alone, phase)) in phases.iter().enumerate() {
                    for (earlier_alone, earlier) in &phases[..later] {
                        let bound = *later_alone || *earlier_alone;
                        prop_assert!(!(bound && has_begun(*phase)) || *earlier == SlotPhase::Over, "{phases:?}");
                    }
                }
            }
        }
    }
}
