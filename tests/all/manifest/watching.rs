//! Watching the file of a manifest.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use tool_runtime::manifest::ManifestWatch;
use tool_runtime::{Dispatcher, Manifest, tool};

use super::{file, linked};

const INTERVAL: Duration = Duration::from_millis(10);

/// Look out of the window.
#[tool(name = "watched.look")]
fn look() {}

fn manifest(description: &str) -> Manifest {
    let text = linked("watched.").to_json().replace("Look out of the window.", description);
    Manifest::from_json(&text).expect("a manifest")
}

fn description(tools: &Dispatcher) -> String {
    tools.definition("watched.look").expect("on offer").description.clone()
}

fn watched(path: &Path) -> (Dispatcher, ManifestWatch) {
    let tools = Dispatcher::builder().manifest(linked("watched.")).build().unwrap();
    let watch = tools.watch(path, INTERVAL).unwrap();
    (tools, watch)
}

/// Waits until the tool has this description.
#[track_caller]
fn expect(tools: &Dispatcher, expected: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while description(tools) != expected {
        assert!(Instant::now() < deadline, "it is still {:?}, not {expected:?}", description(tools));
        std::thread::sleep(INTERVAL);
    }
}

/// Waits long enough for a change to be noticed, and asserts that there was none.
#[track_caller]
fn expect_still(tools: &Dispatcher, expected: &str) {
    std::thread::sleep(INTERVAL * 20);
    assert_eq!(description(tools), expected);
}

#[test]
fn every_way_of_writing_the_file_is_noticed() {
    let path = file("every_way");
    manifest("at first").save(&path).unwrap();
    let tools = Dispatcher::builder().manifest(linked("watched.")).build().unwrap();
    let watch = tools.watch(&path, INTERVAL).unwrap();
    assert_eq!(description(&tools), "at first", "the manifest is loaded immediately");

    manifest("replaced").save(&path).unwrap();
    expect(&tools, "replaced");
    fs::write(&path, manifest("in place").to_json()).unwrap();
    expect(&tools, "in place");
    // As some editors do: move the old file away, then write a new one.
    fs::rename(&path, path.with_extension("old")).unwrap();
    fs::write(&path, manifest("moved").to_json()).unwrap();
    expect(&tools, "moved");
    // Same length.
    manifest("mover").save(&path).unwrap();
    expect(&tools, "mover");

    drop(watch);
    manifest("too late").save(&path).unwrap();
    expect_still(&tools, "mover");
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn a_manifest_that_does_not_match_keeps_the_old_one() {
    let path = file("does_not_fit");
    manifest("good").save(&path).unwrap();
    let (tools, _watch) = watched(&path);

    let text = manifest("half").to_json();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    expect_still(&tools, "good");
    fs::write(&path, &text).unwrap();
    expect(&tools, "half");

    fs::write(&path, text.replace("watching::look", "watching::gone")).unwrap();
    expect_still(&tools, "half");
    fs::remove_file(&path).unwrap();
    expect_still(&tools, "half");
    manifest("good again").save(&path).unwrap();
    expect(&tools, "good again");
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

/// A slow writer: the file is read once it stops changing.
#[test]
fn a_file_is_not_read_while_it_is_being_written() {
    use std::io::Write;
    let path = file("being_written");
    manifest("old").save(&path).unwrap();
    let (tools, _watch) = watched(&path);
    let text = manifest("new").to_json();
    let mut writing = fs::File::create(&path).unwrap();
    for piece in text.as_bytes().chunks(20) {
        writing.write_all(piece).unwrap();
        assert!(["old", "new"].contains(&description(&tools).as_str()));
        std::thread::sleep(INTERVAL / 2);
    }
    drop(writing);
    expect(&tools, "new");
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_symlink_that_changes_its_target_is_noticed() {
    use std::os::unix::fs::symlink;
    let path = file("link");
    let (one, other) = (path.with_file_name("one.json"), path.with_file_name("other.json"));
    manifest("one").save(&one).unwrap();
    manifest("other").save(&other).unwrap();
    symlink(&one, &path).unwrap();
    let (tools, _watch) = watched(&path);
    assert_eq!(description(&tools), "one");
    let turned = path.with_file_name("turned");
    symlink(&other, &turned).unwrap();
    fs::rename(&turned, &path).unwrap();
    expect(&tools, "other");
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn a_file_that_cannot_be_loaded_cannot_be_watched() {
    let tools = Dispatcher::builder().manifest(linked("watched.")).build().unwrap();
    let path = file("cannot").with_file_name("gone.json");
    let error = tools.watch(&path, INTERVAL).map(drop).expect_err("not there").to_string();
    assert!(error.contains("cannot read the manifest") && error.contains("gone.json"), "{error}");
    assert_eq!(description(&tools), "Look out of the window.");
}

#[test]
fn a_watch_does_not_keep_the_tools_alive() {
    let path = file("alive");
    manifest("it").save(&path).unwrap();
    let alive = std::sync::Arc::new(());
    let tools = Dispatcher::builder().manifest(linked("watched.")).value("alive", alive.clone()).build().unwrap();
    let watch = tools.watch(&path, INTERVAL).unwrap();
    drop(tools);
    let deadline = Instant::now() + Duration::from_secs(20);
    while std::sync::Arc::strong_count(&alive) > 1 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(INTERVAL);
    }
    drop(watch);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

/// A value of the dispatcher may own the watch, and the watching thread may be the last owner of the dispatcher.
#[cfg(unix)]
#[test]
fn a_watch_can_end_on_its_own_thread() {
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Mutex};

    /// Fields are dropped in order: the second one sees whether the first has panicked.
    struct WatchOwner(
        #[expect(dead_code, reason = "it is only held")] ManifestWatch,
        #[expect(dead_code)] DropReporter,
    );

    struct DropReporter(Sender<(Option<String>, bool)>);

    impl Drop for DropReporter {
        fn drop(&mut self) {
            let thread = std::thread::current();
            drop(self.0.send((thread.name().map(str::to_owned), std::thread::panicking())));
        }
    }

    let path = file("own_thread");
    manifest("at first").save(&path).unwrap();
    let owner: Arc<Mutex<Option<WatchOwner>>> = Arc::default();
    let tools = Dispatcher::builder().manifest(linked("watched.")).value("owner", Arc::clone(&owner)).build().unwrap();
    let (gone, is_gone) = channel();
    *owner.lock().unwrap() = Some(WatchOwner(tools.watch(&path, INTERVAL).unwrap(), DropReporter(gone)));
    drop(owner);

    // A pipe in the file's place: its reader blocks, and its writer knows that it is being read.
    let pipe = path.with_extension("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    fs::rename(&pipe, &path).unwrap();
    let writer = fs::OpenOptions::new().write(true).open(&path).unwrap();
    drop(tools);
    drop(writer);
    let (thread, panicked) = is_gone.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!((thread.as_deref(), panicked), (Some("tools manifest"), false));
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}
