//! What a dispatcher is restricted to.

use std::sync::Arc;

use arc_swap::ArcSwapOption;

use crate::dispatch::dispatcher::snapshot::{CurrentSnapshot, ToolSnapshot};
use crate::dispatch::{BuildError, Dispatcher};
use crate::selection::{CompiledSelection, Selection};

/// A selection from an offer, or from what another view has left of it.
pub(crate) struct SelectionView {
    of: Option<Arc<SelectionView>>,
    chosen: CompiledSelection,
    /// What is left of the offer that was looked at last.
    left: ArcSwapOption<ToolSnapshot>,
}

impl SelectionView {
    /// Looks at what is left of the offer of this moment.
    pub(crate) fn with<T>(&self, offer: &CurrentSnapshot, look: impl FnOnce(&ToolSnapshot) -> T) -> T {
        offer.with(|offer| look(&self.left_of(offer)))
    }

    /// What is left of an offer. It is made once for each offer.
    fn left_of(&self, offer: &ToolSnapshot) -> Arc<ToolSnapshot> {
        if let Some(left) = self.left.load().as_ref().filter(|left| left.version == offer.version) {
            return left.clone();
        }
        let left = match &self.of {
            None => self.chosen.apply(offer),
            Some(view) => self.chosen.apply(&view.left_of(offer)),
        };
        let left = Arc::new(ToolSnapshot::new(left, Vec::new(), offer.version));
        self.left.store(Some(left.clone()));
        left
    }
}

impl Dispatcher {
    /// A dispatcher of the same tools that offers only some of them, or by other names. What it does not offer cannot
    /// be called through it in any way, and is never mentioned.
    ///
    /// It is cheap to make, to keep and to clone, and it follows its tools: what is registered later is there if it
    /// fits. All else is shared: services, policy, journal, limits. Everything that takes a dispatcher takes this one.
    /// Policies, limits and the journal know tools by the names they were registered with, whatever they are called here.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, ErrorKind, NameCase, Selection, ToolCall, tool};
    ///
    /// /// Read a page.
    /// #[tool(name = "wiki.read_page", read_only, tags = ["wiki"])]
    /// fn read_page(title: &str) -> String {
    ///     format!("about {title}")
    /// }
    ///
    /// /// Delete a page.
    /// #[tool(name = "wiki.delete_page", destructive, tags = ["wiki"])]
    /// fn delete_page(title: &str) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let harmless = tools.select(Selection::new().tags(["wiki"]).read_only(true).case(NameCase::Camel))?;
    /// assert_eq!(harmless.registry().len(), 2, "the tools themselves are all there");
    ///
    /// let result = harmless.call(ToolCall::from_text("wikiReadPage", r#"{"title": "Rust"}"#)).await;
    /// assert_eq!(result.output, "about Rust");
    /// let result = harmless.call(ToolCall::from_text("wiki.delete_page", r#"{"title": "Rust"}"#)).await;
    /// assert_eq!(result.error.unwrap().kind, ErrorKind::UnknownTool);
    ///
    /// // The same, from a configuration.
    /// let selection: Selection = serde_json::from_str(r#"{"tags": ["wiki"], "name_pattern": "wiki\\.read"}"#)?;
    /// assert_eq!(tools.select(selection)?.definitions().len(), 1);
    ///
    /// let error = tools.select(Selection::new().names(["wiki.read_pages"])).unwrap_err();
    /// assert!(error.to_string().contains("is it `wiki.read_page`?"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Names that are unknown, two tools of one new name, a pattern that is none: everything at once.
    pub fn select(&self, selection: impl Into<Selection>) -> Result<Self, BuildError> {
        let chosen = self.with_offer(|offer| CompiledSelection::new(selection.into(), offer));
        let chosen = chosen.map_err(|problems| BuildError { headline: "the tools cannot be selected", problems })?;
        let view = SelectionView { of: self.view.clone(), chosen, left: ArcSwapOption::empty() };
        Ok(Self { inner: self.inner.clone(), view: Some(Arc::new(view)) })
    }
}
