//! `MemFs` keeps the contract of `Vfs`, whether it would block or not.

use hayase_mem::{Blocking, MemFs};
use hayase_vfs::testing::{Act, Capability, Fixture, run};

struct Mem(Blocking);

impl Fixture for Mem {
    fn play(&self, acts: &mut [Act<'_>]) {
        let fs = MemFs::new();
        fs.set_blocking(self.0);
        for act in acts {
            act(&fs);
            fs.check();
            fs.restart();
        }
    }

    fn can(&self, _: Capability) -> bool {
        true
    }
}

hayase_vfs::conformance!(Mem(Blocking::Nothing));

#[test]
fn where_every_call_would_block() {
    run(&Mem(Blocking::Every(1)));
}

#[test]
fn where_some_calls_would_block() {
    run(&Mem(Blocking::Every(3)));
}
