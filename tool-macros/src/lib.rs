//! The attributes `#[tool]` and `#[tool_class]`, and `tools!`.
//!
//! They emit the item unchanged, except for the helper attributes on its parameters, and next to it a registration for
//! linkme and a shim that calls the function. Attributes and signatures are parsed by `tool-syntax`.

mod class;
mod conversion;
mod emit;
mod function;
mod included;
mod instance;
mod preview;
mod registration;
mod runtime_path;
mod shim;
mod strip;

use proc_macro::TokenStream;

/// Makes a function a tool that a language model can call.
///
/// The name, the description and the arguments are derived from the function. The attribute overrides or adds:
/// `name`, `description`, `arguments(..)`, `instructions`, `category`, `tags = [..]`, `inject = [..]`, `timeout`,
/// `preview`, `result`, `error`, `generics(..)`, and the flags `sensitive`, `read_only`, `destructive`, `idempotent`, `blocking`, `sequential`,
/// `strict`, `repair` (each also takes `= false`). Inside a [`tool_class`], `skip` excludes a method. A `destructive` tool
/// is `sensitive` too, so that its calls need approval, unless `sensitive = false` is set.
///
/// Parameters take `#[arg(default, min, max, min_length, max_length, pattern, one_of, rename, description, secret, any)]`,
/// or `#[inject]` for a value that the application provides and the model does not see.
///
/// Types that serde does not know are converted. `#[arg(parse)]` parses a string by `FromStr`, `#[arg(via(u64))]` decodes a
/// `u64` and converts it by `From` or `TryFrom`, and `#[arg(with = "module")]` calls `module::deserialize`. `result =
/// display`, `result = debug` and `result = path::to::function` convert the result. Each applies to what `Option`, `Vec`,
/// references and slices hold; `result` also to what `Result` holds and to the items of iterators and streams.
/// `error` converts the error of a `Result` in the same ways.
///
/// A generic function names its types: `generics(P = NoProgress, T = serde_json::Value)`. A parameter of type `impl Trait`
/// is named by the parameter. Types that `Into`, `AsRef`, `ToString`, `Serialize`, `Iterator` or `IntoIterator` determine
/// need no name.
#[proc_macro_attribute]
pub fn tool(attribute: TokenStream, item: TokenStream) -> TokenStream {
    function::expand(attribute.into(), item.into()).into()
}

/// Makes the public methods of an `impl` block tools that a language model can call.
///
/// Takes `prefix`, `include = [..]`, `exclude = [..]`, `opt_in`, `category`, `tags = [..]`, `inject = [..]`, `sensitive`
/// and `manual`. A method's own `#[tool(..)]` adds to or overrides the class. Functions without a receiver that return
/// the type itself, also in an `Arc`, a `Box`, a `Result` or an `Option`, are constructors and never tools.
///
/// `opt_in` exports only the methods marked `#[tool]`. It is recommended for an existing service, whose public methods
/// were not written for a model:
///
/// ```ignore
/// #[tool_class(opt_in)]
/// impl OrderService {
///     /// Find an order.
///     #[tool(read_only)]
///     pub fn find(&self, id: u64) -> Option<Order> { .. }
///
///     /// Not a tool.
///     pub fn reset_database(&self) { .. }
/// }
/// ```
///
/// On a trait impl or a trait, all methods are tools unless `opt_in` is set; a trait's tools are called on an
/// `Arc<dyn Trait>`. A generic block names its types with `instances(Service<Postgres>)`. `per_call` builds an instance
/// for each call with a `new` that takes no parameters. `new(pool: &Pool)` names the parameters of a `new` that is in
/// another block.
///
/// `types(CommitSha = parse, RunId = via(u64), Seconds = with("module"))` and `results(PullRequest = debug)` convert all
/// arguments and results of these types, as `#[arg(..)]` and `result` of [`macro@tool`] do for one.
#[proc_macro_attribute]
pub fn tool_class(attribute: TokenStream, item: TokenStream) -> TokenStream {
    class::expand(attribute.into(), item.into()).into()
}

/// Makes methods of a type that is defined elsewhere tools, by their signatures.
///
/// ```ignore
/// tools! {
///     impl taskchampion::Replica<SqliteStorage> as "replica" {
///         /// All tasks.
///         async fn all_task_uuids(&mut self) -> Result<Vec<Uuid>, taskchampion::Error>;
///     }
/// }
/// ```
///
/// The signatures take the same attributes as methods of a [`tool_class`], and the compiler checks them against the real
/// methods. `#[tool_class(..)]` on the block sets the options of the class.
#[proc_macro]
pub fn tools(tokens: TokenStream) -> TokenStream {
    class::expand_declared(tokens.into()).into()
}
