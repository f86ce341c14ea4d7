//! Errors of `build()`, and the output of `explain()`.

use std::sync::Arc;

use tool_runtime::{BuildError, Scope, tool};

use super::{CurrentUser, Session, Transaction, store, tools};

/// Injects values that have no provider.
#[tool(name = "needy.one")]
fn needy(session: &Session, #[inject] user: CurrentUser, #[inject] names: &[String]) -> usize {
    let _ = (session, user);
    names.len()
}

/// Injects two values at once.
#[tool(name = "greedy.two")]
fn greedy(#[inject] one: &mut Transaction, #[inject] other: &mut Transaction) -> usize {
    one.written.len() + other.written.len()
}

fn problems(error: BuildError) -> Vec<String> {
    error.problems().iter().map(ToString::to_string).collect()
}

#[test]
fn build_reports_everything_missing_or_of_the_wrong_type() {
    let error = tools("needy").value("session", 5_u8).build().unwrap_err();
    let problems = problems(error);
    assert_eq!(problems.len(), 3, "{problems:#?}");
    assert!(
        problems[0].contains("the parameter `session` of type `Session`: the value \"session\" is a `u8`"),
        "{}",
        problems[0]
    );
    assert!(
        problems[1].contains("the parameter `user` of type `CurrentUser`: nothing of type `CurrentUser` is provided")
    );
    assert!(problems[1].contains(".per_call::<CurrentUser>()"));
    assert!(problems[2].contains("`names` of type `Vec<String>`"), "{}", problems[2]);
}

#[test]
fn two_mutable_borrows_of_one_value_are_an_error() {
    let make = |_: Scope| async { Ok::<_, String>(Transaction { written: Vec::new() }) };
    let error = tools("greedy").provide("transaction", make).build().unwrap_err();
    let problems = problems(error);
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert!(problems[0].contains("the parameters `one` and `other` want the same value, the provider \"transaction\""));
}

#[test]
fn a_shared_value_cannot_be_borrowed_mutably() {
    let error =
        tools("greedy").value("one", Transaction { written: Vec::new() }).value("other", 1).build().unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("`one: &mut Transaction` cannot be borrowed mutably: all calls share the value \"one\""),
        "{text}"
    );
    assert!(text.contains("the value \"other\" is an `i32`"), "{text}");
}

#[test]
fn a_value_with_a_finish_hook_cannot_be_moved_out() {
    let make = |_: Scope| async { Ok::<_, String>(Transaction { written: Vec::new() }) };
    let error = tools("::moved_out")
        .provide("transaction", make)
        .finish("transaction", |_: Transaction, _| async {})
        .finish("sesion", |_: Session, _| async {})
        .build()
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("`.finish(..)` wants it back"), "{text}");
    assert!(text.contains("`.finish(\"sesion\", ..)` has no provider of that name"), "{text}");
}

#[test]
fn a_wrong_name_or_a_wrapped_type_is_recognized() {
    let text = tools("::needy").value("usr", Arc::new(CurrentUser("ada"))).build().unwrap_err().to_string();
    assert!(text.contains("the value \"usr\" is an `Arc<CurrentUser>`: did you mean it? Otherwise add"), "{text}");
    let text = tools("::needy").value("sesion", 5_u8).build().unwrap_err().to_string();
    assert!(text.contains("the value \"sesion\" is a `u8`: did you mean it?"), "{text}");
    // The control: a value that has nothing to do with the parameter.
    let text = tools("::needy").value("temperature", 5_u8).build().unwrap_err().to_string();
    assert!(!text.contains("did you mean it?"), "{text}");
}

#[test]
fn an_exclusive_borrow_of_another_type_may_be_lent() {
    let make = |_: Scope| async { Ok::<_, String>(String::new()) };
    let text = tools("::greedy").provide("one", make).build().unwrap_err().to_string();
    assert!(text.contains("if it contains the `Transaction`, `.lend(\"one\", |value: &mut String| ..)`"), "{text}");
    assert!(text.contains("if a provided value contains it, as in a transaction, `.lend(\"one\","), "{text}");
}

#[test]
fn a_type_provided_twice_is_resolved_by_name_only() {
    let error = tools("::moved_out")
        .provide("first", |_| async { Ok::<_, String>(Transaction { written: Vec::new() }) })
        .provide("second", |_| async { Ok::<_, String>(Transaction { written: Vec::new() }) })
        .build()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`Transaction` is provided more than once: the provider \"first\", the provider \"second\"")
    );
}

#[test]
fn explain_lists_the_source_of_every_value() {
    let log = Arc::default();
    let text = store(&log).explain().to_string();
    let save = text.split("\nstore.").find(|part| part.starts_with("save")).unwrap();
    assert!(save.contains("instance  one for each call, from `Store::new`"), "{text}");
    assert!(save.contains("injected  repository: Repository, cloned from the provider \"repository\""), "{text}");
    assert!(save.contains("injected  session: Session, lent from the provider \"session\""), "{text}");
    assert!(
        text.contains("not offered: all::injection::build_errors::needy is linked, but not in the manifest"),
        "{text}"
    );
}
