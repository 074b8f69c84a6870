//! Exports of a running server: listed, added, removed, reloaded.
#![allow(missing_docs, clippy::unwrap_used)]

#[allow(dead_code)] // shared with other test programs, which use other parts of it
mod support;

use std::fs;
use std::path::Path;

use hayase_proto::{mount, nfs3};
use hayase_xdr::{Opaque, from_bytes};
use support::{Client, Server, output, public_dir, stderr};

fn mnt(client: &mut Client, path: &str) -> Result<Vec<u8>, mount::Status> {
    let args = mount::MntArgs { dirpath: Opaque(path.as_bytes()) };
    let wire = client.call(mount::PROGRAM, mount::Proc::Mnt as u32, &args);
    match from_bytes::<mount::MntRes<'_>>(&wire).unwrap() {
        mount::MntRes::Ok(ok) => Ok(ok.fhandle.0.to_vec()),
        mount::MntRes::Fail(status) => Err(status),
    }
}

fn getattr(client: &mut Client, handle: &[u8]) -> Result<(), nfs3::Status> {
    let args = nfs3::GetAttrArgs { object: Opaque(handle) };
    let wire = client.call(nfs3::PROGRAM, nfs3::Proc::GetAttr as u32, &args);
    match from_bytes::<nfs3::GetAttrRes>(&wire).unwrap() {
        nfs3::Res3::Ok(_) => Ok(()),
        nfs3::Res3::Fail(status, ()) => Err(status),
    }
}

/// `hayase` with these arguments, for this server: what it printed, or what was wrong.
fn ask(server: &Server, args: &[&str]) -> Result<String, String> {
    let output = output(&[args, &["--state-dir", server.state_dir()]].concat());
    if output.status.success() {
        Ok(String::from_utf8(output.stdout).unwrap())
    } else {
        Err(stderr(&output))
    }
}

/// Two directories that can be exported, and a directory of tables.
fn site() -> (tempfile::TempDir, [String; 2], String) {
    let (dir, path) = public_dir();
    let inside = ["one", "two"].map(|name| path.join(name).to_str().unwrap().to_owned());
    for path in &inside {
        fs::create_dir(path).unwrap();
    }
    let tables = path.join("exports.d");
    fs::create_dir(&tables).unwrap();
    (dir, inside, tables.to_str().unwrap().to_owned())
}

#[test]
fn an_export_comes_and_goes_while_another_goes_on() {
    let (_dir, [one, two], tables) = site();
    fs::write(Path::new(&tables).join("a.exports"), format!("{one} *(rw,insecure)\n")).unwrap();
    let server = Server::start(&["--exports", &tables]);
    let mut client = Client::connect(server.address());
    let kept = mnt(&mut client, &one).unwrap();
    assert_eq!(mnt(&mut client, &two), Err(mount::Status::NoEnt));

    let said = ask(&server, &["export", "add", &format!("*:{two}"), "-o", "ro,insecure"]).unwrap();
    assert!(said.starts_with(&format!("+ {two} *(ro,")), "{said}");
    let gone = mnt(&mut client, &two).unwrap();
    assert_eq!(getattr(&mut client, &gone), Ok(()));
    let listed = ask(&server, &["export", "ls", "--json"]).unwrap();
    let listed: serde_json::Value = serde_json::from_str(&listed).unwrap();
    assert_eq!(listed[1]["clients"][0]["temporary"], true, "{listed}");
    assert_eq!(listed[0]["clients"][0]["line"], 1, "{listed}");

    let said = ask(&server, &["export", "rm", &two]).unwrap();
    assert!(said.starts_with(&format!("- {two} *(ro,")), "{said}");
    assert_eq!(getattr(&mut client, &gone), Err(nfs3::Status::Stale));
    assert_eq!(getattr(&mut client, &kept), Ok(()));

    // What was only said is forgotten at a reload, what was written down is not.
    ask(&server, &["export", "add", &format!("127.0.0.1:{two}"), "-o", "insecure", "--persist"])
        .unwrap();
    ask(&server, &["export", "rm", &one]).unwrap();
    assert_eq!(getattr(&mut client, &kept), Err(nfs3::Status::Stale));
    let said = ask(&server, &["export", "reload"]).unwrap();
    assert!(said.contains(&format!("+ {one} ")) && !said.contains(&two), "{said}");
    assert_eq!(getattr(&mut client, &kept), Ok(()));
    assert_eq!(getattr(&mut client, &gone), Ok(()));
    let wrong = ask(&server, &["export", "rm", &format!("*:{one}"), "--persist"]).unwrap_err();
    assert!(wrong.contains("a.exports:1: remove it there"), "{wrong}");
    ask(&server, &["export", "rm", &two, "--persist"]).unwrap();
    assert_eq!(ask(&server, &["reload"]).unwrap(), "nothing has changed\n");
    assert_eq!(getattr(&mut client, &gone), Err(nfs3::Status::Stale));
}

/// A line that was written although a file said something about that client already kept the next
/// server from starting.
#[test]
fn what_could_not_be_read_again_is_not_written() {
    let (_dir, [one, two], tables) = site();
    fs::write(Path::new(&tables).join("a.exports"), format!("{one} *(rw,fsid=5)\n")).unwrap();
    let server = Server::start(&["--exports", &tables]);
    let own = Path::new(&tables).join("hayase.exports");
    for (place, options, words) in [
        (format!("*:{one}"), "ro", "a.exports:1"),
        (format!("10.0.0.1:{one}"), "ro,fsid=6", "fsid=5 for another client"),
        (format!("*:{two}"), "ro,fsid=5", "fsid=5 already belongs to"),
    ] {
        let args = ["export", "add", &place, "-o", options, "--persist"];
        let wrong = ask(&server, &args).unwrap_err();
        assert!(wrong.contains(words), "{args:?}: {wrong}");
        assert!(!own.exists(), "{args:?}");
        assert_eq!(ask(&server, &["reload"]).unwrap(), "nothing has changed\n");
    }
    // What was only said can be taken back for good.
    ask(&server, &["export", "add", &format!("*:{two}"), "--persist"]).unwrap();
    ask(&server, &["export", "add", &format!("*:{two}"), "-o", "rw"]).unwrap();
    ask(&server, &["export", "rm", &two, "--persist"]).unwrap();
    assert_eq!(ask(&server, &["reload"]).unwrap(), "nothing has changed\n");
}

#[test]
fn lists_are_those_of_exportfs() {
    let (_dir, [one, _], tables) = site();
    let line = format!("{one} 10.0.0.0/8(rw,no_root_squash) *(ro,fsid=7)\n");
    let file = Path::new(&tables).join("a.exports");
    fs::write(&file, &line).unwrap();
    let server = Server::start(&["--exports", file.to_str().unwrap()]);
    let verbose = ask(&server, &["export", "ls"]).unwrap();
    let of_file = output(&["export", "ls", "--exports", file.to_str().unwrap()]);
    assert_eq!(verbose.as_bytes(), of_file.stdout);
    assert_eq!(
        verbose,
        format!(
            "{one}\n\t\t10.0.0.0/8(sync,wdelay,hide,no_subtree_check,sec=sys,rw,secure,\
             no_root_squash,no_all_squash)\n\
             {one}\n\t\t<world>(sync,wdelay,hide,no_subtree_check,fsid=7,sec=sys,ro,secure,\
             root_squash,no_all_squash)\n"
        )
    );
    assert_eq!(
        ask(&server, &["export", "ls", "--plain"]).unwrap(),
        format!("{one}\n\t\t10.0.0.0/8\n{one}\n\t\t<world>\n")
    );
    let table = ask(&server, &["export", "ls", "-s"]).unwrap();
    fs::write(&file, &table).unwrap();
    assert_eq!(ask(&server, &["reload"]).unwrap(), "nothing has changed\n");
}

#[test]
fn mistakes_say_what_to_do() {
    let (_dir, [one, two], _) = site();
    let server = Server::start(&[&one]);
    for (args, words) in [
        (vec!["add", &*two, "-o", "rw"], "write `CLIENT:/"),
        (vec!["add", "host:srv"], "not `CLIENT:PATH`"),
        (vec!["add", &format!("*:{two}"), "-o", "wr"], "did you mean `rw`?"),
        (vec!["add", &format!("*:{two}"), "-o", "rw, sync"], "without blanks"),
        (vec!["add", &format!("*:{two}"), "--persist"], "directory of tables"),
        (vec!["rm", &two], "is not exported"),
        (vec!["rm", &format!("10.0.0.1:{one}")], "is exported to *, not to `10.0.0.1`"),
    ] {
        let wrong = ask(&server, &[&["export"], &args[..]].concat()).unwrap_err();
        assert!(wrong.contains(words), "{args:?}: {wrong}");
    }
    let said = ask(&server, &["export", "ls"]).unwrap();
    assert!(said.contains("<world>(sync,wdelay,hide,crossmnt,no_subtree_check,sec=sys"), "{said}");
}

/// One directory that is missing keeps the others from nothing.
#[test]
fn an_export_that_is_not_there_is_served_when_it_is() {
    let (_dir, [one, two], tables) = site();
    fs::remove_dir(&two).unwrap();
    let file = Path::new(&tables).join("a.exports");
    fs::write(&file, format!("{one} *(insecure)\n{two} *(insecure)\n{tables} *(mp,insecure)\n"))
        .unwrap();
    let server = Server::start(&["--exports", &tables]);
    let mut client = Client::connect(server.address());
    assert!(mnt(&mut client, &one).is_ok());
    assert_eq!(mnt(&mut client, &two), Err(mount::Status::NoEnt));
    assert_eq!(mnt(&mut client, &tables), Err(mount::Status::NoEnt));
    let listed = ask(&server, &["export", "ls", "--json"]).unwrap();
    assert!(listed.contains("does not exist") && listed.contains("nothing is mounted on"));
    fs::create_dir(&two).unwrap();
    ask(&server, &["reload"]).unwrap();
    assert!(mnt(&mut client, &two).is_ok());
}
