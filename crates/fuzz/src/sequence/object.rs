//! NULL, GETATTR, SETATTR, ACCESS, READLINK, FSSTAT, FSINFO, PATHCONF.

use hayase_proto::nfs3::{
    AccessArgs, AccessRes, FsInfoArgs, FsInfoRes, FsStatArgs, FsStatRes, GetAttrArgs, GetAttrRes,
    NfsTime3, PathConfArgs, PathConfRes, Proc, ReadlinkArgs, ReadlinkRes, Res3, Sattr3,
    SetAttrArgs, SetAttrRes, SetTime, Status,
};
use hayase_xdr::{Opaque, from_bytes};

use super::call::Outcome;
use super::model::{Body, Id};
use super::values::{Subject, check_times, opened};
use super::{LIMITS, Run};

impl Run<'_> {
    pub(super) fn null(&mut self) {
        let outcome = self.perform(Proc::Null, &(), &[]);
        assert!(outcome.body.is_empty());
    }

    pub(super) fn getattr(&mut self) {
        let object = self.subject();
        let args = GetAttrArgs { object: Opaque(&object.handle) };
        let outcome = self.perform(Proc::GetAttr, &args, &[&object]);
        outcome.foretold(self.alive(&object).map(drop), &[]);
        if let Ok(Res3::Ok(attr)) = from_bytes::<GetAttrRes>(&outcome.body) {
            outcome.post_op(&Some(attr), 0);
        }
        self.agree(&object, &outcome, 0);
    }

    pub(super) fn setattr(&mut self) {
        let object = self.subject();
        let new_attributes = self.sattr();
        let guard = match self.choices.below(4) {
            0 | 1 => None,
            2 => self.attr_of(&object.handle).map(|attr| attr.ctime),
            _ => Some(self.time()),
        };
        let args = SetAttrArgs { object: Opaque(&object.handle), new_attributes, guard };
        let outcome = self.perform(Proc::SetAttr, &args, &[&object]);
        outcome.foretold(self.foretell_setattr(&object, &new_attributes, guard, &outcome), &[]);
        let Ok(Res3::Ok(wcc) | Res3::Fail(_, wcc)) = from_bytes::<SetAttrRes>(&outcome.body) else {
            panic!("no result of SETATTR");
        };
        outcome.wcc(&wcc, 0);
        if outcome.status.is_none() {
            let id = opened(&object).expect("a success has a file");
            if let Some(size) = new_attributes.size {
                self.model.content(id).resize(size);
            }
            let attr = outcome.after[0].expect("a success has attributes");
            let set = &new_attributes;
            assert!(set.uid.is_none_or(|uid| attr.uid == uid), "uid");
            assert!(set.gid.is_none_or(|gid| attr.gid == gid), "gid");
            if outcome.plain && set.uid.is_none() && set.gid.is_none() {
                assert!(set.mode.is_none_or(|mode| attr.mode == mode & 0o7777), "mode");
            }
            for (set, is) in [(set.atime, attr.atime), (set.mtime, attr.mtime)] {
                assert!(!matches!(set, SetTime::ClientTime(time) if time != is), "time");
            }
        }
        self.agree(&object, &outcome, 0);
    }

    fn foretell_setattr(
        &self,
        object: &Subject,
        set: &Sattr3,
        guard: Option<NfsTime3>,
        outcome: &Outcome,
    ) -> Result<(), Status> {
        opened(object)?;
        if guard.is_some_and(|guard| guard.nseconds >= 1_000_000_000) {
            return Err(Status::Inval);
        }
        check_times(set)?;
        let id = self.alive(object)?;
        let ctime = outcome.before[0].map(|attr| attr.ctime);
        if guard.is_some() && guard != ctime {
            return Err(Status::NotSync);
        }
        if let Some(size) = set.size {
            if !matches!(self.model.node(id).body, Body::File(_)) {
                return Err(Status::Inval);
            }
            if size > LIMITS.file_bytes {
                return Err(Status::FBig);
            }
        }
        if set.mode.is_some() && matches!(self.model.node(id).body, Body::Link(_)) {
            return Err(Status::NotSupp);
        }
        Ok(())
    }

    pub(super) fn access(&mut self) {
        let object = self.subject();
        let access = self.choices.pick(&[0x3f, 0, 1, 2, 4, 8, 0x10, 0x20, u32::MAX]);
        let args = AccessArgs { object: Opaque(&object.handle), access };
        let outcome = self.perform(Proc::Access, &args, &[&object]);
        outcome.foretold(self.alive(&object).map(drop), &[]);
        match from_bytes::<AccessRes>(&outcome.body).expect("a result of ACCESS") {
            Res3::Ok(ok) => {
                outcome.post_op(&ok.obj_attributes, 0);
                assert_eq!(ok.access & !(access & 0x3f), 0, "what was not asked for is granted");
            }
            Res3::Fail(_, attr) => outcome.post_op(&attr, 0),
        }
    }

    pub(super) fn readlink(&mut self) {
        let link = self.subject();
        let args = ReadlinkArgs { symlink: Opaque(&link.handle) };
        let outcome = self.perform(Proc::Readlink, &args, &[&link]);
        let foretold = self.alive(&link).and_then(|id| match &self.model.node(id).body {
            Body::Link(text) => Ok(text.clone()),
            _ => Err(Status::Inval),
        });
        outcome.foretold(foretold.as_ref().map(drop).map_err(|status| *status), &[]);
        match from_bytes::<ReadlinkRes<'_>>(&outcome.body).expect("a result of READLINK") {
            Res3::Ok(ok) => {
                outcome.post_op(&ok.symlink_attributes, 0);
                assert_eq!(foretold.as_deref(), Ok(ok.data.0), "another text");
            }
            Res3::Fail(_, attr) => outcome.post_op(&attr, 0),
        }
    }

    pub(super) fn about_file_system(&mut self) {
        let object = self.subject();
        let handle = Opaque(&object.handle[..]);
        let (attr, outcome) = match self.choices.below(3) {
            0 => {
                let args = FsStatArgs { fsroot: handle };
                let outcome = self.perform(Proc::FsStat, &args, &[&object]);
                match from_bytes::<FsStatRes>(&outcome.body).expect("a result of FSSTAT") {
                    Res3::Ok(ok) => {
                        assert_eq!((ok.tbytes, ok.tfiles), (LIMITS.bytes, LIMITS.inodes));
                        let disk = self.model.node(opened(&object).expect("a success")).disk;
                        assert_eq!(ok.ffiles, LIMITS.inodes - self.model.count(disk), "files");
                        assert!(ok.abytes <= ok.fbytes && ok.fbytes <= ok.tbytes);
                        (ok.obj_attributes, outcome)
                    }
                    Res3::Fail(_, attr) => (attr, outcome),
                }
            }
            1 => {
                let args = FsInfoArgs { fsroot: handle };
                let outcome = self.perform(Proc::FsInfo, &args, &[&object]);
                match from_bytes::<FsInfoRes>(&outcome.body).expect("a result of FSINFO") {
                    Res3::Ok(ok) => (ok.obj_attributes, outcome),
                    Res3::Fail(_, attr) => (attr, outcome),
                }
            }
            _ => {
                let args = PathConfArgs { object: handle };
                let outcome = self.perform(Proc::PathConf, &args, &[&object]);
                match from_bytes::<PathConfRes>(&outcome.body).expect("a result of PATHCONF") {
                    Res3::Ok(ok) => (ok.obj_attributes, outcome),
                    Res3::Fail(_, attr) => (attr, outcome),
                }
            }
        };
        outcome.foretold(self.alive(&object).map(drop), &[]);
        outcome.post_op(&attr, 0);
    }

    /// The file of a handle, if there is one.
    pub(super) fn alive(&self, subject: &Subject) -> Result<Id, Status> {
        let id = opened(subject)?;
        if self.model.is_gone(id) { Err(Status::Stale) } else { Ok(id) }
    }

    /// The attributes after a call are those that the model knows.
    pub(super) fn agree(&self, subject: &Subject, outcome: &Outcome, at: usize) {
        match (self.alive(subject), &outcome.after[at]) {
            (Ok(id), Some(attr)) => self.model.check_attr(id, attr),
            (Err(_), None) => {}
            (alive, attr) => panic!("{alive:?} has the attributes {attr:?}"),
        }
    }
}
