//! Datagrams.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

use hayase_transport::UdpServer;

use crate::lab::{Actor, PATIENCE};

fn client_of(server: &UdpSocket) -> UdpSocket {
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    client.connect(server.local_addr().unwrap()).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client
}

fn ask(client: &UdpSocket, datagram: &[u8]) -> Vec<u8> {
    client.send(datagram).unwrap();
    let mut reply = vec![0; 65_536];
    let len = client.recv(&mut reply).expect("an answer");
    reply.truncate(len);
    reply
}

#[test]
fn datagrams_are_answered_one_by_one() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = client_of(&socket);
    let _server = UdpServer::start(socket, Arc::new(Actor::default())).unwrap();
    for len in [0, 1, 100, 8192] {
        assert_eq!(ask(&client, &vec![7; len]), vec![7; len]);
    }
    assert_eq!(ask(&client, b"work"), b"work", "waiting is allowed here");
}

#[test]
fn what_fits_no_datagram_is_not_sent() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = client_of(&socket);
    let _server = UdpServer::start(socket, Arc::new(Actor::default())).unwrap();
    for unanswered in [&b"mute"[..], b"quit", b"load\0\x10\0\0"] {
        client.send(unanswered).unwrap();
        assert_eq!(ask(&client, b"next"), b"next");
    }
}

#[test]
fn a_panic_of_the_service_costs_its_datagram_only() {
    // It ended the thread, and datagrams were answered no more.
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = client_of(&socket);
    let _server = UdpServer::start(socket, Arc::new(Actor::default())).unwrap();
    client.send(b"boom").unwrap();
    assert_eq!(ask(&client, b"next"), b"next");
}

#[test]
fn a_dropped_server_answers_no_more() {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = client_of(&socket);
    let server = UdpServer::start(socket, Arc::new(Actor::default())).unwrap();
    assert_eq!(ask(&client, b"hello"), b"hello");
    drop(server);
    client.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let _ = client.send(b"hello");
    assert!(client.recv(&mut [0; 16]).is_err());
}
