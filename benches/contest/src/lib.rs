//! The benchmark harness: the same tools for every contender, and the commands that measure it.
//!
//! A contender is a program of its own, so that no library changes the features, the allocations or the layout of
//! another. Its `main` is one line for each way of using the library:
//!
//! ```ignore
//! fn main() {
//!     contest::Entries::new().enter::<Router>("router").enter::<Transport>("transport").run();
//! }
//! ```

pub mod allocations;
mod commands;
mod entries;
mod watch;
pub mod work;

pub use entries::Entries;

/// One way of using one library.
pub trait Contender: Send + Sync + Sized + 'static {
    /// Does everything up to the first call. Registers the tools `add`, `search`, `order` and `pause`, and `fillers`
    /// more, named `filler_0` and so on.
    fn start(fillers: usize) -> impl Future<Output = Self>;

    /// Makes one call, from the text that a model wrote to the text that it reads.
    fn call(&self, tool: &str, arguments: &str) -> impl Future<Output = String> + Send;

    /// Returns the definitions of all tools as JSON; `None` if the library does not describe its tools.
    fn list(&self) -> Option<String>;
}
