//! What a command cannot do, with a control that shows that it could.

use std::net::{TcpListener, UdpSocket};
use std::os::fd::AsRawFd;

use rustix::thread::CapabilitySet;
use serde_json::json;
use tool_builtins::exec::{ProcessCleanup, WriteConfinement};

use super::support::{Workspace, cleanups, run, run_line, tools};

#[tokio::test]
async fn it_writes_only_inside() {
    let workspace = Workspace::new();
    let outside = tempfile::tempdir().unwrap();
    let (victim, extra) = (outside.path().join("victim"), outside.path().join("extra"));
    std::fs::create_dir(&extra).unwrap();
    let attempts = |folder: &std::path::Path| {
        let folder = folder.display();
        [
            format!("echo x > {folder}/victim"),
            format!("echo x >> {folder}/victim"),
            format!("truncate -s 0 {folder}/victim"),
            format!("rm {folder}/victim"),
            format!("mv {folder}/victim {folder}/moved"),
            format!("ln {folder}/victim {folder}/linked"),
            format!("ln {folder}/victim linked && echo x > linked"),
            format!("mv {folder}/victim moved"),
            format!("mkdir {folder}/made"),
            format!("ln -s x {folder}/link"),
            format!("mkfifo {folder}/fifo"),
            format!("ln -sf {folder}/victim out && echo x > out"),
            format!("setsid sh -c 'echo x > {folder}/victim'"),
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
        // The control: inside, all of it works.
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

/// What Landlock does not know is kept by mounts, where a command has its own.
#[tokio::test]
async fn it_changes_nothing_else_of_files_outside() {
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
            // The control: below a subreaper it does, as the documentation says.
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
async fn it_reads_nothing_of_the_host() {
    let workspace = Workspace::new();
    let host = std::process::id();
    // The control: the host has something to hide.
    assert!(String::from_utf8_lossy(&std::fs::read("/proc/self/environ").unwrap()).contains("CARGO_PKG_NAME"));
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        // The host's environment, memory and files, through `/proc`.
        for file in ["environ", "mem", "fd/0"] {
            let result = run_line(&tools, &format!("head -c 1 /proc/{host}/{file}")).await;
            assert!(!result.success, "{cleanup:?} {file}: {}", result.output);
        }
        // Nor the environment of what watches over it, which was forked off the host.
        let watching = run_line(&tools, "cat /proc/$PPID/environ").await;
        assert!(!watching.output.contains("CARGO_PKG_NAME"), "{cleanup:?}: {}", watching.output);
        // The control: of itself it can.
        assert!(run_line(&tools, "head -c 1 /proc/self/environ").await.success);
        // Nor does it signal the host, nor what watches over it.
        let result = run_line(&tools, &format!("kill -0 {host}")).await;
        assert!(!result.success, "{cleanup:?}: {}", result.output);
        let result = run_line(&tools, "kill -KILL $PPID; sleep 0.1; echo still watched").await;
        assert!(result.output.ends_with("still watched\n"), "{cleanup:?}: {}", result.output);
    }
}

#[tokio::test]
async fn its_environment_is_bare() {
    let workspace = Workspace::new();
    let exec = workspace.exec().env("GIVEN", "1").pass_env("CARGO_MANIFEST_DIR").pass_env("NOT_THERE");
    // The control: this process has more than a command may know.
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
async fn it_inherits_no_descriptor() {
    let workspace = Workspace::new();
    let file = std::fs::File::open("/etc/passwd").unwrap();
    // As a library does that knows nothing of `O_CLOEXEC`.
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).unwrap();
    let number = file.as_raw_fd();
    let line = format!("test -e /dev/fd/{number} && echo inherited");
    let plain = std::process::Command::new("/bin/sh").args(["-c", &line]).output().unwrap();
    assert_eq!(plain.stdout, b"inherited\n", "the control: otherwise it does");
    for cleanup in cleanups().await {
        let tools = tools(workspace.exec().cleanup(cleanup));
        assert!(!run_line(&tools, &line).await.output.ends_with("inherited\n"), "{cleanup:?}");
        // The listing's own descriptor is the fourth.
        assert_eq!(run_line(&tools, "ls /proc/self/fd").await.output, "0\n1\n2\n3\n", "{cleanup:?}");
    }
    drop(file);
}

#[tokio::test]
async fn it_has_no_network_on_request() {
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
        println!("skipped: there is no python3 to try it with");
        return;
    }
    let ports = [("tcp", tcp.local_addr().unwrap().port()), ("udp", udp.local_addr().unwrap().port())];
    for cleanup in cleanups().await {
        for (kind, port) in ports {
            let arguments = json!({"program": "python3", "arguments": ["send.py", kind, port.to_string()]});
            let free = run(&tools(workspace.exec().cleanup(cleanup)), arguments.clone()).await;
            assert_eq!(free.output, "sent\n", "the control: otherwise it has");
            let exec = workspace.exec().cleanup(cleanup).without_network();
            assert!(!exec.confinement().await.unwrap().network);
            let refused = run(&tools(exec), arguments).await;
            assert!(!refused.success && !refused.output.contains("sent"), "{cleanup:?} {kind}: {}", refused.output);
        }
    }
}

#[tokio::test]
async fn it_gains_no_privileges() {
    let workspace = Workspace::new();
    for cleanup in cleanups().await {
        let result = run_line(&tools(workspace.exec().cleanup(cleanup)), "grep NoNewPrivs /proc/self/status").await;
        assert_eq!(result.output, "NoNewPrivs:\t1\n", "{cleanup:?}");
    }
    // The control: it is not so by itself, unless whoever has started this process has said so.
    if !rustix::thread::no_new_privs().unwrap() {
        let plain = std::process::Command::new("grep").args(["NoNewPrivs", "/proc/self/status"]).output().unwrap();
        assert_eq!(plain.stdout, b"NoNewPrivs:\t0\n");
    }
}

/// A superuser's command keeps what concerns files, users and ports.
#[tokio::test]
async fn it_gives_up_what_only_a_superuser_may() {
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
            println!("skipped: whoever is no superuser has nothing to give up");
            continue;
        }
        // The control: this process has it.
        let own = std::fs::read_to_string("/proc/self/status").unwrap();
        assert!(has(&own, "CapEff:", CapabilitySet::MKNOD));
        assert!(!run_line(&tools, "mknod device c 1 3").await.success);
        assert!(has(&status, "CapEff:", CapabilitySet::CHOWN));
        assert!(run_line(&tools, "touch mine && chown 1:1 mine").await.success);
    }
}

/// Its namespace shows its own processes only.
#[tokio::test]
async fn it_sees_its_own_processes_only() {
    if !cleanups().await.contains(&ProcessCleanup::PidNamespace) {
        println!("skipped: no PID namespaces here");
        return;
    }
    let workspace = Workspace::new();
    let tools = tools(workspace.exec().cleanup(ProcessCleanup::PidNamespace));
    let host = format!("tr '\\0' '\\n' < /proc/{}/cmdline", std::process::id());
    // As it was started, which may have been through a link.
    let this = std::env::args().next().unwrap();
    assert!(!run_line(&tools, &host).await.output.contains(&this));
    let result = run_line(&tools, "ls -d /proc/[0-9]* | wc -l").await;
    let count: u32 = result.output.trim().parse().unwrap();
    assert!(count < 10, "{count}");
    // The control: below a subreaper it sees the host.
    let seeing = super::support::tools(workspace.exec().cleanup(ProcessCleanup::Subreaper));
    assert!(run_line(&seeing, &host).await.output.contains(&this));
}
