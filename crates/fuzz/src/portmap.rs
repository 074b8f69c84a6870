//! The own portmapper: any calls, one after the other, from any kind of peer.

use std::net::SocketAddr;

use hayase_portmap::{Protocol, Registry, Request, serve};
use hayase_proto::portmap::{self, pmap, rpcb};
use hayase_rpc::{CallHeader, OpaqueAuth, decode_reply, encode_call};
use hayase_xdr::{Opaque, Reader, Result, from_bytes};

use crate::choices::Choices;

/// Calls of one input, and bytes of one call.
const CALLS: usize = 64;
const CALL_BYTES: usize = 255;

const PEERS: [&str; 4] = ["127.0.0.1:700", "127.0.0.1:40000", "192.0.2.1:700", "[::1]:700"];

pub(crate) fn check(bytes: &[u8]) {
    let mut choices = Choices::new(bytes);
    let mut registry = Registry::new();
    for _ in 0..CALLS {
        if choices.is_empty() {
            break;
        }
        let how = choices.byte();
        let len = choices.below(CALL_BYTES + 1);
        let bytes = choices.take(len);
        // Half of the calls have a header that is right, so that their arguments are read.
        let call = if how & 0x80 == 0 { bytes.to_vec() } else { with_header(bytes) };
        check_call(how, &call, &mut registry);
    }
}

/// A call whose version and procedure the first byte chooses.
fn with_header(bytes: &[u8]) -> Vec<u8> {
    let mut choices = Choices::new(bytes);
    let choice = choices.byte();
    let auth = OpaqueAuth { flavor: 0, body: Opaque(&[]) };
    let header = CallHeader {
        xid: 0x0102_0304,
        prog: portmap::PROGRAM,
        vers: 2 + u32::from(choice >> 4) % 3,
        proc: u32::from(choice & 0x0f),
        cred: auth,
        verf: auth,
    };
    let mut call = Vec::new();
    encode_call(&header, &mut call);
    call.extend_from_slice(choices.rest());
    call
}

fn check_call(how: u8, call: &[u8], registry: &mut Registry) {
    let address = |text: &str| -> SocketAddr { text.parse().expect("an address with its port") };
    let peer = address(PEERS[usize::from(how & 3)]);
    let local = address(if peer.is_ipv4() { "127.0.0.1:111" } else { "[::1]:111" });
    let protocol = if how & 4 == 0 { Protocol::Tcp } else { Protocol::Udp };
    let services: Vec<_> = registry.services().map(|(service, _)| *service).collect();
    let request = Request { call, peer, local, protocol, now_secs: 5 };
    let mut out = b"before".to_vec();
    serve(&request, registry, &mut out);
    assert!(out.starts_with(b"before"), "what was there is changed");

    let privileged = peer.ip().is_loopback() && peer.port() < 1024;
    let now: Vec<_> = registry.services().map(|(service, _)| *service).collect();
    assert!(privileged || services == now, "a stranger has changed the table");
    let Some(reply) = out.get(6..).filter(|reply| !reply.is_empty()) else { return };
    assert_eq!(reply[..4], call[..4], "the xid");
    let mut reader = Reader::new(reply);
    let (_, outcome) = decode_reply(&mut reader).expect("a reply");
    let mut call = Reader::new(call);
    let header = CallHeader::decode(&mut call);
    match (outcome, header) {
        (Ok(()), Ok(header)) => {
            result(header.vers, header.proc, reader.rest()).expect("a result of this procedure");
        }
        (Ok(()), Err(_)) => panic!("what is no call has a result"),
        (Err(_), _) => assert!(reader.rest().is_empty(), "bytes behind a refusal"),
    }
}

/// Reads the result of a procedure (RFC 1833 §2.1, §3.1).
fn result(vers: u32, proc: u32, bytes: &[u8]) -> Result<()> {
    if vers == pmap::VERSION {
        return match pmap::Proc::try_from(proc)? {
            pmap::Proc::Null => from_bytes(bytes),
            pmap::Proc::Set | pmap::Proc::Unset => from_bytes::<bool>(bytes).map(drop),
            pmap::Proc::GetPort => from_bytes::<u32>(bytes).map(drop),
            pmap::Proc::Dump => from_bytes::<pmap::DumpRes>(bytes).map(drop),
            pmap::Proc::CallIt => panic!("calls for others are not made"),
        };
    }
    match rpcb::Proc::try_from(proc)? {
        rpcb::Proc::Null => from_bytes(bytes),
        rpcb::Proc::Set | rpcb::Proc::Unset => from_bytes::<bool>(bytes).map(drop),
        rpcb::Proc::GetAddr | rpcb::Proc::GetVersAddr | rpcb::Proc::Taddr2Uaddr => {
            from_bytes::<rpcb::Text<'_>>(bytes).map(drop)
        }
        rpcb::Proc::Dump => from_bytes::<rpcb::DumpRes<'_>>(bytes).map(drop),
        rpcb::Proc::GetTime => from_bytes::<u32>(bytes).map(drop),
        rpcb::Proc::Uaddr2Taddr => from_bytes::<rpcb::Netbuf<'_>>(bytes).map(drop),
        rpcb::Proc::GetAddrList => from_bytes::<rpcb::GetAddrListRes<'_>>(bytes).map(drop),
        rpcb::Proc::GetStat => from_bytes::<rpcb::StatByVers<'_>>(bytes).map(drop),
        rpcb::Proc::Bcast | rpcb::Proc::Indirect => panic!("calls for others are not made"),
    }
}
