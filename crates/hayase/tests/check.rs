//! `hayase check`, and settings that are written down.
#![allow(missing_docs, clippy::unwrap_used)]

#[allow(dead_code)] // shared with other test programs, which use other parts of it
mod support;

use std::fs;
use std::path::{Path, PathBuf};

use hayase_proto::{mount, nfs3};
use hayase_rpc::Refusal;
use hayase_xdr::{Opaque, from_bytes};
use serde_json::Value;
use support::{Client, Server, output, public_dir, stderr};

/// A directory to be exported, and files that say so.
struct Site {
    _dir: tempfile::TempDir,
    path: PathBuf,
    exports: PathBuf,
    own: PathBuf,
    nfs_conf: PathBuf,
}

impl Site {
    fn new() -> Self {
        let (dir, path) = public_dir();
        let [exports, own, nfs_conf] =
            ["exports", "hayase.toml", "nfs.conf"].map(|name| path.join(name));
        fs::write(&own, "").unwrap();
        fs::write(&nfs_conf, "").unwrap();
        let data = path.join("data");
        fs::create_dir(&data).unwrap();
        Site { _dir: dir, path: data, exports, own, nfs_conf }
    }

    /// Exports the directory so.
    fn export(&self, clients: &str) {
        fs::write(&self.exports, format!("{} {clients}\n", self.path.display())).unwrap();
    }

    /// What is said to `serve` and `check`.
    fn arguments(&self) -> Vec<&str> {
        let pairs =
            [("--exports", &self.exports), ("--config", &self.own), ("--nfs-conf", &self.nfs_conf)];
        pairs.iter().flat_map(|(flag, path)| [*flag, path.to_str().unwrap()]).collect()
    }

    /// The report of `hayase check` for this server, and its exit status.
    fn check(&self, state_dir: &str) -> (Value, Option<i32>) {
        let output = output(
            &[&["check", "--json", "--state-dir", state_dir], &self.arguments()[..]].concat(),
        );
        let report = serde_json::from_slice(&output.stdout);
        (report.unwrap_or_else(|_| panic!("{}", stderr(&output))), output.status.code())
    }
}

#[test]
fn check_says_what_would_change_and_who_would_be_cut_off() {
    let site = Site::new();
    site.export("*(rw,insecure)");
    let server = Server::start(&site.arguments());
    let mut client = Client::connect(server.address());
    let path = site.path.to_str().unwrap();
    let args = mount::MntArgs { dirpath: Opaque(path.as_bytes()) };
    let wire = client.call(mount::PROGRAM, mount::Proc::Mnt as u32, &args);
    let mount::MntRes::Ok(ok) = from_bytes::<mount::MntRes<'_>>(&wire).unwrap() else { panic!() };
    let handle = ok.fhandle.0.to_vec();
    let getattr = nfs3::GetAttrArgs { object: Opaque(&handle) };
    client.call(nfs3::PROGRAM, nfs3::Proc::GetAttr as u32, &getattr);

    let (same, code) = site.check(server.state_dir());
    assert_eq!(code, Some(0), "{same:#}");
    assert_eq!(same["server"]["changes"]["added"], serde_json::json!([]));
    assert_eq!(same["server"]["cut_off"], serde_json::json!([]), "{same:#}");

    for (clients, what) in [
        ("*(ro,insecure)", "becomes read-only"),
        ("192.0.2.1(rw,insecure)", "is not exported to it any more"),
        ("*(rw)", "is for ports below 1024 only"),
    ] {
        site.export(clients);
        let (report, code) = site.check(server.state_dir());
        assert_eq!(code, Some(0), "{report:#}");
        let cut = &report["server"]["cut_off"][0];
        assert_eq!((&cut["address"], &cut["export"]), (&"127.0.0.1".into(), &path.into()));
        assert_eq!(cut["what"], what, "{report:#}");
        assert_eq!(cut["connections"], 1);
    }
    // Nothing was changed by asking.
    let wire = client.call(nfs3::PROGRAM, nfs3::Proc::GetAttr as u32, &getattr);
    assert!(matches!(from_bytes::<nfs3::GetAttrRes>(&wire).unwrap(), nfs3::Res3::Ok(_)));

    site.export("*(rw,insecur)");
    let (report, code) = site.check(server.state_dir());
    assert_eq!(code, Some(1));
    assert_eq!(report["findings"][0]["line"], 1);
    let text =
        output(&[&["check", "--state-dir", server.state_dir()], &site.arguments()[..]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("did you mean `insecure`?"), "{text}");
    assert!(text.contains("the server that runs would stay as it is"), "{text}");
}

/// A setting that is changed and has no effect until a restart says so: users of another server
/// found that theirs said nothing.
#[test]
fn a_changed_setting_that_takes_a_restart_is_named() {
    let site = Site::new();
    site.export("*(rw,insecure)");
    fs::write(&site.own, "[nfs4]\nlease-time = 60\n").unwrap();
    let server = Server::start(&site.arguments());
    let reload = || output(&["reload", "--state-dir", server.state_dir()]);
    let said = |output: &std::process::Output| String::from_utf8(output.stdout.clone()).unwrap();
    assert_eq!(said(&reload()), "nothing has changed\n");
    fs::write(&site.own, "[nfs4]\nlease-time = 30\n").unwrap();
    fs::write(&site.nfs_conf, "[nfsd]\nvers3=n\n").unwrap();
    let text = said(&reload());
    for words in ["nfs4.lease-time is 30", "hayase.toml:2", "nfs.v3 is n", "takes a restart"] {
        assert!(text.contains(words), "{words} in {text}");
    }
    let (report, _) = site.check(server.state_dir());
    assert_eq!(report["server"]["restart"].as_array().unwrap().len(), 2, "{report:#}");
    // With a mistake, all stays as it was.
    fs::write(&site.nfs_conf, "[nfsd]\nvers5=y\n").unwrap();
    let wrong = reload();
    assert_eq!(wrong.status.code(), Some(1));
    assert!(stderr(&wrong).contains("unknown key `vers5`"), "{}", stderr(&wrong));
}

/// Which files there are was asked at the start only, and nobody was told that others were named.
#[test]
fn a_reload_reads_the_files_that_are_named_now() {
    let site = Site::new();
    let [first, second] = ["first", "second"].map(|name| site.own.with_file_name(name));
    fs::write(&first, format!("{} *(rw)\n", site.path.display())).unwrap();
    fs::write(&second, format!("{} *(ro)\n", site.path.display())).unwrap();
    let name = |file: &Path| {
        fs::write(&site.own, format!("[exports]\nfiles = [{:?}]\n", file.display())).unwrap();
    };
    name(&first);
    let server = Server::start(&["--config", site.own.to_str().unwrap()]);
    name(&second);
    let reloaded = output(&["reload", "--state-dir", server.state_dir()]);
    let text = String::from_utf8(reloaded.stdout).unwrap();
    assert!(text.starts_with("~ ") && text.contains("is now (ro,"), "{text}");
}

#[test]
fn nfs_conf_switches_versions_off_and_its_mistakes_keep_a_server_from_starting() {
    let site = Site::new();
    site.export("*(rw,insecure)");
    fs::write(&site.nfs_conf, "[nfsd]\nvers3=n\nvers4.0=n\n").unwrap();
    let server = Server::start(&site.arguments());
    let mut client = Client::connect(server.address());
    let mismatch = |low, high| Refusal::ProgMismatch { low, high };
    assert_eq!(client.refused(nfs3::PROGRAM), mismatch(4, 4));
    assert_eq!(client.refused(mount::PROGRAM), mismatch(1, 1));

    fs::write(&site.nfs_conf, "[nfsd]\n  udp=y\nprot=2050\n").unwrap();
    let state = tempfile::tempdir().unwrap();
    let state_dir = ["--state-dir", state.path().to_str().unwrap()];
    let failed = output(&[&["serve"], &state_dir[..], &site.arguments()[..]].concat());
    let said = stderr(&failed);
    assert_eq!(failed.status.code(), Some(1));
    for words in ["2 errors", "nfs.conf:2:3: NFS is not served over UDP", "did you mean `port`?"] {
        assert!(said.contains(words), "{words} in {said}");
    }
}
