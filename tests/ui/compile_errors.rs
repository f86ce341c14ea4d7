//! Mistakes that do not compile, each with the one message that its author reads.

#[test]
fn mistakes_are_reported_where_they_are() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("*/*.rs");
}
