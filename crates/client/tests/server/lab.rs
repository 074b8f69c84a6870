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
use hayase_proto::mount;
use hayase_rpc::record::{begin, end};
use hayase_rpc::{CallHeader, OpaqueAuth, decode_reply, encode_call};
use hayase_xdr::Reader;
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
        if let Some(lab) = Self::foreign() {
            return lab;
        }
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

    /// Another server of this host, if `NFS_TEST_SERVER` names one: address and exported directory, as in
    /// `127.0.0.1:2049/srv/test`. It has to let clients write as this user.
    fn foreign() -> Option<Self> {
        let named = std::env::var("NFS_TEST_SERVER").ok()?;
        let (address, path) = named.split_at(named.find('/').unwrap());
        let options = hayase_server::Options::default();
        let (server, address, dirs) =
            (None, address.parse().unwrap(), tempfile::tempdir().unwrap());
        let export = tempfile::tempdir_in(path).unwrap().keep();
        fs::set_permissions(&export, fs::Permissions::from_mode(0o777)).unwrap();
        Some(Lab { server, options, export, address, _dirs: dirs })
    }

    /// Whether it is Hayase, in this process.
    pub fn is_own(&self) -> bool {
        self.server.is_some()
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

/// How many bytes the server's list of mounts has (RFC 1813 §5.2.2): 4 if nobody is in it.
pub fn mount_list_bytes(server: SocketAddr) -> usize {
    let (prog, vers) = (mount::PROGRAM, mount::VERSION_3);
    let (cred, verf) = (OpaqueAuth::NONE, OpaqueAuth::NONE);
    let header = CallHeader { xid: 1, prog, vers, proc: mount::Proc::Dump.into(), cred, verf };
    let mut call = Vec::new();
    let start = begin(&mut call);
    encode_call(&header, &mut call);
    let len = call.len() - start;
    end(&mut call, start, len);
    let mut stream = TcpStream::connect(server).unwrap();
    stream.write_all(&call).unwrap();
    let reply = record(&stream).unwrap();
    let mut reader = Reader::new(&reply[4..]);
    assert_eq!(decode_reply(&mut reader), Ok((1, Ok(()))));
    reader.rest().len()
}

/// Reads a record, in one fragment as Hayase writes it, with its mark.
fn record(mut from: &TcpStream) -> std::io::Result<Vec<u8>> {
    let mut record = vec![0; 4];
    from.read_exact(&mut record)?;
    let len = u32::from_be_bytes(record[..4].try_into().unwrap()) & 0x7fff_ffff;
    record.resize(4 + len as usize, 0);
    from.read_exact(&mut record[4..])?;
    Ok(record)
}

/// What a [`Liar`] makes of a reply, mark included; nothing to close the connection.
pub type Lie = Box<dyn Fn(Vec<u8>) -> Option<Vec<u8>> + Send>;

/// A proxy that passes on other replies than the server gave, once it is told to lie.
pub struct Liar {
    pub address: SocketAddr,
    lie: Arc<Mutex<Option<Lie>>>,
}

impl Liar {
    pub fn before(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let lie = Arc::new(Mutex::new(None::<Lie>));
        let lies = Arc::clone(&lie);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let Ok(server) = TcpStream::connect(server) else { continue };
                client.set_nodelay(true).unwrap();
                let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || pass(&from, &to, usize::MAX));
                let lies = Arc::clone(&lies);
                thread::spawn(move || {
                    while let Ok(truth) = record(&server) {
                        let told = match &*lies.lock().unwrap() {
                            Some(lie) => lie(truth),
                            None => Some(truth),
                        };
                        let Some(told) = told else { break };
                        if (&client).write_all(&told).is_err() {
                            break;
                        }
                    }
                    let _ = client.shutdown(Shutdown::Both);
                    let _ = server.shutdown(Shutdown::Both);
                });
            }
        });
        Liar { address, lie }
    }

    pub fn tell(&self, lie: impl Fn(Vec<u8>) -> Option<Vec<u8>> + Send + 'static) {
        *self.lie.lock().unwrap() = Some(Box::new(lie));
    }

    pub fn tell_the_truth(&self) {
        *self.lie.lock().unwrap() = None;
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
