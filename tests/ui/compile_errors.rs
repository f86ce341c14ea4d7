//! Mistakes that do not compile, each with the one message its author reads.

#[test]
fn mistakes_are_explained_where_they_stand() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("*/*.rs");
}
