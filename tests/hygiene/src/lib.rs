//! A crate that is hostile to macros: strict lints, shadowed prelude names, the runtime renamed.
#![forbid(unsafe_code)]
#![deny(warnings, missing_docs, unsafe_code, clippy::all, clippy::pedantic)]
// The fixtures are minimal.
#![allow(clippy::needless_pass_by_value, clippy::new_without_default, clippy::unused_async, clippy::unused_self)]

pub mod extended;
pub mod shadowed;
#[cfg(test)]
mod tests;
pub mod wrapped;

/// Tools inside of modules.
pub mod outer {
    /// One more level.
    pub mod inner {
        use rt::{tool, tool_class};

        /// Doubles a number.
        #[tool(name = "nested.double")]
        #[must_use]
        pub const fn double(number: u32) -> u32 {
            number.wrapping_mul(2)
        }

        /// A service.
        #[derive(Clone, Copy, Debug, Default)]
        pub struct NestedService;

        #[tool_class(per_call)]
        impl NestedService {
            /// Makes one.
            #[must_use]
            pub const fn new() -> Self {
                Self
            }

            /// Greets by a borrowed name.
            #[tool(tags = ["greeting"], timeout = "1s")]
            pub async fn greet(&self, name: &str, #[arg(default = 1, min = 1, max = 3)] times: u8) -> String {
                let _ = self;
                name.repeat(usize::from(times))
            }

            /// Is no longer to be used, and is a tool all the same.
            #[deprecated = "for the test"]
            #[must_use]
            pub fn old(&self) -> bool {
                let _ = self;
                true
            }
        }
    }
}

/// Function-local tools register, too.
pub fn local() {
    use rt::tool;

    /// A tool inside of a function.
    #[tool(name = "local.tool")]
    fn inside() -> u8 {
        7
    }
    let _ = inside();
}
