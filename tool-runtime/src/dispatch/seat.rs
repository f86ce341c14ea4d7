//! The places of the calls of one turn: how many run at a time, and which run alone.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// The places of a turn, in the order of its calls.
///
/// A call that is to run alone waits for those before it, and those behind it wait. One that asks somebody stands
/// aside: it holds up nobody, and takes its place again when it has its answer.
pub(super) struct Seats {
    at_a_time: usize,
    plan: Mutex<Plan>,
}

#[derive(Default)]
struct Plan {
    calls: Vec<Planned>,
    running: usize,
    /// Whether the one that runs is alone.
    is_alone: bool,
}

struct Planned {
    alone: bool,
    phase: Phase,
    /// Told when it may run.
    turn: Arc<Notify>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It is not known yet whether it runs.
    Coming,
    /// Somebody is asked about it.
    Aside,
    Waiting,
    Running,
    Over,
}

/// The place of one call. Dropped, the call is over.
pub(super) struct Seat {
    seats: Arc<Seats>,
    index: usize,
}

/// A call that stands aside until this is dropped.
pub(super) struct Aside<'a>(&'a Seat);

impl Seats {
    /// Places for calls, of which each says whether it is to run alone.
    pub(super) fn new(at_a_time: usize, alone: impl IntoIterator<Item = bool>) -> Arc<Self> {
        let planned = |alone| Planned { alone, phase: Phase::Coming, turn: Arc::default() };
        let plan = Plan { calls: alone.into_iter().map(planned).collect(), ..Plan::default() };
        Arc::new(Self { at_a_time, plan: Mutex::new(plan) })
    }

    /// The place of a call, to be taken once.
    pub(super) fn seat(self: &Arc<Self>, index: usize) -> Seat {
        Seat { seats: self.clone(), index }
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a call into another phase and lets run what may run then.
    fn put(&self, index: usize, phase: Phase) {
        let mut plan = self.plan();
        if plan.calls[index].phase == Phase::Running {
            plan.running -= 1;
            plan.is_alone = false;
        }
        plan.calls[index].phase = phase;
        plan.admit(self.at_a_time);
    }
}

impl Plan {
    fn admit(&mut self, at_a_time: usize) {
        // Of those that are yet to run: whether there is one before, and whether one of them is to run alone.
        let (mut one_before, mut alone_before) = (false, false);
        for call in &mut self.calls {
            match call.phase {
                Phase::Aside | Phase::Running | Phase::Over => continue,
                Phase::Waiting => {
                    let may_run = match call.alone {
                        true => self.running == 0 && !one_before,
                        false => self.running < at_a_time && !self.is_alone && !alone_before,
                    };
                    if may_run {
                        call.phase = Phase::Running;
                        self.running += 1;
                        self.is_alone = call.alone;
                        call.turn.notify_one();
                        continue;
                    }
                }
                Phase::Coming => {}
            }
            one_before = true;
            alone_before |= call.alone;
        }
    }
}

impl Seat {
    /// Waits until the call may run.
    pub(super) async fn enter(&self) {
        self.seats.put(self.index, Phase::Waiting);
        let turn = self.seats.plan().calls[self.index].turn.clone();
        turn.notified().await;
    }

    /// Stands aside while somebody is asked.
    pub(super) fn leave(&self) -> Aside<'_> {
        self.seats.put(self.index, Phase::Aside);
        Aside(self)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.put(self.index, Phase::Over);
    }
}

impl Drop for Aside<'_> {
    fn drop(&mut self) {
        self.0.seats.put(self.0.index, Phase::Coming);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::testing::properties;

    /// What a call does next, in any order that calls can do things.
    fn step(seats: &Seats, index: usize, asks: bool) {
        let phase = seats.plan().calls[index].phase;
        match phase {
            Phase::Coming if asks => seats.put(index, Phase::Aside),
            Phase::Coming | Phase::Aside => seats.put(index, Phase::Waiting),
            Phase::Running => seats.put(index, Phase::Over),
            Phase::Waiting | Phase::Over => {}
        }
    }

    fn phases(seats: &Seats) -> Vec<(bool, Phase)> {
        seats.plan().calls.iter().map(|call| (call.alone, call.phase)).collect()
    }

    proptest! {
        #![proptest_config(properties(500))]

        #[test]
        fn what_is_alone_is_alone_and_everybody_gets_a_turn(
            alone in proptest::collection::vec(any::<bool>(), 1..8),
            at_a_time in 1..4_usize,
            steps in proptest::collection::vec((0..8_usize, any::<bool>()), 0..100),
        ) {
            let seats = Seats::new(at_a_time, alone.iter().copied());
            for (index, asks) in steps {
                step(&seats, index % alone.len(), asks);
                let phases = phases(&seats);
                let running: Vec<bool> =
                    phases.iter().filter(|(_, phase)| *phase == Phase::Running).map(|(alone, _)| *alone).collect();
                prop_assert!(running.len() <= at_a_time);
                prop_assert!(!running.contains(&true) || running.len() == 1, "{phases:?}");
                // What could run does: nothing waits that nothing holds up.
                let is_idle = running.is_empty() && phases.iter().all(|(_, phase)| *phase != Phase::Coming);
                prop_assert!(!is_idle || phases.iter().all(|(_, phase)| *phase != Phase::Waiting), "{phases:?}");
            }
            for _ in 0..alone.len() * 4 {
                (0..alone.len()).for_each(|index| step(&seats, index, false));
            }
            prop_assert!(phases(&seats).iter().all(|(_, phase)| *phase == Phase::Over), "{:?}", phases(&seats));
        }

        /// Unless somebody is asked, none passes one that is to run alone, and that one passes none.
        #[test]
        fn the_order_is_kept(
            alone in proptest::collection::vec(any::<bool>(), 1..8),
            steps in proptest::collection::vec(0..8_usize, 0..100),
        ) {
            let seats = Seats::new(4, alone.iter().copied());
            for index in steps {
                step(&seats, index % alone.len(), false);
                let phases = phases(&seats);
                let has_begun = |phase| matches!(phase, Phase::Running | Phase::Over);
                for (later, (later_alone, phase)) in phases.iter().enumerate() {
                    for (earlier_alone, earlier) in &phases[..later] {
                        let bound = *later_alone || *earlier_alone;
                        prop_assert!(!(bound && has_begun(*phase)) || *earlier == Phase::Over, "{phases:?}");
                    }
                }
            }
        }
    }
}
