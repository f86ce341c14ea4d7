//! The tools of a dispatcher: definitions, selections, reloads and reports.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tool_model::{Manifest, ToolDefinition};

use super::Dispatcher;
use super::snapshot::{Definitions, SelectionView, ToolSnapshot};
use crate::Registry;
use crate::dispatch::{BuildError, BuildProblem, Explanation, ManifestWatch, ProviderCheck, warnings};
use crate::manifest::IntoManifest;
use crate::selection::{CompiledSelection, Selection};

impl Dispatcher {
    /// Returns the registry, which changes the tools while the dispatcher runs. It contains all tools, even if this
    /// dispatcher is restricted to a selection.
    #[must_use]
    pub fn registry(&self) -> Registry {
        Registry::new(self.inner.clone())
    }

    /// Returns the tools as a manifest.
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        self.with_snapshot(ToolSnapshot::manifest)
    }

    /// Returns the tools with their definitions, sorted by name.
    ///
    /// The definitions are a snapshot, which later changes do not affect. As long as the tools stay the same, every call
    /// returns a clone of the same `Arc`.
    #[must_use]
    pub fn definitions(&self) -> Definitions {
        self.with_snapshot(|snapshot| snapshot.definitions().clone())
    }

    /// Returns the definition of the tool with this name or alias.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<Arc<ToolDefinition>> {
        self.with_snapshot(|snapshot| snapshot.definition(name))
    }

    /// Returns the name of the tool that a call of this name reaches: the same name, or that of the tool with this alias.
    ///
    /// ```
    /// use tool_runtime::{Dispatcher, RuntimeTool};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let run = RuntimeTool::new("run_command", "Runs a command.", |()| async { "done" }).alias("exec");
    /// let tools = Dispatcher::builder().tool(run).build()?;
    /// assert_eq!(tools.resolve("exec").as_deref(), Some("run_command"));
    /// assert_eq!(tools.resolve("execute"), None);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Arc<str>> {
        self.with_snapshot(|snapshot| snapshot.find(name).map(|tool| tool.name.clone()))
    }

    /// Returns a dispatcher that is restricted to a selection of the tools, possibly under other names. The other tools
    /// cannot be called through it, and are never mentioned.
    ///
    /// The selection is cheap to make, to keep and to clone. It follows the registry: a tool that is registered later is
    /// selected if it matches. Services, policy, journal and limits are shared. Policies, limits and the journal use the
    /// tools' own names, not those of the selection.
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
    /// Reports all unknown names, duplicate new names and invalid patterns at once.
    pub fn select(&self, selection: impl Into<Selection>) -> Result<Self, BuildError> {
        let compiled = self.with_snapshot(|snapshot| CompiledSelection::new(selection.into(), snapshot));
        let compiled =
            compiled.map_err(|problems| BuildError { headline: "the tools cannot be selected", problems })?;
        let view = SelectionView::new(self.view.clone(), compiled);
        let selected = Self { inner: self.inner.clone(), view: Some(Arc::new(view)) };
        tracing::debug!(
            tools = selected.with_snapshot(|snapshot| snapshot.tools.len()),
            of = self.with_snapshot(|snapshot| snapshot.tools.len()),
            "tools selected"
        );
        Ok(selected)
    }

    /// Replaces the tools by those of another manifest, in all clones. Services, providers and runtime tools stay.
    ///
    /// Calls that have started are not affected. Each call sees either the old or the new tools, never a mixture.
    /// [`watch`](Self::watch) reloads whenever a file changes.
    ///
    /// ```standalone_crate
    /// use tool_runtime::{Dispatcher, Manifest, ToolCall, tool};
    ///
    /// /// Say hello.
    /// #[tool]
    /// fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let tools = Dispatcher::builder().build()?;
    /// let edited = Manifest::linked().to_json().replace("Say hello.", "Greet politely.");
    ///
    /// tools.reload(Manifest::from_json(&edited)?)?;
    /// assert_eq!(tools.definition("hello").unwrap().description, "Greet politely.");
    ///
    /// let stale = edited.replace("hello\": {", "good_day\": {");
    /// let error = tools.reload(Manifest::from_json(&stale)?).unwrap_err();
    /// assert!(error.to_string().contains("is now called `hello`"));
    /// assert!(tools.call(ToolCall::from_text("hello", "{}")).await.success, "the old one goes on");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Builder::build`](crate::Builder::build): reports everything that does not fit, and the tools stay as they
    /// were. A [lenient](crate::Builder::lenient) dispatcher logs and skips the tools that do not fit.
    pub fn reload(&self, manifest: impl IntoManifest) -> Result<(), BuildError> {
        self.inner.reload(manifest)?;
        tracing::debug!(tools = self.inner.snapshot.with(|snapshot| snapshot.tools.len()), "manifest loaded");
        Ok(())
    }

    /// Loads the manifest from a file now, and again whenever the file changes. The file is checked at this interval, at
    /// most a hundred times a second.
    ///
    /// A change is loaded once the file has not changed for one interval, so that a file which is still being written is
    /// not read. If the manifest does not fit, a warning with all problems is logged, and the tools stay as they were.
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// use tool_runtime::{Dispatcher, Manifest, tool};
    ///
    /// /// Say hello.
    /// #[tool]
    /// fn hello() {}
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let path = std::env::temp_dir().join(format!("watched-{}.json", std::process::id()));
    /// # Manifest::linked().save(&path)?;
    /// let tools = Dispatcher::builder().manifest(Manifest::load(&path)?).build()?;
    /// let watch = tools.watch(&path, Duration::from_secs(1))?;
    /// // The application runs; then:
    /// drop(watch);
    /// # std::fs::remove_file(path)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`reload`](Self::reload), if the manifest cannot be loaded now.
    pub fn watch(&self, path: impl Into<PathBuf>, interval: Duration) -> Result<ManifestWatch, BuildError> {
        ManifestWatch::start(self, path.into(), interval)
    }

    /// Runs every provider once and rolls back: for start-up and for tests.
    ///
    /// [`Builder::build`](crate::Builder::build) cannot see which values a provider asks its scope for. An unknown name
    /// or a cycle of providers is found only here or by a call.
    pub fn check(&self) -> ProviderCheck<'_> {
        ProviderCheck::new(self)
    }

    /// Returns where each tool's handler, instance and injected values come from, and the warnings about the dispatcher.
    #[must_use]
    pub fn explain(&self) -> Explanation {
        self.with_snapshot(|snapshot| Explanation::new(snapshot, &self.inner.dependencies, self.warnings()))
    }

    /// Returns the warnings about all tools, or none for a selection: the other tools use what it does not.
    pub(crate) fn warnings(&self) -> Vec<BuildProblem> {
        match self.view {
            Some(_) => Vec::new(),
            None => self.with_snapshot(|tools| warnings(tools, &self.inner.dependencies, &self.inner.rules)),
        }
    }
}
