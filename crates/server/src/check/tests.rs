use std::fs;
use std::io;
use std::net::IpAddr;

use super::*;

/// A site with one host and one netgroup.
struct Site;

impl Names for Site {
    fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        match host {
            "known" => Ok(vec!["192.0.2.1".parse().unwrap()]),
            _ => Err(io::Error::other("no such host")),
        }
    }

    fn names(&self, _: IpAddr) -> Vec<String> {
        Vec::new()
    }

    fn netgroup(&self, name: &str) -> io::Result<Vec<String>> {
        match name {
            "known" => Ok(vec!["known".to_owned()]),
            "empty" => Ok(Vec::new()),
            _ => Err(io::Error::other("no such netgroup")),
        }
    }
}

/// The report about these exports; `/dir` stands for a directory that is there.
fn report(exports: &str) -> Report {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("exports");
    fs::write(&file, exports.replace("/dir", dir.path().to_str().unwrap())).unwrap();
    let [own, nfs_conf] = ["hayase.toml", "nfs.conf"].map(|name| dir.path().join(name));
    fs::write(&own, "").unwrap();
    fs::write(&nfs_conf, "").unwrap();
    let mut written = Written { own: Some(own), nfs_conf: Some(nfs_conf), ..Written::default() };
    written.said.say("exports.files", &file.display());
    written.said.say("server.state-dir", &dir.path().display());
    check_with(&written, &Site)
}

/// Every way to get exports wrong that users have reported, each with its line and its remedy.
#[test]
fn mistakes_are_found_with_their_lines() {
    use Severity::{Error, Warning};
    let table: &[(&str, Severity, usize, &str, &str)] = &[
        // The blank that gives everybody everything.
        ("/dir 10.0.0.1 (rw)", Error, 1, "a blank before `(`", "without the blank"),
        ("/dir  (rw)", Error, 1, "no client", "`client(rw)`"),
        ("/dir(rw)", Error, 1, "no blank between", "`path client(options)`"),
        ("/dir 10.0.0.1(rw, sync)", Error, 1, "a blank within", "without blanks"),
        ("/dir -rw, sync 10.0.0.1", Error, 1, "end with a comma", "without blanks"),
        ("/dir 10.0.0.1 -rw", Error, 1, "after the last client", "before the clients"),
        // Words that are unknown, or say nothing, or contradict each other.
        ("# a\n/dir *(no_rootsquash)", Error, 2, "unknown option", "`no_root_squash`"),
        ("/dir *(ro,rw)", Error, 1, "contradicts `ro`", "keep one"),
        ("/dir *(sync,async)", Error, 1, "contradicts `sync`", "keep one"),
        ("/dir *(pnfs)", Error, 1, "no effect", "remove `pnfs`"),
        ("/dir *(sec=krb5)", Error, 1, "no Kerberos", "`sec=sys`"),
        ("/dir gss/krb5(rw)", Error, 1, "no Kerberos", "`sec=`"),
        (
            "/dir *(all_squash,no_root_squash)",
            Warning,
            1,
            "`no_root_squash` has no effect",
            "remove",
        ),
        ("/dir *(no_root_squash,anonuid=5)", Warning, 1, "nobody is mapped", "`all_squash`"),
        (
            "/dir 10.0.0.1(io=direct) *(io=cached)",
            Warning,
            1,
            "`io=cached` has no",
            "the same `io=`",
        ),
        ("/dir *(all_squash,squash_uids=5)", Warning, 1, "`squash_uids` and", "remove"),
        ("/dir *(async,no_wdelay)", Warning, 1, "`no_wdelay` has no effect", "remove"),
        // Clients that are nobody.
        ("/dir unknown(rw)", Warning, 1, "matches nobody: no such host", "a reload asks again"),
        ("/dir @unknown(rw)", Warning, 1, "no such netgroup", "a reload asks again"),
        ("/dir @empty(rw)", Warning, 1, "no hosts", "a reload asks again"),
        ("/dir 192.168.*(rw)", Error, 1, "not addresses", "write a network"),
        ("/dir 10.0.0.256(rw)", Error, 1, "not an IP address", "0 to 255"),
        ("/dir 10.0.0.0/255.0.255.0(rw)", Error, 1, "not a netmask", "the bits of the mask"),
        // The order of rules (it cannot be changed, and the narrowest does not count).
        (
            "/dir 10.0.0.0/8(ro) \\\n 10.1.0.0/16(rw)",
            Warning,
            2,
            "never matches",
            "narrower one first",
        ),
        ("/dir *.b.c(ro) *.a.b.c(rw)", Warning, 1, "never matches", "narrower one first"),
        // The same twice.
        ("/dir *(ro)\n/dir *(rw)", Error, 2, "already exported to `*`", "keep one"),
        ("/dir *(fsid=1)\n/ *(fsid=1)", Error, 2, "already belongs to", "its own fsid"),
        // Directories that are not there.
        ("/no/such *(ro)", Error, 1, "does not exist", "make it"),
        ("/etc/passwd *(ro)", Error, 1, "is not a directory", "make it"),
        ("/dir *(mp)", Warning, 1, "nothing is mounted", "mount it"),
        ("srv *(ro)", Error, 1, "not an absolute path", "begins with `/`"),
        ("\"/dir *(ro)", Error, 1, "quote is not closed", "add the closing"),
    ];
    for (exports, severity, line, message, remedy) in table {
        let report = report(exports);
        let shown = format!("{exports}: {:#?}", report.findings);
        let first = report.findings.first().unwrap_or_else(|| panic!("{shown}"));
        assert_eq!((first.severity, first.line), (*severity, *line), "{shown}");
        assert!(first.message.contains(message), "{shown}");
        assert!(first.remedy.contains(remedy), "{shown}");
        assert!(!first.text.is_empty() && first.column > 0, "{shown}");
        assert_eq!(report.is_good(), *severity != Error, "{shown}");
    }
}

#[test]
fn what_is_good_is_good() {
    let report = report(
        "# a comment\n/dir known(rw) 10.1.0.0/16(rw) 10.0.0.0/8(ro) @known(ro) *.a.b *.c *(ro)\n",
    );
    assert_eq!(report.findings, []);
    assert!(report.is_good() && report.server.is_none());
    assert_eq!(report.exports, 1);
    assert!(report.settings.iter().any(|setting| setting.from == "default"));
}

/// A server did not start with what had been found good.
#[test]
fn a_directory_that_a_file_exports_too_is_found() {
    let dir = tempfile::tempdir().unwrap();
    let [own, file] = ["hayase.toml", "exports"].map(|name| dir.path().join(name));
    fs::write(&own, "").unwrap();
    fs::write(&file, format!("{} *(ro)\n", dir.path().display())).unwrap();
    let dirs = vec![dir.path().to_owned()];
    let nfs_conf = Some(own.clone());
    let mut written = Written { dirs, own: Some(own), nfs_conf, ..Written::default() };
    written.said.say("exports.files", &file.display());
    written.said.say("server.state-dir", &dir.path().display());
    let report = check_with(&written, &Site);
    assert!(!report.is_good());
    assert!(report.findings[0].message.contains("is exported twice"), "{:#?}", report.findings);
}

#[test]
fn nothing_to_serve_is_said() {
    let report = report("# nothing\n");
    assert_eq!(report.findings[0].severity, Severity::Warning);
    assert!(report.findings[0].message.contains("nothing is exported"));
}
