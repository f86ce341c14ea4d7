//! Confinement of commands. Each test has a control that shows that the attempt would succeed otherwise.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;

use rustix::thread::CapabilitySet;
use serde_json::json;
use tool_builtins::exec::{ProcessCleanup, WriteConfinement};

use super::support::{Workspace, cleanups, run, run_line, tools};

#[tokio::test]
async fn writes_only_inside() {
    let workspace = Workspace::new();
    let outside = tempfile::tempdir().unwrap();
    let (victim, extra) = (outside.path().join("victim"), outside.path().join("extra"));
    std::fs::create_dir(&extra).unwrap();
    let attempts = |directory: &std::path::Path| {
        let directory = directory.display();
        [
            format!("echo x > {directory}/victim"),
            format!("echo x >> {directory}/victim"),
            format!("truncate -s 0 {directory}/victim"),
            format!("rm {directory}/victim"),
            format!("mv {directory}/victim {directory}/moved"),
            format!("ln {directory}/victim {directory}/linked"),
            format!("ln {directory}/victim linked && echo x > linked"),
            format!("mv {directory}/victim moved"),
            format!("mkdir {directory}/made"),
            format!("ln -s x {directory}/link"),
            format!("mkfifo {directory}/fifo"),
            format!("ln -sf {directory}/victim out && echo x > out"),
            format!("setsid sh -c 'echo x > {directory}/victim'"),
        ]
    };
    for cleanup in cleanups().await {
        let exec = workspace.exec().cleanup(cleanup).writable(&extra);
        let confinement = exec.confinement().await.unwrap();
        if confinement.writes != WriteConfinement::Confined {
            println!("skipped: this kernel confines writes as {:?}", confinement.writes);
            return;
        }
        let tools = tools(exec);
        for line in attempts(outside.path()) {
            std::fs::write(&victim, "untouched").unwrap();
            let result = run_line(&tools, &line).await;
            assert!(!result.success, "{line}: {}", result.output);
            assert_eq!(std::fs::read_to_string(&victim).unwrap(), "untouched", "{line}");
            assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 2, "{line}");
        }
        // Control: inside the workspace, all of it works.
        for line in attempts(workspace.path()) {
            std::fs::create_dir_all(workspace.path()).unwrap();
            for name in ["moved", "linked", "link", "fifo", "out", "made"] {
                let path = workspace.path().join(name);
                let _ = std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path));
            }
            workspace.write("victim", "untouched");
            let result = run_line(&tools, &line).await;
            assert!(result.success || line.ends_with("victim moved"), "{line}: {}", result.output);
        }
        let elsewhere = format!("echo x > {}/x; echo x > $TMPDIR/x; echo x > /dev/null", extra.display());
        assert!(run_line(&tools, &elsewhere).await.success);
    }
}

/// Mounts protect what Landlock does not cover, if the command has its own mount namespace.
#[tokio::test]
async fn cannot_change_modes_and_times_outside() {
    let workspace = Workspace::new();
    let outside = tempfile::tempdir().unwrap();
    let victim = outside.path().join("victim");
    let attempts = |file: &std::path::Path| {
        [format!("chmod 777 {}", file.display()), format!("touch -d 2001-01-01 {}", file.display())]
    };
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup).writable(outside.path().join("other")));
        std::fs::create_dir_all(outside.path().join("other")).unwrap();
        for line in attempts(&victim) {
            std::fs::write(&victim, "").unwrap();
            let result = run_line(&tools, &line).await;
            // Control: below a subreaper it can, as documented.
            assert_eq!(result.success, cleanup == ProcessCleanup::Subreaper, "{cleanup:?} {line}: {}", result.output);
        }
        workspace.write("victim", "");
        let inside = [workspace.path().join("victim"), outside.path().join("other")];
        for line in inside.iter().flat_map(|file| attempts(file)) {
            let result = run_line(&tools, &line).await;
            assert!(result.success, "{cleanup:?} {line}: {}", result.output);
        }
    }
}

#[tokio::test]
async fn cannot_read_the_host() {
    let workspace = Workspace::new();
    let host = std::process::id();
    // Control: the host's environment contains more.
    assert!(String::from_utf8_lossy(&std::fs::read("/proc/self/environ").unwrap()).contains("CARGO_PKG_NAME"));
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        // The host's environment, memory and files in `/proc`.
        for file in ["environ", "mem", "fd/0"] {
            let result = run_line(&tools, &format!("head -c 1 /proc/{host}/{file}")).await;
            assert!(!result.success, "{cleanup:?} {file}: {}", result.output);
        }
        // The environment of the supervisor, which is a fork of the host.
        let watching = run_line(&tools, "cat /proc/$PPID/environ").await;
        assert!(!watching.output.contains("CARGO_PKG_NAME"), "{cleanup:?}: {}", watching.output);
        // Control: it can read its own.
        assert!(run_line(&tools, "head -c 1 /proc/self/environ").await.success);
        // It cannot signal the host or its supervisor.
        let result = run_line(&tools, &format!("kill -0 {host}")).await;
        assert!(!result.success, "{cleanup:?}: {}", result.output);
        let result = run_line(&tools, "kill -KILL $PPID; sleep 0.1; echo still supervised").await;
        assert!(result.output.ends_with("still supervised\n"), "{cleanup:?}: {}", result.output);
    }
}

#[tokio::test]
async fn has_a_minimal_environment() {
    let workspace = Workspace::new();
    let exec = workspace.exec().env("GIVEN", "1").pass_env("CARGO_MANIFEST_DIR").pass_env("NOT_THERE");
    // Control: this process has more variables.
    assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO_PKG_")));
    let output = run(&tools(exec), json!({"program": "env"})).await.output;
    let known = [
        "CARGO_MANIFEST_DIR",
        "GIVEN",
        "HOME",
        "LANG",
        "LANGUAGE",
        "LOGNAME",
        "PATH",
        "TERM",
        "TEST_MARKER",
        "TMPDIR",
        "TZ",
        "USER",
    ];
    for line in output.lines() {
        let name = line.split('=').next().unwrap();
        assert!(known.contains(&name) || name.starts_with("LC_"), "{line}");
    }
    for line in ["GIVEN=1", &format!("CARGO_MANIFEST_DIR={}", env!("CARGO_MANIFEST_DIR"))] {
        assert!(output.lines().any(|known| known == line), "{line}");
    }
}

#[tokio::test]
async fn inherits_no_descriptors() {
    let workspace = Workspace::new();
    let file = std::fs::File::open("/etc/passwd").unwrap();
    // As a library does that does not use `O_CLOEXEC`.
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let number = file.as_raw_fd();
    let line = format!("test -e /dev/fd/{number} && echo inherited");
    let plain = std::process::Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
    assert_eq!(plain.stdout, b"inherited\n", "control: a plain child inherits it");
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        assert!(!run_line(&tools, &line).await.output.ends_with("inherited\n"), "{cleanup:?}");
        // `ls` opens the fourth descriptor itself.
        assert_eq!(run_line(&tools, "ls /proc/self/fd").await.output, "0\n1\n2\n3\n", "{cleanup:?}");
    }
    drop(file);
}

#[tokio::test]
async fn has_no_network_on_request() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let python = "import socket, sys\n\
        kind = socket.SOCK_STREAM if sys.argv[1] == 'tcp' else socket.SOCK_DGRAM\n\
        s = socket.socket(socket.AF_INET, kind)\n\
        s.connect(('127.0.0.1', int(sys.argv[2])))\n\
        s.send(b'x')\n\
        print('sent')\n";
    let workspace = Workspace::new();
    workspace.write("send.py", python);
    if !std::process::Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: python3 is not available");
        return;
    }
    let ports = [("tcp", tcp.local_addr().unwrap().port()), ("udp", udp.local_addr().unwrap().port())];
    for cleanup in cleanups().await {
        for (kind, port) in ports {
            let arguments = json!({"program": "python3", "arguments": ["send.py", kind, port.to_string()]});
            let free = run(&tools(workspace.exec().cleanup(cleanup)), arguments.clone()).await;
            assert_eq!(free.output, "sent\n", "control: with network it succeeds");
            let exec = workspace.exec().cleanup(cleanup).without_network();
            assert!(!exec.confinement().await.unwrap().network);
            let refused = run(&tools(exec), arguments).await;
            assert!(!refused.success && !refused.output.contains("sent"), "{cleanup:?} {kind}: {}", refused.output);
        }
    }
}

#[tokio::test]
async fn gains_no_privileges() {
    let workspace = Workspace::new();
    for cleanup in cleanups().await {
        let result = run_line(&tools(workspace.exec().cleanup(cleanup)), "grep NoNewPrivs /proc/self/status").await;
        assert_eq!(result.output, "NoNewPrivs:\t1\n", "{cleanup:?}");
    }
    // Control: not set by default, unless it was set for this process.
    if !rustix::thread::no_new_privs().unwrap() {
        let plain = std::process::Command::new("grep").args(["NoNewPrivs", "/proc/self/status"]).output().unwrap();
        assert_eq!(plain.stdout, b"NoNewPrivs:\t0\n");
    }
}

/// A command that runs as root keeps only the capabilities that concern files, users and ports.
#[tokio::test]
async fn drops_root_capabilities() {
    let workspace = Workspace::new();
    let has = |status: &str, line: &str, capability: CapabilitySet| {
        let line = status.lines().find_map(|found| found.strip_prefix(line)).unwrap();
        u64::from_str_radix(line.trim(), 16).unwrap() & capability.bits() != 0
    };
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        let status = run_line(&tools, "cat /proc/self/status").await.output;
        for capability in [
            CapabilitySet::BPF,
            CapabilitySet::DAC_READ_SEARCH,
            CapabilitySet::MKNOD,
            CapabilitySet::NET_ADMIN,
            CapabilitySet::PERFMON,
            CapabilitySet::SYS_ADMIN,
            CapabilitySet::SYS_BOOT,
            CapabilitySet::SYS_MODULE,
            CapabilitySet::SYS_PTRACE,
            CapabilitySet::SYS_RAWIO,
            CapabilitySet::SYS_TIME,
        ] {
            for line in ["CapEff:", "CapPrm:", "CapInh:", "CapAmb:"] {
                assert!(!has(&status, line, capability), "{cleanup:?}: {capability:?} in {line}");
            }
        }
        if !rustix::process::geteuid().is_root() {
            println!("skipped: not running as root");
            continue;
        }
        // Control: this process has the capability.
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(has(&own, "CapEff:", CapabilitySet::MKNOD));
        assert!(!run_line(&tools, "mknod device c 1 3").await.success);
        assert!(has(&status, "CapEff:", CapabilitySet::CHOWN));
        assert!(run_line(&tools, "touch mine && chown 1:1 mine").await.success);
    }
}

/// In a PID namespace, `/proc` shows the command's own processes only.
#[tokio::test]
async fn sees_only_its_own_processes() {
    if !cleanups().await.contains(&ProcessCleanup::PidNamespace) {
        println!("skipped: PID namespaces are not available");
        return;
    }
    let workspace = Workspace::new();
    let tools = tools(workspace.exec().cleanup(ProcessCleanup::PidNamespace));
    let host = format!("tr '\\0' '\\n' < /proc/{}/cmdline", std::process::id());
    // The path as started, which may be a link.
    let this = std::env::args().next().unwrap();
    assert!(!run_line(&tools, &host).await.output.contains(&this));
    let result = run_line(&tools, "ls -d /proc/[0-9]* | wc -l").await;
    let count: u32 = result.output.trim().parse().unwrap();
    assert!(count < 10, "{count}");
    // Control: below a subreaper it sees the host.
    let seeing = super::support::tools(workspace.exec().cleanup(ProcessCleanup::Subreaper));
    assert!(run_line(&seeing, &host).await.output.contains(&this));
}
