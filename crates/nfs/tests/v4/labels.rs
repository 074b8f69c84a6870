//! Security labels (RFC 7862 §9.6): passed through where the export says so.

use crate::common::{Args, Lab, args};
use crate::ops::{op, ops, stat};
use crate::session_client::Session;

/// `sec_label`, and `supported_attrs` with `suppattr_exclcreat`.
const LABEL: [u32; 3] = [0, 0, 1 << (80 - 64)];
const SUPPORTED: [u32; 3] = [1, 0, 1 << (75 - 64)];

fn lab(options: &str) -> Lab {
    let lab = Lab::new(&format!("/srv *(rw,insecure,no_root_squash,{options})"));
    let root = lab.root();
    root.file(&root.srv(), "file");
    lab
}

/// SETATTR of a label in this format.
fn set(format: u32, label: &[u8]) -> Args {
    let value = args().words([format, 0]).opaque(label);
    args().words([0; 4]).word(3).words(LABEL).opaque(value.bytes())
}

/// What SETATTR answers, and what of it was set.
fn status(session: &Session<'_>, set: &Args) -> (u32, bool) {
    let mut results = session.run(&ops().at("/srv/file").op(op::SETATTR, set)).at("/srv/file");
    let status = results.status;
    let reply = results.is(op::SETATTR, status);
    let words: Vec<_> = (0..reply.word()).map(|_| reply.word()).collect();
    (status, words.get(2).is_some_and(|word| word & LABEL[2] != 0))
}

/// The label of the file, if one is told.
fn label(session: &Session<'_>) -> Option<Vec<u8>> {
    label_of(session, "/srv/file")
}

fn label_of(session: &Session<'_>, path: &str) -> Option<Vec<u8>> {
    let mut results = session.run(&ops().at(path).getattr(&LABEL)).at(path);
    let reply = results.ok(op::GETATTR);
    let told = (0..reply.word()).map(|_| reply.word()).last() == Some(LABEL[2]);
    let mut values = crate::common::Reply::new(reply.opaque());
    let label = told.then(|| {
        values.is([0, 0]);
        values.opaque()
    });
    values.end();
    label
}

/// Whether labels are among the supported attributes, and among those of exclusive creation.
fn supported(session: &Session<'_>) -> [bool; 2] {
    let mut results = session.run(&ops().at("/srv/file").getattr(&SUPPORTED)).at("/srv/file");
    let reply = results.ok(op::GETATTR);
    reply.is([3, SUPPORTED[0], SUPPORTED[1], SUPPORTED[2]]);
    let mut values = crate::common::Reply::new(reply.opaque());
    [(), ()].map(|()| {
        let words: Vec<_> = (0..values.word()).map(|_| values.word()).collect();
        words.get(2).is_some_and(|word| word & LABEL[2] != 0)
    })
}

#[test]
fn a_label_is_kept_and_told() {
    let lab = lab("security_label");
    let session = Session::new(&lab, "client", 2);
    assert_eq!(supported(&session), [true, true]);
    assert_eq!(label(&session), None);
    for text in [&b"system_u:object_r:etc_t:s0\0"[..], b"x"] {
        assert_eq!(status(&session, &set(0, text)), (stat::OK, true));
        assert_eq!(label(&session).as_deref(), Some(text));
    }
    assert_eq!(status(&session, &set(1, b"other")), (stat::WRONG_LFS, false));
    for wrong in [&b""[..], &[b'x'; 5000]] {
        assert_eq!(status(&session, &set(0, wrong)), (stat::BADLABEL, false));
    }
    assert_eq!(label(&session).as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_file_is_made_with_a_label() {
    let lab = lab("security_label");
    let session = Session::new(&lab, "client", 2);
    let value = args().words([0, 0]).opaque(b"label");
    let head = args().words([0, 3, 0, 0, 0]).opaque("owner").words([1, 1]);
    let open = head.word(3).words(LABEL).opaque(value.bytes()).word(0).opaque("new");
    assert_eq!(session.status(&ops().at("/srv").op(op::OPEN, &open)), stat::OK);
    assert_eq!(label_of(&session, "/srv/new").as_deref(), Some(&b"label"[..]));
}

#[test]
fn an_export_without_has_none() {
    for (options, minor) in [("sync", 2), ("security_label", 1)] {
        let lab = lab(options);
        let session = Session::new(&lab, "client", minor);
        assert_eq!(supported(&session), [false, false]);
        assert_eq!(label(&session), None);
        assert_eq!(status(&session, &set(0, b"label")), (stat::ATTRNOTSUPP, false));
    }
}
