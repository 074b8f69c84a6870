//! The own portmapper by literal calls: words in, words out.
#![allow(missing_docs, clippy::unwrap_used)]

use std::net::SocketAddr;

use hayase_portmap::{Netid, Owner, Protocol, Registry, Request, Service, serve};

const XID: u32 = 0x1234;
const NFS: u32 = 100_003;
const MOUNT: u32 = 100_005;
const STATUS: u32 = 100_024;

const NULL: u32 = 0;
const SET: u32 = 1;
const UNSET: u32 = 2;
/// GETPORT of version 2, GETADDR of versions 3 and 4.
const GET: u32 = 3;
const DUMP: u32 = 4;
const CALLIT: u32 = 5;
const GETVERSADDR: u32 = 9;

/// A piece of wire data.
enum Piece<'a> {
    Word(u32),
    Text(&'a str),
}
use Piece::{Text, Word};

fn wire(pieces: &[Piece<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in pieces {
        match piece {
            Word(word) => bytes.extend_from_slice(&word.to_be_bytes()),
            Text(text) => {
                bytes.extend_from_slice(&(text.len() as u32).to_be_bytes());
                bytes.extend_from_slice(text.as_bytes());
                bytes.resize(bytes.len().next_multiple_of(4), 0);
            }
        }
    }
    bytes
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_be_bytes()).collect()
}

/// A portmapper, and from where it is called.
struct Scene {
    registry: Registry,
    peer: SocketAddr,
    local: SocketAddr,
    protocol: Protocol,
}

impl Scene {
    /// Called over TCP from another host, with NFS 3 and 4 and MOUNT 3 registered by this server.
    fn new() -> Self {
        let mut registry = Registry::new();
        for vers in [3, 4] {
            for service in Service::everywhere(NFS, vers, Protocol::Tcp, 2049) {
                assert!(registry.set(service, Owner::Server));
            }
        }
        for protocol in [Protocol::Tcp, Protocol::Udp] {
            for service in Service::everywhere(MOUNT, 3, protocol, 20048) {
                assert!(registry.set(service, Owner::Server));
            }
        }
        Scene {
            registry,
            peer: "192.0.2.9:700".parse().unwrap(),
            local: "192.0.2.1:111".parse().unwrap(),
            protocol: Protocol::Tcp,
        }
    }

    /// Called by a privileged program of this host.
    fn local() -> Self {
        Scene {
            peer: "127.0.0.1:700".parse().unwrap(),
            local: "127.0.0.1:111".parse().unwrap(),
            ..Scene::new()
        }
    }

    fn from(mut self, peer: &str, local: &str, protocol: Protocol) -> Self {
        self.peer = peer.parse().unwrap();
        self.local = local.parse().unwrap();
        self.protocol = protocol;
        self
    }

    fn record(&mut self, call: &[u8]) -> Vec<u8> {
        let &mut Scene { ref mut registry, peer, local, protocol } = self;
        let mut out = b"before".to_vec();
        let request = Request { call, peer, local, protocol, now_secs: 1_700_000_000 };
        serve(&request, registry, &mut out);
        assert!(out.starts_with(b"before"));
        out.split_off(6)
    }

    fn call_program(&mut self, prog: u32, vers: u32, proc: u32, args: &[u8]) -> Vec<u8> {
        let header = words(&[XID, 0, 2, prog, vers, proc, 0, 0, 0, 0]);
        self.record(&[&header, args].concat())
    }

    fn call(&mut self, vers: u32, proc: u32, args: &[u8]) -> Vec<u8> {
        self.call_program(100_000, vers, proc, args)
    }

    fn get_port(&mut self, prog: u32, vers: u32, prot: u32) -> Vec<u8> {
        self.call(2, GET, &words(&[prog, vers, prot, 0]))
    }

    fn get_addr(&mut self, proc: u32, prog: u32, vers: u32) -> Vec<u8> {
        let rpcb = [Word(prog), Word(vers), Text("ignored"), Text(""), Text("")];
        self.call(4, proc, &wire(&rpcb))
    }
}

/// The reply with this result.
fn success(result: &[u8]) -> Vec<u8> {
    [&words(&[XID, 1, 0, 0, 0, 0]), result].concat()
}

fn text(text: &str) -> Vec<u8> {
    success(&wire(&[Text(text)]))
}

/// The reply that refuses with this `accept_stat`.
fn refused(accept_stat: &[u32]) -> Vec<u8> {
    [words(&[XID, 1, 0, 0, 0]), words(accept_stat)].concat()
}

fn too_weak() -> Vec<u8> {
    words(&[XID, 1, 1, 1, 5])
}

const SILENCE: &[u8] = &[];
const YES: &[u8] = &[0, 0, 0, 1];
const NO: &[u8] = &[0, 0, 0, 0];

#[test]
fn null_answers_in_every_version() {
    for vers in [2, 3, 4] {
        assert_eq!(Scene::new().call(vers, NULL, &[]), success(&[]));
    }
}

#[test]
fn getport_tells_the_port_or_zero() {
    let mut scene = Scene::new();
    assert_eq!(scene.get_port(NFS, 3, 6), success(&words(&[2049])));
    assert_eq!(scene.get_port(MOUNT, 3, 17), success(&words(&[20048])));
    assert_eq!(scene.get_port(NFS, 3, 17), success(&words(&[0])), "NFS is not on UDP");
    assert_eq!(scene.get_port(NFS, 3, 99), success(&words(&[0])), "no such protocol");
    assert_eq!(scene.get_port(STATUS, 1, 6), success(&words(&[0])));
}

#[test]
fn a_version_that_is_not_there_gets_the_port_of_another() {
    // The program itself says which versions it has.
    let mut scene = Scene::new();
    assert_eq!(scene.get_port(NFS, 2, 6), success(&words(&[2049])));
    assert_eq!(scene.get_addr(GET, NFS, 2), text("192.0.2.1.8.1"));
    assert_eq!(scene.get_addr(GETVERSADDR, NFS, 2), text(""));
    assert_eq!(scene.get_addr(GETVERSADDR, NFS, 4), text("192.0.2.1.8.1"));
}

#[test]
fn getaddr_answers_for_the_transport_that_the_call_came_by() {
    let mut scene = Scene::new();
    assert_eq!(scene.get_addr(GET, MOUNT, 3), text("192.0.2.1.78.80"));
    let mut scene = Scene::new().from("[2001:db8::9]:5", "[2001:db8::1]:111", Protocol::Tcp);
    assert_eq!(scene.get_addr(GET, NFS, 3), text("2001:db8::1.8.1"));
    let mut scene = Scene::new().from("192.0.2.9:5", "192.0.2.1:111", Protocol::Udp);
    assert_eq!(scene.get_addr(GET, NFS, 3), text(""), "NFS is not on UDP");
}

#[test]
fn a_service_at_one_address_is_told_as_it_is() {
    let mut scene = Scene::new();
    let addr = "198.51.100.7:2050".parse().unwrap();
    let service = Service { prog: 7, vers: 1, protocol: Protocol::Tcp, addr };
    assert!(scene.registry.set(service, Owner::Server));
    assert_eq!(scene.get_addr(GET, 7, 1), text("198.51.100.7.8.2"));
}

#[test]
fn dump_lists_what_each_version_can_say() {
    let mut scene = Scene::new();
    let mappings = [
        [1, NFS, 3, 6, 2049],
        [1, NFS, 4, 6, 2049],
        [1, MOUNT, 3, 6, 20048],
        [1, MOUNT, 3, 17, 20048],
    ];
    let list = [words(&mappings.concat()), words(&[0])].concat();
    assert_eq!(scene.call(2, DUMP, &[]), success(&list));

    let mut registry = Registry::new();
    let [_, v6] = Service::everywhere(NFS, 3, Protocol::Tcp, 2049);
    registry.set(v6, Owner::Server);
    let mut scene = Scene { registry, ..scene };
    let entry = wire(&[
        Word(1),
        Word(NFS),
        Word(3),
        Text("tcp6"),
        Text("::.8.1"),
        Text("superuser"),
        Word(0),
    ]);
    assert_eq!(scene.call(3, DUMP, &[]), success(&entry));
    assert_eq!(scene.call(4, DUMP, &[]), success(&entry));
    assert_eq!(scene.call(2, DUMP, &[]), success(&words(&[0])), "portmap knows no IPv6");
}

#[test]
fn getaddrlist_tells_the_transports_that_the_caller_can_use() {
    const GETADDRLIST: u32 = 11;
    let entry = |netid, semantics, proto| {
        wire(&[
            Word(1),
            Text("192.0.2.1.78.80"),
            Text(netid),
            Word(semantics),
            Text("inet"),
            Text(proto),
        ])
    };
    let list = [entry("tcp", 3, "tcp"), entry("udp", 1, "udp"), words(&[0])].concat();
    assert_eq!(Scene::new().get_addr(GETADDRLIST, MOUNT, 3), success(&list));
    assert_eq!(Scene::new().get_addr(GETADDRLIST, MOUNT, 1), success(&words(&[0])));
}

#[test]
fn programs_of_this_host_come_and_go() {
    let mut scene = Scene::local();
    let mapping = words(&[STATUS, 1, 17, 40_000]);
    assert_eq!(scene.call(2, SET, &mapping), success(YES));
    assert_eq!(scene.call(2, SET, &mapping), success(YES), "again the same");
    assert_eq!(scene.call(2, SET, &words(&[STATUS, 1, 17, 40_001])), success(NO), "taken");
    assert_eq!(scene.get_port(STATUS, 1, 17), success(&words(&[40_000])));
    assert_eq!(scene.call(2, UNSET, &words(&[STATUS, 1, 0, 0])), success(YES));
    assert_eq!(scene.call(2, UNSET, &words(&[STATUS, 1, 0, 0])), success(NO));
    assert_eq!(scene.get_port(STATUS, 1, 17), success(&words(&[0])));
}

#[test]
fn rpcbind_set_and_unset_go_by_transport() {
    let mut scene = Scene::local();
    let rpcb = |netid, addr| wire(&[Word(STATUS), Word(1), Text(netid), Text(addr), Text("0")]);
    assert_eq!(scene.call(4, SET, &rpcb("udp", "0.0.0.0.156.64")), success(YES));
    assert_eq!(scene.call(3, SET, &rpcb("tcp", "0.0.0.0.156.65")), success(YES));
    assert_eq!(scene.call(4, SET, &rpcb("tcp6", "::.156.66")), success(YES));
    for (netid, addr) in [
        ("tcp6", "0.0.0.0.156.66"),
        ("udp", "nonsense"),
        ("udp", ""),
        ("", "0.0.0.0.156.64"),
        ("local", "/run/statd.sock"),
        ("udp6", "::.0.0"),
    ] {
        assert_eq!(scene.call(4, SET, &rpcb(netid, addr)), success(NO), "{netid} {addr}");
    }
    assert_eq!(scene.call(4, UNSET, &rpcb("udp", "")), success(YES));
    assert_eq!(scene.get_port(STATUS, 1, 17), success(&words(&[0])));
    assert_eq!(scene.get_port(STATUS, 1, 6), success(&words(&[40_001])));
    assert_eq!(scene.call(4, UNSET, &rpcb("sctp", "")), success(NO));
    assert_eq!(scene.call(4, UNSET, &rpcb("", "")), success(YES), "all that are left");
    assert!(!scene.registry.services().any(|(service, _)| service.prog == STATUS));
}

#[test]
fn what_this_server_registered_is_nobody_elses_to_remove() {
    let mut scene = Scene::local();
    assert_eq!(scene.call(2, UNSET, &words(&[NFS, 3, 6, 2049])), success(NO));
    let rpcb = wire(&[Word(NFS), Word(3), Text(""), Text(""), Text("0")]);
    assert_eq!(scene.call(4, UNSET, &rpcb), success(NO));
    assert_eq!(scene.get_port(NFS, 3, 6), success(&words(&[2049])));
    let netids = [Netid::Tcp, Netid::Tcp6];
    assert!(scene.registry.unset(NFS, 3, &netids, Owner::Server));

    let [service, _] = Service::everywhere(NFS, 3, Protocol::Tcp, 2049);
    assert_eq!(scene.call(2, SET, &words(&[NFS, 3, 6, 2049])), success(YES));
    assert!(scene.registry.set(service, Owner::Server), "taken over");
    assert_eq!(scene.call(2, UNSET, &words(&[NFS, 3, 6, 2049])), success(NO));
}

#[test]
fn only_privileged_programs_of_this_host_change_the_table() {
    let mapping = words(&[STATUS, 1, 17, 40_000]);
    let rpcb = wire(&[Word(STATUS), Word(1), Text("udp"), Text("0.0.0.0.156.64"), Text("0")]);
    for peer in ["127.0.0.1:1024", "192.0.2.9:700", "127.0.0.1:0"] {
        let mut scene = Scene::new().from(peer, "127.0.0.1:111", Protocol::Udp);
        for proc in [SET, UNSET] {
            assert_eq!(scene.call(2, proc, &mapping), too_weak(), "{peer}");
            assert_eq!(scene.call(4, proc, &rpcb), too_weak(), "{peer}");
        }
        assert_eq!(scene.registry.services().count(), Scene::new().registry.services().count());
    }
    let mut scene = Scene::new().from("[::1]:700", "[::1]:111", Protocol::Tcp);
    assert_eq!(scene.call(2, SET, &mapping), success(YES));
}

#[test]
fn other_programs_cannot_fill_the_memory() {
    let mut scene = Scene::local();
    let taken = (0..1000)
        .filter(|n| scene.call(2, SET, &words(&[0x2000_0000 + n, 1, 17, 40_000])) == success(YES));
    assert_eq!(taken.count(), 256);
    let [own, _] = Service::everywhere(NFS, 5, Protocol::Tcp, 2049);
    assert!(scene.registry.set(own, Owner::Server), "this server's own are not counted");
}

#[test]
fn nothing_is_called_for_strangers() {
    const INDIRECT: u32 = 10;
    let args = wire(&[Word(NFS), Word(3), Word(0), Text("")]);
    for mut scene in [Scene::new(), Scene::local()] {
        assert_eq!(scene.call(2, CALLIT, &args), SILENCE);
        assert_eq!(scene.call(3, CALLIT, &args), SILENCE);
        assert_eq!(scene.call(4, CALLIT, &args), SILENCE);
        assert_eq!(scene.call(4, INDIRECT, &args), SILENCE);
    }
}

#[test]
fn no_listing_goes_to_a_sender_that_may_be_forged() {
    const GETSTAT: u32 = 12;
    let mut scene = Scene::new().from("192.0.2.9:111", "192.0.2.1:111", Protocol::Udp);
    for (vers, proc) in [(2, DUMP), (3, DUMP), (4, DUMP), (4, GETSTAT)] {
        assert_eq!(scene.call(vers, proc, &[]), SILENCE);
    }
    let mut scene = scene.from("127.0.0.1:5000", "127.0.0.1:111", Protocol::Udp);
    assert_ne!(scene.call(2, DUMP, &[]), SILENCE);
}

#[test]
fn the_time_is_told() {
    assert_eq!(Scene::new().call(3, 6, &[]), success(&words(&[1_700_000_000])));
}

#[test]
fn addresses_are_translated_both_ways() {
    let [a, b] = 2_u16.to_ne_bytes();
    let netbuf = [&[0, 0, 0, 16, 0, 0, 0, 16, a, b, 8, 1, 192, 0, 2, 1][..], &[0; 8]].concat();
    let mut scene = Scene::new();
    assert_eq!(scene.call(3, 7, &wire(&[Text("192.0.2.1.8.1")])), success(&netbuf));
    assert_eq!(scene.call(3, 8, &netbuf), text("192.0.2.1.8.1"));
    assert_eq!(scene.call(4, 7, &wire(&[Text("nowhere")])), success(&words(&[0, 0])));
    assert_eq!(scene.call(4, 8, &words(&[16, 0])), text(""));
}

#[test]
fn statistics_count_what_was_asked() {
    let mut scene = Scene::local();
    scene.call(2, NULL, &[]);
    scene.call(2, SET, &words(&[STATUS, 1, 17, 40_000]));
    scene.get_port(NFS, 3, 6);
    scene.get_port(NFS, 3, 6);
    scene.get_port(STATUS, 1, 6);
    let asked = [
        wire(&[Word(1), Word(NFS), Word(3), Word(2), Word(0), Text("tcp")]),
        wire(&[Word(1), Word(STATUS), Word(1), Word(0), Word(1), Text("tcp")]),
    ]
    .concat();
    let version_2 =
        [words(&[1, 1, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0]), asked, words(&[0, 0])].concat();
    let version_3 = words(&[0; 17]);
    let mut version_4 = words(&[0; 17]);
    version_4[12 * 4 + 3] = 1; // this call
    let stat = [version_2, version_3, version_4].concat();
    assert_eq!(scene.call(4, 12, &[]), success(&stat));
}

#[test]
fn what_is_not_served_is_refused_by_the_rpc_layer() {
    let mut scene = Scene::new();
    assert_eq!(scene.call_program(NFS, 3, 0, &[]), refused(&[1]), "another program");
    for vers in [0, 1, 5] {
        assert_eq!(scene.call(vers, 0, &[]), refused(&[2, 2, 4]), "version {vers}");
    }
    for (vers, proc) in [(2, 6), (3, 9), (3, 12), (4, 13), (4, u32::MAX)] {
        assert_eq!(scene.call(vers, proc, &[]), refused(&[3]), "version {vers}, {proc}");
    }
    for (vers, proc) in [(2, GET), (3, GET), (4, GET), (4, 7), (4, 8), (4, 11)] {
        assert_eq!(scene.call(vers, proc, &[0, 0, 0]), refused(&[4]), "version {vers}, {proc}");
    }
    assert_eq!(scene.call(2, NULL, &[0; 4]), refused(&[4]), "arguments where none belong");
    let rpc_3 = words(&[XID, 0, 3, 100_000, 2, 0, 0, 0, 0, 0]);
    assert_eq!(scene.record(&rpc_3), words(&[XID, 1, 1, 0, 2, 2]));
}

#[test]
fn what_is_no_call_is_not_answered() {
    let mut scene = Scene::new();
    // Not even a reply: two portmappers must not talk to each other for ever.
    for record in [&b""[..], b"x", &words(&[XID, 1, 0, 0, 0, 0]), &words(&[XID, 0])] {
        assert_eq!(scene.record(record), SILENCE);
    }
}

#[test]
fn any_bytes_are_stood_and_no_reply_is_long() {
    const HOSTILE: [u32; 6] = [0, 1, 6, 255, 0xffff_fff0, u32::MAX];
    let rpcb = wire(&[Word(NFS), Word(3), Text("tcp"), Text("0.0.0.0.8.1"), Text("0")]);
    for mut scene in [Scene::new(), Scene::local()] {
        for (vers, proc) in (2..5).flat_map(|vers| (0..14).map(move |proc| (vers, proc))) {
            let header = words(&[XID, 0, 2, 100_000, vers, proc, 0, 0, 0, 0]);
            let call = [&header[..], &rpcb].concat();
            for at in (0..call.len()).step_by(4) {
                for word in HOSTILE {
                    let mut call = call.clone();
                    call[at..at + 4].copy_from_slice(&word.to_be_bytes());
                    assert!(scene.record(&call).len() < 4096);
                }
                scene.record(&call[..at]);
                scene.record(&call[..at + 3]);
            }
        }
    }
}
