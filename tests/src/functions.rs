//! Free functions: sync, async, blocking, with keywords as names, with many parameters.

use std::pin::Pin;

use tool_runtime::tool;

/// Add two numbers.
#[tool]
pub fn add(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

/// Take nothing.
#[tool]
pub fn nothing() -> &'static str {
    "something"
}

/// A tool need not be public.
#[tool]
fn private(text: String) -> usize {
    text.len()
}

/// Calls `private` as an ordinary function.
pub fn private_directly(text: &str) -> usize {
    private(text.to_owned())
}

/// Answer after a wait.
#[tool]
pub async fn later(text: String, repeat: u8) -> String {
    tokio_yield().await;
    text.repeat(repeat.into())
}

/// Block the thread.
#[tool(blocking)]
pub fn slowly(text: String) -> String {
    std::thread::sleep(std::time::Duration::from_millis(1));
    text
}

/// Return a future.
#[tool]
pub fn future(number: u32) -> impl Future<Output = u32> + Send {
    async move {
        tokio_yield().await;
        number.wrapping_add(1)
    }
}

/// Return a future of a result.
#[tool]
pub fn future_of_result(number: u32) -> impl std::future::Future<Output = Result<u32, String>> + Send + 'static {
    async move { number.checked_sub(1).ok_or_else(|| "nothing is below zero".to_owned()) }
}

/// Keywords as names.
#[tool]
pub fn r#match(r#type: String, r#fn: Option<bool>, r#async: u8) -> String {
    format!("{} {:?} {}", r#type, r#fn, r#async)
}

/// A parameter may be `mut`.
#[tool]
pub fn mutable(mut items: Vec<String>, mut count: u8) -> Vec<String> {
    while count > 0 {
        items.push(count.to_string());
        count -= 1;
    }
    items
}

/// A constant function, marked as old.
#[tool]
#[deprecated = "still a tool"]
#[must_use]
#[inline]
pub const fn old(number: u8) -> u8 {
    number
}

/// Twenty-four parameters.
#[tool]
#[allow(clippy::too_many_arguments)]
pub fn many(
    p01: u8,
    p02: i16,
    p03: u32,
    p04: i64,
    p05: f32,
    p06: f64,
    p07: bool,
    p08: char,
    p09: String,
    p10: &str,
    p11: Option<u8>,
    p12: Option<&str>,
    p13: Vec<u8>,
    p14: &[u8],
    p15: (u8, u8),
    p16: [u8; 2],
    #[arg(default = 17)] p17: u8,
    #[arg(default)] p18: String,
    p19: std::path::PathBuf,
    p20: &std::path::Path,
    p21: std::collections::BTreeMap<String, u8>,
    p22: std::borrow::Cow<'_, str>,
    p23: impl AsRef<str>,
    p24: impl Into<String>,
) -> String {
    let p23 = p23.as_ref();
    let p24 = p24.into();
    let numbers = format!("{p01} {p02} {p03} {p04} {p05} {p06} {p07} {p08}");
    let texts = format!("{p09} {p10} {p11:?} {p12:?} {p13:?} {p14:?} {p15:?} {p16:?}");
    format!("{numbers} {texts} {p17} {p18:?} {p19:?} {p20:?} {p21:?} {p22} {p23} {p24}")
}

macro_rules! doubled {
    ($name:ident, $ty:ty) => {
        /// Double a number; written by another macro.
        #[tool]
        pub fn $name(number: $ty) -> $ty {
            number.wrapping_mul(2)
        }
    };
}

doubled!(double_u8, u8);
doubled!(double_option, Wrapped);

/// A number behind a macro's `$ty`.
pub type Wrapped = i32;

/// A module of its own.
pub mod inner {
    use tool_runtime as tools;

    /// The attribute by its path.
    #[tools::tool(name = "functions.by_path")]
    pub fn by_path(number: u8) -> u8 {
        number
    }
}

/// Gives the thread back once; the fixtures have no runtime of their own.
pub(crate) fn tokio_yield() -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let mut yielded = false;
    Box::pin(std::future::poll_fn(move |context| {
        if std::mem::replace(&mut yielded, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    }))
}
