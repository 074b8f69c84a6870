//! A network of a test's own: only a loopback interface, and an empty `/run`.

use std::env;
use std::io::Write;
use std::process::{Command, Output};

const INSIDE: &str = "HAYASE_TEST_IN_NAMESPACE";

/// Runs a test's body in namespaces of its own, by running the test again in them.
pub(crate) fn alone(test: &str, body: fn()) {
    if env::var_os(INSIDE).is_some() {
        return body();
    }
    if let Err(missing) = possible() {
        return skip(test, &missing);
    }
    let script = "mount -t tmpfs tmpfs /run && ip link set lo up && exec \"$@\"";
    let output = Command::new("unshare")
        .args(["--net", "--mount", "--", "sh", "-c", script, "sh"])
        .arg(env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{test} failed inside:\n{}", text(&output));
    assert!(text(&output).contains("1 passed"), "{test} did not run:\n{}", text(&output));
}

/// Says that a test tests nothing here, also when the output of tests is captured.
pub(crate) fn skip(test: &str, why: &str) {
    let message = format!("\n*** SKIPPED: {test}: {why}. Nothing was tested. ***\n\n");
    std::io::stderr().write_all(message.as_bytes()).unwrap();
}

fn possible() -> Result<(), String> {
    if !rustix::process::geteuid().is_root() {
        return Err("it needs root for namespaces of its own".into());
    }
    for tool in ["unshare", "ip", "rpcbind", "rpcinfo"] {
        if Command::new(tool).arg("--version").output().is_err() {
            return Err(format!("{tool} is not installed"));
        }
    }
    match Command::new("unshare").args(["--net", "--mount", "true"]).status() {
        Ok(status) if status.success() => Ok(()),
        _ => Err("namespaces cannot be made here".into()),
    }
}

/// Everything that a program printed.
pub(crate) fn text(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(&[&out[..], &err[..]].concat()).into_owned()
}
