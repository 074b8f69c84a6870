//! One call of each procedure, cut off at every byte: a refusal or a closed connection,
//! never a panic, never an effect.

use hayase_nfs::Answered;
use hayase_vfs::Wait;

use crate::common::{Args, KEEP, Lab, Reply, args, ftype, mnt, mode, proc, program};

/// Arguments for each procedure that would change or find something.
pub(crate) fn calls(srv: &[u8]) -> Vec<([u32; 3], Args)> {
    let entry = || args().entry(srv, "name");
    let object = || args().opaque(srv);
    let nfs: [(u32, Args); 22] = [
        (proc::NULL, args()),
        (proc::GETATTR, object()),
        (proc::SETATTR, object().words([1, 0o700, 1, 1, 1, 1, 0, 2, 5, 6, 1]).words([1, 5, 6])),
        (proc::LOOKUP, entry()),
        (proc::ACCESS, object().word(0x3f)),
        (proc::READLINK, object()),
        (proc::READ, object().long(0).word(10)),
        (proc::WRITE, object().long(0).words([5, 2]).opaque("hello")),
        (proc::CREATE, entry().word(2).long(0x0102_0304_0506_0708)),
        (proc::MKDIR, entry().words(mode(0o755))),
        (proc::SYMLINK, entry().words(KEEP).opaque("target")),
        (proc::MKNOD, entry().word(ftype::CHR).words(KEEP).words([1, 3])),
        (proc::REMOVE, entry()),
        (proc::RMDIR, entry()),
        (proc::RENAME, entry().entry(srv, "other")),
        (proc::LINK, object().entry(srv, "other")),
        (proc::READDIR, object().words([0, 0, 0, 0, 1000])),
        (proc::READDIRPLUS, object().words([0, 0, 0, 0, 1000, 1000])),
        (proc::FSSTAT, object()),
        (proc::FSINFO, object()),
        (proc::PATHCONF, object()),
        (proc::COMMIT, object().long(0).word(0)),
    ];
    let mount = [
        (mnt::NULL, args()),
        (mnt::MNT, args().opaque("/srv")),
        (mnt::DUMP, args()),
        (mnt::UMNT, args().opaque("/srv")),
        (mnt::UMNTALL, args()),
        (mnt::EXPORT, args()),
    ];
    let nfs = nfs.map(|(proc, args)| ([program::NFS, 3, proc], args));
    let mount = mount.map(|(proc, args)| ([program::MOUNT, 3, proc], args));
    nfs.into_iter().chain(mount).collect()
}

#[test]
fn a_call_that_ends_early_does_nothing() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let before = client.attr(&srv);
    for (target, arguments) in calls(&srv) {
        let record = client.record(7, target, &arguments);
        let header = record.len() - arguments.bytes().len();
        for len in 0..record.len() {
            let (answered, reply) = client.offer(&record[..len], Wait::Allowed);
            if len < 24 {
                assert_eq!((answered, &reply[..]), (Answered::Garbage, &[][..]));
                continue;
            }
            assert_eq!(answered, Answered::Reply, "{target:?} cut at {len}");
            let mut reply = Reply::new(reply);
            if len < header {
                reply.is([7, 1, 1, 1]); // the credential or the verifier cannot be read
                let auth_stat = reply.word();
                assert!(auth_stat == 1 || auth_stat == 3);
            } else {
                reply.is([7, 1, 0, 0, 0, 4]); // GARBAGE_ARGS
            }
            reply.end();
        }
    }
    assert_eq!(client.attr(&srv), before);
}

#[test]
fn a_call_with_any_word_changed_is_survived() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for (target, arguments) in calls(&srv) {
        let record = client.record(7, target, &arguments);
        for at in (0..record.len()).step_by(4) {
            for word in [0_u32, 1, 2, 8, 64, 65, 0x7fff_ffff, 0x8000_0000, u32::MAX - 3, u32::MAX] {
                let mut record = record.clone();
                record[at..at + 4].copy_from_slice(&word.to_be_bytes());
                let (answered, reply) = client.offer(&record, Wait::Allowed);
                match answered {
                    Answered::Reply => assert_eq!(reply[..4], record[..4], "the xid"),
                    Answered::Garbage => assert!(at == 4, "{target:?} word {at}"),
                    other => panic!("{target:?} word {at} set to {word:#x}: {other:?}"),
                }
            }
        }
    }
}
