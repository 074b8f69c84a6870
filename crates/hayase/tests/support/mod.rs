//! A server in a child process, and a client of a few lines.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use hayase_rpc::{
    AuthSysArgs, CallHeader, OpaqueAuth, Refusal, decode_reply, encode_call, flavor, record,
};
use hayase_xdr::{Array, Encode, Opaque, Reader, to_vec};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(20);

/// `hayase` with these arguments.
pub fn hayase(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hayase"));
    command.args(args);
    command
}

/// Runs a command that is to end by itself.
pub fn output(args: &[&str]) -> Output {
    hayase(args).output().unwrap()
}

/// What an output said on standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// A server on a free port of the loopback address, with a state directory of its own.
pub struct Server {
    child: Child,
    state: Option<TempDir>,
}

impl Server {
    /// Starts a server and waits until it answers.
    pub fn start(args: &[&str]) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), args, None)
    }

    /// The same in a state directory that is there, perhaps as another user, who then owns it.
    pub fn start_in(state: TempDir, args: &[&str], uid: Option<u32>) -> Self {
        let mut command = hayase(&["serve", "--port", "0", "--listen", "127.0.0.1"]);
        command.args(["--no-portmap", "--state-dir"]).arg(state.path()).args(args);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(uid) = uid {
            std::os::unix::fs::chown(state.path(), Some(uid), Some(uid)).unwrap();
            command.uid(uid).gid(uid);
        }
        Self::wait_for(state, &mut command)
    }

    /// Runs this command, which is a server with that state directory, and waits until it answers.
    pub fn wait_for(state: TempDir, command: &mut Command) -> Self {
        let child = command.spawn().unwrap();
        let mut server = Server { child, state: Some(state) };
        let deadline = Instant::now() + PATIENCE;
        while server.status().is_none() {
            assert!(server.child.try_wait().unwrap().is_none(), "ended: {}", server.log());
            assert!(Instant::now() < deadline, "does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
        server
    }

    pub fn state_dir(&self) -> &str {
        self.state.as_ref().unwrap().path().to_str().unwrap()
    }

    /// What `hayase status --json` says, if the server answers.
    pub fn status(&self) -> Option<serde_json::Value> {
        let output = output(&["status", "--json", "--state-dir", self.state_dir()]);
        output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap())
    }

    pub fn address(&self) -> SocketAddr {
        self.status().unwrap()["addresses"][0].as_str().unwrap().parse().unwrap()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// Waits for the end: the exit code, all that was printed, and the state directory.
    pub fn wait(mut self, within: Duration) -> (Option<i32>, String, TempDir) {
        let deadline = Instant::now() + within;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status.code(), self.log(), self.state.take().unwrap());
            }
            assert!(Instant::now() < deadline, "did not end within {within:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// What an ended server has printed.
    fn log(&mut self) -> String {
        let mut log = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut log).unwrap();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that makes one call at a time, as uid and gid 0.
pub struct Client(TcpStream);

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Client(stream)
    }

    /// Makes a call and returns the bytes of its result.
    pub fn call(&mut self, prog: u32, proc: u32, args: &impl Encode) -> Vec<u8> {
        let reply = self.ask(prog, proc, args);
        let mut reader = Reader::new(&reply);
        decode_reply(&mut reader).unwrap().1.unwrap();
        reader.rest().to_vec()
    }

    /// Makes a call without arguments that is refused, and returns why.
    pub fn refused(&mut self, prog: u32) -> Refusal {
        let reply = self.ask(prog, 0, &());
        decode_reply(&mut Reader::new(&reply)).unwrap().1.unwrap_err()
    }

    /// Makes a call and returns the reply.
    fn ask(&mut self, prog: u32, proc: u32, args: &impl Encode) -> Vec<u8> {
        let body = to_vec(&AuthSysArgs {
            stamp: 0,
            machine_name: Opaque(b"test"),
            uid: 0,
            gid: 0,
            gids: Array(Vec::new()),
        });
        let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(&body) };
        let header = CallHeader { xid: 1, prog, vers: 3, proc, cred, verf: OpaqueAuth::NONE };
        let mut wire = Vec::new();
        let start = record::begin(&mut wire);
        encode_call(&header, &mut wire);
        args.encode(&mut wire);
        let len = wire.len() - start;
        record::end(&mut wire, start, len);
        self.0.write_all(&wire).unwrap();

        let mut mark = [0; 4];
        self.0.read_exact(&mut mark).unwrap();
        let mut reply = vec![0; record::Mark::decode(mark).len];
        self.0.read_exact(&mut reply).unwrap();
        reply
    }
}

/// A directory that every user may read.
pub fn public_dir() -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    open_to_all(dir.path());
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

pub fn open_to_all(path: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o777)).unwrap();
}
