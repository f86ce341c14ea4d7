use super::driver::browse;
use crate::fixture::Console;

#[tokio::test(flavor = "multi_thread")]
async fn a_form_says_what_is_wrong_where_it_is_wrong() {
    let console = Console::open().await;
    console.log("app.log", "one line\n<b>another</b>\n");
    browse(&console, async |browser| {
        browser.open("/tools/logs.tail").await;
        let run = "#call button[value=run]";

        // Nothing, and a number that is out of bounds: the server says so, and the page says where.
        browser.enter("#field-lines", "100000").await;
        browser.click(run).await;
        browser.count("#call [aria-invalid]", 2).await;
        browser.says("#field-lines + .error", "500").await;
        browser.says("#result h2", "Failed").await;
        assert_eq!(browser.value("document.activeElement.id").await, "field-file", "the first of them has the focus");

        // Something that is no number never leaves the page.
        browser.enter("#field-file", "app.log").await;
        browser.enter("#field-lines", "1e").await;
        browser.click("#call button[value=dry]").await;
        browser.says("#field-lines + .error", "This is no number.").await;

        browser.enter("#field-lines", "1").await;
        browser.click("#call button[value=dry]").await;
        browser.says("#result h2", "Would run").await;
        browser.click(run).await;
        browser.says("#result h2", "Done").await;
        assert_eq!(browser.find("#result pre").await.text().await.expect("a text"), "<b>another</b>");
        browser.count("#call [aria-invalid], #call .error, #result b", 0).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_asks_before_it_destroys() {
    let console = Console::open().await;
    console.app.sampler.sample().await.expect("a sample");
    browse(&console, async |browser| {
        browser.open("/tools/metrics.purge").await;
        for (decision, said, title) in [(":nth-child(2)", "refused", "Refused"), (".primary", "deleted", "Done")] {
            browser.enter("#field-metric", "cpu_percent").await;
            browser.click("#call button[value=run]").await;
            browser.says("#result h2", "Needs your consent").await;
            browser.click(&format!("#result .buttons button{decision}")).await;
            browser.says("#result h2", title).await;
            browser.says("#result pre", said).await;
        }
        browser.open("/tools/metrics.names").await;
        browser.click("#call button[value=run]").await;
        browser.says("#result h2", "Done").await;
        assert!(!browser.find("#result pre").await.text().await.expect("a text").contains("cpu_percent"));

        // The definition as each provider sees it.
        browser.click("#dialects button:last-child").await;
        browser.says("#definition", "metrics").await;
    })
    .await;
}
