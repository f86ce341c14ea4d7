use std::path::PathBuf;

use serde_json::json;
use tool_agent::{Reply, ResponsePart, ScriptedModel};

use super::driver::{Browser, browse};
use super::form::order;
use crate::fixture::Console;

/// Name, window size and preferred colour scheme.
const LOOKS: [(&str, (u32, u32), &str); 4] = [
    ("light", (1280, 800), "light"),
    ("dark", (1280, 800), "dark"),
    ("phone", (390, 844), "light"),
    ("phone-dark", (390, 844), "dark"),
];

/// Finds texts with too little contrast: less than 4.5 to 1, or 3 to 1 for large text.
const UNREADABLE: &str = r#"(() => {
    const parts = (colour) => colour.match(/[\d.]+/g).map(Number);
    const over = (top, ground) => {
        const [r, g, b, a = 1] = parts(top);
        return [r, g, b].map((one, index) => one * a + ground[index] * (1 - a));
    };
    const ground = (one) => {
        if (!one) return matchMedia("(prefers-color-scheme: dark)").matches ? [18, 18, 18] : [255, 255, 255];
        const own = getComputedStyle(one).backgroundColor;
        return (parts(own)[3] ?? 1) === 1 ? parts(own).slice(0, 3) : over(own, ground(one.parentElement));
    };
    const light = (colour) => {
        const [r, g, b] = colour.map((one) => (one / 255 <= .03928 ? one / 255 / 12.92 : ((one / 255 + .055) / 1.055) ** 2.4));
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const bad = [];
    while (texts.nextNode()) {
        const one = texts.currentNode.parentElement;
        if (!texts.currentNode.textContent.trim() || !one.checkVisibility({ opacityProperty: true }) || one.closest(":disabled")) continue;
        const style = getComputedStyle(one);
        const behind = ground(one);
        const [high, low] = [light(over(style.color, behind)), light(behind)].sort((a, b) => b - a);
        const isLarge = parseFloat(style.fontSize) >= 24;
        const contrast = (high + .05) / (low + .05);
        if (contrast < (isLarge ? 3 : 4.5)) bad.push(`${texts.currentNode.textContent.trim().slice(0, 40)}: ${contrast.toFixed(2)}`);
    }
    return bad;
})()"#;

/// Finds touch targets that are too small. Links in a text are as high as their line.
const TOO_SMALL: &str = r#"[...document.querySelectorAll("button, input:not([type=hidden], [type=checkbox]), select, textarea, .top a, .card > summary, .conversations a")]
    .filter((one) => one.checkVisibility())
    .map((one) => [one, one.getBoundingClientRect()])
    .filter(([one, box]) => box.height < 38 && getComputedStyle(one, "::after").position !== "absolute")
    .map(([one, box]) => `${one.tagName} ${one.textContent.slice(0, 20)} ${Math.round(box.width)}x${Math.round(box.height)}`)"#;

/// Finds elements that overflow the page to the right.
const TOO_WIDE: &str = r#"document.documentElement.scrollWidth <= document.documentElement.clientWidth ? [] :
    [...document.querySelectorAll("body *")].filter((one) => one.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
        .slice(0, 5).map((one) => one.outerHTML.slice(0, 120))"#;

/// Checks a page in all variants and collects the problems. Saves screenshots in the directory `CONSOLE_PICTURES`.
async fn look(browser: &Browser, page: &str, wrong: &mut Vec<String>) {
    for (name, size, colours) in LOOKS {
        browser.resemble(size, colours).await;
        if let Some(folder) = std::env::var_os("CONSOLE_PICTURES").map(PathBuf::from) {
            let picture = browser.client.screenshot().await.expect("a picture");
            std::fs::write(folder.join(format!("{page}-{name}.png")), picture).expect("it is kept");
        }
        for (problem, check, concerns) in [
            ("cannot be read", UNREADABLE, true),
            ("is too wide", TOO_WIDE, true),
            ("is too small", TOO_SMALL, size.0 < 600),
        ] {
            let found = browser.value(check).await;
            if concerns && found != json!([]) {
                wrong.push(format!("{page} in {name}: this {problem}: {found}"));
            }
        }
    }
}

fn model() -> ScriptedModel {
    let (old, new) = ("background: white;\n  color: black;", "background: #101418;\n  color: #e8e8e8;");
    ScriptedModel::new([
        Reply::default()
            .and(ResponsePart::Thinking("A summary is enough.".to_owned()))
            .and_call("system_simple.summary", json!({}))
            .and_call("read_file", json!({"path": "no-such-file"})),
        Reply::text(
            "The machine is **well**, see `uptime`:\n\n| what | how much |\n|---|---|\n| memory | enough |\n\n```\nload 0.1\n```",
        ),
        Reply::text("Two colours have to change.")
            .and_call("edit_file", json!({"path": "site/style.css", "old_string": old, "new_string": new})),
    ])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_page_is_readable_fits_and_has_large_targets() {
    let console = Console::with_model(model()).await;
    console.app.dispatcher().registry().register(order()).expect("it is offered");
    browse(&console, async |browser| {
        // The control: each check finds its problem in a bad page.
        browser.client.goto("about:blank").await.expect("a page");
        browser.resemble((390, 844), "light").await;
        let bad = "document.body.innerHTML = arguments[0]";
        let sample = r#"<p style="color: #999; width: 3000px">grey</p><button style="height: 9px"></button>"#;
        browser.client.execute(bad, vec![json!(sample)]).await.expect("it is set");
        for check in [UNREADABLE, TOO_SMALL, TOO_WIDE] {
            assert_eq!(browser.value(check).await.as_array().map(Vec::len), Some(1), "{check}");
        }

        let mut wrong = Vec::new();
        browser.open("/").await;
        look(&browser, "welcome", &mut wrong).await;
        browser.say("How is this machine?").await;
        browser.says(".answer", "The machine is well").await;
        browser.is_answered().await;
        browser.say("Make the site dark, please, and tell me what you would change before you do it.").await;
        browser.count("[data-state=pending] .diff", 1).await;
        browser.is_answered().await;
        browser.client.execute("document.querySelector('.thinking').open = true; document.querySelector('[data-state=failed]').open = true; scrollTo(0, 0)", vec![]).await.expect("it opens");
        look(&browser, "chat", &mut wrong).await;
        browser.client.execute("scrollTo(0, 1e6)", vec![]).await.expect("it scrolls");
        look(&browser, "chat-pending", &mut wrong).await;
        browser.client.execute("document.getElementById('conversations').showPopover()", vec![]).await.expect("it opens");
        look(&browser, "chat-list", &mut wrong).await;
        browser.click("#conversations .forget").await;
        look(&browser, "chat-delete", &mut wrong).await;
        for (page, path) in [("tools", "/tools"), ("tool", "/tools/logs.tail"), ("journal", "/journal"), ("settings", "/settings"), ("login", "/login")] {
            browser.open(path).await;
            look(&browser, page, &mut wrong).await;
        }
        browser.open("/tools/shop.order").await;
        browser.click("#field-items > button.add").await;
        browser.click("#field-address .present").await;
        browser.click("#field-labels > button.add").await;
        browser.click("#field-by select.which option[value='1']").await;
        browser.click("#strict").await;
        browser.click("#call button[value=run]").await;
        browser.count("#call [aria-invalid]", 1).await;
        look(&browser, "form", &mut wrong).await;
        browser.client.execute("document.getElementById('forms').scrollIntoView()", vec![]).await.expect("it scrolls");
        look(&browser, "form-definition", &mut wrong).await;
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    })
    .await;
}
