//! Choices of handles, names and attributes.

use hayase_proto::nfs3::{NfsTime3, Sattr3, SetTime, Status};

use super::Run;
use super::model::{Body, Id};

/// What a handle means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Means {
    /// Nothing here: every call with it ends so, and tells of no file.
    Nothing(Status),
    /// This file, which may be gone.
    File(Id),
}

/// A handle for a call.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) handle: Vec<u8>,
    pub(super) means: Means,
}

impl Run<'_> {
    /// Mostly a directory that is there.
    pub(super) fn some_dir(&mut self) -> Subject {
        self.some(|run, id| run.model.is_dir(id))
    }

    /// Mostly a regular file that is there.
    pub(super) fn some_file(&mut self) -> Subject {
        self.some(|run, id| matches!(run.model.node(id).body, Body::File(_)))
    }

    fn some(&mut self, fits: impl Fn(&Self, Id) -> bool) -> Subject {
        let fitting: Vec<_> =
            self.model.ids().filter(|id| !self.model.is_gone(*id) && fits(self, *id)).collect();
        match self.choices.byte() {
            choice @ ..=223 if !fitting.is_empty() => {
                self.subject_of(fitting[usize::from(choice) % fitting.len()])
            }
            _ => self.subject(),
        }
    }

    /// Mostly a name that is in the directory.
    pub(super) fn some_name(&mut self, dir: &Subject) -> Vec<u8> {
        let names: Vec<_> = match dir.means {
            Means::File(id) if self.model.is_dir(id) => {
                self.model.entries(id).keys().cloned().collect()
            }
            _ => Vec::new(),
        };
        match self.choices.byte() {
            choice @ ..=191 if !names.is_empty() => {
                names[usize::from(choice) % names.len()].clone()
            }
            _ => self.name(),
        }
    }

    /// One of the handles so far, or something like one.
    pub(super) fn subject(&mut self) -> Subject {
        let choice = self.choices.byte();
        let known = self.model.ids().len();
        let id = usize::from(choice) % known;
        let handle = self.model.node(id).handle.clone();
        let forged = |handle: &[u8], status| Subject {
            handle: handle.to_vec(),
            means: Means::Nothing(status),
        };
        match choice {
            253 => forged(&handle[..5], Status::BadHandle),
            254 => forged(b"", Status::BadHandle),
            255 => forged(&handle[..handle.len() - 1], Status::Stale),
            _ => self.subject_of(id),
        }
    }

    pub(super) fn subject_of(&self, id: Id) -> Subject {
        let node = self.model.node(id);
        let exported = self.exported[node.disk];
        let means = if exported { Means::File(id) } else { Means::Nothing(Status::Stale) };
        Subject { handle: node.handle.clone(), means }
    }

    /// A name: mostly one of a few, so that they meet.
    pub(super) fn name(&mut self) -> Vec<u8> {
        match self.choices.byte() {
            choice @ ..=199 => vec![b'a' + choice % 5],
            200..=209 => vec![b'n'; 255],
            210..=214 => vec![b'n'; 256],
            215..=219 => b"..".to_vec(),
            220..=224 => b".".to_vec(),
            225..=229 => b"".to_vec(),
            230..=234 => b"a/b".to_vec(),
            235..=239 => b"a\0".to_vec(),
            _ => vec![0xff, 0xc3],
        }
    }

    pub(super) fn offset(&mut self) -> u64 {
        const LAST: u64 = i64::MAX as u64;
        match self.choices.byte() {
            choice @ ..=127 => u64::from(choice) * 97,
            choice => self.at(
                choice,
                &[
                    0,
                    1,
                    4095,
                    4096,
                    65_536,
                    1 << 32,
                    LAST - 3,
                    LAST - 1,
                    LAST,
                    LAST + 1,
                    u64::MAX - 1,
                    u64::MAX,
                ],
            ),
        }
    }

    #[allow(clippy::unused_self)] // reads like the other choices
    fn at(&self, choice: u8, from: &[u64]) -> u64 {
        from[usize::from(choice) % from.len()]
    }

    pub(super) fn sattr(&mut self) -> Sattr3 {
        let which = self.choices.byte();
        let mut sattr = Sattr3::default();
        if which & 1 != 0 {
            let mode = self.choices.pick(&[0, 0o600, 0o644, 0o755, 0o777, 0o1777, 0o6755, 0o7777]);
            sattr.mode = Some(mode | u32::from(which >> 7) << 15);
        }
        if which & 2 != 0 {
            sattr.uid = Some(self.choices.pick(&[0, 5, 6, u32::MAX]));
        }
        if which & 4 != 0 {
            sattr.gid = Some(self.choices.pick(&[0, 5, 6, u32::MAX]));
        }
        if which & 8 != 0 {
            sattr.size = Some(self.offset());
        }
        if which & 16 != 0 {
            sattr.atime = self.set_time();
        }
        if which & 32 != 0 {
            sattr.mtime = self.set_time();
        }
        sattr
    }

    fn set_time(&mut self) -> SetTime {
        match self.choices.below(4) {
            0 => SetTime::ServerTime,
            _ => SetTime::ClientTime(self.time()),
        }
    }

    pub(super) fn time(&mut self) -> NfsTime3 {
        let seconds = self.choices.pick(&[0, 1, 1_000_000_000, u32::MAX]);
        let nseconds = self.choices.pick(&[0, 1, 999_999_999, 1_000_000_000, 5, u32::MAX]);
        NfsTime3 { seconds, nseconds }
    }
}

/// Whether the times can be ones.
pub(super) fn check_times(sattr: &Sattr3) -> Result<(), Status> {
    for time in [sattr.atime, sattr.mtime] {
        if matches!(time, SetTime::ClientTime(time) if time.nseconds >= 1_000_000_000) {
            return Err(Status::Inval);
        }
    }
    Ok(())
}

/// Whether a name can be given to or taken from a file.
pub(super) fn check_name(name: &[u8]) -> Result<(), Status> {
    match name {
        b"." => Err(Status::Inval),
        b".." => Err(Status::Exist),
        _ => check_found_name(name),
    }
}

/// Whether a name can be looked up.
pub(super) fn check_found_name(name: &[u8]) -> Result<(), Status> {
    match name {
        b"" => Err(Status::Acces),
        _ if name.len() > 255 => Err(Status::NameTooLong),
        _ if name.contains(&b'/') || name.contains(&0) => Err(Status::Acces),
        _ => Ok(()),
    }
}

/// The file that a handle opens, if it opens any.
pub(super) fn opened(subject: &Subject) -> Result<Id, Status> {
    match subject.means {
        Means::Nothing(status) => Err(status),
        Means::File(id) => Ok(id),
    }
}
