//! NFSv4: every type as its codec sees it, and compounds of any bytes through the dispatcher.

use hayase_mem::MemFs;
use hayase_nfs::Answered;
use hayase_proto::nfs4::{CompoundHead, CompoundResHead, PROGRAM, VERSION};
use hayase_rpc::decode_reply;
use hayase_vfs::Wait;
use hayase_xdr::{Decode, Opaque, Reader, to_vec};

use crate::choices::Choices;
use crate::nfs3::check_type;
use crate::server::{Server, record};

/// Compounds of one input.
const COMPOUNDS: u32 = 8;

/// PUTROOTFH, the operation before most others (RFC 8881 §18.21).
const PUTROOTFH: u32 = 24;

/// The first two bytes choose a type or, with the highest bit, compounds.
pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let choice = u16::from_be_bytes([choices.byte(), choices.byte()]);
    if choice & 0x8000 == 0 {
        check_type("nfs4::", choice.into(), choices.rest());
    } else {
        check_compounds(&mut choices);
    }
}

fn check_compounds(choices: &mut Choices<'_>) {
    let server = Server::new("/srv *(rw,insecure,no_root_squash)", vec![MemFs::new()]);
    for xid in 0..COMPOUNDS {
        if choices.is_empty() {
            break;
        }
        let how = choices.byte();
        let ops = choices.below(8) as u32;
        let len = choices.below(256);
        let bytes = choices.take(len);
        let on_root = how & 0x80 != 0;
        let minorversion = u32::from(how & 3);
        let count = ops + u32::from(on_root);
        let head = CompoundHead { tag: Opaque(b"tag"), minorversion, count };
        let mut args = to_vec(&head);
        if on_root {
            args.extend(to_vec(&PUTROOTFH));
        }
        args.extend_from_slice(bytes);
        let call = record(xid, [PROGRAM, VERSION, 1], 0, &args);
        let (answered, reply) = server.call(&call, Wait::Allowed);
        assert_eq!(answered, Answered::Reply);
        let mut reader = Reader::new(&reply);
        let (answered, outcome) = decode_reply(&mut reader).expect("a reply");
        assert_eq!(answered, xid, "the xid");
        if outcome.is_ok() {
            let head = CompoundResHead::decode(&mut reader).expect("the head of a result");
            assert!(head.tag.0 == b"tag" && head.count <= count, "another compound's result");
        }
    }
}
