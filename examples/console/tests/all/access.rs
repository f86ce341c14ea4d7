use std::io::{BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpStream};
use std::process::{Command, Stdio};

use axum::body::Body;
use axum::http::{Method, StatusCode, header};
use clap::Parser;
use console::app::App;
use console::machine::MachinePaths;
use console::options::Options;
use console::web::{Access, AccessError};
use futures_util::StreamExt;
use serde_json::json;
use tempfile::tempdir;
use tool_agent::OfflineModel;

use crate::fixture::Console;
use crate::web::Browser;

const TOKEN: &str = "a-token-of-this-test";
const EVERYWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
const LOOPBACK: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

#[test]
fn other_machines_need_a_token() {
    assert!(matches!(Access::new(EVERYWHERE, None, &[]), Err(AccessError::Open(_))));
    assert!(matches!(Access::new(EVERYWHERE, Some("short"), &[]), Err(AccessError::Weak(_))));
    assert!(matches!(Access::new(EVERYWHERE, Some(TOKEN), &["no name".to_owned()]), Err(AccessError::Name(_))));
    assert!(matches!(Access::new(LOOPBACK, None, &["box.example.org".to_owned()]), Err(AccessError::NamesAlone)));
    let made = Access::new(EVERYWHERE, Some(""), &[]).ok().and_then(|access| access.token().cloned());
    assert!(made.is_some_and(|token| token.text().len() > 32));
    // The controls.
    assert!(Access::new(EVERYWHERE, Some(TOKEN), &["box.example.org".to_owned()]).is_ok());
    assert!(Access::new(LOOPBACK, None, &[]).is_ok_and(|access| access.token().is_none()));
}

/// Checks pages, assets, the API and events: without the token only the login page is served.
#[tokio::test(flavor = "multi_thread")]
async fn requests_without_the_token_are_refused() {
    let console = Console::open().await;
    let access = Access::new(EVERYWHERE, Some(TOKEN), &["box.example.org".to_owned()]).expect("a token");
    let browser = Browser::with_access(&console, &access).of_peer([192, 0, 2, 7]);
    let bearer = format!("Bearer {TOKEN}");
    let cookie = cookie(&log_in(&browser, TOKEN, &format!("http://{}", console.own)).await);
    let (name, _) = cookie.split_once('=').expect("a cookie");
    assert!(name.ends_with(&console.own.port().to_string()), "{name}");
    let (wrong, itself) = (format!("{name}=an-id-of-nobody"), format!("{name}={TOKEN}"));
    for path in ["/chat/one", "/chat/one/events", "/tools", "/journal", "/settings", "/api/tools", "/api/events"] {
        for (name, value, expected) in [
            (header::ACCEPT, "*/*", StatusCode::UNAUTHORIZED),
            (header::COOKIE, &wrong, StatusCode::UNAUTHORIZED),
            (header::COOKIE, &itself, StatusCode::UNAUTHORIZED),
            (header::COOKIE, &cookie, StatusCode::OK),
            (header::AUTHORIZATION, &bearer, StatusCode::OK),
        ] {
            let response = browser.send(browser.request(Method::GET, path).header(name, value), Body::empty()).await;
            assert_eq!(response.status(), expected, "{path} with {value}");
        }
    }
    for path in ["/login", "/assets/style.css", "/assets/login.js"] {
        assert_eq!(browser.get(path).await.0, StatusCode::OK, "{path}");
    }
    // Under a foreign host name even the login page is refused.
    let named = |host: &str| axum::http::Request::builder().uri("/login").header(header::HOST, host);
    assert_eq!(browser.send(named("box.example.org"), Body::empty()).await.status(), StatusCode::OK);
    assert_eq!(browser.send(named("evil.example"), Body::empty()).await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_logs_in_and_out() {
    let console = Console::open().await;
    let browser = Browser::with_access(&console, &Access::new(EVERYWHERE, Some(TOKEN), &[]).expect("a token"));
    let page = browser.request(Method::GET, "/tools").header(header::ACCEPT, "text/html,*/*");
    let led = browser.send(page, Body::empty()).await;
    assert_eq!((led.status(), &led.headers()[header::LOCATION]), (StatusCode::SEE_OTHER, &"/login".parse().unwrap()));

    let own = format!("http://{}", console.own);
    for (token, origin, expected) in [
        ("a-token-of-nobody", own.as_str(), StatusCode::UNAUTHORIZED),
        (TOKEN, "http://evil.example", StatusCode::FORBIDDEN),
    ] {
        let refused = log_in(&browser, token, origin).await;
        assert_eq!((refused.status(), refused.headers().get(header::SET_COOKIE)), (expected, None), "{token} {origin}");
    }
    // Behind an HTTPS proxy the cookie is marked `Secure`.
    for (origin, is_secure) in [(own.clone(), false), (format!("https://{}", console.own), true)] {
        let welcome = log_in(&browser, TOKEN, &origin).await;
        let set = welcome.headers()[header::SET_COOKIE].to_str().expect("a cookie");
        assert!(set.contains("HttpOnly") && set.contains("SameSite=Strict") && !set.contains(TOKEN), "{set}");
        assert_eq!(set.contains("Secure"), is_secure, "{set}");
    }

    let (kept, other) = (cookie(&log_in(&browser, TOKEN, &own).await), cookie(&log_in(&browser, TOKEN, &own).await));
    let out = browser.request(Method::POST, "/logout").header(header::COOKIE, &kept).header(header::ORIGIN, &own);
    let out = browser.send(out, Body::empty()).await;
    assert!(out.headers()[header::SET_COOKIE].to_str().is_ok_and(|cookie| cookie.contains("Max-Age=0")));
    // The cookie is invalid after the logout.
    let again = cookie(&log_in(&browser.with_cookie(&other), TOKEN, &own).await);
    // So is a cookie that was replaced by a new login.
    for (cookie, expected) in
        [(kept, StatusCode::UNAUTHORIZED), (other, StatusCode::UNAUTHORIZED), (again, StatusCode::OK)]
    {
        assert_eq!(browser.with_cookie(&cookie).get("/tools").await.0, expected);
    }
}

/// Open streams end with the session and send no later events.
#[tokio::test(flavor = "multi_thread")]
async fn open_streams_end_at_logout() {
    let console = Console::open().await;
    let browser = Browser::with_access(&console, &Access::new(EVERYWHERE, Some(TOKEN), &[]).expect("a token"));
    let own = format!("http://{}", console.own);
    let (gone, other) = (cookie(&log_in(&browser, TOKEN, &own).await), cookie(&log_in(&browser, TOKEN, &own).await));
    let (gone, other) = (browser.with_cookie(&gone), browser.with_cookie(&other));
    let streams = ["/chat/one/events", "/api/events"];
    let open = async |browser: &Browser| [browser.stream(streams[0]).await, browser.stream(streams[1]).await];
    let (ended, going_on) = (open(&gone).await, open(&other).await);
    assert_eq!(gone.post("/logout", json!({})).await.0, StatusCode::SEE_OTHER);
    other.say("one", "system_simple.summary").await;
    for (mut stream, path) in ended.into_iter().zip(streams) {
        assert!(stream.next().await.is_none(), "{path}");
    }
    // The control.
    for (mut stream, path) in going_on.into_iter().zip(streams) {
        assert!(stream.next().await.is_some(), "{path}");
    }
}

async fn log_in(browser: &Browser, token: &str, origin: &str) -> axum::response::Response {
    let form = browser.request(Method::POST, "/login").header(header::ORIGIN, origin);
    let form = form.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    browser.send(form, Body::from(format!("token={token}"))).await
}

/// Returns the cookie that a response sets, as a browser sends it.
fn cookie(response: &axum::response::Response) -> String {
    let set = response.headers()[header::SET_COOKIE].to_str().expect("a cookie");
    set.split(';').next().expect("a cookie").to_owned()
}

/// Starts the program, which must fail, and returns its error output.
fn refused(arguments: &[&str]) -> String {
    let folder = tempdir().expect("a folder");
    let program = Command::new(env!("CARGO_BIN_EXE_console"))
        .args(["--port=0", "--data"])
        .arg(folder.path())
        .args(arguments)
        .env_remove("CONSOLE_TOKEN")
        .stdin(Stdio::null())
        .output()
        .expect("it starts");
    assert!(!program.status.success());
    String::from_utf8(program.stderr).expect("text")
}

/// Returns the status of a request for the tools.
fn status(address: &str, header: &str) -> String {
    let mut stream = TcpStream::connect(address).expect("it listens");
    write!(stream, "GET /api/tools HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{header}\r\n")
        .expect("it is sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer.split_whitespace().nth(1).expect("a status").to_owned()
}

#[cfg(unix)]
#[test]
fn the_program_prints_a_generated_token_and_stops_on_a_signal() {
    let folder = tempdir().expect("a folder");
    let mut program = Command::new(env!("CARGO_BIN_EXE_console"))
        .args(["--port=0", "--token", "--data"])
        .arg(folder.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines =
        BufReader::new(program.stdout.take().expect("its output")).lines().map(|line| line.expect("a line"));
    let (place, token, link) =
        (lines.next().expect("where"), lines.next().expect("the token"), lines.next().expect("a link"));
    let address = place.split('/').nth(2).expect("an address").to_owned();
    let token = token.strip_prefix("Its token is ").expect("the token").to_owned();
    assert_eq!(link, format!("Log in at http://{address}/login#{token}"));
    let answers = [status(&address, ""), status(&address, &format!("Authorization: Bearer {token}\r\n"))];
    let id = rustix::process::Pid::from_child(&program);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).expect("the signal is sent");
    assert!(program.wait().expect("it ends").success());
    assert_eq!(answers, ["401", "200"]);
}

#[test]
fn the_program_reports_why_it_cannot_start() {
    let open = refused(&["--address", "0.0.0.0"]);
    assert!(open.contains("`--token`") && open.contains("CONSOLE_TOKEN"), "{open}");
    assert!(refused(&["--address", "0.0.0.0", "--token", "short"]).contains("16"), "it could be guessed");
    let folder = tempdir().expect("a folder");
    let missing = folder.path().join("no such folder").display().to_string();
    let said = refused(&["--workspace", &missing]);
    assert!(said.contains(&format!("mkdir -p '{missing}'")), "{said}");
    assert!(!folder.path().join("no such folder").exists());
}

/// The model could otherwise enable commands in `settings.json`, or add programs to the MCP servers.
#[tokio::test(flavor = "multi_thread")]
async fn the_workspace_must_not_contain_files_that_control_the_console() {
    let folder = tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name).display().to_string();
    for made in ["work", "apart/plugins"] {
        std::fs::create_dir_all(at(made)).expect("a folder");
    }
    for file in ["work/mcp.json", "apart/mcp.json"] {
        std::fs::write(at(file), r#"{"mcpServers": {}}"#).expect("a file");
    }
    let open = async |data: &str, option: &str, path: &str| {
        let options = ["console", "--data", &at(data), "--workspace", &at("work"), option, &at(path)];
        let options = Options::parse_from(options);
        let app = App::open(&options, MachinePaths::default(), ([127, 0, 0, 1], 1).into(), OfflineModel).await;
        match app {
            Ok(app) => {
                app.close().await;
                None
            }
            Err(error) => Some(error.to_string()),
        }
    };
    for (data, option, path, advice) in [
        ("work/data", "--mcp", "apart/mcp.json", "`--data`"),
        ("apart/data", "--mcp", "work/mcp.json", "move it out of the workspace"),
        ("apart/data", "--plugins", "work/plugins", "move it out of the workspace"),
    ] {
        let error = open(data, option, path).await.unwrap_or_else(|| panic!("{data} and {path} are accepted"));
        assert!(error.starts_with("cannot use the workspace: ") && error.contains(advice), "{error}");
    }
    assert_eq!(open("apart/data", "--mcp", "apart/mcp.json").await, None);
    assert_eq!(open("apart/data", "--plugins", "apart/plugins").await, None);
}
