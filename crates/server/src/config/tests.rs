use std::fs;

use super::*;

/// Files with these texts: nfs.conf, a file beside it, and hayase.toml.
fn load(conf: &str, part: &str, own: &str, said: &[(&str, &str)]) -> Loaded {
    let dir = tempfile::tempdir().unwrap();
    let [nfs_conf, parts, toml] =
        ["nfs.conf", "nfs.conf.d", "hayase.toml"].map(|n| dir.path().join(n));
    fs::create_dir(&parts).unwrap();
    fs::write(&nfs_conf, conf).unwrap();
    fs::write(parts.join("local.conf"), part).unwrap();
    fs::write(&toml, own).unwrap();
    let mut written = Written { nfs_conf: Some(nfs_conf), own: Some(toml), ..Written::default() };
    for (name, value) in said {
        written.said.say(name, value);
    }
    written.load()
}

fn value(loaded: &Loaded, name: &str) -> (String, String) {
    let found = loaded.effective.iter().find(|effective| effective.name == name).unwrap();
    let from = found.from.rsplit('/').next().unwrap();
    (found.value.clone(), from.to_owned())
}

#[test]
fn the_command_line_comes_before_our_file_and_that_before_nfs_conf() {
    let loaded = load(
        "[nfsd]\nport=1001\nthreads=11\nlease-time=21\ngrace-time=31\nhost=192.0.2.1,192.0.2.2\n",
        "[nfsd]\ngrace-time=32\n",
        "[server]\nport = 1002\nthreads = 12\n",
        &[("server.port", "1003")],
    );
    let pair = |value: &str, from: &str| (value.to_owned(), from.to_owned());
    assert_eq!(value(&loaded, "server.port"), pair("1003", "command line"));
    assert_eq!(value(&loaded, "server.threads"), pair("12", "hayase.toml:3"));
    assert_eq!(value(&loaded, "nfs4.lease-time"), pair("21", "nfs.conf:4"));
    assert_eq!(value(&loaded, "nfs4.grace-time"), pair("32", "local.conf:2"));
    assert_eq!(value(&loaded, "nfs4.idmap"), pair("numeric", "default"));
    // What does not count is told, with its place.
    let notes: Vec<_> = loaded.findings.iter().map(|f| (f.severity, f.line, f.column)).collect();
    let note = |line| (Severity::Note, line, 1);
    assert_eq!(notes, [note(5), note(2), note(2), note(3)], "{:#?}", loaded.findings);
    assert!(loaded.findings[1].message.contains("command line comes first"));
    let options = loaded.into_options().unwrap();
    assert_eq!((options.port, options.threads, options.lease_secs), (1003, Some(12), 21));
    assert_eq!((options.grace_secs, options.listen.len()), (Some(32), 2));
}

#[test]
fn files_that_a_file_names_are_not_exported_beside_directories_and_that_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let own = dir.path().join("hayase.toml");
    fs::write(&own, "[exports]\nfiles = [\"/no/such\"]\n").unwrap();
    let loaded = Written { dirs: vec!["/srv".into()], own: Some(own), ..Written::default() }.load();
    let notes: Vec<_> = loaded.findings.iter().map(|f| (f.severity, f.line)).collect();
    assert_eq!(notes, [(Severity::Note, 2)], "{:#?}", loaded.findings);
    assert!(loaded.findings[0].message.contains("directories of the command line come first"));
    assert!(loaded.options.exports.is_empty());
}

#[test]
fn versions_are_switched_off() {
    let loaded = load("[nfsd]\nvers3=n\nvers4.0=no\n", "", "[nfs]\nv4-1 = false\n", &[]);
    let versions = loaded.into_options().unwrap().versions;
    assert_eq!((versions.v3, versions.v4), (false, [false, false, true]));
    let loaded = load("[nfsd]\nvers4=n\nvers4.2=y\n", "", "", &[]);
    assert_eq!(loaded.into_options().unwrap().versions.v4, [false; 3]);
    let none = load("[nfsd]\nvers4=n\nvers3=n\n", "", "", &[]).into_options().unwrap_err();
    assert!(none.to_string().contains("no version of NFS is left"), "{none}");
}

#[test]
fn mistakes_name_their_place_and_the_remedy() {
    // In what file, line, column, message, remedy.
    let table = [
        ("[nfsd]\n  tread=8\n", "", (2, 3), "unknown key `tread` in [nfsd]", "`threads`"),
        ("[nfds]\nport=1\n", "", (2, 1), "unknown section [nfds]", "`nfsd`"),
        ("[nfsd]\nudp=y\n", "", (2, 1), "not served over UDP", "remove `udp`"),
        ("[nfsd]\ntcp=n\n", "", (2, 1), "served over TCP", "remove `tcp`"),
        ("[nfsd]\nrdma=perhaps\n", "", (2, 1), "neither yes nor no", "yes or no"),
        ("[nfsd]\nscope=a\n", "", (2, 1), "has no effect", "remove `scope`"),
        ("[exports]\nrootdir=/export\n", "", (2, 1), "under the paths", "remove `rootdir`"),
        ("[statd]\nname=alias\n", "", (2, 1), "under this host's own name", "remove `name`"),
        ("[statd]\nno-notify=y\n", "", (2, 1), "are told of a restart", "remove `no-notify`"),
        ("[mountd]\nha-callout=/x\n", "", (2, 1), "no program is called", "remove"),
        ("[nfsd]\nport=nfs\n", "", (2, 1), "not a number from 0 to 65535", "2049"),
        ("[nfsd]\nport=1\nport=2\n", "", (3, 1), "given twice", "keep one"),
        ("port=1\n", "", (1, 1), "before the first [section]", "key = value"),
        ("[nfsd]\nport 1\n", "", (2, 1), "neither a [section]", "key = value"),
        ("", "[server]\nprot = 1\n", (2, 1), "unknown key `prot`", "`port`"),
        ("", "[sever]\nport = 1\n", (1, 2), "unknown section [sever]", "`server`"),
        ("", "port = 1\n", (1, 1), "before the first", "below its section"),
        ("", "[server]\nport = 70000\n", (2, 1), "not a number", "2049"),
        ("", "[server]\nport = 1.5\n", (2, 1), "no value of this kind", "port = 2049"),
        ("", "[server]\nlog = [\"info\", \"debug\"]\n", (2, 1), "no value of this kind", "log = "),
        ("", "[exports]\nfiles = []\n", (2, 1), "no value of this kind", "files = ["),
        ("", "[server]\nport = 1\nport = 2\n", (3, 1), "duplicate key", "TOML"),
        ("", "[server]\nlog = info\n", (2, 7), "", "TOML"),
        ("", "[nfs4]\ndelegations = \"some\"\n", (2, 1), "none of never", "guarded"),
        ("", "[server]\nlisten = [\"host\"]\n", (2, 1), "not an IP address", "192.0.2.7"),
    ];
    for (conf, own, place, message, remedy) in table {
        let loaded = load(conf, "", own, &[]);
        let errors: Vec<_> =
            loaded.findings.iter().filter(|f| f.severity == Severity::Error).collect();
        let shown = format!("{conf}{own}: {errors:#?}");
        assert!(!errors.is_empty(), "{shown}");
        assert_eq!((errors[0].line, errors[0].column), place, "{shown}");
        assert!(errors[0].message.contains(message), "{shown}");
        assert!(errors[0].remedy.contains(remedy), "{shown}");
        assert!(errors[0].to_string().contains(&errors[0].text), "{shown}");
        assert!(loaded.into_options().is_err());
    }
}

#[test]
fn what_does_no_harm_is_a_note_and_what_is_foreign_is_none() {
    let conf = "[mountd]\nport=20048\n[lockd]\nudp-port=4000\n[nfsd]\nudp=n\ntcp=y\nrdma=n\n\
                [gssd]\nverbosity=3\n[environment]\nx=y\n\
                [general]\npipefs-directory=/run/rpc_pipefs\n";
    let loaded = load(conf, "", "", &[]);
    assert_eq!(loaded.findings.len(), 2, "{:#?}", loaded.findings);
    assert!(loaded.findings.iter().all(|finding| finding.severity == Severity::Note));
    assert!(loaded.findings[0].message.contains("answered on the port of NFS"));
    loaded.into_options().unwrap();
}

#[test]
fn the_example_reads_and_so_does_each_of_its_settings() {
    let text = example();
    let mut findings = Vec::new();
    assert_eq!(own::parse(&text, Path::new("example"), &mut findings), Layer::default());
    let set: String = text
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(setting) if setting.contains(" = ") => format!("{setting}\n"),
            _ => format!("{line}\n"),
        })
        .collect();
    let layer = own::parse(&set, Path::new("example"), &mut findings);
    assert!(findings.is_empty(), "{findings:#?}");
    for setting in SETTINGS {
        let given = layer.of(setting.name).unwrap_or_else(|| panic!("{} is missing", setting.name));
        (setting.apply)(&mut Options::default(), &given.text).unwrap();
        assert!(setting.help.ends_with('.'), "{}", setting.name);
    }
}

#[test]
fn a_file_that_was_named_has_to_be_there() {
    let gone = Some(PathBuf::from("/no/such/file"));
    for written in [
        Written { nfs_conf: gone.clone(), ..Written::default() },
        Written { own: gone.clone(), ..Written::default() },
    ] {
        let error = written.load().into_options().unwrap_err().to_string();
        assert!(error.contains("/no/such/file"), "{error}");
    }
}
