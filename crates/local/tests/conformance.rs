//! The contract of `Vfs`, on the file systems and in the modes that there are here.
#![allow(missing_docs, clippy::unwrap_used)]

mod common;

use std::path::{Path, PathBuf};

use common::*;
use hayase_local::{HandlesBy, LocalFs, Options};
use hayase_vfs::Cred;
use hayase_vfs::testing::{Act, Capability, Fixture};

/// Directories on one file system.
struct Directories {
    parent: PathBuf,
    options: Options,
}

impl Directories {
    fn on(parent: impl AsRef<Path>) -> Self {
        Directories { parent: parent.as_ref().to_path_buf(), options: Options::default() }
    }
}

impl Fixture for Directories {
    fn play(&self, acts: &mut [Act<'_>]) {
        let dir = shared_dir_in(&self.parent);
        let state = tempfile::tempdir().unwrap();
        let mut options = self.options.clone();
        if options.handles == HandlesBy::Index {
            options.state_dir = Some(state.path().to_path_buf());
        }
        for act in acts {
            act(&LocalFs::open(dir.path(), options.clone()).unwrap());
        }
    }

    fn can(&self, what: Capability) -> bool {
        match what {
            Capability::ChangeIdentity | Capability::MakeDevices => is_root(),
            Capability::Restart => true,
            // Kernels before 6.13 stamp changes with the last tick.
            Capability::FineChanges => false,
        }
    }

    fn user(&self) -> Cred {
        let uid = rustix::process::geteuid().as_raw();
        cred(uid, rustix::process::getegid().as_raw(), &[])
    }
}

mod by_kernel {
    use super::*;
    hayase_vfs::conformance!(Directories::on(std::env::temp_dir()));
}

mod by_index {
    use super::*;

    fn directories() -> Directories {
        let options = Options { handles: HandlesBy::Index, ..Options::default() };
        Directories { options, ..Directories::on(std::env::temp_dir()) }
    }

    hayase_vfs::conformance!(directories());
}

mod in_memory {
    use super::*;
    hayase_vfs::conformance!(Directories::on("/dev/shm"));
}
