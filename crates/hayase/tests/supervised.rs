//! `hayase serve` under a supervisor such as systemd: sockets that are handed over, and what the
//! supervisor is told.
#![allow(missing_docs, clippy::unwrap_used)]

#[allow(dead_code)]
mod support;

use std::fs;
use std::net::TcpListener;
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixDatagram;
use std::process::{Command, Stdio};
use std::time::Duration;

use hayase_proto::{mount, nfs3};
use hayase_xdr::{Opaque, from_bytes};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::Signal;
use support::{Client, Server, hayase, public_dir, stderr};
use tempfile::TempDir;

const STOP: Duration = Duration::from_secs(5);

fn serve(state: &TempDir, path: &str) -> Command {
    let mut command = hayase(&["serve", path, "--no-portmap", "--state-dir"]);
    command.arg(state.path()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// A listener that children get, too.
fn inherited() -> TcpListener {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    fcntl_setfd(&listener, FdFlags::empty()).unwrap();
    listener
}

fn hand_over<'a>(command: &'a mut Command, listener: &TcpListener) -> &'a mut Command {
    let number = listener.as_raw_fd().to_string();
    command.env("LISTEN_FDS", "1").env("LISTEN_FDS_FIRST_FD", number)
}

#[test]
fn a_restart_refuses_nobody() {
    let (_dir, path) = public_dir();
    let path = path.to_str().unwrap();
    let listener = inherited();
    let address = listener.local_addr().unwrap();
    let state = tempfile::tempdir().unwrap();
    let mut command = serve(&state, path);
    let server = Server::wait_for(state, hand_over(&mut command, &listener));
    assert_eq!(server.address(), address);
    let args = mount::MntArgs { dirpath: Opaque(path.as_bytes()) };
    let mnt = |client: &mut Client| {
        let wire = client.call(mount::PROGRAM, mount::Proc::Mnt as u32, &args);
        matches!(from_bytes(&wire).unwrap(), mount::MntRes::Ok(_))
    };
    assert!(mnt(&mut Client::connect(address)));
    server.signal(Signal::TERM);
    let (code, log, state) = server.wait(STOP);
    assert_eq!(code, Some(0), "{log}");
    // Nobody serves; whoever comes waits for the next server.
    let mut waiting = Client::connect(address);
    let mut command = serve(&state, path);
    let _server = Server::wait_for(state, hand_over(&mut command, &listener));
    assert!(mnt(&mut waiting));
}

#[test]
fn what_has_no_effect_on_sockets_that_are_handed_over_is_an_error() {
    let listener = inherited();
    for option in [["--port", "1234"], ["--listen", "127.0.0.1"]] {
        let state = tempfile::tempdir().unwrap();
        let mut command = serve(&state, "/");
        let output = hand_over(&mut command, &listener).args(option).output().unwrap();
        assert!(stderr(&output).contains(": set ListenStream="), "{}", stderr(&output));
    }
    let state = tempfile::tempdir().unwrap();
    let mut command = serve(&state, "/");
    let output = command.env("LISTEN_FDS", "1").env("LISTEN_FDS_FIRST_FD", "0").output().unwrap();
    assert!(stderr(&output).contains("neither TCP nor UDP"), "{}", stderr(&output));
}

#[test]
fn the_supervisor_is_told() {
    let (_dir, path) = public_dir();
    let state = tempfile::tempdir().unwrap();
    let place = tempfile::tempdir().unwrap();
    let place = place.path().join("notify");
    let supervisor = UnixDatagram::bind(&place).unwrap();
    supervisor.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // What comes next beside the watchdog's sign of life.
    let next = |wanted: &str| {
        let mut bytes = [0; 4096];
        loop {
            let length = supervisor.recv(&mut bytes).unwrap();
            let told = std::str::from_utf8(&bytes[..length]).unwrap().trim_end();
            if wanted == "WATCHDOG=1" || told != "WATCHDOG=1" {
                assert!(told.starts_with(wanted), "{told:?} instead of {wanted:?}");
                return told.to_owned();
            }
        }
    };
    let exports = state.path().join("exports");
    let write = |text: &str| fs::write(&exports, format!("{} {text}\n", path.display())).unwrap();
    write("*(rw,insecure)");
    let mut command = hayase(&["serve", "--port", "0", "--listen", "127.0.0.1", "--no-portmap"]);
    command.arg("--exports").arg(&exports).arg("--state-dir").arg(state.path());
    command.env("NOTIFY_SOCKET", &place).env("WATCHDOG_USEC", "300000");
    let server = Server::wait_for(state, command.stdout(Stdio::piped()).stderr(Stdio::piped()));
    let ready = next("READY=1\nSTATUS=serving 1 exports on port ");
    next("WATCHDOG=1");
    next("WATCHDOG=1");
    write("*(rw,insecur)");
    server.signal(Signal::HUP);
    next("RELOADING=1\nMONOTONIC_USEC=");
    assert_eq!(next("READY=1"), ready);
    // A server that was told so goes on.
    let mut client = Client::connect(server.address());
    client.call(nfs3::PROGRAM, nfs3::Proc::Null as u32, &());
    server.signal(Signal::TERM);
    next("STOPPING=1\nSTATUS=");
    let (code, log, _) = server.wait(STOP);
    assert_eq!(code, Some(0), "{log}");
}
