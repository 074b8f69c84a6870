//! The RPC layer: headers, credentials, refusals (RFC 5531 §8, §9).

use hayase_mem::MemFs;
use hayase_nfs::{Answered, Carrier, Setup, Versions};
use hayase_vfs::Wait;

use crate::common::{Client, Lab, args, mnt, proc, program, stat};

const NFS_NULL: [u32; 3] = [program::NFS, 3, proc::NULL];

/// The reply that accepts a call with this `accept_stat`.
fn accepted(xid: u32, stat: u32) -> Vec<u32> {
    vec![xid, 1, 0, 0, 0, stat]
}

/// The reply that denies a call for this `auth_stat`.
fn auth_error(xid: u32, stat: u32) -> Vec<u32> {
    vec![xid, 1, 1, 1, stat]
}

/// What the server answers to a record of these words.
fn answer(client: &Client<'_>, record: &[u32]) -> Vec<u32> {
    words(client.send(args().words(record.iter().copied()).bytes()).rest())
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks(4).map(|word| u32::from_be_bytes(word.try_into().unwrap())).collect()
}

#[test]
fn null_answers_anyone() {
    let lab = Lab::open();
    let client = Client::new(&lab, "203.0.113.9:40000");
    let header = |prog, vers| [7, 0, 2, prog, vers, 0, 0, 0, 0, 0];
    for (prog, vers) in [(program::NFS, 3), (program::MOUNT, 3), (program::MOUNT, 1)] {
        assert_eq!(answer(&client, &header(prog, vers)), accepted(7, 0), "{prog} {vers}");
    }
}

#[test]
fn what_is_no_call_is_not_answered() {
    let lab = Lab::open();
    let client = lab.root();
    let call = client.record(7, NFS_NULL, &args());
    for len in 0..24 {
        assert_eq!(client.offer(&call[..len], Wait::Allowed), (Answered::Garbage, vec![]));
    }
    let reply = args().words([7, 1, 0, 0, 0, 0]);
    assert_eq!(client.offer(reply.bytes(), Wait::Allowed), (Answered::Garbage, vec![]));
    let neither = args().words([7, 2, 2, program::NFS, 3, 0, 0, 0, 0, 0]);
    assert_eq!(client.offer(neither.bytes(), Wait::Allowed), (Answered::Garbage, vec![]));
}

#[test]
fn other_rpc_versions_are_denied_with_ours() {
    let lab = Lab::open();
    for version in [0, 1, 3, u32::MAX] {
        let call = [7, 0, version, program::NFS, 3, 0, 0, 0, 0, 0];
        assert_eq!(answer(&lab.root(), &call), [7, 1, 1, 0, 2, 2]);
    }
}

#[test]
fn other_programs_versions_and_procedures_are_refused() {
    let lab = Lab::open();
    let client = lab.root();
    let call = |prog, vers, proc| answer(&client, &[7, 0, 2, prog, vers, proc, 0, 0, 0, 0]);
    let mismatch = |low, high| [accepted(7, 2), vec![low, high]].concat();
    assert_eq!(call(100_026, 1, 0), accepted(7, 1)); // bootparam
    assert_eq!(call(0, 0, 0), accepted(7, 1));
    for vers in [0, 2, 5, u32::MAX] {
        assert_eq!(call(program::NFS, vers, 0), mismatch(3, 4));
    }
    for vers in [0, 2, 4, u32::MAX] {
        assert_eq!(call(program::MOUNT, vers, 0), mismatch(1, 3));
    }
    for vers in [1, 3, 5] {
        assert_eq!(call(program::NLM, vers, 0), mismatch(4, 4), "versions of NFSv2");
    }
    for proc in [17, 19, 24] {
        assert_eq!(call(program::NLM, 4, proc), accepted(7, 3));
    }
    assert_eq!(call(program::NSM, 2, 0), mismatch(1, 1));
    for proc in [22, 23, u32::MAX] {
        assert_eq!(call(program::NFS, 3, proc), accepted(7, 3));
    }
    for vers in [1, 3] {
        assert_eq!(call(program::MOUNT, vers, 6), accepted(7, 3));
    }
}

#[test]
fn datagrams_reach_what_goes_with_nfs_only() {
    let lab = Lab::open();
    let client = lab.root().with_carrier(Carrier::Udp);
    assert_eq!(answer(&client, &[7, 0, 2, program::NFS, 3, 0, 0, 0, 0, 0]), accepted(7, 1));
    for (prog, vers) in
        [(program::MOUNT, 3), (program::NLM, 4), (program::NSM, 1), (program::RQUOTA, 2)]
    {
        assert_eq!(answer(&client, &[7, 0, 2, prog, vers, 0, 0, 0, 0, 0]), accepted(7, 0));
    }
    let mut reply = client.mount(mnt::MNT, &args().opaque("/srv"));
    reply.is([stat::OK]);
}

#[test]
fn unknown_flavors_are_rejected() {
    let lab = Lab::open();
    // AUTH_SHORT, AUTH_DH, RPCSEC_GSS, and one that nobody has assigned.
    for flavor in [2, 3, 6, 77] {
        let call = [7, 0, 2, program::NFS, 3, 0, flavor, 4, 0xabcd, 0, 0];
        assert_eq!(answer(&lab.root(), &call), auth_error(7, 2)); // AUTH_REJECTEDCRED
    }
}

#[test]
fn an_auth_sys_credential_holds_at_most_sixteen_groups() {
    let lab = Lab::open();
    let client = |groups: u32| {
        Client::new(&lab, "192.0.2.1:700").with_user(1, 1, &(0..groups).collect::<Vec<_>>())
    };
    assert_eq!(words(client(16).send(&client(16).record(7, NFS_NULL, &args())).rest())[5], 0);
    let refused = client(17).send(&client(17).record(7, NFS_NULL, &args()));
    assert_eq!(words(refused.rest()), auth_error(7, 1)); // AUTH_BADCRED
}

#[test]
fn broken_credentials_and_verifiers_are_named() {
    let lab = Lab::open();
    let client = lab.root();
    let call = |auth: &[u32]| answer(&client, &[&[7, 0, 2, program::NFS, 3, 0], auth].concat());
    // AUTH_SYS: stamp, an empty machine name, uid, gid, no groups.
    assert_eq!(call(&[1, 20, 0, 0, 5, 5, 0, 0, 0]), accepted(7, 0));
    // The body ends too early, goes on too long, or announces what is not there.
    assert_eq!(call(&[1, 16, 0, 0, 5, 5, 0, 0]), auth_error(7, 1));
    assert_eq!(call(&[1, 24, 0, 0, 5, 5, 0, 0, 0, 0]), auth_error(7, 1));
    assert_eq!(call(&[1, 20, 0, 256, 5, 5, 0, 0, 0]), auth_error(7, 1));
    assert_eq!(call(&[1, 20, 0, 0, 5, 5, u32::MAX, 0, 0]), auth_error(7, 1));
    assert_eq!(call(&[1, 0, 0, 0]), auth_error(7, 1));
    // A credential longer than 400 bytes, and one longer than the record.
    assert_eq!(call(&[&[0, 404][..], &[0; 101], &[0, 0]].concat()), auth_error(7, 1));
    assert_eq!(call(&[0, 8, 0]), auth_error(7, 1));
    // The verifier: cut off, too long, not the one that AUTH_SYS wants.
    assert_eq!(call(&[0, 0, 0]), auth_error(7, 3)); // AUTH_BADVERF
    assert_eq!(call(&[&[0, 0, 0, 404][..], &[0; 101]].concat()), auth_error(7, 3));
    assert_eq!(call(&[1, 20, 0, 0, 5, 5, 0, 1, 0]), auth_error(7, 3));
    assert_eq!(call(&[1, 20, 0, 0, 5, 5, 0, 6, 4, 1]), auth_error(7, 3));
}

#[test]
fn no_identity_is_too_weak_where_one_is_wanted() {
    let lab = Lab::new("/srv *(rw,insecure)\n/open *(rw,insecure,sec=none,anonuid=77,anongid=78)");
    let nobody = Client::new(&lab, "192.0.2.1:700");
    let srv = nobody.srv();
    let call = nobody.record(7, [program::NFS, 3, proc::GETATTR], &args().opaque(srv));
    assert_eq!(words(nobody.send(&call).rest()), auth_error(7, 5)); // AUTH_TOOWEAK

    // Where none is wanted everyone is anonymous, whoever they say they are.
    let open = nobody.root_of("/open");
    lab.disks[1].set_root(77, 78, 0o700);
    for client in [&nobody, &lab.root(), &lab.user(5, 5)] {
        let made = client.file(&open, &format!("f{}", lab.next_xid()));
        assert_eq!(client.attr(&made).owner(), (77, 78));
    }
}

#[test]
fn trailing_bytes_are_garbage() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    for (target, arguments) in [
        (NFS_NULL, args()),
        ([program::NFS, 3, proc::GETATTR], args().opaque(&srv)),
        ([program::NFS, 3, proc::REMOVE], args().entry(&srv, "a")),
        ([program::MOUNT, 3, mnt::NULL], args()),
        ([program::MOUNT, 3, mnt::DUMP], args()),
        ([program::MOUNT, 3, mnt::MNT], args().opaque("/srv")),
        ([program::MOUNT, 1, mnt::MNT], args().opaque("/srv")),
        ([program::MOUNT, 3, mnt::UMNTALL], args()),
        ([program::MOUNT, 3, mnt::EXPORT], args()),
    ] {
        let reply = client.send(&client.record(7, target, &arguments.word(0)));
        assert_eq!(words(reply.rest()), accepted(7, 4), "{target:?}");
    }
}

#[test]
fn values_that_no_type_has_are_garbage() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let entry = args().entry(&srv, "a");
    for (proc, arguments) in [
        (proc::GETATTR, args().opaque([0; 65])), // a handle has at most 64 bytes
        (proc::GETATTR, args().word(u32::MAX)),
        (proc::SETATTR, args().opaque(&srv).words([2, 0, 0, 0, 0, 0, 0])), // a boolean
        (proc::SETATTR, args().opaque(&srv).words([0, 0, 0, 0, 3, 0, 0])), // time_how
        (proc::WRITE, args().opaque(&srv).long(0).words([0, 3, 0])),       // stable_how
        (proc::CREATE, entry.clone().words([3, 0, 0])),                    // createmode3
        (proc::MKNOD, entry.clone().word(0)),                              // ftype3
        (proc::MKNOD, entry.clone().word(8)),
        (proc::LOOKUP, args().opaque(&srv).word(0xffff_fffd).raw(b"name")), // a length
    ] {
        let reply = client.send(&client.record(7, [program::NFS, 3, proc], &arguments));
        assert_eq!(words(reply.rest()), accepted(7, 4), "{proc} {:x?}", arguments.bytes());
    }
    assert!(client.names(&srv).is_empty());
}

#[test]
fn padding_is_not_looked_at() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    client.file(&srv, "abcde");
    let call = args().opaque(&srv).word(5).raw(b"abcdexyz");
    assert_eq!(client.status(proc::LOOKUP, &call), stat::OK);
}

#[test]
fn versions_that_are_switched_off_are_refused_with_those_that_are_left() {
    let call = |versions, prog, vers| {
        let setup = Setup { versions, ..Setup::default() };
        let lab = Lab::set_up("/srv *(rw,insecure)", MemFs::new, setup);
        answer(&lab.root(), &[7, 0, 2, prog, vers, 0, 0, 0, 0, 0])
    };
    let mismatch = |low, high| [accepted(7, 2), vec![low, high]].concat();
    let only_4 = Versions { v3: false, ..Versions::ALL };
    assert_eq!(call(only_4, program::NFS, 3), mismatch(4, 4));
    assert_eq!(call(only_4, program::NFS, 4), accepted(7, 0));
    assert_eq!(call(only_4, program::MOUNT, 3), mismatch(1, 1));
    assert_eq!(call(only_4, program::MOUNT, 1), accepted(7, 0));
    assert_eq!(call(only_4, 100_227, 3), accepted(7, 1)); // NFSACL
    let only_3 = Versions { v4: [false; 3], ..Versions::ALL };
    assert_eq!(call(only_3, program::NFS, 4), mismatch(3, 3));
    assert_eq!(call(only_3, program::NFS, 3), accepted(7, 0));
}
