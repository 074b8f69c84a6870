//! On a host of its own: with the real rpcbind, without one, and seen by the real rpcinfo.
#![allow(missing_docs, clippy::unwrap_used)]

mod calls;
mod namespace;

use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hayase_portmap::{
    Announced, Error, Listener, Protocol, Registration, Rpcbind, Service, announce,
};

use namespace::{alone, skip, text};

const NFS: u32 = 100_003;
const MOUNT: u32 = 100_005;
const SOCKET: &str = "/run/rpcbind.sock";

/// A program that ends with the test.
struct Daemon(Child);

impl Daemon {
    fn start(program: &str, args: &[&str]) -> Self {
        let null = Stdio::null;
        let child = Command::new(program).args(args).stdout(null()).stderr(null()).spawn().unwrap();
        Daemon(child)
    }

    fn rpcbind() -> Self {
        let daemon = Daemon::start("rpcbind", &["-f"]);
        until("rpcbind listens", || {
            UnixStream::connect(SOCKET).is_ok() && TcpStream::connect("127.0.0.1:111").is_ok()
        });
        daemon
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
        // Like a reboot: a socket without a program would only be refused.
        drop(std::fs::remove_file(SOCKET));
    }
}

fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never came: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn rpcinfo(args: &[&str]) -> String {
    let output = Command::new("rpcinfo").args(args).output().unwrap();
    assert!(output.status.success(), "rpcinfo {args:?}: {}", text(&output));
    text(&output)
}

/// The lines of a listing, each with its words separated by one space.
fn lines(listing: &str) -> Vec<String> {
    let line = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    listing.lines().map(line).collect()
}

#[track_caller]
fn assert_lists(listing: &str, expected: &[&str]) {
    for line in expected {
        assert!(lines(listing).iter().any(|l| l.starts_with(line)), "no {line:?} in\n{listing}");
    }
}

fn services() -> Vec<Service> {
    [
        Service::everywhere(NFS, 3, Protocol::Tcp, 2049),
        Service::everywhere(MOUNT, 3, Protocol::Tcp, 20048),
        Service::everywhere(MOUNT, 3, Protocol::Udp, 20048),
    ]
    .concat()
}

fn by_rpcbind(announced: Announced) -> Registration {
    match announced {
        Announced::Rpcbind(registration) => registration,
        other => panic!("not by rpcbind: {other:?}"),
    }
}

#[test]
fn rpcbind_is_told_and_untold() {
    alone("rpcbind_is_told_and_untold", || {
        let _rpcbind = Daemon::rpcbind();
        let before = rpcinfo(&[]);
        let registration = by_rpcbind(announce(&services()));
        assert_eq!(registration.services(), services());
        assert!(registration.refused().is_empty());
        assert_lists(
            &rpcinfo(&["-p"]),
            &["100003 3 tcp 2049", "100005 3 tcp 20048", "100005 3 udp 20048"],
        );
        let listing = rpcinfo(&[]);
        assert_lists(&listing, &["100003 3 tcp 0.0.0.0.8.1", "100003 3 tcp6 ::.8.1"]);
        let registered = lines(&listing).into_iter().find(|line| line.starts_with("100003"));
        assert!(registered.is_some_and(|line| line.ends_with("superuser")), "{listing}");
        registration.withdraw().unwrap();
        assert_eq!(rpcinfo(&[]), before);
        drop(by_rpcbind(announce(&services())));
        assert_eq!(rpcinfo(&[]), before);
    });
}

#[test]
fn what_rpcbind_forgot_is_told_again() {
    alone("what_rpcbind_forgot_is_told_again", || {
        let rpcbind = Daemon::rpcbind();
        let registration = by_rpcbind(announce(&services()));
        drop(rpcbind);
        assert!(matches!(registration.refresh(), Err(Error::NotRunning { .. })));
        let _rpcbind = Daemon::rpcbind();
        assert!(!rpcinfo(&["-p"]).contains("100003"));
        registration.refresh().unwrap();
        registration.refresh().unwrap();
        assert_lists(&rpcinfo(&["-p"]), &["100003 3 tcp 2049"]);
    });
}

#[test]
fn a_living_server_keeps_its_registration_and_a_dead_one_does_not() {
    alone("a_living_server_keeps_its_registration_and_a_dead_one_does_not", || {
        let _rpcbind = Daemon::rpcbind();
        let [tcp, _] = Service::everywhere(NFS, 3, Protocol::Tcp, 2050);
        let [udp, _] = Service::everywhere(MOUNT, 3, Protocol::Udp, 20049);
        let mut other = Rpcbind::local().unwrap();
        for service in [tcp, udp] {
            other.register(&service).unwrap();
        }
        let living = (TcpListener::bind(tcp.addr).unwrap(), UdpSocket::bind(udp.addr).unwrap());

        let registration = by_rpcbind(announce(&services()));
        let refused = registration.refused();
        assert_eq!(refused.len(), 2, "{refused:?}");
        assert!(matches!(&refused[0], Error::Taken { service, uaddr, owner }
            if service.prog == NFS && uaddr == "0.0.0.0.8.2" && owner == "superuser"));
        assert_eq!(registration.services().len(), 4);
        drop(registration);
        let listing = rpcinfo(&["-p"]);
        assert_lists(&listing, &["100003 3 tcp 2050", "100005 3 udp 20049"]);

        drop(living);
        let registration = by_rpcbind(announce(&services()));
        assert_eq!(registration.refused().len(), 0);
        assert_lists(&rpcinfo(&["-p"]), &["100003 3 tcp 2049", "100005 3 udp 20048"]);

        // Someone takes the registration over in turn: what is theirs stays.
        let mut other = Rpcbind::local().unwrap();
        other.unregister(&services()[0]).unwrap();
        other.register(&tcp).unwrap();
        registration.withdraw().unwrap();
        let listing = rpcinfo(&["-p"]);
        assert_lists(&listing, &["100003 3 tcp 2050"]);
        assert!(!listing.contains("100005"), "{listing}");
    });
}

#[test]
fn without_the_socket_rpcbind_is_told_over_the_loopback_interface() {
    alone("without_the_socket_rpcbind_is_told_over_the_loopback_interface", || {
        let _rpcbind = Daemon::rpcbind();
        std::fs::remove_file(SOCKET).unwrap();
        let registration = by_rpcbind(announce(&services()));
        assert_eq!(registration.services(), services());
        let listing = rpcinfo(&["-p", "127.0.0.1"]);
        assert_lists(&listing, &["100003 3 tcp 2049", "100005 3 udp 20048"]);
        registration.withdraw().unwrap();
        assert!(!rpcinfo(&["-p", "127.0.0.1"]).contains("100003"));
    });
}

#[test]
fn an_rpcbind_that_hangs_does_not_hang_the_server() {
    alone("an_rpcbind_that_hangs_does_not_hang_the_server", || {
        let start = Instant::now();
        let hanging = TcpListener::bind("127.0.0.1:111").unwrap();
        assert!(matches!(announce(&services()), Announced::Nowhere(Error::Io { .. })));
        drop(hanging);
        let _hanging = UnixListener::bind(SOCKET).unwrap();
        let Announced::Nowhere(error) = announce(&services()) else { panic!("announced") };
        assert_eq!(error.to_string(), "rpcbind at /run/rpcbind.sock: no answer in time");
        assert!(start.elapsed() < Duration::from_secs(10));
    });
}

#[test]
fn without_rpcbind_the_own_portmapper_serves_rpcinfo() {
    alone("without_rpcbind_the_own_portmapper_serves_rpcinfo", || {
        let Announced::OwnPortmapper(registration) = announce(&services()) else {
            panic!("no own portmapper")
        };
        assert_eq!(registration.services(), services());
        assert_lists(
            &rpcinfo(&["-p", "127.0.0.1"]),
            &["100000 2 tcp 111", "100000 4 udp 111", "100003 3 tcp 2049", "100005 3 udp 20048"],
        );
        assert_lists(&rpcinfo(&["-s", "127.0.0.1"]), &["100000 2,3,4", "100003 3 tcp6,tcp nfs"]);
        let list = rpcinfo(&["-l", "127.0.0.1", "100005", "3"]);
        assert_lists(&list, &["100005 3 inet/udp/clts 127.0.0.1.78.80"]);
        assert_lists(&rpcinfo(&["-T", "udp", "127.0.0.1", "100000", "2"]), &["program 100000"]);
        assert_lists(&rpcinfo(&["-T", "tcp6", "::1", "100000", "4"]), &["program 100000"]);
        assert_lists(
            &rpcinfo(&["-T", "tcp", "127.0.0.1", "100000"]),
            &["program 100000 version 2 ready", "program 100000 version 4 ready"],
        );
        let statistics = rpcinfo(&["-m", "127.0.0.1"]);
        assert!(statistics.contains("PORTMAP (version 2) statistics"), "{statistics}");

        drop(registration);
        until("port 111 is closed", || TcpStream::connect("127.0.0.1:111").is_err());
        Listener::bind(111).unwrap();
    });
}

#[test]
fn a_second_server_registers_with_the_first_ones_portmapper() {
    alone("a_second_server_registers_with_the_first_ones_portmapper", || {
        let Announced::OwnPortmapper(_first) = announce(&services()) else {
            panic!("no own portmapper")
        };
        let more = Service::everywhere(100_021, 4, Protocol::Tcp, 4045);
        let second = by_rpcbind(announce(&more));
        assert_eq!(second.services(), more);
        assert_lists(&rpcinfo(&["-p", "127.0.0.1"]), &["100003 3 tcp 2049", "100021 4 tcp 4045"]);
        second.withdraw().unwrap();
        let listing = rpcinfo(&["-p", "127.0.0.1"]);
        assert!(!listing.contains("100021") && listing.contains("100003"), "{listing}");
    });
}

#[test]
fn statd_registers_with_the_own_portmapper() {
    const TEST: &str = "statd_registers_with_the_own_portmapper";
    const STATD: &str = "/usr/sbin/rpc.statd";
    if !Path::new(STATD).exists() {
        return skip(TEST, "rpc.statd is not installed");
    }
    alone(TEST, || {
        let Announced::OwnPortmapper(registration) = announce(&services()) else {
            panic!("no own portmapper")
        };
        std::fs::create_dir_all("/run/statd/sm").unwrap();
        let args = ["-F", "--no-notify", "--state-directory-path", "/run/statd"];
        let statd = Daemon::start(STATD, &args);
        let listed = || lines(&rpcinfo(&["-p", "127.0.0.1"]));
        for protocol in ["100024 1 udp", "100024 1 tcp"] {
            until(protocol, || listed().iter().any(|line| line.starts_with(protocol)));
        }
        drop(statd);
        drop(registration);
    });
}
