//! NLM, NSM and RQUOTA: every type as its codec sees it, and any calls, one after the other, of a
//! host that locks one file.

use hayase_mem::MemFs;
use hayase_nfs::Answered;
use hayase_proto::nlm::{
    self, CancelArgs, FreeAllArgs, Lock, LockArgs, Proc, Res, ShareArgs, ShareOf, ShareRes,
    TestArgs, TestRes, UnlockArgs,
};
use hayase_proto::{nfs3, nsm, rquota};
use hayase_vfs::Wait;
use hayase_xdr::{Opaque, Result, from_bytes, to_vec};

use crate::choices::Choices;
use crate::nfs3::{check_reply, check_type, root};
use crate::server::{Server, record};

/// Calls of one input.
const CALLS: u32 = 64;

/// The first byte chooses a type, or with its highest bit calls.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let choice = choices.byte();
    if choice & 0x80 == 0 {
        let module = ["nlm::", "nsm::", "rquota::"][usize::from(choice) % 3];
        check_type(module, usize::from(choice) / 3, choices.rest());
        return;
    }
    let server = Server::new("/srv *(rw,insecure,no_root_squash)", vec![MemFs::new()]);
    let file = make(&server, &root(&server, "/srv"));
    for xid in 10..10 + CALLS {
        if choices.is_empty() {
            break;
        }
        match choices.below(8) {
            0 => raw(&server, xid, &mut choices),
            _ => lock(&server, xid, &file, &mut choices),
        }
    }
    // Whatever it did, it can begin anew.
    let args = to_vec(&FreeAllArgs { name: Opaque(b"host"), state: 0 });
    let proc = Proc::FreeAll as u32;
    let (answered, _) = server.call(&record(7, [nlm::PROGRAM, 4, proc], 0, &args), Wait::Allowed);
    assert_eq!(answered, Answered::Reply);
    assert!(server.service.locks().is_empty(), "locks are left");
    assert!(server.service.hosts().iter().all(|host| host.held == 0), "something is left");
    assert_eq!(server.service.usage().lock_waits, 0, "somebody waits");
}

/// Makes a file.
fn make(server: &Server, dir: &[u8]) -> Vec<u8> {
    let place = nfs3::DirOpArgs3 { dir: Opaque(dir), name: Opaque(b"file") };
    let args =
        nfs3::CreateArgs { place, how: nfs3::CreateHow3::Unchecked(nfs3::Sattr3::default()) };
    let target = [nfs3::PROGRAM, nfs3::VERSION, nfs3::Proc::Create as u32];
    let (_, reply) = server.call(&record(2, target, 0, &to_vec(&args)), Wait::Allowed);
    match from_bytes::<nfs3::CreateRes<'_>>(&reply[24..]) {
        Ok(nfs3::Res3::Ok(made)) => made.obj.expect("a handle").0.to_vec(),
        other => panic!("no file can be made: {other:?}"),
    }
}

/// Any arguments for any procedure.
fn raw(server: &Server, xid: u32, choices: &mut Choices<'_>) {
    let proc = u32::from(choices.byte() & 0x1f);
    let (prog, vers) = match choices.byte() & 3 {
        0 => (nsm::PROGRAM, nsm::VERSION),
        1 => (rquota::PROGRAM, rquota::VERSION_1),
        2 => (rquota::PROGRAM, rquota::VERSION_2),
        _ => (nlm::PROGRAM, nlm::VERSION),
    };
    let len = choices.below(128);
    let call = record(xid, [prog, vers, proc], 0, choices.take(len));
    let (answered, reply) = server.call(&call, Wait::Allowed);
    assert_eq!(answered, Answered::Reply);
    check_reply(xid, &reply, |body| result(prog, proc, body));
}

/// Something about the file, by one of a few owners.
fn lock(server: &Server, xid: u32, file: &[u8], choices: &mut Choices<'_>) {
    let how = choices.byte();
    let owner = [choices.byte() & 3];
    let (offset, length) = (u64::from(choices.byte()), u64::from(choices.byte()));
    let lock = Lock {
        caller_name: Opaque(b"host"),
        fh: Opaque(file),
        oh: Opaque(&owner),
        svid: i32::from(owner[0]),
        // Sometimes at the very end of what there can be.
        offset: if how & 0x40 == 0 { offset } else { u64::MAX - offset },
        length,
    };
    let cookie = Opaque(&b"cookie"[..]);
    let (block, exclusive, reclaim) = (how & 0x10 != 0, how & 0x20 != 0, how & 0x80 != 0);
    let share = ShareOf {
        caller_name: lock.caller_name,
        fh: lock.fh,
        oh: lock.oh,
        mode: u32::from(choices.byte() & 7),
        access: u32::from(choices.byte() & 3),
    };
    let (proc, args) = match how & 7 {
        0 => (Proc::Test, to_vec(&TestArgs { cookie, exclusive, lock })),
        1 => (Proc::Unlock, to_vec(&UnlockArgs { cookie, lock })),
        2 => (Proc::Cancel, to_vec(&CancelArgs { cookie, block, exclusive, lock })),
        3 => (Proc::Share, to_vec(&ShareArgs { cookie, share, reclaim })),
        4 => (Proc::Unshare, to_vec(&ShareArgs { cookie, share, reclaim })),
        _ => {
            let state = i32::from(choices.byte());
            (Proc::Lock, to_vec(&LockArgs { cookie, block, exclusive, lock, reclaim, state }))
        }
    };
    let target = [nlm::PROGRAM, nlm::VERSION, proc as u32];
    let (answered, reply) = server.call(&record(xid, target, 0, &args), Wait::Allowed);
    assert_eq!(answered, Answered::Reply);
    check_reply(xid, &reply, |body| result(nlm::PROGRAM, proc as u32, body));
}

/// Reads the result of a procedure.
fn result(prog: u32, proc: u32, body: &[u8]) -> Result<()> {
    if prog == nsm::PROGRAM {
        return match nsm::Proc::try_from(proc)? {
            nsm::Proc::Null | nsm::Proc::SimuCrash | nsm::Proc::Notify => from_bytes(body),
            nsm::Proc::Stat | nsm::Proc::Mon => from_bytes::<nsm::StatRes>(body).map(drop),
            nsm::Proc::Unmon | nsm::Proc::UnmonAll => from_bytes::<nsm::Stat>(body).map(drop),
        };
    }
    if prog == rquota::PROGRAM {
        return match rquota::Proc::try_from(proc)? {
            rquota::Proc::Null => from_bytes(body),
            _ => from_bytes::<rquota::Res>(body).map(drop),
        };
    }
    match Proc::try_from(proc)? {
        Proc::Test => from_bytes::<TestRes<'_>>(body).map(drop),
        Proc::Lock | Proc::Cancel | Proc::Unlock | Proc::Granted | Proc::NmLock => {
            from_bytes::<Res<'_>>(body).map(drop)
        }
        Proc::Share | Proc::Unshare => from_bytes::<ShareRes<'_>>(body).map(drop),
        _ => from_bytes(body),
    }
}
