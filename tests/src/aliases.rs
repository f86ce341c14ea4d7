//! Other names of tools and arguments.

use tool_runtime::{Effect, tool, tool_class, tools};

/// Names of the tool and of each argument.
#[tool(name = "aliases.copy", alias = "cp")]
pub fn copy(
    #[arg(alias = "file_path")] from: &str,
    #[arg(alias = ["target", "destination"])] to: Option<String>,
    #[arg(alias = "replaceAll", default = false)] replace_all: bool,
) -> String {
    format!("{from} {to:?} {replace_all}")
}

/// Several names of a tool, and a secret with another name.
#[tool(name = "aliases.login", alias = ["sign_in", "signIn"], sensitive)]
pub fn login(user: &str, #[arg(secret, alias = "pwd")] password: &str) -> String {
    format!("{user} {}", password.len())
}

/// Aliases beside a rename and `arguments(..)`.
#[tool(name = "aliases.explicit", arguments("max-items"(type = "integer", minimum = 1), order(type = "string")))]
pub fn explicit(#[arg(rename = "max-items", alias = "limit")] items: u8, #[arg(alias = "sort")] order: &str) -> String {
    format!("{items} {order}")
}

/// A class whose methods have aliases.
pub struct Shelf;

#[tool_class(prefix = "aliases.shelf")]
impl Shelf {
    /// Find a book.
    #[tool(alias = "shelf_find", preview = "would_find")]
    pub fn find(#[arg(alias = "name", min_length = 1)] title: &str) -> String {
        title.to_uppercase()
    }

    pub fn would_find(title: &str) -> Effect {
        Effect::Text(format!("look for {title}"))
    }
}

/// A trait of which one implementation has aliases.
pub trait Store {
    fn put(key: &str, value: u8) -> String;
}

#[tool_class(prefix = "aliases.store")]
impl Store for Shelf {
    /// Put a value.
    #[tool(alias = "set")]
    fn put(#[arg(alias = "k")] key: &str, #[arg(alias = "v", max = 9)] value: u8) -> String {
        format!("{key} {value}")
    }
}

/// A type that is declared elsewhere.
pub mod declared {
    pub struct Counter;

    impl Counter {
        #[must_use]
        pub fn add(amount: i32) -> i32 {
            amount.saturating_add(1)
        }
    }
}

tools! {
    impl declared::Counter as "aliases.counter" {
        /// Add one.
        #[tool(alias = "increment")]
        fn add(#[arg(alias = "by")] amount: i32) -> i32;
    }
}
