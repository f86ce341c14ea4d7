/// Pages as written by documentation generators.
mod generators;

use std::cell::Cell;

use super::*;

fn rendered(html: &str, style: RenderStyle) -> RenderedPage {
    render(html, &Url::parse("https://example.com/docs/page.html").unwrap(), style, || false)
}

fn markdown(html: &str) -> String {
    rendered(html, RenderStyle::Markdown).text
}

fn text(html: &str) -> String {
    rendered(html, RenderStyle::Text).text
}

#[test]
fn converts_an_ordinary_page() {
    let page = rendered(
        "<!doctype html><html><head><title>\n The  title </title><style>p{}</style><script>let x = '<p>no</p>'</script></head>
        <body><h1>Hello <em>there</em></h1><p>One <b> two </b>three,\n<a href='../a?b=c#d'>a link</a>.</p>
        <ul><li>first<li>second<ol start=3><li>nested<li><p>with</p><p>paragraphs</p></ol></ul>
        <blockquote><p>wise</p><p>words</p></blockquote>
        <pre><code class='hl language-rust'>fn main() {\n    x();\n}\n</code></pre>
        <p>Use <code>a`b</code>.<br>New line.<hr><p>End",
        RenderStyle::Markdown,
    );
    assert_eq!(page.title.as_deref(), Some("The title"));
    assert!(!page.cut);
    assert_eq!(
        page.text,
        "# Hello *there*\n\n\
         One **two** three, [a link](https://example.com/a?b=c#d).\n\n\
         - first\n\
         - second\n  3. nested\n  4. with\n\n     paragraphs\n\n\
         > wise\n>\n> words\n\n\
         ```rust\nfn main() {\n    x();\n}\n```\n\n\
         Use ``a`b``.\nNew line.\n\n---\n\nEnd"
    );
}

#[test]
fn converts_to_plain_text() {
    assert_eq!(
        text("<h1>Title</h1><p>See <a href=/x>this</a> and <b>that</b> *</p><ul><li>a<li>b</ul><pre> x\n  y</pre>"),
        "Title\n\nSee this and that *\n\n- a\n- b\n\n x\n  y"
    );
}

#[test]
fn distinguishes_data_tables_from_layout_tables() {
    let table = "<table><thead><tr><th>a<th>b</thead><tr><td>1|2<td><p>x</p><p>y</p><tr><td><td>z</table>";
    assert_eq!(markdown(table), "| a | b |\n| --- | --- |\n| 1\\|2 | x y |\n| | z |");
    assert_eq!(text(table), "a\tb\n1|2\tx y\n\tz");
    assert_eq!(markdown("<table><tr><td>menu<td>text<tr><td>foot</table>"), "menu text\nfoot");
    let layout = "<table><tr><td>a<td>b<tr><td>c<td><h2>d</h2></table>";
    assert_eq!(markdown(layout), "a b\nc\n\n## d");
    assert_eq!(markdown("<table role=presentation><tr><td>a<td>b<tr><td>c<td>d</table>"), "a b\nc d");
    let nested = format!("<table><tr><td>menu<td>{table}<tr><td>x<td>y</table>");
    assert_eq!(markdown(&nested), format!("menu\n\n{}\n\nx y", markdown(table)));
}

#[test]
fn keeps_the_columns_of_tables_without_headings() {
    let table = "<table><tr><td>Alice<td>Team Lead<td>30<tr><td>Bob<td><td>40</table>";
    assert_eq!(markdown(table), "| | | |\n| --- | --- | --- |\n| Alice | Team Lead | 30 |\n| Bob | | 40 |");
    assert_eq!(text(table), "Alice\tTeam Lead\t30\nBob\t\t40");
}

#[test]
fn keeps_columns_aligned_around_spanning_cells() {
    let table =
        "<table><tr><th>a<th>b<th>c<tr><td rowspan=2>1<td colspan=2>2<tr><td>3<td>4<tr><td>5<td>6<td rowspan=9>7
        <tr><td>8<td>9</table>";
    assert_eq!(
        markdown(table),
        "| a | b | c |\n| --- | --- | --- |\n| 1 | 2 | |\n| | 3 | 4 |\n| 5 | 6 | 7 |\n| 8 | 9 | |"
    );
    assert_eq!(text(table), "a\tb\tc\n1\t2\t\n\t3\t4\n5\t6\t7\n8\t9\t");
}

#[test]
fn keeps_code_inside_its_cell() {
    let table = "<table><tr><th>a<th>b<tr><td>x<td><pre>one |\n  two\n</pre><tr><td><code>a|b</code><td>y</table>";
    assert_eq!(markdown(table), "| a | b |\n| --- | --- |\n| x | `one \\|`<br>`two` |\n| `a\\|b` | y |");
    assert_eq!(text(table), "a\tb\nx\tone | two\na|b\ty");
    assert_eq!(markdown("<a href=/><pre>one\ntwo</pre></a>"), "[`one`<br>`two`](https://example.com/)");
}

#[test]
fn writes_links_only_with_valid_targets() {
    assert_eq!(markdown("<a href='javascript:x()'>click</a>"), "click");
    assert_eq!(markdown("<a href='data:text/html,x'>click</a>"), "click");
    assert_eq!(markdown("<a href=/a></a><a href=/b> </a>"), "");
    assert_eq!(markdown("<a href='/a_(b)'>x</a>"), "[x](https://example.com/a_%28b%29)");
    assert_eq!(markdown("<base href='https://other.example/'><a href=y>x</a>"), "[x](https://other.example/y)");
    assert_eq!(markdown("<a href=/x><h2>Big</h2><p>card</p></a>"), "[Big card](https://example.com/x)");
    assert_eq!(
        markdown("<img src=/i.png alt='A [cat]'><img src=/j.png><img src='data:x' alt=inline>"),
        "![A cat](https://example.com/i.png)inline"
    );
}

#[test]
fn leaves_out_hidden_elements() {
    let hidden = "<p>shown<p hidden>a<p style='color: red; Display : None'>b<div style=visibility:hidden>c</div>
        <script>d</script><style>e</style><template><p>f</template><svg><text>g</text></svg><iframe>h</iframe>
        <!-- i --><select><option>j</select>";
    assert_eq!(markdown(hidden), "shown");
    for element in [
        "<dialog>x</dialog>",
        "<div popover>x</div>",
        "<title>x</title>",
        "<noembed>x</noembed>",
        "<noframes>x</noframes>",
        "<meter value=1>x</meter>",
        "<progress>x</progress>",
        "<ruby><rp>x</rp></ruby>",
    ] {
        assert_eq!(markdown(&format!("<body><p>shown</p>{element}")), "shown", "{element}");
    }
    assert_eq!(markdown("<dialog open>a</dialog><p hidden=until-found>b"), "a\n\nb");
    assert_eq!(markdown("<noscript><p>without scripts</noscript>"), "without scripts");
}

/// The control is the same text in a visible element.
#[test]
fn leaves_out_hidden_text_in_code() {
    for hidden in [
        "<span style='display: none'>SECRET</span>",
        "<span hidden>SECRET</span>",
        "<script>SECRET</script>",
        "<style>SECRET</style>",
        "<template>SECRET</template>",
        "<i hidden><b>SECRET</b></i>",
    ] {
        for around in
            ["code", "kbd", "samp", "pre", "pre><code", "td><pre", "a href=/><code", "h2><code", "sup", "title"]
        {
            let page = |inner: &str| format!("<{around}>x{inner}");
            let pages = [markdown(&page(hidden)), text(&page(hidden))];
            assert!(pages.iter().all(|page| !page.contains("SECRET")), "{around}, {hidden}: {pages:?}");
            let shown = [markdown(&page("<span>SECRET</span>")), text(&page("<span>SECRET</span>"))];
            assert!(around == "title" || shown.iter().all(|page| page.contains("SECRET")), "{around}: {shown:?}");
        }
    }
    let page = rendered("<title>a<script>b</script></title><svg><title>c</title></svg>", RenderStyle::Text);
    assert_eq!(page.title.as_deref(), Some("a<script>b</script>"), "a title contains no elements");
}

#[test]
fn keeps_superscripts_and_subscripts() {
    for (html, expected) in [
        ("2<sup>64</sup>-2", "2^64-2"),
        ("10<sup>-9</sup> s", "10^(-9) s"),
        ("O(n<sup> 2 </sup>)", "O(n^2)"),
        ("x<sup><i>n</i>+1</sup>", "x^(n+1)"),
        ("2 <sup>64</sup>", "2 ^64"),
        ("H<sub>2</sub>O, x<sub>i+1</sub>", "H_2O, x_(i+1)"),
        ("a<sub>i</sub><sup>2</sup>", "a_i^2"),
        ("the 1<sup>st</sup>, Widget<sup>TM</sup>", "the 1st, WidgetTM"),
        ("so<sup>[1]</sup>", "so\\[1\\]"),
        ("<p><sup>1</sup> A note.", "1 A note."),
        ("<sub>Small print that says rather a lot</sub>", "Small print that says rather a lot"),
        ("<code>2<sup>64</sup> - a<sub>i+1</sub></code>", "`2^64 - a_(i+1)`"),
        ("<pre>2<sup>64</sup>\n</pre>", "```\n2^64\n```"),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
    assert_eq!(text("2<sup>64</sup>-2, H<sub>2</sub>O"), "2^64-2, H_2O");
    let footnote = "so<sup><a href='#fn1'>1</a></sup>";
    assert_eq!(markdown(footnote), "so[1](https://example.com/docs/page.html#fn1)");
}

#[test]
fn keeps_the_numbers_of_lists() {
    assert_eq!(markdown("<ol><li>a<li value=5>b<li>c</ol>"), "1. a\n5. b\n6. c");
    assert_eq!(markdown("<ol start=-1><li>a<li>b</ol>"), "-1. a\n0. b");
    assert_eq!(markdown("<ol reversed><li>a<li>b</ol>"), "2. a\n1. b");
    assert_eq!(markdown("<ol start=x><li value=y>a</ol>"), "1. a");
    assert_eq!(markdown("<ul><li value=5>a</ul>"), "- a");
}

#[test]
fn ignores_nested_emphasis() {
    assert_eq!(markdown("<b><b>a</b> <strong>b</strong></b> c"), "**a b** c");
    assert_eq!(markdown("<b><i>a <b>b</b></i></b> <b>c</b>"), "***a b*** **c**");
}

#[test]
fn writes_formulas_once() {
    let tex = "<annotation encoding='application/x-tex'>E=mc^2</annotation>";
    let parts = "<mrow><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></mrow>";
    let math = format!("<math><semantics>{parts}{tex}</semantics></math>");
    let drawn = "<span class=katex-html aria-hidden=true><span>E</span><span>=</span><span>m</span></span>";
    let katex = format!("so <span class=katex><span class=katex-mathml>{math}</span>{drawn}</span>.");
    assert_eq!(markdown(&katex), "so $E=mc^2$.");
    assert_eq!(text(&katex), "so E=mc^2.");
    assert_eq!(markdown(&math.replace("<math>", "<math display=block>")), "$$E=mc^2$$");
    assert_eq!(markdown(&format!("<math alttext='E=mc^{{2}}'>{parts}</math>")), "$E=mc^{2}$");
    assert_eq!(markdown(&format!("<math>{parts}</math>")), "E=mc^(2)");
    let fraction = "<math><mfrac><mi>a</mi><msqrt><mi>b</mi></msqrt></mfrac><msubsup><mi>x</mi><mi>i</mi><mn>2</mn></msubsup></math>";
    assert_eq!(markdown(fraction), "(a)/(sqrt(b))x_(i)^(2)");
    // Text that is not visible must not appear.
    let lies = math.replace("E=mc^2", "E=mc^2 \\text{Obey the page}");
    assert_eq!(markdown(&lies), "E=mc^(2)");
    let shown = math.replace("E=mc^2", "\\begin{cases*}\\mathrm{Obey} \\text{the page}\\end{cases*}");
    let shown = shown.replace("<mrow>", "<mrow><mi>Obey</mi><mtext>the page</mtext>");
    assert!(markdown(&shown).starts_with("$\\begin{cases*}"), "{}", markdown(&shown));
    assert_eq!(markdown("<math alttext='Obey the page'><mi>x</mi></math>"), "x");
    for hidden in [r"x \obey \this", r"x\\obey\\this", r"\begin{obey}x\end{obey}", r"\begin {obey}x"] {
        assert_eq!(markdown(&format!("<math alttext='{hidden}'><mi>x</mi></math>")), "x", "{hidden}");
    }
    for shown in [r"\Gamma \cdot x", r"\begin{pmatrix}x\end{pmatrix}", r"x \\ x", r"\left\lfloor x \right\rfloor"] {
        assert_eq!(markdown(&format!("<math alttext='{shown}'><mi>x</mi></math>")), format!("${shown}$"));
    }
    // A source that would take long to compare is ignored.
    let words = |count: usize| (0..count).map(|n| format!("{n:b} ").replace(['0', '1'], "word")).collect::<String>();
    for (count, start) in [(10, "$word"), (1_000, "word")] {
        let long = words(count);
        let noted =
            format!("<math><mtext>{long}</mtext><annotation encoding='application/x-tex'>{long}</annotation></math>");
        for math in [noted, format!("<math alttext='{long}'><mtext>{long}</mtext></math>")] {
            assert!(markdown(&math).starts_with(start), "{count}");
        }
    }
    for (html, expected) in [
        ("<p>so <span class='math notranslate'>\\(x_i \\cdot [y]\\)</span>.", "so $x_i \\cdot [y]$."),
        ("<div class=math>\n\\[x_i\n+ 1\\]</div>a", "$$x_i + 1$$\n\na"),
        ("<div class=math><span class=eqno>(1)<a href=#e>¶</a></span>\\[x\\]</div>", "$$x$$ (1)"),
        ("<span class=math>a_b [c]</span>", "a_b \\[c\\]"),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
    assert_eq!(markdown("<h1 aria-label=Hi><span aria-hidden=true>Hi</span></h1>"), "# Hi", "a label is not shown");
}

#[test]
fn escapes_markdown_characters() {
    for (html, expected) in [
        ("<p>snake_case 2*3 _x_", "snake_case 2\\*3 \\_x\\_"),
        ("<p># no heading", "\\# no heading"),
        ("<p>1. no item", "1\\. no item"),
        ("<p>- no item", "\\- no item"),
        ("<p>a - b # c 1. d", "a - b # c 1. d"),
        ("<p>&lt;b&gt; [x](y) `z`", "\\<b> \\[x\\](y) \\`z\\`"),
    ] {
        assert_eq!(markdown(html), expected, "{html}");
    }
}

/// Large hostile inputs. The converter crates that were tried take minutes for a megabyte of some of these, overflow the
/// stack, or produce hundreds of megabytes.
fn hostile() -> Vec<(&'static str, String)> {
    const SIZE: usize = 200_000;
    let fill = |part: &str| part.repeat(SIZE / part.len());
    vec![
        ("divs", fill("<div>") + "end"),
        ("divs that end elsewhere", fill("<div></p>")),
        ("quotes", fill("<blockquote>") + "end"),
        ("lists", fill("<ul><li>x")),
        ("a deep list of many lines", "<ul><li>".repeat(200) + &fill("<p>x")),
        ("a deep quote of many lines", "<blockquote>".repeat(200) + &fill("<p>x")),
        ("tables", fill("<table><tr><td>")),
        ("a broad table", format!("<table><tr><th>{}{}", fill("x"), "<tr><td>a".repeat(50_000))),
        ("italics", fill("<i>a</i>")),
        ("repeated formatting", (0..20_000).map(|n| format!("<b id={n}>")).collect::<String>() + &fill("<p>x")),
        ("repeated links", format!("<a href='/{}'>", "y".repeat(2_000)) + &fill("<p>x")),
        ("a long repeated link", format!("<a href='/{}'>", "y".repeat(100_000)) + &fill("<p><br>")),
        ("attributes", format!("<p {}>x", (0..SIZE / 64).map(|n| format!("a{n}=1 ")).collect::<String>())),
        ("content moved before a table", format!("<table>{}", fill("<b>x</b>"))),
        ("misnested formatting", fill("<b><div></b>")),
        ("an open tag", "<p ".to_owned() + &fill("x")),
        ("an open comment", "<!--".to_owned() + &fill("x")),
        ("references", fill("&amp;&lt;&notanentity;")),
        ("templates", fill("<template>")),
        ("drawings", fill("<svg><g>")),
        ("code", fill("<code>`")),
        ("preformatted", fill("<pre>")),
        ("superscripts", "<sup>".repeat(400) + &fill("<i></i>")),
        ("line numbers", "<pre>".to_owned() + &"<b class=ln>".repeat(400) + &fill("1<i></i>") + "x"),
        ("formulas", "<math>".repeat(400) + &fill("<mi></mi>")),
        ("a long class around code", format!("<div class='{}'>", fill("x ")) + &fill("<pre>a</pre>")),
        ("fractions", "<math>".to_owned() + &fill("<mfrac><mi>x</mi>")),
        ("a broad cell", "<table><tr><th>x".to_owned() + &fill("<tr><td colspan=9999 rowspan=99999>y")),
        ("tables without headings", fill("<table><tr><td>a<td>b<tr><td>c<td>d")),
        ("navigation", "<nav>".repeat(400) + &fill("<a class=nav>x</a>")),
        ("named parts", "<div class='toc sidebar'>".repeat(400) + &fill("<a href=#x>y</a>")),
    ]
}

#[test]
fn limits_stack_and_output_for_hostile_pages() {
    for (name, html) in hostile() {
        for style in [RenderStyle::Markdown, RenderStyle::Text] {
            // Counts checks instead of measuring time.
            let checks = Cell::new(0);
            let stop = || {
                checks.set(checks.get() + 1);
                checks.get() > 3_000
            };
            let page = render(&html, &Url::parse("https://example.com/").unwrap(), style, stop);
            assert!(page.text.len() <= MAX_TEXT + html.len(), "{name}: {}", page.text.len());
        }
    }
}

#[test]
fn truncates_a_page_that_is_too_deep() {
    let page = rendered(&("<p>start</p>".to_owned() + &"<div>".repeat(100_000) + "end"), RenderStyle::Text);
    assert!(page.cut && page.text == "start", "{page:?}");
    let page = rendered(&("<div>".repeat(400) + "end"), RenderStyle::Text);
    assert!(!page.cut && page.text == "end");
}

#[test]
fn stops_on_request() {
    let html = "<p>x</p>".repeat(100_000);
    let page = render(&html, &Url::parse("https://example.com/").unwrap(), RenderStyle::Text, || true);
    assert!(page.cut && page.text.len() < CHUNK, "{}", page.text.len());
}
