//! What a client asks beside the calls that count: where to begin, what there is, what is left.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use anyhow::{Result, bail};
use hayase_proto::mount;
use hayase_proto::nfs3::{
    CommitRes, CommitResOk, DirHead, FsInfoRes, FsInfoResOk, LookupRes, LookupResOk, NfsTime3,
    Proc, RmdirRes, WccData,
};
use hayase_xdr::{Array, Encode, Opaque};
use rustix::fs::{AtFlags, Dir};

use super::answer::{ATTR, Answers, HANDLE, Kind, VERIFIER, canned, push};

/// Bytes of a READ or WRITE.
const TRANSFER: u32 = 1 << 20;
/// The one object there is, before and after.
const WCC: WccData = WccData { before: None, after: Some(ATTR) };

/// MOUNT: any path is the one object.
pub(super) fn mounted(procedure: u32, xid: u32, to: &mut Vec<u8>) -> Result<()> {
    match mount::Proc::try_from(procedure)? {
        mount::Proc::Null => push(&canned(&()), xid, to),
        mount::Proc::Mnt => {
            let fhandle = Opaque(&HANDLE);
            let ok = mount::MntResOk { fhandle, auth_flavors: Array(vec![1]) };
            push(&canned(&mount::MntRes::Ok(ok)), xid, to);
        }
        other => bail!("a floor does not answer {other:?} of MOUNT"),
    }
    Ok(())
}

/// NFS: every name is there, and is the one object, a directory as well as a file; what was made goes
/// with the directory.
pub(super) fn answer(answers: &Answers, proc: Proc, xid: u32, to: &mut Vec<u8>) -> Result<()> {
    let attributes = Some(ATTR);
    match proc {
        Proc::Null => push(&canned(&()), xid, to),
        Proc::GetAttr => answers.push_attributes(xid, to),
        Proc::Create => answers.push_created(xid, to),
        Proc::Lookup => {
            let object = Opaque(&HANDLE[..]);
            let found =
                LookupResOk { object, obj_attributes: attributes, dir_attributes: attributes };
            push(&canned(&LookupRes::Ok(found)), xid, to);
        }
        Proc::FsInfo => push(&canned(&FsInfoRes::Ok(INFO)), xid, to),
        Proc::Commit => {
            let done = CommitResOk { file_wcc: WCC, verf: VERIFIER };
            push(&canned(&CommitRes::Ok(done)), xid, to);
        }
        Proc::Readdirplus => push(&canned(&NothingListed), xid, to),
        Proc::Rmdir => {
            if answers.kind() == Kind::Names {
                empty(answers)?;
            }
            push(&canned(&RmdirRes::Ok(WCC)), xid, to);
        }
        other => bail!("a floor for {:?} does not answer {other}", answers.kind()),
    }
    Ok(())
}

const INFO: FsInfoResOk = FsInfoResOk {
    obj_attributes: Some(ATTR),
    rtmax: TRANSFER,
    rtpref: TRANSFER,
    rtmult: 1,
    wtmax: TRANSFER,
    wtpref: TRANSFER,
    wtmult: 1,
    dtpref: TRANSFER,
    maxfilesize: 1 << 62,
    time_delta: NfsTime3 { seconds: 0, nseconds: 1 },
    properties: 0,
};

/// READDIRPLUS of an empty directory (RFC 1813 §3.3.17).
struct NothingListed;

impl Encode for NothingListed {
    fn encode(&self, to: &mut Vec<u8>) {
        0_u32.encode(to);
        DirHead { dir_attributes: Some(ATTR), cookieverf: [0; 8] }.encode(to);
        // No entry follows, and the directory ends.
        false.encode(to);
        true.encode(to);
    }
}

/// Removes the files of the floor's directory.
fn empty(answers: &Answers) -> Result<()> {
    let dir = answers.file()?;
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        // Only names that clients of a floor make.
        if name.as_bytes().starts_with(b"f") {
            rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
        }
    }
    Ok(())
}
