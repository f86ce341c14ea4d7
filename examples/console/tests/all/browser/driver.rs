use std::io::{BufRead, BufReader};
use std::panic::{AssertUnwindSafe, resume_unwind};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use axum::http::Method;
use console::web::Access;
use fantoccini::elements::Element;
use fantoccini::wd::{WebDriverCompatibleCommand, WindowHandle};
use fantoccini::{Client, ClientBuilder, Locator};
use futures_util::FutureExt;
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tempfile::TempDir;
use url::Url;

use crate::fixture::Console;

/// Limits the tests to one browser at a time.
static ONE: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Timeout of every wait, sufficient for a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);

/// Serves a console and opens it in a browser, which is always closed. Skips the test if no browser is installed.
pub async fn browse(console: &Console, test: impl AsyncFnOnce(Browser)) {
    browse_as(console, &Access::default(), test).await;
}

/// Like [`browse`], for a console with access control.
pub async fn browse_as(console: &Console, access: &Access, test: impl AsyncFnOnce(Browser)) {
    let _one = ONE.lock().await;
    let Some(mut driver) = Chromedriver::start() else { return };
    let _serving = console.serve(access);
    let profile = tempfile::tempdir().expect("a folder");
    let client = driver.client(&profile).await;
    let browser = Browser { client: client.clone(), address: format!("http://{}", console.own) };
    let outcome = AssertUnwindSafe(test(browser)).catch_unwind().await;
    let closed = client.close().await;
    driver.end();
    if let Err(panic) = outcome {
        resume_unwind(panic);
    }
    closed.expect("the browser is closed");
}

/// The WebDriver server of a browser.
struct Chromedriver {
    process: Child,
    port: u16,
    /// Kept open so that the process can write.
    _output: BufReader<ChildStdout>,
}

impl Chromedriver {
    /// Starts the server on a free loopback port. Returns `None` if it or the browser is not installed.
    fn start() -> Option<Self> {
        let is_there = |name: &str| Command::new(name).arg("--version").output().is_ok();
        if let Some(missing) = ["chromium", "chromedriver"].into_iter().find(|name| !is_there(name)) {
            let is_required = std::env::var("BROWSER").as_deref() == Ok("required");
            assert!(!is_required, "there is no {missing} in the path");
            eprintln!("skipped: there is no {missing} in the path");
            return None;
        }
        let mut process =
            Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).spawn().expect("chromedriver starts");
        let mut output = BufReader::new(process.stdout.take().expect("its output"));
        let port = loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).expect("a line"), 0, "chromedriver printed no port");
            let said = line.trim_end().trim_end_matches('.').rsplit_once("successfully on port ");
            if let Some((_, port)) = said {
                break port.parse().expect("a port");
            }
        };
        Some(Self { process, port, _output: output })
    }

    async fn client(&self, profile: &TempDir) -> Client {
        let profile = format!("--user-data-dir={}", profile.path().display());
        let arguments = json!([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--window-size=1280,800",
            profile,
        ]);
        let options = json!({"goog:chromeOptions": {"args": arguments}});
        let Value::Object(options) = options else { unreachable!("it is an object") };
        let address = format!("http://127.0.0.1:{}", self.port);
        ClientBuilder::new(HttpConnector::new()).capabilities(options).connect(&address).await.expect("a browser")
    }

    fn end(&mut self) {
        // The process may have ended with its browser.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Chromedriver {
    fn drop(&mut self) {
        self.end();
    }
}

/// A command of the Chrome DevTools protocol.
#[derive(Debug)]
struct Devtools {
    command: &'static str,
    parameters: Value,
}

impl WebDriverCompatibleCommand for Devtools {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, url::ParseError> {
        base.join(&format!("session/{}/goog/cdp/execute", session.unwrap_or_default()))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(json!({"cmd": self.command, "params": self.parameters}).to_string()))
    }
}

/// A browser showing a page of a console. Cheap to clone.
#[derive(Clone)]
pub struct Browser {
    pub client: Client,
    address: String,
}

impl Browser {
    /// Emulates a window size and a preferred colour scheme.
    pub async fn resemble(&self, (width, height): (u32, u32), colours: &str) {
        let size = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.devtools("Emulation.setDeviceMetricsOverride", size).await;
        let features = json!([{"name": "prefers-color-scheme", "value": colours}]);
        self.devtools("Emulation.setEmulatedMedia", json!({"features": features})).await;
    }

    async fn devtools(&self, command: &'static str, parameters: Value) {
        self.client.issue_cmd(Devtools { command, parameters }).await.expect(command);
    }

    /// Instruments pages opened later in this tab, so that they can be [cut off](Self::cut_off).
    pub async fn prepare_to_cut_off(&self) {
        let source = "const opened = [];
            let isCutOff = false;
            window.EventSource = class extends EventSource {
                constructor(address) { super(isCutOff ? '/nowhere' : address); opened.push(this); }
            };
            window.cutOff = (is) => {
                isCutOff = is;
                if (is) for (const one of opened) { one.close(); one.dispatchEvent(new Event('error')); }
            };
            const wait = window.setTimeout;
            let longest = { time: 0, act: () => {} };
            window.setTimeout = (act, time = 0) => {
                if (time >= longest.time) longest = { time, act };
                return wait(act, time);
            };
            window.fallSilent = () => { for (const one of opened) one.onmessage = null; };
            window.passTime = () => longest.act();";
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({"source": source})).await;
    }

    /// Breaks the event stream of this page and blocks new ones, or allows them again.
    pub async fn cut_off(&self, is: bool) {
        self.value(&format!("window.cutOff({is})")).await;
    }

    /// Opens another tab and returns the current and the new one.
    pub async fn two_tabs(&self) -> [WindowHandle; 2] {
        let first = self.client.window().await.expect("a tab");
        [first, self.client.new_window(true).await.expect("another tab").handle]
    }

    pub async fn turn_to(&self, tab: &WindowHandle) {
        self.client.switch_to_window(tab.clone()).await.expect("a tab");
    }

    /// Drops all further events of the stream without an error.
    pub async fn fall_silent(&self) {
        self.value("window.fallSilent()").await;
    }

    /// Runs the timer of the page with the longest delay.
    pub async fn pass_time(&self) {
        self.value("window.passTime()").await;
    }

    /// Opens a page and waits until it is ready.
    pub async fn open(&self, path: &str) {
        self.client.goto(&format!("{}{path}", self.address)).await.expect("a page");
        self.is_ready().await;
    }

    pub async fn reload(&self) {
        self.client.refresh().await.expect("the page again");
        self.is_ready().await;
    }

    /// Waits until the page's script has enabled the buttons.
    async fn is_ready(&self) {
        self.wait("!document.querySelector('main form button[disabled]')").await;
    }

    /// Evaluates an expression on this page.
    pub async fn value(&self, expression: &str) -> Value {
        self.client.execute(&format!("return {expression}"), Vec::new()).await.expect(expression)
    }

    /// Waits until an expression is true on this page.
    pub async fn wait(&self, expression: &str) {
        let is_so = format!("!!({expression})");
        let waited = tokio::time::timeout(PATIENCE, async {
            while self.value(&is_so).await != true {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        });
        if waited.await.is_err() {
            panic!(
                "timeout waiting for {expression}; the page shows: {}",
                self.value("document.body.innerText.slice(0, 2000)").await
            );
        }
    }

    /// Waits until this number of elements exists.
    pub async fn count(&self, css: &str, number: usize) {
        self.wait(&format!("document.querySelectorAll({}).length === {number}", json!(css))).await;
    }

    /// Waits until an element contains a text.
    pub async fn says(&self, css: &str, text: &str) {
        let (css, text) = (json!(css), json!(text));
        self.wait(&format!("[...document.querySelectorAll({css})].some(one => one.textContent.includes({text}))"))
            .await;
    }

    pub async fn find(&self, css: &str) -> Element {
        let found = self.client.wait().at_most(PATIENCE).for_element(Locator::Css(css)).await;
        found.unwrap_or_else(|error| panic!("{css}: {error}"))
    }

    /// Clicks an element. Scrolls first, since an element beneath the bar at the top cannot be clicked.
    pub async fn click(&self, css: &str) {
        let found = self.find(css).await;
        let element = serde_json::to_value(&found).expect("an element");
        let scroll = "arguments[0].scrollIntoView({ block: 'center' })";
        self.client.execute(scroll, vec![element]).await.unwrap_or_else(|error| panic!("{css}: {error}"));
        found.click().await.unwrap_or_else(|error| panic!("{css}: {error}"));
    }

    /// Replaces the text of a field.
    pub async fn enter(&self, css: &str, text: &str) {
        let field = self.find(css).await;
        field.clear().await.expect("a field");
        field.send_keys(text).await.expect("a field");
    }

    /// Sends a message with the keyboard.
    pub async fn say(&self, text: &str) {
        self.enter("#text", &format!("{text}\n")).await;
    }

    /// Waits until the run has ended.
    pub async fn is_answered(&self) {
        self.wait("document.getElementById('stop').hidden && document.getElementById('text').value === ''").await;
    }
}
