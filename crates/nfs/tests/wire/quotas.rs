//! RQUOTA, word by word.

use hayase_mem::MemFs;
use hayase_nfs::Setup;
use hayase_vfs::{Quota, QuotaOf};

use crate::common::{Client, Lab, args, program};

const GETQUOTA: u32 = 1;
const GETACTIVEQUOTA: u32 = 2;
const SETQUOTA: u32 = 3;

const OK: u32 = 1;
const NOQUOTA: u32 = 2;
const PERM: u32 = 3;

fn lab() -> Lab {
    let lab =
        Lab::set_up("/srv *(rw,insecure)\n/other 192.0.2.9(rw)", MemFs::new, Setup::default());
    let quota = Quota {
        used_bytes: 5000,
        soft_bytes: Some(10 << 10),
        hard_bytes: Some(20 << 10),
        used_files: 3,
        hard_files: Some(7),
        ..Quota::default()
    };
    lab.disk().set_quota(QuotaOf::User(1000), quota);
    lab.disk().set_quota(QuotaOf::Group(50), Quota { used_files: 9, ..quota });
    lab
}

/// What is told of a quota: a status, and ten words if there is one.
fn ask(client: &Client<'_>, vers: u32, proc: u32, path: &str, words: &[u32]) -> Vec<u32> {
    let args = args().opaque(path).words(words.iter().copied());
    let mut reply = client.call([program::RQUOTA, vers, proc], &args);
    let mut told = vec![reply.word()];
    if told[0] == OK {
        told.extend((0..10).map(|_| reply.word()));
    }
    reply.end();
    told
}

#[test]
fn users_and_groups_are_told_what_they_may_store() {
    let lab = lab();
    let user = lab.user(1000, 50);
    let mine = [OK, 1024, 1, 20, 10, 5, 7, 0, 3, 0, 0];
    for proc in [GETQUOTA, GETACTIVEQUOTA] {
        assert_eq!(ask(&user, 1, proc, "/srv", &[1000]), mine);
        assert_eq!(ask(&user, 2, proc, "/srv", &[0, 1000]), mine);
        let groups = [OK, 1024, 1, 20, 10, 5, 7, 0, 9, 0, 0];
        assert_eq!(ask(&user, 2, proc, "/srv", &[1, 50]), groups);
    }
    assert_eq!(ask(&user, 1, GETQUOTA, "/srv", &[1001]), [PERM], "somebody else's");
    assert_eq!(ask(&user, 2, GETQUOTA, "/srv", &[1, 51]), [PERM]);
    assert_eq!(ask(&user, 2, GETQUOTA, "/srv", &[2, 50]), [NOQUOTA], "of nobody");
    assert_eq!(ask(&lab.root(), 1, GETQUOTA, "/srv", &[1000]), mine);
    assert_eq!(ask(&lab.root(), 1, GETQUOTA, "/srv", &[1001]), [NOQUOTA]);
    let nobody = Client::new(&lab, "192.0.2.1:700");
    assert_eq!(ask(&nobody, 1, GETQUOTA, "/srv", &[1000]), [PERM]);
}

#[test]
fn nothing_is_told_of_what_the_client_cannot_mount() {
    let lab = lab();
    for path in ["/other", "/none", "srv", ""] {
        assert_eq!(ask(&lab.root(), 1, GETQUOTA, path, &[1000]), [PERM], "{path}");
    }
}

#[test]
fn limits_are_set_on_the_server() {
    let lab = lab();
    let set = args().word(0).opaque("/srv").word(1000).words([9; 8]);
    lab.root().call([program::RQUOTA, 1, SETQUOTA], &set).is([PERM]);
    let set = args().word(0).opaque("/srv").words([1000, 0]).words([9; 8]);
    lab.root().call([program::RQUOTA, 2, SETQUOTA], &set).is([PERM]);
    assert_eq!(ask(&lab.root(), 1, GETQUOTA, "/srv", &[1000])[3], 20);
}
