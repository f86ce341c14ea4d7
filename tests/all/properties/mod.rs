//! Property tests: any text into any tool.
//!
//! The seed is fixed, so that runs are reproducible. `PROPTEST_RNG_SEED=7 PROPTEST_CASES=10000` explores other and
//! more cases.

// Any text gets a result, and nothing panics.
mod robustness;
// Accepted arguments are what serde reads.
mod serde_agreement;
// Accepted arguments are what the schema accepts.
mod schema_agreement;
// Nearly valid arguments are repaired to what was meant, and nothing else is changed.
mod repair;

// Strategies for JSON of every form, text that is nearly JSON, and values that nearly match a schema.
mod strategies;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestError, TestRunner};

/// Runs a property; panics with its smallest counterexample.
#[track_caller]
fn holds<S: Strategy>(cases: u32, inputs: &S, property: impl Fn(S::Value) -> Result<(), String>) {
    if let Err(counterexample) = find(cases, inputs, property) {
        panic!("{counterexample}");
    }
}

/// Same as [`holds`], but returns the counterexample.
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
