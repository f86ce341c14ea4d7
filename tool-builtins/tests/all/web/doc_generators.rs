//! Pages written by documentation generators.
//!
//! The generators are Python packages. If they cannot be installed, the tests are skipped; with `WEB_PYTHON=required`, as
//! in CI, they fail instead.

use std::fs;
use std::path::Path;

use test_packages::{PyPi, run};

use super::test_server::{Server, ok};
use super::{fetch, web};

const TARGET: &str = env!("CARGO_TARGET_TMPDIR");
static GENERATORS: PyPi = PyPi::new(include_str!("../../python/requirements.txt"), "WEB_PYTHON", TARGET);

/// Fetches a page of a generated site, and returns its text without the header.
async fn fetched(page: &Path) -> String {
    let html = fs::read_to_string(page).unwrap();
    let server = Server::always(ok("text/html; charset=utf-8", &html)).await;
    let result = fetch(web(&server), server.url("/index.html")).await;
    let (about, text) = result.output.split_once("\n\n").unwrap();
    assert!(about.contains("\nLeft out: "), "{about}");
    text.replace(&server.url("/"), "/")
}

const SPHINX: &str = r"
Widgets
=======

A widget holds 2\ :sup:`64`\ -2 parts of H\ :sub:`2`\ O, and 10\ :sup:`-9` others. :math:`x_i = \frac{1}{2}`

.. contents::

.. code-block:: python
   :linenos:

   def f(x):

       return x

.. list-table::

   * - Alice
     - Team Lead
     - 30
   * - Bob
     -
     - 40

.. function:: make(size)

   Makes one.

.. toctree::

   other
";

const SPHINX_TEXT: &str = "\
# Widgets

A widget holds 2^64-2 parts of H_2O, and 10^(-9) others. $x_i = \\frac{1}{2}$

```python
def f(x):

    return x
```

| | | |
| --- | --- | --- |
| Alice | Team Lead | 30 |
| Bob | | 40 |

make(*size*)
  Makes one.

- [Other](/other.html)";

#[tokio::test]
async fn converts_sphinx_pages() {
    let Some(python) = GENERATORS.installed() else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("index.rst"), SPHINX).unwrap();
    fs::write(at("other.rst"), "Other\n=====\n\nText.\n").unwrap();
    fs::write(at("conf.py"), "extensions = ['sphinx.ext.mathjax']\n").unwrap();
    for theme in ["alabaster", "classic", "nature"] {
        let mut build = python.command();
        build.args(["-m", "sphinx", "-q", "-b", "html", "-D"]).arg(format!("html_theme={theme}"));
        run(build.arg(directory.path()).arg(at(theme))).unwrap();
        assert_eq!(fetched(&at(theme).join("index.html")).await, SPHINX_TEXT, "{theme}");
    }
}

const MKDOCS: &str = "
# Widgets

A widget holds 2<sup>64</sup>-2 parts.

!!! note
    A note.

``` py title=\"w.py\" linenums=\"1\"
def f(x):

    return x
```

| a     | b |
|-------|---|
| `x|y` |   |

## More
";

const MKDOCS_TEXT: &str = "\
# Widgets

A widget holds 2^64-2 parts.

Note

A note.

w.py

```
def f(x):

    return x
```

| a | b |
| --- | --- |
| `x\\|y` | |

## More";

#[tokio::test]
async fn converts_mkdocs_pages() {
    let Some(python) = GENERATORS.installed() else { return };
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::create_dir(at("docs")).unwrap();
    fs::write(at("docs/index.md"), MKDOCS).unwrap();
    fs::write(at("docs/other.md"), "# Other\n\nText.\n").unwrap();
    for theme in ["material", "mkdocs", "readthedocs"] {
        let config = format!(
            "site_name: Widgets\nplugins: []\ntheme: {{name: {theme}}}\n\
             markdown_extensions: [admonition, pymdownx.superfences, {{toc: {{permalink: true}}}}]\n"
        );
        fs::write(at("mkdocs.yml"), config).unwrap();
        let mut build = python.command();
        build.args(["-m", "mkdocs", "build", "-q", "-f"]).arg(at("mkdocs.yml")).arg("-d").arg(at(theme));
        run(&mut build).unwrap();
        assert_eq!(fetched(&at(theme).join("index.html")).await, MKDOCS_TEXT, "{theme}");
    }
}
