//! The attributes `#[tool]` and `#[tool_class]`.
//!
//! They leave the item as it was, but for the helper attributes on its parameters, and put beside it what the
//! runtime needs: a registration for linkme and a shim that calls the function. All reading of attributes and
//! signatures happens in `tool-syntax`.

mod class;
mod emit;
mod function;
mod included;
mod preview;
mod registration;
mod runtime_path;
mod shim;
mod strip;

use proc_macro::TokenStream;

/// Makes a function a tool that a language model can call.
///
/// The name, the description and the arguments follow from the function; the attribute overrides or adds:
/// `name`, `description`, `arguments(..)`, `instructions`, `category`, `tags = [..]`, `inject = [..]`, `timeout`,
/// `preview`, and the flags `sensitive`, `read_only`, `destructive`, `idempotent`, `blocking`, `sequential`,
/// `strict`, `repair` (each can be `= false`). Inside a [`tool_class`] a method can also be `skip`ped.
///
/// Parameters take `#[arg(default, min, max, min_length, max_length, pattern, one_of, rename, description, secret)]`,
/// or `#[inject]` to be filled by the application and hidden from the model.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(attribute.into(), item.into()).into()
}

/// Makes the public methods of an `impl` block tools that a language model can call.
///
/// Takes `prefix`, `include = [..]`, `exclude = [..]`, `category`, `tags = [..]`, `inject = [..]`, `sensitive` and
/// `manual`. A method's own `#[tool(..)]` adds to it or overrides it. `new` is the constructor, never a tool.
#[proc_macro_attribute]
pub fn tool_class(attribute: TokenStream, item: TokenStream) -> TokenStream {
    class::expand(attribute.into(), item.into()).into()
}
