use std::cell::Cell;

use super::*;

fn rendered(html: &str, style: Style) -> Rendered {
    render(html, &Url::parse("https://example.com/docs/page.html").unwrap(), style, || false)
}

fn markdown(html: &str) -> String {
    rendered(html, Style::Markdown).text
}

fn text(html: &str) -> String {
    rendered(html, Style::Text).text
}

#[test]
fn an_ordinary_page() {
    let page = rendered(
        "<!doctype html><html><head><title>\n The  title </title><style>p{}</style><script>let x = '<p>no</p>'</script></head>
        <body><h1>Hello <em>there</em></h1><p>One <b> two </b>three,\n<a href='../a?b=c#d'>a link</a>.</p>
        <ul><li>first<li>second<ol start=3><li>nested<li><p>with</p><p>paragraphs</p></ol></ul>
        <blockquote><p>wise</p><p>words</p></blockquote>
        <pre><code class='hl language-rust'>fn main() {\n    x();\n}\n</code></pre>
        <p>Use <code>a`b</code>.<br>New line.<hr><p>End",
        Style::Markdown,
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
fn the_words_alone() {
    assert_eq!(
        text("<h1>Title</h1><p>See <a href=/x>this</a> and <b>that</b> *</p><ul><li>a<li>b</ul><pre> x\n  y</pre>"),
        "Title\n\nSee this and that *\n\n- a\n- b\n\n x\n  y"
    );
}

#[test]
fn tables_with_headings_are_tables_and_others_are_layout() {
    let table = "<table><thead><tr><th>a<th>b</thead><tr><td>1|2<td><p>x</p><p>y</p><tr><td><td>z</table>";
    assert_eq!(markdown(table), "| a | b |\n| --- | --- |\n| 1\\|2 | x y |\n| | z |");
    assert_eq!(text(table), "a\tb\n1|2\tx y\n\tz");
    assert_eq!(markdown("<table><tr><td>menu<td>text<tr><td>foot</table>"), "menu text\nfoot");
}

#[test]
fn links_lead_somewhere_or_are_words() {
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
fn what_readers_do_not_see_is_left_out() {
    let hidden = "<p>shown<p hidden>a<p style='color: red; Display : None'>b<div style=visibility:hidden>c</div>
        <script>d</script><style>e</style><template><p>f</template><svg><text>g</text></svg><iframe>h</iframe>
        <!-- i --><select><option>j</select>";
    assert_eq!(markdown(hidden), "shown");
    assert_eq!(markdown("<noscript><p>without scripts</noscript>"), "without scripts");
}

#[test]
fn words_are_not_taken_for_marks() {
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

/// Much of each. The converters that were tried take minutes for a megabyte of some of these, overflow the stack, or make
/// hundreds of megabytes of them.
fn hostile() -> Vec<(&'static str, String)> {
    const SIZE: usize = 200_000;
    let fill = |part: &str| part.repeat(SIZE / part.len());
    vec![
        ("divs", fill("<div>") + "end"),
        ("divs that end elsewhere", fill("<div></p>")),
        ("quotations", fill("<blockquote>") + "end"),
        ("lists", fill("<ul><li>x")),
        ("a deep list of many lines", "<ul><li>".repeat(200) + &fill("<p>x")),
        ("a deep quotation of many lines", "<blockquote>".repeat(200) + &fill("<p>x")),
        ("tables", fill("<table><tr><td>")),
        ("a broad table", format!("<table><tr><th>{}{}", fill("x"), "<tr><td>a".repeat(50_000))),
        ("italics", fill("<i>a</i>")),
        ("formatting that is repeated", (0..20_000).map(|n| format!("<b id={n}>")).collect::<String>() + &fill("<p>x")),
        ("links that are repeated", format!("<a href='/{}'>", "y".repeat(2_000)) + &fill("<p>x")),
        ("a long link that is repeated", format!("<a href='/{}'>", "y".repeat(100_000)) + &fill("<p><br>")),
        ("attributes", format!("<p {}>x", (0..SIZE / 64).map(|n| format!("a{n}=1 ")).collect::<String>())),
        ("what is put before a table", format!("<table>{}", fill("<b>x</b>"))),
        ("misnested formatting", fill("<b><div></b>")),
        ("an open tag", "<p ".to_owned() + &fill("x")),
        ("an open comment", "<!--".to_owned() + &fill("x")),
        ("references", fill("&amp;&lt;&notanentity;")),
        ("templates", fill("<template>")),
        ("drawings", fill("<svg><g>")),
        ("code", fill("<code>`")),
        ("preformatted", fill("<pre>")),
    ]
}

#[test]
fn no_page_overflows_the_stack_or_grows_out_of_hand() {
    for (what, html) in hostile() {
        for style in [Style::Markdown, Style::Text] {
            // As many looks as there are to be had, instead of a clock.
            let looks = Cell::new(0);
            let stop = || {
                looks.set(looks.get() + 1);
                looks.get() > 3_000
            };
            let page = render(&html, &Url::parse("https://example.com/").unwrap(), style, stop);
            assert!(page.text.len() <= MOST_TEXT + html.len(), "{what}: {}", page.text.len());
        }
    }
}

#[test]
fn a_page_too_deep_is_cut_and_says_so() {
    let page = rendered(&("<p>start</p>".to_owned() + &"<div>".repeat(100_000) + "end"), Style::Text);
    assert!(page.cut && page.text == "start", "{page:?}");
    let page = rendered(&("<div>".repeat(400) + "end"), Style::Text);
    assert!(!page.cut && page.text == "end");
}

#[test]
fn it_stops_when_it_is_told_to() {
    let html = "<p>x</p>".repeat(100_000);
    let page = render(&html, &Url::parse("https://example.com/").unwrap(), Style::Text, || true);
    assert!(page.cut && page.text.len() < CHUNK, "{}", page.text.len());
}
