//! MOUNT, versions 1 and 3 (RFC 1813 §5.2; RFC 1094 appendix A).

use crate::common::{Client, Lab, Reply, args, mnt, program, stat};

const OPEN: &str = "*(rw,insecure,no_root_squash)";

/// MNT of a path: the handle, or why not.
fn mount(client: &Client<'_>, path: impl AsRef<[u8]>) -> Result<Vec<u8>, u32> {
    let mut reply = client.mount(mnt::MNT, &args().opaque(path));
    match reply.word() {
        stat::OK => {
            let handle = reply.opaque();
            reply.is([1, 1]); // one flavor: AUTH_SYS
            reply.end();
            Ok(handle)
        }
        status => {
            reply.end();
            Err(status)
        }
    }
}

fn version_1(client: &Client<'_>, proc: u32, path: Option<&str>) -> Reply {
    let arguments = path.map_or(args(), |path| args().opaque(path));
    client.call([program::MOUNT, 1, proc], &arguments)
}

#[test]
fn mnt_answers_the_handle_and_the_flavors() {
    let lab = Lab::new("/srv *(rw,insecure)\n/pub *(ro,insecure,sec=none:sys)");
    let client = lab.root();
    let mut reply = client.mount(mnt::MNT, &args().opaque("/srv"));
    reply.is([0]); // MNT3_OK
    let handle = reply.opaque();
    reply.is([1, 1]); // AUTH_SYS
    reply.end();
    assert!(handle.len() <= 56);
    assert_eq!(client.attr(&handle).fileid(), 1);
    let mut reply = client.mount(mnt::MNT, &args().opaque("/pub"));
    reply.is([0]);
    reply.opaque();
    reply.is([2, 0, 1]); // AUTH_NONE, AUTH_SYS
    reply.end();
}

#[test]
fn directories_and_files_of_an_export_can_be_mounted() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let dir = client.dir(&srv, "dir");
    let sub = client.dir(&dir, "sub");
    let file = client.file(&dir, "file");
    client.fifo(&srv, "fifo");
    for (path, expected) in [
        ("/srv/", Ok(&srv)),
        ("/srv/dir", Ok(&dir)),
        ("/srv/dir/", Ok(&dir)),
        ("/srv//dir/./sub//", Ok(&sub)),
        ("//srv/./dir", Ok(&dir)),
        ("/./srv/dir", Ok(&dir)),
        ("/srv/dir/sub/..", Ok(&dir)),
        ("/srv/dir/file", Ok(&file)),
        ("/srv/nothing", Err(stat::NOENT)),
        ("/srv/dir/file/x", Err(stat::NOTDIR)),
        ("/srv/fifo", Err(stat::NOTDIR)),
    ] {
        assert_eq!(mount(&client, path).as_ref(), expected.as_ref().copied(), "{path}");
    }
}

#[test]
fn what_is_not_exported_cannot_be_mounted() {
    let lab = Lab::new(&format!("/srv/data {OPEN}\n/home {OPEN}"));
    let client = lab.root();
    let paths = ["/", "/srv", "/srv/database", "/srv/dat", "/hom", "/etc/passwd", "srv/data", ""];
    for path in paths {
        assert_eq!(mount(&client, path).unwrap_err(), stat::NOENT, "{path}");
    }
    assert_eq!(mount(&client, [0xff, 0, b'/']).unwrap_err(), stat::NOENT);
    // Nobody leaves an export by the back door.
    let home = mount(&client, "/home");
    assert_eq!(mount(&client, "/home/.."), home);
    assert_eq!(mount(&client, "/home/../srv/data").unwrap_err(), stat::NOENT);
}

#[test]
fn paths_have_limits() {
    let lab = Lab::open();
    let client = lab.root();
    let long = |len| format!("/srv/{}", "x".repeat(len));
    assert_eq!(mount(&client, long(255)).unwrap_err(), stat::NOENT);
    assert_eq!(mount(&client, long(256)).unwrap_err(), stat::NAMETOOLONG);
    let slashes = format!("/srv{}", "/".repeat(1020));
    assert!(mount(&client, &slashes).is_ok());
    // 1025 bytes are no dirpath.
    let call = args().opaque(format!("{slashes}/"));
    let reply = client.send(&client.record(7, [program::MOUNT, 3, mnt::MNT], &call));
    assert_eq!(reply.rest(), args().words([7, 1, 0, 0, 0, 4]).bytes());
}

#[test]
fn the_export_with_the_longest_path_counts() {
    let lab = Lab::new(&format!("/srv {OPEN}\n/srv/data *(ro,insecure)"));
    let client = lab.root();
    let (outer, inner) = (mount(&client, "/srv").unwrap(), mount(&client, "/srv/data").unwrap());
    assert_ne!(client.attr(&outer).fsid(), client.attr(&inner).fsid());
    // However the path is written; /srv//data once got the directory by the rules of /srv.
    client.dir(&outer, "data");
    for path in ["/srv//data", "/srv/./data", "//srv/data/.", "/srv/data///"] {
        assert_eq!(mount(&client, path).as_ref(), Ok(&inner), "{path}");
    }
}

#[test]
fn a_single_export_is_also_the_root() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for path in ["/", "//", "/./"] {
        assert_eq!(mount(&client, path), Ok(srv.clone()), "{path}");
    }
    assert_eq!(mount(&client, "/dir").unwrap_err(), stat::NOENT);
    let real_root = Lab::new(&format!("/ {OPEN}"));
    let client = real_root.root();
    let root = mount(&client, "/").unwrap();
    let dir = client.dir(&root, "dir");
    assert_eq!(mount(&client, "/dir"), Ok(dir));
}

#[test]
fn symbolic_links_in_the_path_are_followed() {
    // Links with an absolute target led to paths that begin with two slashes, and nowhere.
    let lab = Lab::new(&format!("/srv {OPEN}\n/home {OPEN}"));
    let client = lab.root();
    let (srv, home) = (client.root_of("/srv"), client.root_of("/home"));
    let dir = client.dir(&srv, "dir");
    let sub = client.dir(&dir, "sub");
    for (name, target) in [
        ("relative", "dir"),
        ("absolute", "/srv/dir"),
        ("chain", "absolute"),
        ("up", "./dir/../dir"),
        ("home", "/home"),
        ("out", "/etc"),
        ("dangling", "nothing"),
        ("loop", "loop"),
        ("out-by-dots", "../elsewhere"),
    ] {
        client.symlink(&srv, name, target);
    }
    client.symlink(&dir, "inner", "sub");
    for (path, expected) in [
        ("/srv/relative", Ok(&dir)),
        ("/srv/absolute", Ok(&dir)),
        ("/srv/absolute/", Ok(&dir)),
        ("/srv/chain/sub", Ok(&sub)),
        ("/srv/up", Ok(&dir)),
        ("/srv/dir/inner", Ok(&sub)),
        ("/srv/relative/inner", Ok(&sub)),
        ("/srv/home", Ok(&home)),
        ("/srv/out", Err(stat::NOENT)),
        ("/srv/dangling", Err(stat::NOENT)),
        ("/srv/loop", Err(stat::INVAL)),
        ("/srv/out-by-dots", Err(stat::NOENT)),
    ] {
        assert_eq!(mount(&client, path).as_ref(), expected.as_ref().copied(), "{path}");
    }
    // The rules of the export that the link leads to decide.
    lab.export(&format!("/srv {OPEN}\n/home 203.0.113.1(rw,insecure)"));
    assert_eq!(mount(&client, "/srv/home").unwrap_err(), stat::ACCES);
}

#[test]
fn failures_of_the_disk_are_told() {
    use hayase_vfs::Error;
    let lab = Lab::open();
    let client = lab.root();
    client.dir(&client.srv(), "dir");
    for (error, expected) in [
        (Error::Io, stat::IO),
        (Error::Stale, stat::NOENT),
        (Error::NotSupported, stat::NOTSUPP),
        (Error::Access, stat::ACCES),
        (Error::Delay, stat::IO),
    ] {
        lab.disk().fail_nth(Some(hayase_mem::Op::Lookup), 1, error);
        assert_eq!(mount(&client, "/srv/dir").unwrap_err(), expected);
    }
}

/// DUMP: who has mounted what.
fn dump(client: &Client<'_>, version: u32) -> Vec<(String, String)> {
    let mut reply = client.call([program::MOUNT, version, mnt::DUMP], &args());
    let mut all = Vec::new();
    while reply.bool() {
        let [host, path] = [reply.opaque(), reply.opaque()];
        all.push((String::from_utf8(host).unwrap(), String::from_utf8(path).unwrap()));
    }
    reply.end();
    all
}

#[test]
fn dump_umnt_and_umntall_keep_the_list() {
    let lab = Lab::new(&format!("/srv {OPEN}\n/home {OPEN}"));
    let one = lab.root();
    let two = Client::new(&lab, "[2001:db8::7]:700").with_user(0, 0, &[]);
    assert!(dump(&one, 3).is_empty());
    for (client, path) in
        [(&one, "/srv"), (&one, "/home"), (&two, "/srv"), (&one, "/srv"), (&one, "/nothing")]
    {
        let _ = mount(client, path);
    }
    let entry = |host: &str, path: &str| (host.to_owned(), path.to_owned());
    let (one_srv, one_home) = (entry("192.0.2.1", "/srv"), entry("192.0.2.1", "/home"));
    let two_srv = entry("2001:db8::7", "/srv");
    for version in [1, 3] {
        assert_eq!(dump(&one, version), [one_srv.clone(), one_home.clone(), two_srv.clone()]);
    }
    one.mount(mnt::UMNT, &args().opaque("/srv")).end();
    assert_eq!(dump(&two, 3), [one_home, two_srv.clone()]);
    one.mount(mnt::UMNT, &args().opaque("/srv")).end();
    one.mount(mnt::UMNT, &args().opaque("/never mounted")).end();
    one.mount(mnt::UMNTALL, &args()).end();
    assert_eq!(dump(&two, 1), [two_srv]);
    version_1(&two, mnt::UMNT, Some("/srv")).end();
    assert!(dump(&two, 1).is_empty());
    let _ = mount(&two, "/srv");
    version_1(&two, mnt::UMNTALL, None).end();
    assert!(dump(&two, 1).is_empty());
}

#[test]
fn the_list_forgets_the_oldest_mounts() {
    let lab = Lab::open();
    for host in 0..4100_u32 {
        let client = Client::new(&lab, &format!("10.0.{}.{}:700", host / 256, host % 256));
        client.srv();
    }
    let all = dump(&lab.root(), 3);
    assert_eq!(all.len(), 4096);
    assert_eq!(all[0].0, "10.0.0.4");
}

#[test]
fn export_answers_the_same_to_both_versions() {
    let lab = Lab::new("/srv *(rw,insecure)\n/home 10.0.0.0/8(rw) *.example.com(ro)");
    let nobody = Client::new(&lab, "203.0.113.1:40000");
    for version in [1, 3] {
        let mut reply = nobody.call([program::MOUNT, version, mnt::EXPORT], &args());
        reply.is([1]);
        reply.is_opaque("/srv");
        reply.is([1]);
        reply.is_opaque("*");
        reply.is([0]);
        reply.is([1]);
        reply.is_opaque("/home");
        reply.is([1]);
        reply.is_opaque("10.0.0.0/8");
        reply.is([1]);
        reply.is_opaque("*.example.com");
        reply.is([0]);
        reply.is([0]);
        reply.end();
    }
}

#[test]
fn version_1_mounts_nothing() {
    let lab = Lab::open();
    let client = lab.root();
    // Its handles go with NFSv2, which is not served.
    let mut reply = version_1(&client, mnt::MNT, Some("/srv"));
    reply.is([95]); // EOPNOTSUPP
    reply.end();
    assert!(dump(&client, 1).is_empty());
}
