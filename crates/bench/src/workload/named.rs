//! CREATE and REMOVE of numbered names.

use hayase_proto::nfs3::{
    CreateArgs, CreateHow3, CreateRes, DirOpArgs3, Proc, RemoveArgs, RemoveRes, Res3, Sattr3,
};
use hayase_xdr::{Decode, Encode, Opaque, Reader, from_bytes};

use super::{Done, Failure, Workload};
use crate::client::Handle;
use crate::names::Name;

/// Numbers one after the other, spread over directories.
#[derive(Debug)]
struct Row {
    directories: Vec<Handle>,
    next: u32,
    end: u32,
}

impl Row {
    fn next(&mut self) -> Option<(&[u8], Name)> {
        if self.next == self.end {
            return None;
        }
        let directory = &self.directories[self.next as usize % self.directories.len()];
        let name = Name::numbered(self.next);
        self.next += 1;
        Some((directory, name))
    }
}

/// CREATE (UNCHECKED, as of programs that do not say `O_EXCL`) of new files.
#[derive(Debug)]
pub struct Creates {
    row: Row,
}

impl Creates {
    /// Creates `count` files, or as many as there is time for.
    pub fn new(directories: Vec<Handle>, count: Option<u32>) -> Self {
        assert!(!directories.is_empty(), "there is nowhere to create");
        Creates { row: Row { directories, next: 0, end: count.unwrap_or(u32::MAX) } }
    }

    /// Removes what was created so far.
    pub fn undo(self) -> Removes {
        Removes { row: Row { next: 0, end: self.row.next, ..self.row } }
    }
}

impl Workload for Creates {
    fn proc(&self) -> Proc {
        Proc::Create
    }

    fn next(&mut self, _: usize, to: &mut Vec<u8>) -> bool {
        let Some((dir, name)) = self.row.next() else { return false };
        let place = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        let how = CreateHow3::Unchecked(Sattr3 { mode: Some(0o644), ..Sattr3::default() });
        CreateArgs { place, how }.encode(to);
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], _: usize) -> Result<Done, Failure> {
        match CreateRes::decode(&mut Reader::new(result))? {
            Res3::Ok(_) => Ok(Done::default()),
            Res3::Fail(status, _) => Err(Failure::Status(status)),
        }
    }
}

/// REMOVE of the files that [`Creates`] made.
#[derive(Debug)]
pub struct Removes {
    row: Row,
}

impl Workload for Removes {
    fn proc(&self) -> Proc {
        Proc::Remove
    }

    fn next(&mut self, _: usize, to: &mut Vec<u8>) -> bool {
        let Some((dir, name)) = self.row.next() else { return false };
        let object = DirOpArgs3 { dir: Opaque(dir), name: Opaque(name.as_bytes()) };
        RemoveArgs { object }.encode(to);
        true
    }

    fn finish(&mut self, _: usize, result: &[u8], _: usize) -> Result<Done, Failure> {
        match from_bytes::<RemoveRes>(result)? {
            Res3::Ok(_) => Ok(Done::default()),
            Res3::Fail(status, _) => Err(Failure::Status(status)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_created_is_removed_again() {
        let directories: Vec<Handle> = vec![b"d0".to_vec().into(), b"d1".to_vec().into()];
        let mut creates = Creates::new(directories, Some(3));
        let mut created = Vec::new();
        let mut args = Vec::new();
        while creates.next(0, &mut args) {
            let CreateArgs { place, .. } = from_bytes(&args).unwrap();
            created.push((place.dir.0.to_vec(), place.name.0.to_vec()));
            args.clear();
        }
        assert_eq!(created[2], (b"d0".to_vec(), b"f2".to_vec()));
        let mut removes = creates.undo();
        for (dir, name) in created {
            assert!(removes.next(0, &mut args));
            let RemoveArgs { object } = from_bytes(&args).unwrap();
            assert_eq!((object.dir.0, object.name.0), (&dir[..], &name[..]));
            args.clear();
        }
        assert!(!removes.next(0, &mut args));
    }
}
