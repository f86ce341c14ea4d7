//! The places of the calls of one turn: how many run at a time, and which run alone.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The places of a turn, in the order of its calls.
///
/// A call that is to run alone waits for those before it, and those behind it wait. TurnCall that is being approved stands
/// aside: it holds up no other call, and takes its place again when it has its answer. Its preview needs a place as
/// well, so that no more is going on than may run at a time, but need not be alone.
pub(crate) struct TurnSlots {
    at_a_time: usize,
    plan: Mutex<TurnPlan>,
}

#[derive(Default)]
struct TurnPlan {
    calls: Vec<PlannedCall>,
    /// The calls that are yet to run, unless they stand aside. The sets hold indices of `calls`.
    pending: BTreeSet<usize>,
    /// Those of them that run alone.
    pending_alone: BTreeSet<usize>,
    /// Those of them that wait for their turn.
    waiting: BTreeSet<usize>,
    running: usize,
    /// Whether the one that runs is alone.
    is_alone: bool,
    /// How many calls were looked at to decide which ones may run.
    #[cfg(test)]
    looked_at: usize,
}

struct PlannedCall {
    alone: bool,
    phase: SlotPhase,
    /// Notified when the call may run.
    turn: Arc<Notify>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotPhase {
    /// It is not known yet whether it runs.
    Coming,
    /// It waits for an approval.
    Suspended,
    Waiting {
        alone: bool,
    },
    Running,
    Over,
}

/// The place of one call. Dropped, the call is over.
pub(crate) struct TurnSlot {
    seats: Arc<TurnSlots>,
    index: usize,
}

/// A call that is being approved or previewed. Dropped, the call is yet to run, unless it is over.
pub(crate) struct SuspendedSlot(Arc<TurnSlot>);

impl TurnSlots {
    /// PermitPool for calls, of which each says whether it is to run alone.
    pub(crate) fn new(at_a_time: usize, alone: impl IntoIterator<Item = bool>) -> Arc<Self> {
        let planned = |alone| PlannedCall { alone, phase: SlotPhase::Coming, turn: Arc::default() };
        let mut plan = TurnPlan { calls: alone.into_iter().map(planned).collect(), ..TurnPlan::default() };
        (0..plan.calls.len()).for_each(|index| plan.put(index, SlotPhase::Coming));
        Arc::new(Self { at_a_time, plan: Mutex::new(plan) })
    }

    /// The place of a call, to be taken once.
    pub(crate) fn seat(self: &Arc<Self>, index: usize) -> TurnSlot {
        TurnSlot { seats: self.clone(), index }
    }

    fn plan(&self) -> MutexGuard<'_, TurnPlan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a call into another phase and lets run what may run then.
    fn put(&self, index: usize, phase: SlotPhase) {
        let mut plan = self.plan();
        plan.put(index, phase);
        plan.admit(self.at_a_time);
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

    /// Lets calls run. What keeps the first of those that wait from running keeps all behind it as well.
    fn admit(&mut self, at_a_time: usize) {
        while let Some(&index) = self.waiting.first() {
            #[cfg(test)]
            {
                self.looked_at += 1;
            }
            let alone = self.calls[index].phase == SlotPhase::Waiting { alone: true };
            let may_run = match alone {
                true => self.running == 0 && self.pending.first() == Some(&index),
                false => {
                    let is_behind = self.pending_alone.first().is_some_and(|first| *first < index);
                    self.running < at_a_time && !self.is_alone && !is_behind
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
        let alone = self.seats.plan().calls[self.index].alone;
        self.wait(alone).await;
    }

    /// Waits until the call may be previewed.
    pub(crate) async fn preview(self: &Arc<Self>) -> SuspendedSlot {
        self.wait(false).await;
        SuspendedSlot(self.clone())
    }

    async fn wait(&self, alone: bool) {
        self.seats.put(self.index, SlotPhase::Waiting { alone });
        let turn = self.seats.plan().calls[self.index].turn.clone();
        turn.notified().await;
    }

    /// Stands aside while the call is being approved.
    pub(crate) fn leave(self: &Arc<Self>) -> SuspendedSlot {
        self.seats.put(self.index, SlotPhase::Suspended);
        SuspendedSlot(self.clone())
    }
}

impl Drop for TurnSlot {
    fn drop(&mut self) {
        self.seats.put(self.index, SlotPhase::Over);
    }
}

impl Drop for SuspendedSlot {
    fn drop(&mut self) {
        self.0.seats.put(self.0.index, SlotPhase::Coming);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::properties;

    /// What a call does before it runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Before {
        Nothing,
        Asks,
        Previews,
    }

    fn before() -> impl Strategy<Value = Before> {
        prop_oneof![Just(Before::Nothing), Just(Before::Asks), Just(Before::Previews)]
    }

    /// The places of a turn, and which of its calls are being previewed.
    struct Turn {
        seats: Arc<TurnSlots>,
        previewed: BTreeSet<usize>,
    }

    impl Turn {
        fn new(at_a_time: usize, alone: &[bool]) -> Self {
            Self { seats: TurnSlots::new(at_a_time, alone.iter().copied()), previewed: BTreeSet::new() }
        }

        /// What a call does next, in any order that calls can do things.
        fn step(&mut self, index: usize, before: Before) {
            let PlannedCall { phase, alone, .. } = self.seats.plan().calls[index];
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
            self.seats.put(index, next);
        }

        /// Whether each call is to run alone, now, and its phase.
        fn phases(&self) -> Vec<(bool, SlotPhase)> {
            let plan = self.seats.plan();
            let all = plan.calls.iter().enumerate();
            all.map(|(index, call)| (call.alone && !self.previewed.contains(&index), call.phase)).collect()
        }
    }

    /// Looking at each call whenever one of them starts or ends would be ten million looks.
    #[test]
    fn the_work_of_a_turn_grows_with_its_calls() {
        const CALLS: usize = 3_000;
        let seats = TurnSlots::new(16, (0..CALLS).map(|index| index % 100 == 99));
        (0..CALLS).for_each(|index| seats.put(index, SlotPhase::Waiting { alone: index % 100 == 99 }));
        let is_running = |index: &usize| seats.plan().calls[*index].phase == SlotPhase::Running;
        let mut first = 0;
        while let Some(index) = (first..CALLS).take(17).find(is_running) {
            seats.put(index, SlotPhase::Over);
            first += usize::from(index == first);
        }
        let plan = seats.plan();
        assert!(plan.calls.iter().all(|call| call.phase == SlotPhase::Over));
        assert!(plan.looked_at <= 4 * CALLS, "{}", plan.looked_at);
    }

    proptest! {
        #![proptest_config(properties(500))]

        #[test]
        fn what_is_alone_is_alone_and_everybody_gets_a_turn(
            alone in proptest::collection::vec(any::<bool>(), 1..8),
            at_a_time in 1..4_usize,
            steps in proptest::collection::vec((0..8_usize, before()), 0..100),
        ) {
            let mut turn = Turn::new(at_a_time, &alone);
            for (index, before) in steps {
                turn.step(index % alone.len(), before);
                let phases = turn.phases();
                let running: Vec<bool> =
                    phases.iter().filter(|(_, phase)| *phase == SlotPhase::Running).map(|(alone, _)| *alone).collect();
                prop_assert!(running.len() <= at_a_time);
                prop_assert!(!running.contains(&true) || running.len() == 1, "{phases:?}");
                // What could run does: nothing waits that nothing holds up.
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

        /// Unless it is asked about or previewed, none passes one that is to run alone, and that one passes none.
        #[test]
        fn the_order_is_kept(
            alone in proptest::collection::vec(any::<bool>(), 1..8),
            steps in proptest::collection::vec(0..8_usize, 0..100),
        ) {
            let mut turn = Turn::new(4, &alone);
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
