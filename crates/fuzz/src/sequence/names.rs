//! LOOKUP, REMOVE, RMDIR, LINK, and MNT.

use hayase_nfs::Answered;
use hayase_proto::mount::{self, MntRes};
use hayase_proto::nfs3::{
    DirOpArgs3, LinkArgs, LinkRes, LookupArgs, LookupRes, Proc, RemoveArgs, RemoveRes, Res3,
    RmdirArgs, RmdirRes, Status,
};
use hayase_vfs::Wait;
use hayase_xdr::{Opaque, from_bytes, to_vec};

use super::Run;
use super::model::{Body, Id, ROOTS};
use super::values::{Subject, check_found_name, check_name, opened};
use crate::server::record;

impl Run<'_> {
    pub(super) fn lookup(&mut self) {
        let dir = self.some_dir();
        let name = self.some_name(&dir);
        let what = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let outcome = self.perform(Proc::Lookup, &LookupArgs { what }, &[&dir]);
        let foretold = self.find(&dir, &name);
        outcome.foretold(foretold.map(drop), &[]);
        match from_bytes::<LookupRes<'_>>(&outcome.body).expect("a result of LOOKUP") {
            Res3::Ok(ok) => {
                let found = self.model.by_handle(ok.object.0);
                assert_eq!(found, foretold.ok(), "another file");
                self.model.check_attr(found.expect("found"), &ok.obj_attributes.expect("told"));
                outcome.post_op(&ok.dir_attributes, 0);
            }
            Res3::Fail(_, attr) => outcome.post_op(&attr, 0),
        }
    }

    /// What LOOKUP should find.
    fn find(&self, dir: &Subject, name: &[u8]) -> Result<Id, Status> {
        let id = opened(dir)?;
        match name {
            b"." => self.model.dir(id),
            b".." => self.model.dir(id).map(|dir| self.model.parent(dir)),
            _ => {
                check_found_name(name)?;
                let entries = self.model.entries(self.model.dir(id)?);
                entries.get(name).copied().ok_or(Status::NoEnt)
            }
        }
    }

    pub(super) fn remove(&mut self) {
        let dir = self.some_dir();
        let name = self.some_name(&dir);
        let object = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let outcome = self.perform(Proc::Remove, &RemoveArgs { object }, &[&dir]);
        let foretold = self.victim(&dir, &name).and_then(|(_, victim)| {
            if self.model.is_dir(victim) { Err(Status::IsDir) } else { Ok(()) }
        });
        outcome.foretold(foretold, &[]);
        let Ok(Res3::Ok(wcc) | Res3::Fail(_, wcc)) = from_bytes::<RemoveRes>(&outcome.body) else {
            panic!("no result of REMOVE");
        };
        outcome.wcc(&wcc, 0);
        if outcome.status.is_none() {
            self.model.leave(opened(&dir).expect("a success has a directory"), &name);
        }
        self.agree(&dir, &outcome, 0);
    }

    pub(super) fn rmdir(&mut self) {
        let dir = self.some_dir();
        let name = self.some_name(&dir);
        let object = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let outcome = self.perform(Proc::Rmdir, &RmdirArgs { object }, &[&dir]);
        let foretold = self.victim(&dir, &name).and_then(|(_, victim)| {
            if !self.model.is_dir(victim) {
                return Err(Status::NotDir);
            }
            if self.model.entries(victim).is_empty() { Ok(()) } else { Err(Status::NotEmpty) }
        });
        outcome.foretold(foretold, &[]);
        let Ok(Res3::Ok(wcc) | Res3::Fail(_, wcc)) = from_bytes::<RmdirRes>(&outcome.body) else {
            panic!("no result of RMDIR");
        };
        outcome.wcc(&wcc, 0);
        if outcome.status.is_none() {
            self.model.leave(opened(&dir).expect("a success has a directory"), &name);
        }
        self.agree(&dir, &outcome, 0);
    }

    /// The directory, and the file that has this name in it.
    fn victim(&self, dir: &Subject, name: &[u8]) -> Result<(Id, Id), Status> {
        let id = opened(dir)?;
        check_name(name)?;
        let dir = self.model.dir(id)?;
        let victim = self.model.entries(dir).get(name).ok_or(Status::NoEnt)?;
        Ok((dir, *victim))
    }

    pub(super) fn link(&mut self) {
        let (file, dir, name) = (self.some_file(), self.some_dir(), self.name());
        let link = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let args = LinkArgs { file: Opaque(&file.handle), link };
        let outcome = self.perform(Proc::Link, &args, &[&file, &dir]);
        outcome.foretold(self.foretell_link(&file, &dir, &name), &[]);
        let Ok(Res3::Ok(body) | Res3::Fail(_, body)) = from_bytes::<LinkRes>(&outcome.body) else {
            panic!("no result of LINK");
        };
        outcome.post_op(&body.file_attributes, 0);
        outcome.wcc(&body.linkdir_wcc, 1);
        if outcome.status.is_none() {
            let [file, dir] = [&file, &dir].map(|s| opened(s).expect("a success has files"));
            self.model.enter(dir, &name, file);
        }
        self.agree(&file, &outcome, 0);
        self.agree(&dir, &outcome, 1);
    }

    fn foretell_link(&self, file: &Subject, dir: &Subject, name: &[u8]) -> Result<(), Status> {
        let (file, dir) = (opened(file)?, opened(dir)?);
        if self.model.node(file).disk != self.model.node(dir).disk {
            return Err(Status::XDev);
        }
        check_name(name)?;
        if self.model.is_gone(file) {
            return Err(Status::Stale);
        }
        let dir = self.model.dir(dir)?;
        match () {
            () if self.model.entries(dir).contains_key(name) => Err(Status::Exist),
            () if self.model.is_dir(file) => Err(Status::Inval),
            () if self.model.is_full_of_links(file) => Err(Status::MLink),
            () => Ok(()),
        }
    }

    pub(super) fn mount(&mut self) {
        let disk = self.choices.below(2);
        let mut path = [&b"/a"[..], b"/b"][disk].to_vec();
        let mut at = Some(ROOTS[disk]);
        for _ in 0..self.choices.below(4) {
            let name = self.name();
            path.push(b'/');
            path.extend_from_slice(&name);
            at = at.and_then(|dir| self.walk(dir, &name));
        }
        let args = to_vec(&Opaque::<1024>(&path[..path.len().min(1024)]));
        let target = [mount::PROGRAM, mount::VERSION_3, mount::Proc::Mnt as u32];
        let call = record(self.next_xid(), target, 0, &args);
        let (answered, reply) = self.server.call(&call, Wait::Allowed);
        assert_eq!(answered, Answered::Reply);
        let mounted = match from_bytes::<MntRes<'_>>(&reply[24..]).expect("a result of MNT") {
            MntRes::Ok(ok) => Some(self.model.by_handle(ok.fhandle.0).expect("a known file")),
            MntRes::Fail(_) => None,
        };
        if let Some(id) = mounted {
            assert!(self.exported[self.model.node(id).disk], "what is not exported is mounted");
        }
        if let (Some(at), true) = (at, self.exported[disk]) {
            assert_eq!(mounted, Some(at), "{}", path.escape_ascii());
        }
    }

    /// Where a step of a path should lead, if that is known to be somewhere.
    fn walk(&self, dir: Id, name: &[u8]) -> Option<Id> {
        let dir = self.model.dir(dir).ok()?;
        let next = match name {
            b"" | b"." => dir,
            b".." => self.model.parent(dir),
            _ => *self.model.entries(dir).get(name)?,
        };
        match self.model.node(next).body {
            Body::File(_) | Body::Dir { .. } => Some(next),
            // Links may lead anywhere, and special files cannot be mounted.
            Body::Link(_) | Body::Special => None,
        }
    }
}
