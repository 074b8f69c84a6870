//! `hayase bench` on several hosts, each played by an agent in a process of its own.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tempfile::TempDir;

fn hayase() -> Command {
    Command::new(env!("CARGO_BIN_EXE_hayase"))
}

struct Agent {
    child: Child,
    address: String,
}

impl Agent {
    fn start(secret: &Path, files: &Path) -> Self {
        let mut child = hayase()
            .args(["bench", "agent", "--listen", "127.0.0.1:0", "--secret-file"])
            .arg(secret)
            .arg("--files")
            .arg(files)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listens to ").unwrap().to_owned();
        Agent { child, address }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn secret(dir: &TempDir, text: &str, mode: u32) -> PathBuf {
    let path = dir.path().join(format!("secret-{}", text.len()));
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
    path
}

fn coordinate(agents: &[&Agent], secret: &Path, files: &Path, runtime: &str) -> Command {
    let agents: Vec<_> = agents.iter().map(|agent| agent.address.clone()).collect();
    let mut command = hayase();
    command
        .args(["bench", "run"])
        .arg(format!("file://{}", files.display()))
        .args(["--rw=randread", "--bs=4k", "--size=1m", "--time_based", "--output-format=json"])
        .arg(format!("--runtime={runtime}"))
        .arg(format!("--agents={}", agents.join(",")))
        .arg("--secret-file")
        .arg(secret)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn two_agents_are_summed() {
    let dir = tempfile::tempdir().unwrap();
    let secret = secret(&dir, "a secret that is long enough", 0o600);
    let (one, two) = (Agent::start(&secret, dir.path()), Agent::start(&secret, dir.path()));
    let report = dir.path().join("report.html");
    let output = coordinate(&[&one, &two], &secret, dir.path(), "500ms")
        .arg("--report")
        .arg(&report)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let bytes = |index: usize| json["client_stats"][index]["read"]["io_bytes"].as_u64().unwrap();
    assert!(bytes(0) > 0 && bytes(1) > 0);
    assert_eq!(bytes(2), bytes(0) + bytes(1));
    assert!(json["fairness"]["read"]["jain"].as_f64().unwrap() > 0.5);
    assert!(std::fs::read_to_string(report).unwrap().contains("2 clients"));
}

#[test]
fn an_agent_killed_in_the_middle_is_told_of_and_the_other_kept() {
    let dir = tempfile::tempdir().unwrap();
    let secret = secret(&dir, "a secret that is long enough", 0o600);
    let (one, mut two) = (Agent::start(&secret, dir.path()), Agent::start(&secret, dir.path()));
    let child = coordinate(&[&one, &two], &secret, dir.path(), "8s").spawn().unwrap();
    // What an agent reads shows that it has started: laying out only writes.
    let has_read = || {
        let io = std::fs::read_to_string(format!("/proc/{}/io", two.child.id())).unwrap();
        let read = io.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap();
        read.parse::<u64>().unwrap()
    };
    while has_read() < 8 << 20 {
        std::thread::sleep(Duration::from_millis(20));
    }
    // Time enough to be heard of.
    std::thread::sleep(Duration::from_secs(2));
    two.child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(!output.status.success());
    let said = stderr(&output);
    assert!(said.contains(&two.address) && said.contains("is lost"), "{said}");
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["client_stats"].as_array().unwrap().len(), 2, "one, and all");
    assert!(json["client_stats"][0]["read"]["total_ios"].as_u64().unwrap() > 0);
    assert_eq!(json["clients"][1]["hostname"], two.address);
    assert!(json["clients"][1]["lost"].is_string());
    assert!(json["clients"][1]["last_heard"]["elapsed_millis"].as_u64().unwrap() > 0);
}

#[test]
fn nothing_is_open_without_a_secret() {
    let dir = tempfile::tempdir().unwrap();
    let agent = |secret: &Path| {
        let mut command = hayase();
        command.args(["bench", "agent", "--listen", "127.0.0.1:0", "--secret-file"]).arg(secret);
        command.output().unwrap()
    };
    let open = agent(&secret(&dir, "a secret that all can read", 0o644));
    assert!(!open.status.success() && stderr(&open).contains("chmod 600"), "{}", stderr(&open));
    let short = agent(&secret(&dir, "short", 0o600));
    assert!(!short.status.success() && stderr(&short).contains("guessed"), "{}", stderr(&short));
    let none = hayase().args(["bench", "agent", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(!none.status.success() && stderr(&none).contains("--secret-file"));
    let nowhere = hayase().args(["bench", "agent", "--secret-file", "x"]).output().unwrap();
    assert!(!nowhere.status.success() && stderr(&nowhere).contains("--listen"));
}

#[test]
fn another_secret_opens_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let (right, wrong) = (
        secret(&dir, "a secret that is long enough", 0o600),
        secret(&dir, "another secret that is long enough", 0o600),
    );
    let agent = Agent::start(&right, dir.path());
    let output = coordinate(&[&agent], &wrong, dir.path(), "1s").output().unwrap();
    assert!(!output.status.success());
    assert!(stderr(&output).contains("another secret"), "{}", stderr(&output));
}
