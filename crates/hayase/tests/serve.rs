//! `hayase serve` as a process: what it says when it cannot start, signals, reloads.
#![allow(missing_docs, clippy::unwrap_used)]

#[allow(dead_code)] // shared with other test programs, which use other parts of it
mod support;

use std::fs;
use std::net::TcpListener;
use std::time::Duration;

use hayase_proto::{mount, nfs3};
use hayase_xdr::{Opaque, from_bytes};
use rustix::process::Signal;
use support::{Client, Server, output, public_dir, stderr};

/// SIGTERM has to be obeyed within this time.
const STOP: Duration = Duration::from_secs(5);

fn mnt(client: &mut Client, path: &str) -> Result<Vec<u8>, mount::Status> {
    let args = mount::MntArgs { dirpath: Opaque(path.as_bytes()) };
    let wire = client.call(mount::PROGRAM, mount::Proc::Mnt as u32, &args);
    match from_bytes::<mount::MntRes<'_>>(&wire).unwrap() {
        mount::MntRes::Ok(ok) => Ok(ok.fhandle.0.to_vec()),
        mount::MntRes::Fail(status) => Err(status),
    }
}

fn getattr(client: &mut Client, handle: &[u8]) -> nfs3::GetAttrRes {
    let args = nfs3::GetAttrArgs { object: Opaque(handle) };
    from_bytes(&client.call(nfs3::PROGRAM, nfs3::Proc::GetAttr as u32, &args)).unwrap()
}

/// Starts that have to fail, each with one line that says what is wrong and what to do.
fn refused(args: &[&str], words: &[&str]) {
    let state = tempfile::tempdir().unwrap();
    let state = state.path().to_str().unwrap();
    let all = [&["serve", "--no-portmap", "--state-dir", state], args].concat();
    let output = output(&all);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.starts_with("hayase: "), "{said}");
    for word in words {
        assert!(said.contains(word), "{word:?} is missing in {said}");
    }
}

#[test]
fn a_directory_that_is_missing_or_none_is_named() {
    refused(&["/no/such/directory"], &["/no/such/directory does not exist"]);
    refused(&["/etc/passwd"], &["/etc/passwd is not a directory"]);
}

#[test]
fn a_taken_port_is_named_with_the_remedy() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let args = ["/", "--listen", "127.0.0.1", "--port", &port];
    refused(&args, &[&port, "another program listens there", "--port"]);
}

#[test]
fn an_address_of_another_host_is_named() {
    refused(&["/", "--listen", "192.0.2.1"], &["192.0.2.1", "no such address"]);
}

#[test]
fn errors_of_an_exports_file_are_shown_with_their_lines() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("exports");
    fs::write(&file, "/srv *(rw,root_sqash)\n/tmp *(ro,rw)\n").unwrap();
    refused(
        &["--exports", file.to_str().unwrap()],
        &["2 errors", ":1:", "root_sqash", "root_squash", ":2:"],
    );
    refused(&["--exports", "/no/exports"], &["/no/exports"]);
}

#[test]
fn a_state_directory_has_one_server() {
    let (_dir, path) = public_dir();
    let server = Server::start(&[path.to_str().unwrap()]);
    let second = output(&[
        "serve",
        path.to_str().unwrap(),
        "--port",
        "0",
        "--state-dir",
        server.state_dir(),
    ]);
    assert!(stderr(&second).contains("another server uses"), "{}", stderr(&second));
}

#[test]
fn sigterm_ends_the_server_in_time_and_handles_outlive_it() {
    let (_dir, path) = public_dir();
    let path = path.to_str().unwrap();
    let server = Server::start(&[path]);
    let mut client = Client::connect(server.address());
    let handle = mnt(&mut client, path).unwrap();
    assert_eq!(mnt(&mut client, "/").unwrap(), handle, "a single directory is also /");
    let first = getattr(&mut client, &handle);
    assert!(matches!(first, nfs3::Res3::Ok(_)));
    server.signal(Signal::TERM);
    let (code, log, state) = server.wait(STOP);
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("mount -t nfs -o vers=4.2,nconnect=16,port="), "{log}");

    let again = Server::start_in(state, &[path], None);
    let mut client = Client::connect(again.address());
    assert_eq!(getattr(&mut client, &handle), first);
}

#[test]
fn a_reload_changes_who_may_mount_and_a_broken_one_changes_nothing() {
    let (_dir, path) = public_dir();
    let path = path.to_str().unwrap();
    let files = tempfile::tempdir().unwrap();
    let exports = files.path().join("exports");
    fs::write(&exports, format!("{path} 192.0.2.1(rw,insecure)\n")).unwrap();
    let server = Server::start(&["--exports", exports.to_str().unwrap()]);
    let mut client = Client::connect(server.address());
    assert_eq!(mnt(&mut client, path), Err(mount::Status::Acces));
    assert_eq!(mnt(&mut client, "/etc"), Err(mount::Status::NoEnt));

    fs::write(&exports, format!("{path} 127.0.0.0/8(rw,insecure)\n")).unwrap();
    assert!(output(&["reload", "--state-dir", server.state_dir()]).status.success());
    let handle = mnt(&mut client, path).unwrap();
    assert!(matches!(getattr(&mut client, &handle), nfs3::Res3::Ok(_)));

    fs::write(&exports, format!("{path} 127.0.0.0/8(rw,insecur)\n")).unwrap();
    let broken = output(&["reload", "--state-dir", server.state_dir()]);
    assert_eq!(broken.status.code(), Some(1));
    assert!(stderr(&broken).contains("insecure"), "{}", stderr(&broken));
    assert!(matches!(getattr(&mut client, &handle), nfs3::Res3::Ok(_)));

    // The same by signal; the connection that was served before is refused now.
    fs::write(&exports, format!("{path} 192.0.2.1(rw,insecure)\n")).unwrap();
    server.signal(Signal::HUP);
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while matches!(getattr(&mut client, &handle), nfs3::Res3::Ok(_)) {
        assert!(std::time::Instant::now() < deadline, "SIGHUP had no effect");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(getattr(&mut client, &handle), nfs3::Res3::Fail(nfs3::Status::Acces, ()));
}

#[test]
fn an_ordinary_user_serves_and_says_what_that_means() {
    if !rustix::process::geteuid().is_root() {
        return; // every other test is this one then
    }
    let (_dir, path) = public_dir();
    let server =
        Server::start_in(tempfile::tempdir().unwrap(), &[path.to_str().unwrap()], Some(65_534));
    let mut client = Client::connect(server.address());
    let handle = mnt(&mut client, path.to_str().unwrap()).unwrap();
    assert!(matches!(getattr(&mut client, &handle), nfs3::Res3::Ok(_)));
    server.signal(Signal::INT);
    let (code, log, _) = server.wait(STOP);
    assert_eq!(code, Some(0), "{log}");
    assert!(log.contains("acts as"), "{log}");
}

#[test]
fn status_is_for_people_and_for_programs() {
    let (_dir, path) = public_dir();
    let server = Server::start(&[path.to_str().unwrap()]);
    let status = server.status().unwrap();
    assert_eq!(status["exports"][0]["path"], path.to_str().unwrap());
    let text = output(&["status", "--state-dir", server.state_dir()]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("found by     not announced"));
    let nobody = output(&["status", "--state-dir", path.to_str().unwrap()]);
    assert!(stderr(&nobody).contains("no server answers"), "{}", stderr(&nobody));
}

/// Tables, no wider than a page; JSON for programs; errors that say what to do.
#[test]
fn limits_and_clients_are_listed() {
    let (_dir, path) = public_dir();
    let nobody = tempfile::tempdir().unwrap();
    let defaults = output(&["limits", "--json", "--state-dir", nobody.path().to_str().unwrap()]);
    assert!(stderr(&defaults).contains("defaults of this host"));
    let defaults: serde_json::Value = serde_json::from_slice(&defaults.stdout).unwrap();
    let server = Server::start(&[path.to_str().unwrap()]);
    let target = ["--state-dir", server.state_dir()];
    let json = |command: &str| -> serde_json::Value {
        let output = output(&[&[command, "--json"], &target[..]].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let limits = json("limits");
    let names = |limits: &serde_json::Value| -> Vec<String> {
        limits.as_array().unwrap().iter().map(|limit| limit["name"].to_string()).collect()
    };
    assert_eq!(names(&limits), names(&defaults));
    let clients = limits.as_array().unwrap().iter().find(|limit| limit["name"] == "state.clients");
    assert_eq!(clients.unwrap()["used"], 0);
    for command in ["clients", "sessions", "opens", "locks"] {
        assert_eq!(json(command)["total"], 0, "{command}");
    }
    for command in ["status", "limits", "clients", "sessions", "opens", "locks"] {
        let text = output(&[&[command], &target[..]].concat());
        let text = String::from_utf8(text.stdout).unwrap();
        assert!(!text.is_empty() && text.lines().all(|line| line.chars().count() <= 100), "{text}");
    }
    let nobody = output(&[&["evict", "17"], &target[..]].concat());
    assert_eq!(nobody.status.code(), Some(1));
    assert!(stderr(&nobody).contains("hayase clients"), "{}", stderr(&nobody));
    let garbage = output(&[&["evict", "nobody"], &target[..]].concat());
    assert!(stderr(&garbage).contains("not an id"), "{}", stderr(&garbage));
}
