//! NFSv3: every type as its codec sees it, and any arguments through the dispatcher.

use hayase_mem::MemFs;
use hayase_nfs::Answered;
use hayase_proto::check::TYPES;
use hayase_proto::mount;
use hayase_proto::nfs3::{
    AccessRes, CommitRes, CreateRes, FsInfoRes, FsStatRes, GetAttrRes, LinkRes, LookupRes,
    MkdirRes, MknodRes, PROGRAM, PathConfRes, Proc, ReadRes, ReaddirRes, ReaddirplusRes,
    ReadlinkRes, RemoveRes, RenameRes, RmdirRes, SetAttrRes, SymlinkRes, VERSION, WriteRes,
};
use hayase_rpc::{Refusal, decode_reply};
use hayase_vfs::Wait;
use hayase_xdr::{Opaque, Reader, Result, from_bytes, to_vec};

use crate::choices::Choices;
use crate::server::{Server, record};

/// Longest value that is tried: checks of truncation take its square.
const VALUE_BYTES: usize = 1 << 10;

/// The first byte chooses a type, or with its highest bit a procedure.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let choice = choices.byte();
    if choice & 0x80 == 0 {
        check_type("nfs3::", choice.into(), choices.rest());
    } else {
        check_call(u32::from(choice & 0x3f), choice & 0x40 != 0, choices.rest());
    }
}

/// Checks a value of one of the types whose names begin so.
pub(crate) fn check_type(module: &str, choice: usize, bytes: &[u8]) {
    let types: Vec<_> = TYPES.iter().filter(|t| t.name.starts_with(module)).collect();
    let wire_type = types[choice % types.len()];
    wire_type.check(&bytes[..bytes.len().min(VALUE_BYTES)]);
}

/// Arguments for a procedure, with the handle of the root before them if so chosen.
fn check_call(proc: u32, on_root: bool, args: &[u8]) {
    let server = Server::new("/srv *(rw,insecure,no_root_squash)", vec![MemFs::new()]);
    let mut all = Vec::new();
    if on_root {
        all = to_vec(&Opaque::<64>(&root(&server, "/srv")));
    }
    all.extend_from_slice(args);
    let record = record(7, [PROGRAM, VERSION, proc], 0, &all);
    let (answered, reply) = server.call(&record, Wait::Allowed);
    assert_eq!(answered, Answered::Reply);
    check_reply(7, &reply, |body| result(Proc::try_from(proc)?, body));
    // The same call again: from the cache, or with the same outcome.
    let (_, again) = server.call(&record, Wait::Allowed);
    assert_eq!(again[..24], reply[..24], "another outcome");
}

/// The handle of an export's root.
pub(crate) fn root(server: &Server, path: &str) -> Vec<u8> {
    let args = to_vec(&Opaque::<1024>(path.as_bytes()));
    let target = [mount::PROGRAM, mount::VERSION_3, mount::Proc::Mnt as u32];
    let (_, reply) = server.call(&record(1, target, 0, &args), Wait::Allowed);
    match from_bytes::<mount::MntRes<'_>>(&reply[24..]) {
        Ok(mount::MntRes::Ok(ok)) => ok.fhandle.0.to_vec(),
        other => panic!("the root cannot be mounted: {other:?}"),
    }
}

/// Checks that a reply is well-formed to its last byte.
pub(crate) fn check_reply(xid: u32, reply: &[u8], read: impl Fn(&[u8]) -> Result<()>) {
    let mut reader = Reader::new(reply);
    let (answered, outcome) = decode_reply(&mut reader).expect("a reply");
    assert_eq!(answered, xid, "the xid");
    match outcome {
        Ok(()) => read(reader.rest()).expect("a result of this procedure"),
        Err(why) => {
            assert!(reader.rest().is_empty(), "bytes behind a refusal");
            assert_ne!(why, Refusal::SystemErr);
        }
    }
}

/// Reads the result of a procedure.
pub(crate) fn result(proc: Proc, body: &[u8]) -> Result<()> {
    match proc {
        Proc::Null => from_bytes(body),
        Proc::GetAttr => from_bytes::<GetAttrRes>(body).map(drop),
        Proc::SetAttr => from_bytes::<SetAttrRes>(body).map(drop),
        Proc::Lookup => from_bytes::<LookupRes<'_>>(body).map(drop),
        Proc::Access => from_bytes::<AccessRes>(body).map(drop),
        Proc::Readlink => from_bytes::<ReadlinkRes<'_>>(body).map(drop),
        Proc::Read => from_bytes::<ReadRes<'_>>(body).map(drop),
        Proc::Write => from_bytes::<WriteRes>(body).map(drop),
        Proc::Create => from_bytes::<CreateRes<'_>>(body).map(drop),
        Proc::Mkdir => from_bytes::<MkdirRes<'_>>(body).map(drop),
        Proc::Symlink => from_bytes::<SymlinkRes<'_>>(body).map(drop),
        Proc::Mknod => from_bytes::<MknodRes<'_>>(body).map(drop),
        Proc::Remove => from_bytes::<RemoveRes>(body).map(drop),
        Proc::Rmdir => from_bytes::<RmdirRes>(body).map(drop),
        Proc::Rename => from_bytes::<RenameRes>(body).map(drop),
        Proc::Link => from_bytes::<LinkRes>(body).map(drop),
        Proc::Readdir => from_bytes::<ReaddirRes<'_>>(body).map(drop),
        Proc::Readdirplus => from_bytes::<ReaddirplusRes<'_>>(body).map(drop),
        Proc::FsStat => from_bytes::<FsStatRes>(body).map(drop),
        Proc::FsInfo => from_bytes::<FsInfoRes>(body).map(drop),
        Proc::PathConf => from_bytes::<PathConfRes>(body).map(drop),
        Proc::Commit => from_bytes::<CommitRes>(body).map(drop),
    }
}
