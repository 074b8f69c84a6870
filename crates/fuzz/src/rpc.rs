//! RPC headers and credentials (RFC 5531 §9, appendix A).

use hayase_rpc::{
    AuthSysArgs, CallHeader, Credential, NotACall, accept, decode_reply, encode_call, flavor,
    refuse,
};
use hayase_xdr::{Reader, to_vec};

/// The bytes are a call and a reply.
pub(crate) fn check(bytes: &[u8]) {
    check_call(bytes);
    check_reply(bytes);
}

fn check_call(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    match CallHeader::decode(&mut reader) {
        Ok(header) => {
            let len = bytes.len() - reader.rest().len();
            let mut again = Vec::new();
            encode_call(&header, &mut again);
            assert_eq!(again.len(), len, "another length");
            let mut reader = Reader::new(&again);
            assert_eq!(CallHeader::decode(&mut reader), Ok(header), "another header");
            assert!(reader.rest().is_empty());
            check_credential(&header);
        }
        Err(NotACall::Refused { xid, why }) => {
            assert_eq!(xid.to_be_bytes(), bytes[..4], "the xid");
            let mut reply = Vec::new();
            refuse(xid, why, &mut reply);
            assert_eq!(decode_reply(&mut Reader::new(&reply)), Ok((xid, Err(why))));
        }
        Err(NotACall::Garbage) => assert!(bytes.len() < 24 || bytes[4..8] != [0; 4]),
    }
}

/// The reading of a credential that makes no vector and the one that does agree.
fn check_credential(header: &CallHeader<'_>) {
    let body = header.cred.body.0;
    let args = AuthSysArgs::from_body(body);
    if let Ok(args) = &args {
        assert_eq!(AuthSysArgs::from_body(&to_vec(args)).as_ref(), Ok(args));
    }
    match Credential::check(header.cred, header.verf) {
        Ok(Credential::None) => assert_eq!(header.cred.flavor, flavor::AUTH_NONE),
        Ok(Credential::Sys(sys)) => {
            let args = args.expect("what one reader takes the other takes");
            assert_eq!((sys.uid, sys.gid, sys.gids()), (args.uid, args.gid, &args.gids.0[..]));
        }
        Err(_) => {
            let refused = header.cred.flavor != flavor::AUTH_SYS
                || header.verf.flavor != flavor::AUTH_NONE
                || args.is_err();
            assert!(refused, "a good credential is refused");
        }
    }
}

fn check_reply(bytes: &[u8]) {
    let mut reader = Reader::new(bytes);
    let Ok((xid, outcome)) = decode_reply(&mut reader) else { return };
    let mut reply = Vec::new();
    match outcome {
        Ok(()) => accept(xid, &mut reply),
        Err(why) => refuse(xid, why, &mut reply),
    }
    assert_eq!(decode_reply(&mut Reader::new(&reply)), Ok((xid, outcome)));
}
