//! Services in the shapes that real backends have: trait impls, traits, generic services, borrowed transactions, types of
//! other crates and `&mut self` state.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tool_runtime::{tool, tool_class, tools};

mod repository;

pub use repository::{NotedOrders, OrderRepository};

/// An order.
#[derive(Clone, Debug, Deserialize, JsonSchema, PartialEq, Serialize)]
pub struct Order {
    pub id: u32,
    pub note: String,
}

/// An order that does not exist.
#[derive(Debug)]
pub struct UnknownOrder(pub u32);

impl fmt::Display for UnknownOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no order {}", self.0)
    }
}

impl std::error::Error for UnknownOrder {}

/// A trait with `#[async_trait]`, and one of its implementations as a class.
#[async_trait]
pub trait OrderApi: Send + Sync {
    type Failure;

    async fn find(&self, id: u32) -> Result<Order, Self::Failure>;
    fn count(&self) -> usize;
}

/// Orders in memory.
#[derive(Clone, Debug, Default)]
pub struct MemoryOrders(pub BTreeMap<u32, Order>);

impl MemoryOrders {
    pub fn with(ids: impl IntoIterator<Item = u32>) -> Self {
        Self(ids.into_iter().map(|id| (id, Order { id, note: format!("order {id}") })).collect())
    }
}

#[tool_class(prefix = "memory_orders")]
#[async_trait]
impl OrderApi for MemoryOrders {
    type Failure = UnknownOrder;

    /// Find an order.
    async fn find(&self, #[arg(min = 1)] id: u32) -> Result<Order, Self::Failure> {
        self.0.get(&id).cloned().ok_or(UnknownOrder(id))
    }

    /// Count all orders.
    fn count(&self) -> usize {
        self.0.len()
    }
}

/// The same, with the attributes in the other order.
#[derive(Clone, Debug, Default)]
pub struct ArchivedOrders(pub MemoryOrders);

#[async_trait]
#[tool_class(exclude = ["count"])]
impl OrderApi for ArchivedOrders {
    type Failure = UnknownOrder;

    /// Find an archived order.
    async fn find(&self, id: u32) -> Result<Order, Self::Failure> {
        self.0.find(id).await
    }

    fn count(&self) -> usize {
        self.0.count()
    }
}

/// A native `async fn` in a trait impl.
#[expect(async_fn_in_trait, reason = "as authors write it")]
pub trait Greeter {
    async fn greet(&self, name: &str) -> String;
}

pub struct PoliteGreeter;

#[tool_class]
impl Greeter for PoliteGreeter {
    /// Greet politely.
    async fn greet(&self, name: &str) -> String {
        format!("Good day, {name}.")
    }
}

/// A trait as a class: any implementation serves.
#[tool_class]
#[async_trait]
pub trait StockApi: Send + Sync {
    /// Count the pieces of an article in stock.
    ///
    /// # Arguments
    /// * `article` - The article's name.
    async fn pieces(&self, article: String) -> u32;

    /// List all articles.
    fn articles(&self) -> Vec<String>;

    /// Reserve pieces of an article.
    async fn reserve(self: Arc<Self>, article: String, #[arg(min = 1)] pieces: u32) -> Result<u32, String>;

    /// Not part of the trait object.
    fn describe() -> &'static str
    where
        Self: Sized,
    {
        "stock"
    }
}

/// The same, below `#[async_trait]`.
#[async_trait]
#[tool_class(prefix = "prices")]
pub trait PriceApi: Send + Sync {
    /// Return the price of an article in cents.
    async fn price(&self, article: &str) -> Option<u32>;
}

#[derive(Default)]
pub struct SmallShop;

#[async_trait]
impl StockApi for SmallShop {
    async fn pieces(&self, article: String) -> u32 {
        u32::try_from(article.chars().count()).unwrap_or(u32::MAX)
    }

    fn articles(&self) -> Vec<String> {
        vec!["cup".to_owned(), "plate".to_owned()]
    }

    async fn reserve(self: Arc<Self>, article: String, pieces: u32) -> Result<u32, String> {
        let left = self.pieces(article.clone()).await.checked_sub(pieces);
        left.ok_or_else(|| format!("there are not enough pieces of {article:?}"))
    }
}

#[async_trait]
impl PriceApi for SmallShop {
    async fn price(&self, article: &str) -> Option<u32> {
        (article == "cup").then_some(450)
    }
}

/// A service that is generic over its repository.
pub struct OrderService<R> {
    pub repository: R,
}

#[tool_class(instances(OrderService<MemoryOrders> as "orders", OrderService<NotedOrders> as "noted_orders"))]
impl<R> OrderService<R>
where
    R: OrderRepository,
{
    /// Count the orders.
    pub fn count(&self) -> usize {
        self.repository.len()
    }

    /// Load an order.
    pub fn load(&self, key: R::Key) -> Option<Order> {
        self.repository.load(key)
    }
}

/// A class that is generic over a constant, too.
pub struct Window<R, const N: usize>(pub R);

#[tool_class(instances(Window<MemoryOrders, 3>))]
impl<R: OrderRepository, const N: usize> Window<R, N> {
    /// Sum up the window.
    pub fn sum(&self, values: [u32; N]) -> u64 {
        values.iter().copied().map(u64::from).sum()
    }
}

/// A transaction, made for each call.
#[derive(Debug, Default)]
pub struct Transaction {
    pub statements: Vec<String>,
}

/// A service that borrows its transaction.
pub struct OrderBook<'a> {
    transaction: &'a mut Transaction,
    prefix: &'a str,
}

#[tool_class]
impl<'a> OrderBook<'a> {
    pub fn new(transaction: &'a mut Transaction, book_prefix: &'a str) -> Self {
        Self { transaction, prefix: book_prefix }
    }

    /// Place an order.
    pub async fn place(&mut self, note: &str) -> usize {
        self.transaction.statements.push(format!("{}{note}", self.prefix));
        self.transaction.statements.len()
    }

    /// List the statements so far.
    pub fn statements(&self) -> &[String] {
        &self.transaction.statements
    }

    /// Consume the book.
    pub fn close(self) -> String {
        self.transaction.statements.join(";")
    }

    /// Needs no book.
    pub fn version() -> u32 {
        3
    }
}

/// Another block of the same type. Its `new` is above.
#[tool_class(new(transaction: &mut Transaction, book_prefix: &str))]
impl OrderBook<'_> {
    /// Count the statements so far.
    pub fn count(&self) -> usize {
        self.transaction.statements.len()
    }
}

/// One whose constructor is generic.
pub struct Archive<'a> {
    transaction: &'a Transaction,
    name: String,
}

#[tool_class(new(transaction: &Transaction, book_prefix: String))]
impl<'a> Archive<'a> {
    pub fn new(transaction: &'a Transaction, book_prefix: impl Into<String>) -> Self {
        Self { transaction, name: book_prefix.into() }
    }

    /// Describe the archive.
    pub fn describe(&self) -> String {
        format!("{}{}", self.name, self.transaction.statements.len())
    }
}

/// One whose constructor can fail and is async.
pub struct Ledger<'t> {
    transaction: &'t Transaction,
}

#[tool_class]
impl<'t> Ledger<'t> {
    pub async fn new(transaction: &'t Transaction) -> Result<Self, UnknownOrder> {
        if transaction.statements.len() > 1 { Err(UnknownOrder(7)) } else { Ok(Self { transaction }) }
    }

    /// Count the entries.
    pub fn entries(&self) -> usize {
        self.transaction.statements.len()
    }
}

/// A class whose name ends like that of a result.
pub struct SearchResult<'a>(&'a Transaction);

#[tool_class]
impl<'a> SearchResult<'a> {
    pub fn new(transaction: &'a Transaction) -> SearchResult<'a> {
        Self(transaction)
    }

    /// Count the hits.
    pub fn hits(&self) -> usize {
        self.0.statements.len()
    }
}

/// A trait with a lifetime, and associated types that name each other.
pub trait Pages<'q> {
    type Row;
    type Page;

    fn page(&self, query: &'q str) -> Self::Page;
}

#[tool_class]
impl<'q> Pages<'q> for PoliteGreeter {
    type Row = u32;
    type Page = Vec<Self::Row>;

    /// Return a page.
    fn page(&self, query: &'q str) -> Self::Page {
        vec![u32::try_from(query.len()).unwrap_or(u32::MAX)]
    }
}

/// A type that another crate could have: without attributes.
pub mod foreign;

tools! {
    #[tool_class(tags = ["tasks"])]
    impl foreign::Replica<foreign::Memory> as "replica" {
        /// Add a task.
        async fn add(&mut self, #[arg(max_length = 80)] title: String) -> usize;

        /// Return the title of a task.
        #[tool(name = "replica.get")]
        fn title(&self, id: u32) -> Result<String, foreign::Error>;

        /// List all titles.
        fn titles(&self) -> impl Iterator<Item = &str>;
    }
}

/// Built for each call, by choice.
pub struct Fresh(u32);

#[tool_class(per_call)]
impl Fresh {
    pub fn new() -> Self {
        Self(0)
    }

    /// Count to one.
    pub fn count(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

/// A trait for injected objects.
pub trait Clock: Send + Sync {
    fn now(&self) -> u64;
}

/// A stopped clock.
pub struct StoppedClock(pub u64);

impl Clock for StoppedClock {
    fn now(&self) -> u64 {
        self.0
    }
}

/// A trait for objects that are lent for writing.
pub trait Log: Send {
    fn write(&mut self, line: String) -> usize;
}

impl Log for Vec<String> {
    fn write(&mut self, line: String) -> usize {
        self.push(line);
        self.len()
    }
}

/// Return the time.
#[tool]
pub fn now(#[inject] clock: &dyn Clock) -> u64 {
    clock.now()
}

/// Return the time of a shared clock.
#[tool]
pub async fn shared_now(#[inject] clock: Arc<dyn Clock>) -> u64 {
    clock.now()
}

/// Write to a log.
#[tool]
pub fn log(#[inject] log: &mut dyn Log, line: String) -> usize {
    log.write(line)
}

/// Type parameters that stand for `impl Trait`.
#[tool]
pub fn generic_texts<S: Into<String>, P: AsRef<Path>>(name: S, path: P) -> String
where
    S: Send,
{
    format!("{} in {}", name.into(), path.as_ref().display())
}

/// Optional `impl Trait` arguments.
#[tool]
pub fn optional_impl(name: Option<impl Into<String>>, unit: Option<impl AsRef<str>>) -> String {
    let unit = unit.as_ref().map(AsRef::as_ref).unwrap_or("none");
    format!("{} {unit}", name.map(Into::into).unwrap_or_else(|| "nobody".to_owned()))
}

/// Lists in every form.
#[tool]
pub fn lists<'a>(
    numbers: impl IntoIterator<Item = u32>,
    names: impl IntoIterator<Item = impl AsRef<str>>,
    tags: &[&str],
    words: Vec<&str>,
    lines: Vec<Cow<str>>,
    parts: impl IntoIterator<Item = &'a str>,
) -> String {
    let names: Vec<String> = names.into_iter().map(|name| name.as_ref().to_owned()).collect();
    let sum: u64 = numbers.into_iter().map(u64::from).sum();
    let parts = parts.into_iter().count();
    format!("{sum} {} {} {} {} {parts}", names.join("+"), tags.join("+"), words.join("+"), lines.join("+"))
}

/// A type parameter in the bounds of another.
#[tool]
pub fn joined<S: AsRef<str>, I: IntoIterator<Item = S>>(parts: I) -> String {
    parts.into_iter().map(|part| part.as_ref().to_owned()).collect::<Vec<_>>().join("+")
}

/// An iterator is collected.
#[tool]
pub fn squares(up_to: u8) -> impl Iterator<Item = u32> {
    (0..u32::from(up_to)).map(|number| number * number)
}

/// So is one that can fail, or is boxed.
#[tool]
pub fn halves(number: u32) -> Result<Box<dyn Iterator<Item = u32>>, String> {
    if number == 0 {
        Err("zero has no halves".to_owned())
    } else {
        Ok(Box::new(std::iter::successors(Some(number), |n| (*n > 1).then_some(n / 2))))
    }
}

/// A boxed future is awaited.
#[tool]
pub fn boxed(number: u32) -> Pin<Box<dyn Future<Output = u32> + Send>> {
    Box::pin(async move { number.saturating_add(1) })
}

/// Its documentation is put together.
#[doc = concat!("Not the ", "first paragraph.")]
#[tool]
pub fn documented() -> bool {
    true
}

/// Declares tools inside of a function.
pub fn declare_inside() {
    tools! {
        impl std::collections::BTreeSet<u32> as "numbers" {
            /// Count the numbers.
            fn len(&self) -> usize;
        }
    }
}
