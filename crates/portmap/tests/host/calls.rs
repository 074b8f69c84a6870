//! The own portmapper beside the real rpcbind: the same calls, the same replies.

use std::io::{Read, Write};
use std::net::{SocketAddrV4, TcpStream};
use std::time::Duration;

use hayase_portmap::{Listener, Owner, Protocol, Registry, Rpcbind, Service};

use crate::namespace::alone;
use crate::{Daemon, NFS};

/// Where the own one runs, since rpcbind has port 111.
const OWN_PORT: u16 = 1111;

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

fn texts(texts: &[&str]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
        bytes.extend_from_slice(text.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// A call over a connection of its own; `None` if there is no reply.
fn ask(port: u16, vers: u32, proc: u32, args: &[u8]) -> Option<Vec<u8>> {
    let to: SocketAddrV4 = format!("127.0.0.1:{port}").parse().unwrap();
    let mut stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    let call = [&words(&[77, 0, 2, 100_000, vers, proc, 0, 0, 0, 0]), args].concat();
    stream.write_all(&(0x8000_0000 | call.len() as u32).to_be_bytes()).unwrap();
    stream.write_all(&call).unwrap();
    let mut mark = [0; 4];
    stream.read_exact(&mut mark).ok()?;
    let mut reply = vec![0; (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize];
    stream.read_exact(&mut reply).unwrap();
    Some(reply)
}

#[test]
fn replies_are_those_of_rpcbind() {
    alone("calls::replies_are_those_of_rpcbind", || {
        let _rpcbind = Daemon::rpcbind();
        let mut registry = Registry::new();
        for vers in [3, 4] {
            for service in Service::everywhere(NFS, vers, Protocol::Tcp, 2049) {
                Rpcbind::local().unwrap().register(&service).unwrap();
                assert!(registry.set(service, Owner::Server));
            }
        }
        let _own = Listener::bind(OWN_PORT).unwrap().start(registry).unwrap();

        let rpcb = |prog, vers| [words(&[prog, vers]), texts(&["tcp", "", ""])].concat();
        let sockaddr = [&[2, 0, 8, 1, 127, 0, 0, 1][..], &[0; 8]].concat();
        let netbuf = [words(&[16, 16]), sockaddr].concat();
        let calls: &[(u32, u32, Vec<u8>)] = &[
            (2, 0, vec![]),
            (3, 0, vec![]),
            (4, 0, vec![]),
            (1, 0, vec![]),
            (5, 0, vec![]),
            (2, 6, vec![]),
            (3, 9, vec![]),
            (4, 13, vec![]),
            (2, 3, words(&[NFS, 3, 6, 0])),
            (2, 3, words(&[NFS, 4, 6, 0])),
            (2, 3, words(&[NFS, 3, 17, 0])),
            (2, 3, words(&[100_005, 3, 6, 0])),
            (2, 3, words(&[NFS])),
            (3, 3, rpcb(NFS, 3)),
            (4, 3, rpcb(NFS, 3)),
            (4, 3, rpcb(100_005, 3)),
            (4, 3, words(&[NFS, 3])),
            (4, 9, rpcb(NFS, 4)),
            (4, 9, rpcb(NFS, 2)),
            (4, 11, rpcb(100_005, 1)),
            (3, 7, texts(&["127.0.0.1.8.1"])),
            (3, 8, netbuf),
            // Nothing is called for anybody.
            (2, 5, words(&[NFS, 3, 0, 0])),
            (4, 5, words(&[NFS, 3, 0, 0])),
            (4, 10, words(&[NFS, 3, 0, 0])),
        ];
        let mut differences = Vec::new();
        for (vers, proc, args) in calls {
            let (theirs, ours) = (ask(111, *vers, *proc, args), ask(OWN_PORT, *vers, *proc, args));
            if theirs != ours {
                differences.push(format!(
                    "version {vers} procedure {proc} {args:?}:\n  rpcbind {theirs:?}\n  own     {ours:?}"
                ));
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));

        // One difference is meant: Debian's rpcbind lets any program of the host
        // remove any registration by these calls, the own one only privileged programs.
        let calls = [
            (2, 1, words(&[7, 1, 6, 7])),
            (2, 2, words(&[NFS, 3, 6, 2049])),
            (4, 1, [words(&[7, 1]), texts(&["tcp", "0.0.0.0.0.7", ""])].concat()),
            (4, 2, [words(&[NFS, 3]), texts(&["tcp", "", ""])].concat()),
        ];
        for (vers, proc, args) in calls {
            let too_weak = words(&[77, 1, 1, 1, 5]);
            assert_eq!(ask(OWN_PORT, vers, proc, &args), Some(too_weak));
        }
    });
}
