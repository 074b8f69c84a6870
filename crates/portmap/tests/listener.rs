//! The own portmapper on real sockets of the loopback interface, on a port the kernel chooses.
#![allow(missing_docs, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use hayase_portmap::{Error, Listener, Owner, Protocol, Registry, Rpcbind, Running, Service};

const NFS: u32 = 100_003;

fn running() -> Running {
    let mut registry = Registry::new();
    for service in Service::everywhere(NFS, 3, Protocol::Tcp, 2049) {
        assert!(registry.set(service, Owner::Server));
    }
    Listener::bind(0).unwrap().start(registry).unwrap()
}

fn addr(portmapper: &Running) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, portmapper.port()).into()
}

fn connect(portmapper: &Running) -> TcpStream {
    let stream = TcpStream::connect(addr(portmapper)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream
}

/// GETPORT of NFS over TCP with this xid.
fn call(xid: u32) -> Vec<u8> {
    let words = [xid, 0, 2, 100_000, 2, 3, 0, 0, 0, 0, NFS, 3, 6, 0];
    words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect()
}

fn reply(xid: u32) -> Vec<u8> {
    let words = [xid, 1, 0, 0, 0, 0, 2049];
    words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect()
}

fn record(bytes: &[u8]) -> Vec<u8> {
    [&(0x8000_0000 | bytes.len() as u32).to_be_bytes(), bytes].concat()
}

fn expect(stream: &mut TcpStream, bytes: &[u8]) {
    let mut got = vec![0; bytes.len()];
    stream.read_exact(&mut got).unwrap();
    assert_eq!(got, bytes);
}

#[test]
fn the_client_finds_what_is_registered() {
    let portmapper = running();
    let mut rpcbind = Rpcbind::at(addr(&portmapper)).unwrap();
    assert_eq!(rpcbind.port(NFS, 3, Protocol::Tcp).unwrap(), Some(2049));
    assert_eq!(rpcbind.port(NFS, 3, Protocol::Udp).unwrap(), None);
    let list = rpcbind.dump().unwrap();
    let nfs: Vec<_> = list.iter().filter(|entry| entry.prog == NFS).collect();
    assert_eq!(nfs.len(), 2);
    assert_eq!((&*nfs[0].netid, &*nfs[0].uaddr), ("tcp", "0.0.0.0.8.1"));
    assert_eq!(nfs[1].addr(), Some("[::]:2049".parse().unwrap()));
    let itself = list.iter().filter(|entry| entry.prog == 100_000);
    assert!(itself.count() >= 6, "versions 2, 3 and 4 on tcp and udp");
}

#[test]
fn an_ordinary_program_cannot_register() {
    let portmapper = running();
    let mut rpcbind = Rpcbind::at(addr(&portmapper)).unwrap();
    let [service, _] = Service::everywhere(7, 1, Protocol::Tcp, 7);
    let error = rpcbind.register(&service).unwrap_err();
    assert!(matches!(error, Error::Refused { procedure: "SET", .. }), "{error}");
}

#[test]
fn datagrams_are_answered() {
    let portmapper = running();
    let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let mut buf = [0; 1024];
    // What gets no answer is followed by what does.
    socket.send_to(b"junk", addr(&portmapper)).unwrap();
    socket.send_to(&reply(1), addr(&portmapper)).unwrap();
    socket.send_to(&vec![0xff; 60_000], addr(&portmapper)).unwrap();
    socket.send_to(&call(7), addr(&portmapper)).unwrap();
    let len = socket.recv(&mut buf).unwrap();
    assert_eq!(buf[..len], reply(7));
}

#[test]
fn calls_in_a_row_and_in_pieces_are_answered_in_order() {
    let portmapper = running();
    let mut stream = connect(&portmapper);
    let calls: Vec<u8> = (0..500).flat_map(|xid| record(&call(xid))).collect();
    let replies: Vec<u8> = (0..500).flat_map(|xid| record(&reply(xid))).collect();
    stream.write_all(&calls).unwrap();
    expect(&mut stream, &replies);
    for byte in record(&call(9)) {
        stream.write_all(&[byte]).unwrap();
    }
    expect(&mut stream, &record(&reply(9)));
}

#[test]
fn a_call_too_long_ends_the_connection() {
    let portmapper = running();
    let mut stream = connect(&portmapper);
    stream.write_all(&[0x80, 1, 0, 0]).unwrap();
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn idle_connections_make_room_for_new_ones() {
    let portmapper = running();
    let mut first = connect(&portmapper);
    first.write_all(&record(&call(1))).unwrap();
    expect(&mut first, &record(&reply(1)));
    let crowd: Vec<_> = (0..100).map(|_| connect(&portmapper)).collect();
    let mut last = connect(&portmapper);
    last.write_all(&record(&call(2))).unwrap();
    expect(&mut last, &record(&reply(2)));
    assert_eq!(first.read(&mut [0; 8]).unwrap(), 0, "idle longest, so it had to go");
    drop(crowd);
}

#[test]
fn it_ends_with_its_connections_when_dropped() {
    let portmapper = running();
    let at = addr(&portmapper);
    let mut stream = connect(&portmapper);
    stream.write_all(&record(&call(1))).unwrap();
    expect(&mut stream, &record(&reply(1)));
    drop(portmapper);
    assert_eq!(stream.read(&mut [0; 8]).unwrap(), 0);
    assert!(matches!(Rpcbind::at(at), Err(Error::NotRunning { .. })));
    // And the port is free again at once.
    Listener::bind(at.port()).unwrap();
}
