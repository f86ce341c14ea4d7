//! The contest: the same tools for every contender, and the ways in which a contender is run.
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
    /// Everything up to the first call: the tools `add`, `search`, `order` and `pause`, and as many more as `fillers`
    /// says, called `filler_0` and so on.
    fn start(fillers: usize) -> impl Future<Output = Self>;

    /// One call, from the text that a model wrote to the text that it reads.
    fn call(&self, tool: &str, arguments: &str) -> impl Future<Output = String> + Send;

    /// What a model is shown of all tools, as JSON; none for those who describe nothing.
    fn list(&self) -> Option<String>;
}
