//! RENAME.

use hayase_proto::nfs3::{DirOpArgs3, Proc, RenameArgs, RenameRes, Res3, Status};
use hayase_xdr::{Opaque, from_bytes};

use super::Run;
use super::model::Id;
use super::values::{Subject, check_name, opened};

impl Run<'_> {
    pub(super) fn rename(&mut self) {
        let from = self.some_dir();
        let old = self.some_name(&from);
        let to = self.some_dir();
        let new = self.some_name(&to);
        let args = RenameArgs {
            from: DirOpArgs3 { dir: Opaque(&from.handle), name: Opaque(&old) },
            to: DirOpArgs3 { dir: Opaque(&to.handle), name: Opaque(&new) },
        };
        let outcome = self.perform(Proc::Rename, &args, &[&from, &to]);
        let foretold = self.foretell_rename((&from, &old), (&to, &new));
        outcome.foretold(foretold.map(drop), &[]);
        let Ok(Res3::Ok(body) | Res3::Fail(_, body)) = from_bytes::<RenameRes>(&outcome.body)
        else {
            panic!("no result of RENAME");
        };
        outcome.wcc(&body.fromdir_wcc, 0);
        outcome.wcc(&body.todir_wcc, 1);
        if outcome.status.is_none() {
            let moves = foretold.expect("a success that was foretold");
            if moves {
                let [from, to] = [&from, &to].map(|s| opened(s).expect("a success"));
                if self.model.entries(to).contains_key(&new) {
                    self.model.leave(to, &new);
                }
                let moved = self.model.leave(from, &old);
                self.model.enter(to, &new, moved);
            }
        }
        self.agree(&from, &outcome, 0);
        self.agree(&to, &outcome, 1);
    }

    /// Whether anything moves, or why it must not.
    fn foretell_rename(
        &self,
        (from, old): (&Subject, &[u8]),
        (to, new): (&Subject, &[u8]),
    ) -> Result<bool, Status> {
        let (from, to) = (opened(from)?, opened(to)?);
        if self.model.node(from).disk != self.model.node(to).disk {
            return Err(Status::XDev);
        }
        for name in [old, new] {
            if name == b".." {
                return Err(Status::Inval);
            }
            check_name(name)?;
        }
        let (from, to) = (self.model.dir(from)?, self.model.dir(to)?);
        let source = *self.model.entries(from).get(old).ok_or(Status::NoEnt)?;
        let target = self.model.entries(to).get(new).copied();
        if target == Some(source) {
            return Ok(false);
        }
        self.may_move(from, source, to, target)?;
        Ok(true)
    }

    fn may_move(&self, from: Id, source: Id, to: Id, target: Option<Id>) -> Result<(), Status> {
        let model = &self.model;
        let moves_dir = model.is_dir(source);
        if moves_dir && model.is_below(to, source) {
            return Err(Status::Inval);
        }
        let Some(target) = target else {
            let full = moves_dir && from != to && model.is_full_of_links(to);
            return if full { Err(Status::MLink) } else { Ok(()) };
        };
        if model.is_dir(target) && model.is_below(from, target) {
            return Err(Status::NotEmpty);
        }
        match (moves_dir, model.is_dir(target)) {
            (true, false) => Err(Status::NotDir),
            (false, true) => Err(Status::IsDir),
            (true, true) if !model.entries(target).is_empty() => Err(Status::NotEmpty),
            _ => Ok(()),
        }
    }
}
