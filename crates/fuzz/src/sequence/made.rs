//! CREATE, MKDIR, SYMLINK, MKNOD.

use std::collections::BTreeMap;

use hayase_proto::nfs3::{
    CreateArgs, CreateHow3, CreateRes, DeviceData3, DirOpArgs3, MkdirArgs, MknodArgs, MknodData3,
    Proc, Res3, Sattr3, SpecData3, Status, SymlinkArgs, SymlinkData3,
};
use hayase_xdr::{Opaque, from_bytes};

use super::call::Outcome;
use super::content::Content;
use super::model::{Body, Id};
use super::values::{Subject, check_name, check_times, opened};
use super::{LIMITS, Run};

impl Run<'_> {
    pub(super) fn create(&mut self) {
        let (dir, name) = (self.some_dir(), self.name());
        let how = match self.choices.below(3) {
            0 => CreateHow3::Unchecked(self.sattr()),
            1 => CreateHow3::Guarded(self.sattr()),
            _ => CreateHow3::Exclusive([self.choices.below(3) as u8; 8]),
        };
        let place = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let outcome = self.perform(Proc::Create, &CreateArgs { place, how }, &[&dir]);
        let foretold = self.foretell_create(&dir, &name, &how);
        // What exists needs no room.
        let full: &[_] = if foretold == Ok(None) { &[Status::NoSpc] } else { &[] };
        outcome.foretold(foretold.map(drop), full);
        let (size, exclusive) = match how {
            CreateHow3::Unchecked(set) | CreateHow3::Guarded(set) => (set.size, None),
            CreateHow3::Exclusive(verifier) => (None, Some(verifier)),
        };
        if let (None, Ok(Some(found)), Some(size)) = (outcome.status, foretold, size) {
            self.model.content(found).resize(size);
        }
        let mut content = Content::default();
        if let Some(size) = size {
            content.resize(size);
        }
        if let Some(made) = self.made(&dir, &name, &outcome, Body::File(content)) {
            self.model.node_mut(made).exclusive = exclusive;
        }
    }

    /// The file that is taken instead of a new one, if any.
    fn foretell_create(
        &self,
        dir: &Subject,
        name: &[u8],
        how: &CreateHow3,
    ) -> Result<Option<Id>, Status> {
        let dir = opened(dir)?;
        let set = match how {
            CreateHow3::Unchecked(set) | CreateHow3::Guarded(set) => *set,
            CreateHow3::Exclusive(_) => Sattr3::default(),
        };
        check_times(&set)?;
        check_name(name)?;
        let dir = self.model.dir(dir)?;
        let too_big = set.size.is_some_and(|size| size > LIMITS.file_bytes);
        let Some(&found) = self.model.entries(dir).get(name) else {
            return if too_big { Err(Status::FBig) } else { Ok(None) };
        };
        let node = self.model.node(found);
        match how {
            CreateHow3::Unchecked(_) if matches!(node.body, Body::File(_)) => {
                if too_big {
                    Err(Status::FBig)
                } else {
                    Ok(Some(found))
                }
            }
            CreateHow3::Exclusive(verifier) if node.exclusive == Some(*verifier) => Ok(Some(found)),
            _ => Err(Status::Exist),
        }
    }

    pub(super) fn mkdir(&mut self) {
        let (dir, name) = (self.some_dir(), self.name());
        let attributes = self.sattr();
        let place = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let outcome = self.perform(Proc::Mkdir, &MkdirArgs { place, attributes }, &[&dir]);
        let foretold = self.foretell_made(&dir, &name, &attributes).and_then(|dir| {
            if self.model.is_full_of_links(dir) { Err(Status::MLink) } else { Ok(()) }
        });
        // Whether room or links run out first is the file system's choice.
        let full_of_files = outcome.status == Some(Status::NoSpc);
        let foretold =
            if full_of_files && foretold == Err(Status::MLink) { Ok(()) } else { foretold };
        outcome.foretold(foretold, &[Status::NoSpc]);
        let parent = opened(&dir).unwrap_or_default();
        self.made(&dir, &name, &outcome, Body::Dir { entries: BTreeMap::new(), parent });
    }

    pub(super) fn symlink(&mut self) {
        let (dir, name) = (self.some_dir(), self.name());
        let attributes = self.sattr();
        let text = self.choices.pick(&[&b"a"[..], b"../b", b"/a/b", b"/b", b"", b"x\0", b"."]);
        let place = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let data = SymlinkData3 { symlink_attributes: attributes, symlink_data: Opaque(text) };
        let outcome = self.perform(Proc::Symlink, &SymlinkArgs { place, symlink: data }, &[&dir]);
        let foretold = self.foretell_made(&dir, &name, &attributes).and_then(|_| match text {
            b"" => Err(Status::NoEnt),
            _ if text.contains(&0) => Err(Status::Inval),
            _ => Ok(()),
        });
        outcome.foretold(foretold, &[Status::NoSpc]);
        self.made(&dir, &name, &outcome, Body::Link(text.to_vec()));
    }

    pub(super) fn mknod(&mut self) {
        let (dir, name) = (self.some_dir(), self.name());
        let set = self.sattr();
        let device = DeviceData3 { dev_attributes: set, spec: SpecData3 { major: 1, minor: 3 } };
        let what = match self.choices.below(7) {
            0 => MknodData3::Fifo(set),
            1 => MknodData3::Sock(set),
            2 => MknodData3::Chr(device),
            3 => MknodData3::Blk(device),
            4 => MknodData3::Reg,
            5 => MknodData3::Dir,
            _ => MknodData3::Lnk,
        };
        let place = DirOpArgs3 { dir: Opaque(&dir.handle), name: Opaque(&name) };
        let outcome = self.perform(Proc::Mknod, &MknodArgs { place, what }, &[&dir]);
        let by_others = matches!(what, MknodData3::Reg | MknodData3::Dir | MknodData3::Lnk);
        let foretold = match opened(&dir) {
            Ok(_) if by_others => Err(Status::BadType),
            _ => self.foretell_made(&dir, &name, &set).map(drop),
        };
        outcome.foretold(foretold, &[Status::NoSpc]);
        self.made(&dir, &name, &outcome, Body::Special);
    }

    /// The directory in which something other than a regular file can be made.
    fn foretell_made(&self, dir: &Subject, name: &[u8], set: &Sattr3) -> Result<Id, Status> {
        let dir = opened(dir)?;
        check_times(set)?;
        check_name(name)?;
        let dir = self.model.dir(dir)?;
        if self.model.entries(dir).contains_key(name) { Err(Status::Exist) } else { Ok(dir) }
    }

    /// Takes what a call has made, if it has, into the model, and checks the reply.
    fn made(&mut self, dir: &Subject, name: &[u8], outcome: &Outcome, body: Body) -> Option<Id> {
        let res = from_bytes::<CreateRes<'_>>(&outcome.body).expect("a result of CREATE");
        let mut made = None;
        match res {
            Res3::Ok(ok) => {
                let handle = ok.obj.expect("a handle is told").0;
                let attr = ok.obj_attributes.expect("attributes are told");
                let parent = opened(dir).expect("a success has a directory");
                if let Some(found) = self.model.entries(parent).get(name) {
                    assert_eq!(self.model.by_handle(handle), Some(*found), "another file");
                } else {
                    self.model.make(parent, name, handle, &attr, body);
                    made = self.model.by_handle(handle);
                }
                assert_eq!(self.attr_of(handle), Some(attr), "attributes of the new file");
                let id = self.model.by_handle(handle).expect("it is in the model");
                self.model.check_attr(id, &attr);
                outcome.wcc(&ok.dir_wcc, 0);
            }
            Res3::Fail(_, wcc) => outcome.wcc(&wcc, 0),
        }
        self.agree(dir, outcome, 0);
        made
    }
}
