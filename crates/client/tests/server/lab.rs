//! A whole server in this process, and a proxy in front of it that breaks connections.

use std::fs;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use hayase_client::{Mount, Options, Url, Version};
use tempfile::TempDir;

/// A server that can be restarted on its port.
pub struct Lab {
    server: Option<hayase_server::Server>,
    options: hayase_server::Options,
    pub export: PathBuf,
    address: SocketAddr,
    _dirs: TempDir,
}

impl Lab {
    pub fn start() -> Self {
        Self::with(|_| {})
    }

    pub fn with(adapt: impl FnOnce(&mut hayase_server::Options)) -> Self {
        let dirs = tempfile::tempdir().unwrap();
        let export = dirs.path().canonicalize().unwrap().join("export");
        fs::create_dir(&export).unwrap();
        // Root is squashed.
        fs::set_permissions(&export, fs::Permissions::from_mode(0o777)).unwrap();
        let mut options = hayase_server::Options {
            dirs: vec![export.clone()],
            listen: vec!["127.0.0.1".parse().unwrap()],
            port: 0,
            state_dir: Some(dirs.path().join("state")),
            portmap: false,
            ..hayase_server::Options::default()
        };
        adapt(&mut options);
        let server = start(&options);
        let address = server.addresses()[0];
        options.port = address.port();
        Lab { server: Some(server), options, export, address, _dirs: dirs }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Stops the server, waits, and starts it again.
    pub fn restart(&mut self, pause: Duration) {
        self.stop();
        thread::sleep(pause);
        self.start_again();
    }

    pub fn stop(&mut self) {
        assert!(self.server.take().unwrap().stop(), "the server leaves calls behind");
    }

    pub fn start_again(&mut self) {
        self.server = Some(start(&self.options));
    }

    pub fn url_at(&self, address: SocketAddr, version: Version) -> Url {
        format!("nfs://{address}{}?version={version}", self.export.display()).parse().unwrap()
    }

    pub fn url(&self, version: Version) -> Url {
        self.url_at(self.address, version)
    }

    pub fn mount(&self, version: Version) -> Mount {
        Mount::new(&self.url(version), &options()).unwrap()
    }
}

/// Starts a server; again if somebody else has its port for the moment.
fn start(options: &hayase_server::Options) -> hayase_server::Server {
    let mut tries = 0;
    loop {
        match hayase_server::Server::start(options.clone()) {
            Ok(server) => return server,
            Err(error) if tries == 100 => panic!("the server does not start: {error:#}"),
            Err(_) => thread::sleep(Duration::from_millis(50)),
        }
        tries += 1;
    }
}

pub fn options() -> Options {
    Options { timeout: Some(Duration::from_secs(30)), ..Options::default() }
}

/// Runs a test for each version.
pub fn for_each_version(test: impl Fn(Version)) {
    for version in Version::ALL {
        eprintln!("NFSv{version}");
        test(version);
    }
}

/// Passes bytes on, and cuts connections when told so or after so many bytes.
pub struct Proxy {
    pub address: SocketAddr,
    shared: Arc<Cuts>,
}

#[derive(Default)]
struct Cuts {
    open: Mutex<Vec<TcpStream>>,
    accepted: AtomicUsize,
    /// Bytes that a connection brings to the client before it is cut; 0 for no end.
    budget: AtomicUsize,
}

impl Proxy {
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Cuts::default());
        let cuts = Arc::clone(&shared);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                cuts.accepted.fetch_add(1, Ordering::SeqCst);
                let Ok(server) = TcpStream::connect(server) else { continue };
                let mut open = cuts.open.lock().unwrap();
                open.push(client.try_clone().unwrap());
                open.push(server.try_clone().unwrap());
                drop(open);
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || pass(&from, &to, usize::MAX));
                let budget = match cuts.budget.load(Ordering::SeqCst) {
                    0 => usize::MAX,
                    // No two connections are cut at the same place.
                    budget => budget + 1013 * cuts.accepted.load(Ordering::SeqCst),
                };
                thread::spawn(move || pass(&server, &client, budget));
            }
        });
        Proxy { address, shared }
    }

    /// Cuts every connection, wherever in a message it is.
    pub fn cut(&self) {
        for stream in self.shared.open.lock().unwrap().drain(..) {
            let _ = stream.shutdown(Shutdown::Both);
        }
    }

    /// From now on, cuts each new connection when it has brought so many bytes to the client.
    pub fn cut_after(&self, bytes: usize) {
        self.shared.budget.store(bytes, Ordering::SeqCst);
    }

    pub fn accepted(&self) -> usize {
        self.shared.accepted.load(Ordering::SeqCst)
    }
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, mut budget: usize) {
    let mut bytes = vec![0; 64 << 10];
    while budget > 0 {
        let most = bytes.len().min(budget);
        match from.read(&mut bytes[..most]) {
            Ok(0) | Err(_) => break,
            Ok(count) if to.write_all(&bytes[..count]).is_err() => break,
            Ok(count) => budget -= count,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
