use std::net::SocketAddr;
use std::process::Command;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tool_builtins::web::Web;

use super::test_resolver::TestResolver;
use super::test_server::{Server, ok, redirect};
use super::{fetch, limits, plain_client, web};

/// Starts a server that must not be reachable.
async fn inner() -> Server {
    Server::always(ok("text/plain", "secret")).await
}

/// A public address of another machine. It need not respond.
const PUBLIC: &str = "93.184.215.14";

/// The naive approach: resolve and check, then connect by name.
async fn naive_fetch(names: &TestResolver, host: &str, port: u16) -> Option<String> {
    let checked = names.next(host).ok()?;
    if checked.iter().any(std::net::IpAddr::is_ipv6)
        || checked.iter().any(|address| address.to_string().starts_with("127."))
    {
        return None;
    }
    let address = names.next(host).ok()?[0];
    let mut stream = TcpStream::connect(SocketAddr::new(address, port)).await.ok()?;
    stream.write_all(format!("GET / HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes()).await.ok()?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.ok()?;
    Some(answer)
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_not_followed() {
    let names = || TestResolver::new().answer("rebind.test", &[PUBLIC]).answer("rebind.test", &["127.0.0.1"]);
    let inner = inner().await;

    // Control: resolving again after the check reaches the server.
    let answer = naive_fetch(&names(), "rebind.test", inner.port()).await.expect("an answer");
    assert!(answer.ends_with("secret") && inner.seen().len() == 1);

    let names = names();
    let tools = super::tools(Web::new().resolver(names.clone()).limits(limits()));
    let url = format!("http://rebind.test:{}/", inner.port());
    let call = || tools.call(tool_runtime::ToolCall::new("web_fetch", serde_json::json!({"url": url})));
    let first = call().await;
    assert!(!first.success && first.output.starts_with("The page cannot be fetched: "), "{first:?}");
    assert_eq!(names.asked("rebind.test"), 1, "the name is resolved once per connection");
    let second = call().await;
    assert_eq!(second.output, "rebind.test is not on the public internet.");
    assert_eq!(inner.seen().len(), 1, "only the control has reached it");
}

#[tokio::test]
async fn connects_to_public_addresses_only() {
    let inner = inner().await;
    for addresses in [[PUBLIC, "127.0.0.1"], ["127.0.0.1", PUBLIC], ["::ffff:127.0.0.1", PUBLIC]] {
        let names = TestResolver::new().answer("mixed.test", &addresses);
        let result =
            fetch(Web::new().resolver(names).limits(limits()), format!("http://mixed.test:{}/", inner.port())).await;
        assert!(!result.success && result.output.starts_with("The page cannot be fetched: "), "{result:?}");
    }
    assert_eq!(inner.seen().len(), 0);

    // Control: if the host is allowed, the other address is tried too.
    let names = TestResolver::new().answer("mixed.test", &[PUBLIC, "127.0.0.1"]);
    let allowing = Web::new().resolver(names).allow(&format!("mixed.test:{}", inner.port())).expect("a host");
    assert!(fetch(allowing.limits(limits()), format!("http://mixed.test:{}/", inner.port())).await.success);
}

#[tokio::test]
async fn rejects_names_of_private_addresses() {
    let inner = inner().await;
    for address in [
        "127.0.0.1",
        "::1",
        "::ffff:127.0.0.1",
        "0.0.0.0",
        "::",
        "127.9.9.9",
        "169.254.169.254",
        "10.0.0.1",
        "64:ff9b::7f00:1",
    ] {
        let names = TestResolver::new().answer("inner.test", &[address]);
        let result =
            fetch(Web::new().resolver(names).limits(limits()), format!("http://inner.test:{}/", inner.port())).await;
        assert_eq!(result.output, "inner.test is not on the public internet.", "{address}");
    }
    // With the system's resolver.
    let result = fetch(Web::new().limits(limits()), format!("http://localhost:{}/", inner.port())).await;
    assert_eq!(result.output, "localhost is not on the public internet.");
    assert_eq!(inner.seen().len(), 0);
}

/// Returns URLs that lead to a port of this machine.
fn private_urls(port: u16) -> Vec<String> {
    let hosts = [
        "127.0.0.1",
        "localhost",
        "127.1",
        "2130706433",
        "0x7f.1",
        "0177.1",
        "0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "inner.test",
        "site.test@127.0.0.1",
    ];
    let mut urls: Vec<String> = hosts.iter().map(|host| format!("http://{host}:{port}/secret")).collect();
    urls.extend([
        format!("//127.0.0.1:{port}/secret"),
        format!("/\\127.0.0.1:{port}/secret"),
        format!("http:\\\\127.0.0.1:{port}\\secret"),
    ]);
    urls
}

#[tokio::test]
async fn rejects_redirects_to_private_addresses() {
    let inner = inner().await;
    for to in private_urls(inner.port()) {
        let outer = Server::always(redirect(&to)).await;
        let names = TestResolver::new().answer("site.test", &["127.0.0.1"]).answer("inner.test", &["127.0.0.1"]);
        let result = fetch(web(&outer).resolver(names), outer.url("/")).await;
        assert!(!result.success, "{to}: {result:?}");
        assert_eq!(outer.seen().len(), 1, "{to}: the first page was requested");
    }
    assert_eq!(inner.seen().len(), 0);

    for to in [
        "file:///etc/passwd",
        "ftp://example.com/",
        "http://169.254.169.254/latest/meta-data/",
        "http://[fd00:ec2::254]/",
        "http://metadata.test/",
    ] {
        let outer = Server::always(redirect(to)).await;
        let names =
            TestResolver::new().answer("site.test", &["127.0.0.1"]).answer("metadata.test", &["169.254.169.254"]);
        let result = fetch(web(&outer).resolver(names), outer.url("/")).await;
        let message = result.output;
        assert!(
            message.contains("is not on the public internet") || message.starts_with("Only http and https"),
            "{to}: {message}"
        );
    }
}

#[tokio::test]
async fn a_plain_client_follows_redirects_to_private_addresses() {
    // The control: the same redirects, followed by a client without checks.
    let inner = inner().await;
    for to in
        [format!("http://127.0.0.1:{}/secret", inner.port()), format!("http://2130706433:{}/secret", inner.port())]
    {
        let outer = Server::always(redirect(&to)).await;
        let url = format!("http://127.0.0.1:{}/", outer.port());
        let client = plain_client().no_proxy().build().expect("a client");
        let answer = client.get(url).send().await.expect("an answer").text().await.expect("a text");
        assert_eq!(answer, "secret", "{to}");
    }
    assert_eq!(inner.seen().len(), 2);
}

#[tokio::test]
async fn reaches_an_allowed_host_by_its_name_only() {
    let inner = inner().await;
    let allowed = || {
        let names = TestResolver::new().answer("site.test", &["127.0.0.1"]).answer("other.test", &["127.0.0.1"]);
        web(&inner).resolver(names)
    };
    assert!(fetch(allowed(), inner.url("/")).await.success);
    for host in ["other.test", "127.0.0.1", "[::1]"] {
        let result = fetch(allowed(), format!("http://{host}:{}/", inner.port())).await;
        assert!(result.output.contains("is not on the public internet"), "{host}: {result:?}");
    }
    assert_eq!(inner.seen().len(), 1);

    let by_number = Web::new().allow(&format!("127.0.0.1:{}", inner.port())).expect("a host");
    assert!(fetch(by_number, format!("http://2130706433:{}/", inner.port())).await.success, "it is the same address");
}

/// Run by the next test, with a proxy in the environment.
#[tokio::test]
#[ignore = "needs its own environment; the next test runs it"]
async fn fetches_with_a_proxy_in_the_environment() {
    let url = format!("http://public.test:{}/", std::env::var("TEST_PORT").expect("a port"));
    let names = TestResolver::new().answer("public.test", &[PUBLIC]);
    assert!(!fetch(Web::new().resolver(names).limits(limits()), url.clone()).await.success);
    // Control: a plain client uses the proxy.
    let client = plain_client().build().expect("a client");
    let answer = client.get(url).send().await.expect("an answer").text().await.expect("a text");
    assert_eq!(answer, "secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn ignores_proxies_of_the_environment() {
    let proxy = inner().await;
    let address = format!("http://127.0.0.1:{}", proxy.port());
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--ignored", "--exact", "web::private_addresses::fetches_with_a_proxy_in_the_environment"]);
    command.env_remove("NO_PROXY").env_remove("no_proxy").env("TEST_PORT", proxy.port().to_string());
    ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"].iter().for_each(|name| _ = command.env(name, &address));
    let output = tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("a run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(proxy.seen().len(), 1, "only the request of the control");
}

#[tokio::test]
async fn uses_a_configured_proxy() {
    let proxy = inner().await;
    let through = || Web::new().proxy(&format!("http://127.0.0.1:{}", proxy.port())).expect("a proxy").limits(limits());
    let result = fetch(through(), "http://example.com/page".to_owned()).await;
    assert!(result.success, "{result:?}");
    assert!(proxy.seen()[0].starts_with("GET http://example.com/page HTTP/1.1\r\n"));
    let result = fetch(through(), "http://10.0.0.1/".to_owned()).await;
    assert!(!result.success && proxy.seen().len() == 1, "literal addresses are still checked: {result:?}");
}
