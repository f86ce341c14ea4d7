//! A user-defined macro that wraps `#[tool]`.

macro_rules! plain_tool {
    ($(#[$attribute:meta])* $name:ident($($argument:ident: $ty:ty),*) = $value:expr) => {
        $(#[$attribute])*
        #[rt::tool]
        #[must_use]
        pub fn $name($($argument: $ty),*) -> u32 {
            $(let _ = $argument;)*
            $value
        }
    };
}

plain_tool! {
    /// Always three.
    wrapped_three(text: &str, number: Option<u8>) = 3
}

plain_tool! {
    /// Always four.
    wrapped_four() = 4
}

/// A class whose methods a macro writes.
#[derive(Clone, Copy, Debug)]
pub struct WrappedService;

macro_rules! class {
    ($ty:ident: $($name:ident = $value:expr),*) => {
        #[rt::tool_class]
        impl $ty {
            $(
                /// A constant.
                #[must_use]
                pub fn $name(&self, #[arg(default = 0)] plus: u32) -> u32 {
                    let _ = self;
                    $value + plus
                }
            )*
        }
    };
}

class!(WrappedService: one = 1, two = 2);
