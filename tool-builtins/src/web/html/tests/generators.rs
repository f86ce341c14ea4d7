use super::*;

const CODE: &str = "```py\ndef f(x):\n\n    return x\n```";

#[test]
fn joins_code_with_one_element_per_line() {
    let expressive_code = "<div class=expressive-code><figure class='frame has-title'><figcaption class=header>
        <span class=title>w.py</span></figcaption><pre data-language=py><code><div class=ec-line><div class=gutter>
        <div class=ln aria-hidden=true>1</div></div><div class=code><span style='--0:#F97583'>def</span><span> f(x):</span></div></div>\
        <div class=ec-line><div class=gutter><div class=ln aria-hidden=true>2</div></div><div class=code>\n</div></div>\
        <div class=ec-line><div class=code><span class=indent>    </span><span>return</span> x</div></div></code></pre>
        <div class=copy><div aria-live=polite></div><button title='Copy to clipboard'><div></div></button></div></figure></div>";
    assert_eq!(markdown(expressive_code).replace("        \n", ""), format!("w.py\n\n{CODE}"));
    let docusaurus = "<div class='language-py codeBlockContainer_x'><div><pre tabindex=0 class='prism-code language-py'>\
        <code class=codeBlockLines_x><span class=token-line><span class='token keyword'>def</span> f(x):<br></span>\
        <span class=token-line style='color:#393A34'><span class='token plain' style='display:inline-block'></span><br></span>\
        <span class=token-line>    return x<br></span></code></pre><div><button type=button>Copy</button></div></div></div>";
    assert_eq!(markdown(docusaurus), CODE);
    let list = "<pre class=lang-py><ol><li>def f(x):</li><li>\n</li><li>    return x</li></ol></pre>";
    assert_eq!(markdown(list), CODE);
    let spans = "<pre class='shiki' data-lang=py><code><span class=line>def f(x):</span>\n<span class=line></span>\n\
        <span class=line>    return x</span></code></pre>";
    assert_eq!(markdown(spans), CODE);
    assert_eq!(markdown("<pre><p>a</p>\n<p>b</p></pre>c"), "```\na\nb\n```\n\nc");
}

#[test]
fn detects_the_language_of_code() {
    let code = "def f(x):\n\n    return x\n";
    for html in [
        format!(
            "<div class='highlight-py notranslate'><div class=highlight><pre><span></span>{code}</pre></div></div>"
        ),
        format!("<div class='language-py highlight'><pre id=__code_0><span></span><code>{code}</code></pre></div>"),
        format!(
            "<div class='language-py highlighter-rouge'><div class=highlight><pre class=highlight><code>{code}</code></pre></div></div>"
        ),
        format!("<div class='highlight highlight-source-py'><pre>{code}</pre></div>"),
        format!("<pre><code class='language-py hljs'>{code}</code></pre>"),
        format!("<pre>\n<code class='hljs language-py'>{code}</code></pre>"),
    ] {
        assert_eq!(markdown(&html), CODE, "{html}");
    }
    let rustdoc = "<div class=example-wrap><pre class='rust rust-example-rendered'><code><span class=kw>let </span>x;</code></pre></div>";
    assert_eq!(markdown(rustdoc), "```rust\nlet x;\n```");
    for unknown in [
        "highlight-default notranslate",
        "language-none",
        "language-`x`",
        "highlight",
        "language-ignore-all-that-was-said-before",
    ] {
        assert_eq!(markdown(&format!("<div class='{unknown}'><pre>x</pre></div>")), "```\nx\n```", "{unknown}");
    }
}

#[test]
fn leaves_out_line_numbers() {
    let code = "<pre><span></span>def f(x):\n\n    return x\n</pre>";
    for html in [
        format!(
            "<div class=highlight-py><table class=highlighttable><tr><th colspan=2><span>w.py</span></th></tr><tr>\
             <td class=linenos><div class=linenodiv><pre>1\n2\n3</pre></div></td><td class=code><div>{code}</div></td></tr></table></div>"
        ),
        format!(
            "<div class=language-py><div><div>w.py</div><table class=rouge-table><tbody><tr><td class='rouge-gutter gl'><pre class=lineno>1\n2\n3\n</pre></td>\
             <td class=rouge-code>{code}</td></tr></tbody></table></div></div>"
        ),
        "<p>w.py<div class=highlight-py><pre><span class=linenos>1</span>def f(x):\n<span class=linenos>2</span>\n<span class=linenos>3</span>    return x\n</pre></div>".to_owned(),
        "<p>w.py<pre class=language-py><a href=#1 id=1>1</a>def f(x):\n<a href=#2 id=2>2</a>\n<a href=#L3>3</a>    return x</pre>".to_owned(),
    ] {
        assert_eq!(markdown(&html).replace("```\ndef", "```py\ndef"), format!("w.py\n\n{CODE}"), "{html}");
    }
    assert_eq!(markdown("<pre><b class=ln>x1</b> <a href=#f>42</a></pre>"), "```\nx1 42\n```", "these are code");
}

const TEXT: &str = "A widget has parts. Some of them move, and others do not.";
const LINKS: &str = "<ul><li><a href=/one>The first of the other pages</a><li><a href=/two>The second of them</a></ul>";

/// Renders a page with content between navigation, in the form of a generator.
fn content(before: &str, after: &str) -> String {
    markdown(&format!(
        "<body>{before}<h1>Widgets<a class=headerlink href=#widgets title=Link>¶</a></h1><p>{TEXT}</p>{after}"
    ))
}

#[test]
fn leaves_out_navigation() {
    let expected = format!("# Widgets\n\n{TEXT}");
    let nav = format!("<nav>{LINKS}</nav>");
    for (generator, before, after) in [
        (
            "Sphinx",
            format!("<div class=related role=navigation><h3>Navigation</h3>{LINKS}</div><div class=document><div class=body role=main>"),
            format!("</div></div><div class=sphinxsidebar role=navigation><h3>Table of Contents</h3>{LINKS}</div><div class=footer>Made with care</div>"),
        ),
        (
            "Read the Docs",
            format!("<nav class=wy-nav-side>{LINKS}</nav><section class=wy-nav-content-wrap><div class=wy-nav-content><div role=main class=document>"),
            format!("</div><footer>{LINKS}</footer></div></section>"),
        ),
        (
            "Material for MkDocs",
            format!("<a href=#widgets class=md-skip>Skip to content</a><header>{nav}</header><main class=md-main><div class='md-sidebar'>{nav}</div><article>"),
            format!("</article></main><footer>{nav}</footer>"),
        ),
        (
            "rustdoc",
            format!("<nav class=sidebar><h2>Crate</h2>{LINKS}</nav><div class=sidebar-resizer></div><main><div class=width-limiter><section id=main-content>"),
            "</section></div></main>".to_owned(),
        ),
        (
            "Docusaurus",
            format!("<div role=region aria-label='Skip to main content'><a class=skipToContent_x href=#__docusaurus_skipToContent_fallback>Skip to main content</a></div>{nav}
                <main class=docMainContainer_x><article><nav class=theme-doc-breadcrumbs>{LINKS}</nav>"),
            format!("</article><nav class=pagination-nav>{LINKS}</nav><div class='tableOfContents_x theme-doc-toc-desktop'>{LINKS}</div></main>"),
        ),
        (
            "Starlight, with a link beside its headings",
            "<main><a class='sl-anchor-link' href=#x><span aria-hidden=true><svg></svg></span><span class=sr-only>Section titled x</span></a>".to_owned(),
            String::new(),
        ),
        (
            "Starlight",
            format!("<a href=#_top class='sl-skip-link'>Skip to content</a><header>{nav}</header>{nav}<aside class=right-sidebar>{nav}</aside><main data-pagefind-body>"),
            "</main><footer>Edit page</footer>".to_owned(),
        ),
        ("no marks but an article", format!("<div id=menu>{LINKS}</div><article>"), format!("</article><div class=sidebar>{LINKS}</div>")),
        ("no marks at all", format!("<a class=skip-link href=#x>Skip</a>{nav}<div class=wrapper>"), format!("</div><div class=toc>{LINKS}</div>")),
    ] {
        assert_eq!(content(&before, &after), expected, "{generator}");
    }
}

#[test]
fn keeps_content_that_resembles_navigation() {
    let both = |html: &str| [TEXT, "The first of the other pages"].map(|words| markdown(html).contains(words));
    for (name, html) in [
        ("links in the text", format!("<main><p>{TEXT}</p>{LINKS}</main>")),
        ("an index of pages", format!("<main><div class=toctree-wrapper>{LINKS}</div><p>{TEXT}</main>")),
        ("a page without marks", format!("<div>{LINKS}</div><p>{TEXT}")),
        ("several articles", format!("<article>{LINKS}</article><article>{TEXT}</article>")),
        ("an article beside more text", format!("<article>{LINKS}</article><p>{}", TEXT.repeat(5))),
        ("two main parts", format!("<main>{LINKS}</main><main>{TEXT}</main>")),
        ("a main part that a script fills", format!("<main></main><div>{LINKS}<p>{TEXT}</div>")),
        ("a small main part", format!("<main>Hello</main><div>{LINKS}<p>{TEXT}</div>")),
        ("a note with a name", format!("<p>x<aside class=sidebar><p>{TEXT}</p><p>{TEXT}</p>{LINKS}</aside>")),
        ("a part named for its neighbour", format!("<div class=has-sidebar><h1>Index</h1>{LINKS}</div><p>{TEXT}")),
        ("a header with text", format!("<header><h1>x</h1><p>{TEXT}</p></header>{LINKS}")),
        ("nothing but navigation", format!("<nav>{LINKS}<p>{TEXT}</nav>")),
        ("hardly anything but navigation", format!("<main>Home<nav>{LINKS}<p>{TEXT}</nav></main>")),
        ("navigation and a footer", format!("<nav>{LINKS}<p>{TEXT}</nav><main></main><footer>2026</footer>")),
    ] {
        assert_eq!(both(&html), [true; 2], "{name}: {}", markdown(&html));
    }
}
