//! Whole files: what they mean, and what is said about their mistakes.

use super::*;
use crate::{Flavors, IdRanges, Io, Locations, MountPoint, Treatment};
use proptest::prelude::*;

const FILE: &str = "/etc/exports";

fn read(text: &str) -> Vec<Entry> {
    parse(text.as_bytes(), Path::new(FILE)).unwrap_or_else(|faults| {
        let shown: Vec<_> = faults.iter().map(ToString::to_string).collect();
        panic!("{}", shown.join("\n"));
    })
}

fn faults(text: &str) -> Vec<Diagnostic> {
    parse(text.as_bytes(), Path::new(FILE)).expect_err(text)
}

/// Path, client and the options that are not default, in short.
fn brief(text: &str) -> Vec<String> {
    let default = ExportOptions::default().to_string();
    let default: Vec<_> = default.split(',').collect();
    let mut all = Vec::new();
    for entry in read(text) {
        for grant in &entry.grants {
            let options = grant.options.to_string();
            let special: Vec<_> = options.split(',').filter(|o| !default.contains(o)).collect();
            all.push(format!("{} {} {}", entry.path.display(), grant.client, special.join(",")));
        }
    }
    all
}

#[test]
fn reads_the_example_of_exports_5() {
    let text = "\
# sample /etc/exports file
/               master(rw) trusty(rw,no_root_squash)
/projects       proj*.local.domain(rw)
/usr            *.local.domain(ro) @trusted(rw)
/home/joe       pc001(rw,all_squash,anonuid=150,anongid=100)
/pub            *(ro,insecure,all_squash)
/srv/www        -sync,rw server @trusted @external(ro)
/foo            2001:db8:9:e54::/64(rw) 192.0.2.0/24(rw)
/build          buildhost[0-9].local.domain(rw)
";
    assert_eq!(
        brief(text),
        [
            "/ master rw",
            "/ trusty rw,no_root_squash",
            "/projects proj*.local.domain rw",
            "/usr *.local.domain ",
            "/usr @trusted rw",
            "/home/joe pc001 rw,all_squash,anonuid=150,anongid=100",
            "/pub * insecure,all_squash",
            "/srv/www server rw",
            "/srv/www @trusted rw",
            "/srv/www @external ",
            "/foo 2001:db8:9:e54::/64 rw",
            "/foo 192.0.2.0/24 rw",
            "/build buildhost[0-9].local.domain rw",
        ]
    );
}

#[test]
fn corners_of_the_grammar() {
    let table: &[(&str, &[&str])] = &[
        ("", &[]),
        ("/srv", &["/srv * "]),
        ("/srv -rw", &["/srv * rw"]),
        ("/srv *", &["/srv * "]),
        ("/srv a()", &["/srv a "]),
        ("/srv a -rw b -insecure c(ro)", &["/srv a ", "/srv b rw", "/srv c insecure"]),
        ("/srv -rw -insecure a", &["/srv a rw,insecure"]),
        ("/srv \\\n  a(rw) \\\n  b\n/tmp c", &["/srv a rw", "/srv b ", "/tmp c "]),
        ("/srv a(rw)\n/tmp b\n/srv c", &["/srv a rw", "/srv c ", "/tmp b "]),
        ("\"/srv/my files\" a(rw)", &["/srv/my files a rw"]),
        ("/srv/my\\040files a", &["/srv/my files a "]),
        ("/srv \"a(rw, insecure)\"", &["/srv a rw,insecure"]),
        ("\"/srv(1)\"", &["/srv(1) * "]),
        ("/srv(1) a", &["/srv(1) a "]),
        ("//srv/./data// a", &["/srv/data a "]),
        ("/srv a # (rw)", &["/srv a "]),
        ("/srv 10.0.0.1 10.0.0.1/32(rw)", &["/srv 10.0.0.1 ", "/srv 10.0.0.1/32 rw"]),
        ("/srv a(fsid=1) b(fsid=0x1)", &["/srv a fsid=1", "/srv b fsid=1"]),
    ];
    for (text, expected) in table {
        assert_eq!(brief(text), *expected, "{text:?}");
    }
}

#[test]
fn every_mistake_is_placed_and_explained() {
    // The text, with the place of the mistake between « and ».
    let table = [
        ("«srv» a", "not an absolute path", "begins with `/`"),
        ("«\"\"» a", "not an absolute path", "quote"),
        ("«/srv/../etc» a", "goes up", "path that is meant"),
        ("«/srv(rw)»", "no blank between the path", "path client(options)"),
        ("/srv a «(rw)»", "every host in the world with `(rw)`", "write `a(rw)` without"),
        ("/srv a\\\n «(rw)»", "blank before `(`", "`*(rw)` if every host"),
        ("/srv «(rw)»", "have no client", "write `client(rw)`"),
        ("/srv -rw «(ro)»", "have no client", "`*(ro)`"),
        ("/srv a(ro) «(rw)»", "blank before `(`", "remove it"),
        ("/srv a«(»rw", "not closed", "add the `)`"),
        ("/srv a«(»rw b(ro)", "not closed", "add the `)`"),
        ("/srv a«(rw,» sync) b", "blank within these options", "without blanks"),
        ("/srv arw«)»", "has no `(`", "client(options)"),
        ("/srv a(rw)«b(ro)»", "text follows", "blank between"),
        ("/srv a(«no_rootsquash»)", "unknown option", "`no_root_squash`"),
        ("/srv a(rw) «A»(ro)", "already exported to `a` at /etc/exports:1", "keep one"),
        ("/srv a\n\n/srv/ «a»", "already exported to `a` at /etc/exports:1", "keep one"),
        ("/srv\n/srv «*»", "already exported to `*`", "keep one"),
        ("/srv 10.0.0.1/8 «10.0.0.2/8»", "already exported to `10.0.0.0/8`", "keep one"),
        ("/srv a «-rw»", "after the last client", "before the clients"),
        ("/srv -rw«,» sync", "end with a comma", "without blanks"),
        ("/srv «gss/krb5»(rw)", "no Kerberos", "sec="),
        ("/srv a(sec=«krb5i»)", "no Kerberos", "sec=sys"),
        ("/srv «10.0.0.0/33»(rw)", "not a netmask", "0 to 32"),
        ("/srv a «\"»b", "quote is not closed", "closing"),
        ("/srv a(fsid=1)\n/tmp «b»(fsid=1)", "fsid=1 already belongs to /srv", "own fsid"),
        ("/srv a(fsid=1) «b»(fsid=2)", "fsid=1 for another client", "same fsid"),
        ("/ü/srv «a..b»", "not a host name", "letters"),
    ];
    for (marked, message, remedy) in table {
        let text = marked.replace(['«', '»'], "");
        let start = marked.find('«').unwrap();
        let end = marked.find('»').unwrap() - '«'.len_utf8();
        let line_start = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let found = faults(&text);
        let fault = &found[0];
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_eq!(fault.line, text[..start].matches('\n').count() + 1, "{fault}");
        assert_eq!(fault.column, text[line_start..start].chars().count() + 1, "{fault}");
        assert_eq!(fault.length, text[start..end].chars().count(), "{fault}");
        assert!(fault.message.contains(message), "{text}: {fault}");
        assert!(fault.remedy.contains(remedy), "{text}: {fault}");
    }
}

#[test]
fn options_cut_up_by_blanks_are_checked_to_their_end() {
    let found = faults("/srv \\\n  a(rw,\\\n  pnfs, \\\n rx) b(ry)");
    let places: Vec<_> = found.iter().map(|f| (f.line, f.column)).collect();
    assert_eq!(places, [(2, 4), (3, 3), (4, 2), (4, 8)]);
    assert!(found[0].message.contains("a blank within these options"), "{}", found[0]);
}

#[test]
fn all_mistakes_of_a_file_are_reported_in_order() {
    let text = "srv a(rx)\n/ok b\n/x c(ro,rw) -y d (rw)\n/\"z\n/t gss/krb5(pnfs)\n";
    let places: Vec<_> = faults(text).iter().map(|f| (f.line, f.column)).collect();
    assert_eq!(places, [(1, 1), (1, 7), (3, 9), (3, 14), (3, 18), (4, 2), (5, 4), (5, 13)]);
}

#[test]
fn several_tables_are_one() {
    let main = (Path::new(FILE), b"/srv a(rw)\n".as_slice());
    let extra = (Path::new("/etc/exports.d/x.exports"), b"/srv b\n/srv a".as_slice());
    let found = parse_tables([main, extra]).unwrap_err();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].file.as_path(), found[0].line), (extra.0, 2));
    assert!(found[0].message.ends_with("at /etc/exports:1"), "{}", found[0]);

    let entries = parse_tables([main, (extra.0, b"/srv b\n".as_slice())]).unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!(&*entries[0].grants[1].file, extra.0);
}

#[test]
fn extra_tables_end_in_exports() {
    for (name, expected) in [
        ("home.exports", true),
        (".home.exports", false),
        ("home.exports~", false),
        ("home.conf", false),
    ] {
        assert_eq!(is_extra_table(OsStr::new(name)), expected, "{name}");
    }
}

fn a_client() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("*".to_string()),
        any::<std::net::IpAddr>().prop_map(|a| a.to_string()),
        (any::<std::net::Ipv4Addr>(), 0..=32u8).prop_map(|(a, bits)| format!("{a}/{bits}")),
        (any::<std::net::Ipv6Addr>(), 0..=128u8).prop_map(|(a, bits)| format!("{a}/{bits}")),
        "[a-z][a-zA-Z0-9-]{0,8}(\\.[a-z]{1,5}){0,2}",
        "@[a-z][a-z0-9_]{0,8}",
        "\\*\\.[a-z]{1,8}\\.org",
        "[a-z]{1,5}\\[\\^?[a-f]-[g-z]\\]\\?",
    ]
}

/// None, or one of the two.
fn places() -> impl Strategy<Value = (Option<Locations>, Option<Locations>)> {
    let place = "/[a-z/@.-]{0,8}@([a-z0-9.-]{1,8}|\\[2001:db8::[0-9a-f]{1,4}\\])(\\+[a-z]{1,5})?";
    let places = prop::collection::vec(place, 1..4)
        .prop_filter_map("goes up", |places| Locations::parse(&places.join(":")).ok());
    prop_oneof![
        Just((None, None)),
        places.clone().prop_map(|places| (Some(places), None)),
        places.prop_map(|places| (None, Some(places))),
    ]
}

prop_compose! {
    fn some_options()(
        (ro, sync, nohide, crossmnt) in any::<(bool, bool, bool, bool)>(),
        (secure, root_squash, all_squash) in any::<(bool, bool, bool)>(),
        (subtree_check, secure_locks, acl, security_label) in any::<(bool, bool, bool, bool)>(),
        (wdelay, nordirplus) in any::<(bool, bool)>(),
        mountpoint in prop::option::of("(/[a-z=,]{1,5}){0,2}"),
        (squash_uids, squash_gids) in (some_ids(), some_ids()),
        second in prop::option::of(any::<(bool, bool, bool, bool)>()),
        anonuid in 0..u32::MAX,
        anongid in prop_oneof![Just(65534), 0..u32::MAX],
        sec in prop::sample::select(vec!["sys", "none", "sys:none", "none:sys"]),
        (refer, replicas) in places(),
        io in prop::sample::select(vec![Io::Auto, Io::Cached, Io::Direct]),
    ) -> ExportOptions {
        let mut options = ExportOptions {
            ro, sync, wdelay, nohide, crossmnt, secure, root_squash, all_squash, subtree_check,
            secure_locks, acl, nordirplus, security_label, fsid: None, anonuid, anongid,
            mountpoint: mountpoint.and_then(|path| MountPoint::parse(&path.replace(',', "")).ok()),
            squash_uids, squash_gids, refer, replicas, io,
            ..ExportOptions::default()
        };
        let own = options.treatment();
        let other = second.map_or(own, |(ro, secure, root_squash, all_squash)| {
            Treatment { ro, secure, root_squash, all_squash }
        });
        let flavors = Flavors::parse(sec).unwrap();
        let treated: Vec<_> = flavors.into_iter().zip([own, other]).collect();
        options.sec = Flavors::treated(&treated).unwrap().0;
        options
    }
}

fn some_ids() -> impl Strategy<Value = IdRanges> {
    let range = "[1-9][0-9]{0,3}";
    prop::collection::vec(range, 0..3).prop_map(|ids| match &ids[..] {
        [] => IdRanges::default(),
        ids => IdRanges::parse(&ids.join(",")).unwrap(),
    })
}

fn an_fsid() -> impl Strategy<Value = Option<Fsid>> {
    prop::option::of(prop_oneof![
        any::<u32>().prop_map(Fsid::Number),
        // A UUID that reads as a small number is one.
        any::<[u8; 16]>().prop_filter("small", |u| u[..12] != [0; 12]).prop_map(Fsid::Uuid),
    ])
}

prop_compose! {
    fn an_entry()(
        names in prop::collection::vec(prop::collection::vec(1..=255u8, 1..6), 0..3),
        fsid in an_fsid(),
        clients in prop::collection::btree_map(a_client(), some_options(), 1..5),
    ) -> Entry {
        let mut path = PathBuf::from("/");
        for mut name in names {
            for byte in &mut name {
                *byte = if *byte == b'/' { b'x' } else { *byte };
            }
            if name != b"." && name != b".." {
                path.push(OsStr::from_bytes(&name));
            }
        }
        let mut grants: Vec<Grant> = Vec::new();
        for (client, options) in clients {
            let client: Client = client.parse().unwrap();
            if grants.iter().all(|grant| grant.client != client) {
                let options = ExportOptions { fsid, ..options };
                let (written, file) = (client.to_string(), Path::new(FILE).into());
                grants.push(Grant { client, written, options, file, line: 1, column: 0 });
            }
        }
        Entry { path, grants }
    }
}

proptest! {
    #[test]
    fn what_is_rendered_reads_back(entry in an_entry()) {
        let line = entry.to_string();
        let mut read = parse(line.as_bytes(), Path::new(FILE));
        for grant in read.iter_mut().flatten().flat_map(|entry| &mut entry.grants) {
            prop_assert_eq!(line.split_once(&grant.written).is_some(), true, "{}", line);
            grant.column = 0;
        }
        prop_assert_eq!(read, Ok(vec![entry]), "{}", line);
    }

    #[test]
    fn no_bytes_make_it_panic(text in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse(&text, Path::new(FILE)).map_err(|all| show(&all));
    }

    #[test]
    fn no_text_of_its_own_letters_makes_it_panic(
        text in r#"([/a-c*@.()#,=\\" \t\n-]|ro|rw|sec=|fsid=|\\040|10\.0\.0\.0/8|\[){0,60}"#
    ) {
        match parse(text.as_bytes(), Path::new(FILE)) {
            Err(all) => {
                show(&all);
                let lines = text.split('\n').count();
                for fault in &all {
                    prop_assert!((1..=lines).contains(&fault.line), "{}", fault);
                    let width = fault.text.chars().count();
                    prop_assert!(fault.column <= width + 1, "{}", fault);
                }
                prop_assert!(!all.is_empty());
            }
            Ok(entries) => for entry in entries {
                let again = parse(entry.to_string().as_bytes(), Path::new(FILE));
                let again = again.map_err(|all| TestCaseError::fail(format!("{all:?}")))?;
                prop_assert_eq!(again.len(), 1);
                prop_assert_eq!(&again[0].path, &entry.path);
                prop_assert_eq!(again[0].grants.len(), entry.grants.len());
            }
        }
    }
}

fn show(all: &[Diagnostic]) {
    for fault in all {
        assert!(!fault.to_string().is_empty());
    }
}
