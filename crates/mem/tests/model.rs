//! Random operations have the same results on a `MemFs` that would block as on one that would not.

use hayase_mem::{Blocking, MemFs};
use hayase_vfs::Cred;
use hayase_vfs::testing::{Plan, compare};

#[test]
fn blocking_makes_no_difference() {
    for seed in 0..16 {
        let (a, b) = (MemFs::new(), MemFs::new());
        b.set_blocking(Blocking::Every(1 + seed as u32 % 3));
        compare(&a, &b, seed, 1500);
        b.check();
    }
}

#[test]
fn for_one_user_too() {
    for seed in 0..10 {
        let user = Cred { uid: 1000, gid: 1000, groups: [].as_slice().into() };
        let (a, b) = (MemFs::new(), MemFs::new());
        for fs in [&a, &b] {
            fs.set_root(1000, 1000, 0o755);
        }
        b.set_blocking(Blocking::Every(2));
        Plan::seeded(seed, 1500).for_one_user(user).run(&a, &b);
    }
}

#[test]
fn a_fuzzers_bytes_lead_as_well() {
    let bytes: Vec<u8> =
        (0..20_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    Plan::from_bytes(&bytes).run(&MemFs::new(), &MemFs::new());
    Plan::from_bytes(&[]).run(&MemFs::new(), &MemFs::new());
}
