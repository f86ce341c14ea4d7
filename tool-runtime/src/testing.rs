//! What the unit tests share.

use proptest::test_runner::{Config, RngSeed};

/// How a property is tried: the same each time, unless `PROPTEST_RNG_SEED` and `PROPTEST_CASES` say otherwise.
pub(crate) fn properties(cases: u32) -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if std::env::var_os("PROPTEST_RNG_SEED").is_none() {
        config.rng_seed = RngSeed::Fixed(1);
    }
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    config
}
