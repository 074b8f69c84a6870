//! READDIR and READDIRPLUS: page by page, every entry once.

use std::collections::BTreeMap;

use hayase_proto::nfs3::{
    EntryPlus3, PostOpAttr, Proc, ReaddirArgs, ReaddirRes, ReaddirplusArgs, ReaddirplusRes, Res3,
    Status,
};
use hayase_xdr::{Opaque, from_bytes};

use super::Run;
use super::call::Outcome;
use super::model::{Body, Id};
use super::values::{Subject, opened};

/// With this much, the longest entry fits: status, attributes, verifier, tail, and an entry with
/// a name of 255 bytes, attributes and handle.
const ENOUGH_BYTES: u32 = 4 + 88 + 8 + 8 + 4 + 8 + 260 + 8 + 88 + 72;

/// An entry as it was listed: file id, cookie, and with READDIRPLUS handle and attributes.
struct Listed {
    name: Vec<u8>,
    fileid: u64,
    cookie: u64,
    node: Option<(Vec<u8>, PostOpAttr)>,
}

impl Run<'_> {
    pub(super) fn list(&mut self, proc: Proc) {
        let dir = self.some_dir();
        let count = match self.choices.byte() {
            choice @ ..=199 => 100 + 8 * u32::from(choice),
            200..=219 => 0,
            220..=239 => ENOUGH_BYTES,
            _ => u32::MAX,
        };
        if self.choices.one_in(16) {
            let cookie = self.offset() | 1 << 40;
            let (outcome, _) = self.page(proc, &dir, cookie, ENOUGH_BYTES);
            outcome.foretold(self.directory(&dir).and(Err(Status::BadCookie)), &[]);
            return;
        }
        self.list_all(proc, &dir, count);
    }

    /// Lists a directory to its end, if it is one and `count` bytes are enough for that.
    fn list_all(&mut self, proc: Proc, dir: &Subject, count: u32) {
        let mut seen = BTreeMap::new();
        let mut cookie = 0;
        loop {
            let (outcome, page) = self.page(proc, dir, cookie, count);
            // What has no room for any entry is told before the directory is looked at.
            if count >= ENOUGH_BYTES || outcome.status != Some(Status::TooSmall) {
                outcome.foretold(self.directory(dir).map(drop), &[]);
            }
            let Some((page, eof)) = page else { return };
            assert!(eof || !page.is_empty(), "no progress");
            for entry in page {
                assert!(entry.cookie > cookie, "cookies do not grow");
                cookie = entry.cookie;
                let twice = seen.insert(entry.name.clone(), entry);
                assert!(twice.is_none(), "a name is listed twice");
            }
            if eof {
                break;
            }
        }
        let id = opened(dir).expect("what was listed is a directory");
        self.check_listing(id, &seen);
    }

    fn check_listing(&mut self, dir: Id, seen: &BTreeMap<Vec<u8>, Listed>) {
        let mut expected = self.model.entries(dir).clone();
        expected.insert(b".".to_vec(), dir);
        expected.insert(b"..".to_vec(), self.model.parent(dir));
        assert!(seen.keys().eq(expected.keys()), "other names");
        for (name, id) in expected {
            let entry = &seen[&name];
            assert_eq!(entry.fileid, self.model.node(id).fileid, "another file");
            let Some((handle, attr)) = &entry.node else { continue };
            assert_eq!(*handle, self.model.node(id).handle, "another handle");
            self.model.check_attr(id, &attr.expect("attributes come with the handle"));
        }
    }

    /// One page: its entries and whether it is the last.
    fn page(
        &mut self,
        proc: Proc,
        dir: &Subject,
        cookie: u64,
        count: u32,
    ) -> (Outcome, Option<(Vec<Listed>, bool)>) {
        let (handle, cookieverf) = (Opaque(&dir.handle[..]), [0; 8]);
        let outcome = if proc == Proc::Readdir {
            let args = ReaddirArgs { dir: handle, cookie, cookieverf, count };
            self.perform(proc, &args, &[dir])
        } else {
            let args = ReaddirplusArgs {
                dir: handle,
                cookie,
                cookieverf,
                dircount: count / 8,
                maxcount: count,
            };
            self.perform(proc, &args, &[dir])
        };
        if outcome.status.is_none() {
            assert!(outcome.body.len() as u64 - 4 <= u64::from(count), "more than was allowed");
        }
        let page = if proc == Proc::Readdir { plain(&outcome) } else { plus(&outcome) };
        (outcome, page)
    }

    fn directory(&self, subject: &Subject) -> Result<Id, Status> {
        self.model.dir(opened(subject)?)
    }

    /// Everything about a file is as the model says.
    pub(super) fn check_node(&mut self, id: Id) {
        let subject = self.subject_of(id);
        let attr = self.attr_of(&subject.handle);
        if self.model.is_gone(id) {
            assert_eq!(attr, None, "a file that is gone has attributes");
            return;
        }
        self.model.check_attr(id, &attr.expect("a file that is there has attributes"));
        match &self.model.node(id).body {
            Body::Dir { .. } => self.list_all(Proc::Readdirplus, &subject, u32::MAX),
            Body::File(content) => {
                let size = content.size;
                self.read_at(&subject, 0, u32::MAX);
                self.read_at(&subject, size.saturating_sub(5000), u32::MAX);
            }
            Body::Link(_) | Body::Special => {}
        }
    }
}

fn plain(outcome: &Outcome) -> Option<(Vec<Listed>, bool)> {
    match from_bytes::<ReaddirRes<'_>>(&outcome.body).expect("a result of READDIR") {
        Res3::Ok(ok) => {
            outcome.post_op_but_atime(&ok.head.dir_attributes, 0);
            let listed = ok.list.iter().map(|entry| Listed {
                name: entry.name.0.to_vec(),
                fileid: entry.fileid,
                cookie: entry.cookie,
                node: None,
            });
            Some((listed.collect(), ok.list.eof()))
        }
        Res3::Fail(_, attr) => {
            outcome.post_op(&attr, 0);
            None
        }
    }
}

fn plus(outcome: &Outcome) -> Option<(Vec<Listed>, bool)> {
    match from_bytes::<ReaddirplusRes<'_>>(&outcome.body).expect("a result of READDIRPLUS") {
        Res3::Ok(ok) => {
            outcome.post_op_but_atime(&ok.head.dir_attributes, 0);
            let listed = ok.list.iter().map(|entry: EntryPlus3<'_>| Listed {
                name: entry.name.0.to_vec(),
                fileid: entry.fileid,
                cookie: entry.cookie,
                node: entry.name_handle.map(|fh| (fh.0.to_vec(), entry.name_attributes)),
            });
            Some((listed.collect(), ok.list.eof()))
        }
        Res3::Fail(_, attr) => {
            outcome.post_op(&attr, 0);
            None
        }
    }
}
