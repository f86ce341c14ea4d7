#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod class;
mod conversion;
mod emit;
mod function;
mod included;
mod instance;
mod preview;
mod registration;
mod reply;
mod runtime_path;
mod shim;
mod strip;

use proc_macro::TokenStream;

#[doc = include_str!("../docs/tool.md")]
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(attribute.into(), item.into()).into()
}

#[doc = include_str!("../docs/tool_class.md")]
#[proc_macro_attribute]
pub fn tool_class(attribute: TokenStream, item: TokenStream) -> TokenStream {
    class::expand(attribute.into(), item.into()).into()
}

/// Makes methods of a type that is defined elsewhere tools, by their signatures.
///
/// ```standalone_crate
/// use serde_json::json;
/// use tool_runtime::{Dispatcher, ToolCall, tools};
///
/// mod other_crate {
///     pub struct Counter(pub u64);
///
///     impl Counter {
///         pub fn add(&mut self, amount: u64) -> u64 {
///             self.0 += amount;
///             self.0
///         }
///     }
/// }
///
/// tools! {
///     impl other_crate::Counter as "counter" {
///         /// Add to the counter, and return its value.
///         fn add(&mut self, #[arg(min = 1)] amount: u64) -> u64;
///     }
/// }
///
/// #[tokio::main(flavor = "current_thread")]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     let tools = Dispatcher::builder().service_mut(other_crate::Counter(40)).build()?;
///     let result = tools.call(ToolCall::new("counter.add", json!({"amount": 2}))).await;
///     assert_eq!(result.output, "42");
///     Ok(())
/// }
/// ```
///
/// The signatures take the same attributes as methods of a [`tool_class`], and the compiler checks them against the real
/// methods. `#[tool_class(..)]` on the block sets the options of the class.
#[proc_macro]
pub fn tools(tokens: TokenStream) -> TokenStream {
    class::expand_declared(tokens.into()).into()
}

#[cfg(test)]
mod tests {
    use tool_model::KEYS;

    #[test]
    fn every_key_is_documented() {
        let is_documented = |page: &str, key: &str| page.lines().any(|line| line.starts_with(&format!("| `{key}")));
        for key in KEYS {
            assert!(is_documented(include_str!("../docs/tool.md"), key.name), "{}", key.name);
            assert_eq!(is_documented(include_str!("../docs/tool_class.md"), key.name), key.on_class, "{}", key.name);
        }
    }
}
