//! Any text into any tool.
//!
//! The seed is fixed, so that a run says the same as the last one. `PROPTEST_RNG_SEED=7 PROPTEST_CASES=10000` looks
//! elsewhere and longer.

// Any text is answered, and nothing panics.
mod answered;
// What is accepted is what serde reads.
mod faithful;
// What is accepted is what the schema accepts.
mod limits;
// What is nearly right is mended to what was meant, and nothing else is changed.
mod repair;

// JSON of every form, texts that are nearly JSON, values that nearly fit a schema.
mod texts;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// Runs a property; its smallest counterexample is the panic's message.
#[track_caller]
fn holds<S: Strategy>(cases: u32, inputs: &S, property: impl Fn(S::Value) -> Result<(), String>) {
    if let Err(counterexample) = find(cases, inputs, property) {
        panic!("{counterexample}");
    }
}

/// As [`holds`], with the counterexample given back.
fn find<S: Strategy>(cases: u32, inputs: &S, property: impl Fn(S::Value) -> Result<(), String>) -> Result<(), String> {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    let outcome = TestRunner::new(config).run(inputs, |input| property(input).map_err(TestCaseError::fail));
    outcome.map_err(|error| match error {
        TestError::Fail(reason, _) => reason.message().to_owned(),
        TestError::Abort(reason) => format!("no inputs: {reason}"),
    })
}
