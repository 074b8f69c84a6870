//! What many exports cost: how long a reload of 500 exports with 5,000 client rules takes, and
//! whether a call takes longer than with one export. Run it with `--release`.

use std::fmt::Write as _;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hayase_server::{Options, Server};

const EXPORTS: usize = 500;
const RULES: usize = 10;
const ROUNDS: usize = 15;
const CALLS: usize = 20_000;

fn main() -> Result<()> {
    let dir = tempfile::tempdir()?;
    let (few, many) = (start(dir.path(), 1)?, start(dir.path(), EXPORTS)?);
    let mut reloads: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            many.reload().map(|_| start.elapsed())
        })
        .collect::<Result<_>>()?;
    reloads.sort();
    let rules = EXPORTS * RULES;
    println!("reload of {EXPORTS} exports, {rules} rules: median {:?}", reloads[ROUNDS / 2]);
    println!("  slowest {:?}", reloads[ROUNDS - 1]);
    let place = |count: usize| dir.path().join(format!("{count}/{:03}", count - 1));
    let mut few = Caller::new(few.addresses()[0], &place(1))?;
    let mut many = Caller::new(many.addresses()[0], &place(EXPORTS))?;
    let mut ratios = Vec::new();
    for _ in 0..ROUNDS {
        // In turns: what else the machine does hits both.
        ratios.push(many.calls()?.as_secs_f64() / few.calls()?.as_secs_f64());
    }
    ratios.sort_by(f64::total_cmp);
    println!("GETATTR with {EXPORTS} exports takes {:.3} of that with one", ratios[ROUNDS / 2]);
    Ok(())
}

/// A server of so many exports, each a directory of its own with rules of all kinds but names,
/// which would measure the name service.
fn start(dir: &Path, count: usize) -> Result<Server> {
    let root = dir.join(count.to_string());
    let mut text = String::new();
    for export in 0..count {
        let path = root.join(format!("{export:03}"));
        fs::create_dir_all(&path)?;
        write!(text, "{}", path.display())?;
        for rule in 0..RULES - 1 {
            let [a, b] = [export / 256, export % 256];
            match rule % 3 {
                0 => write!(text, " 10.{a}.{b}.{rule}(rw)")?,
                1 => write!(text, " 10.{}.{b}.0/24(rw,all_squash)", a + 2 * rule)?,
                _ => write!(text, " 192.168.{b}.{rule}(ro,no_root_squash)")?,
            }
        }
        writeln!(text, " 127.0.0.0/8(rw,insecure)")?;
    }
    let exports = root.join("exports");
    fs::write(&exports, text)?;
    Server::start(Options {
        exports: vec![exports],
        listen: vec![[127, 0, 0, 1].into()],
        port: 0,
        state_dir: Some(root.join("state")),
        portmap: false,
        ..Options::default()
    })
}

/// A connection that asks for the attributes of one directory.
struct Caller {
    stream: TcpStream,
    call: Vec<u8>,
}

impl Caller {
    fn new(address: SocketAddr, path: &Path) -> Result<Self> {
        let mut caller = Caller { stream: TcpStream::connect(address)?, call: Vec::new() };
        caller.stream.set_nodelay(true)?;
        caller.call = record([100_005, 3, 1], path.as_os_str().as_encoded_bytes());
        let reply = caller.ask()?;
        // The RPC header of 24 bytes, the status, the length of the handle.
        let status = reply.get(24..28).context("a short reply")?;
        ensure!(status == [0; 4], "{} cannot be mounted", path.display());
        let length = usize::from(reply[31]);
        caller.call = record([100_003, 3, 1], &reply[32..32 + length]);
        ensure!(caller.ask()?[24..28] == [0; 4], "no attributes");
        Ok(caller)
    }

    fn calls(&mut self) -> Result<Duration> {
        let start = Instant::now();
        for _ in 0..CALLS {
            self.ask()?;
        }
        Ok(start.elapsed())
    }

    fn ask(&mut self) -> Result<Vec<u8>> {
        self.stream.write_all(&self.call)?;
        let mut mark = [0; 4];
        self.stream.read_exact(&mut mark)?;
        let mut reply = vec![0; (u32::from_be_bytes(mark) & 0x7fff_ffff) as usize];
        self.stream.read_exact(&mut reply)?;
        Ok(reply)
    }
}

/// A record: a call of this program, version and procedure, as root, with one opaque argument.
fn record(target: [u32; 3], argument: &[u8]) -> Vec<u8> {
    let [program, version, procedure] = target;
    // A credential of AUTH_SYS: stamp, no name, uid, gid, no groups; and no verifier.
    let words = [7, 0, 2, program, version, procedure, 1, 20, 0, 0, 0, 0, 0, 0, 0];
    let mut body: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_be_bytes()).collect();
    body.extend((argument.len() as u32).to_be_bytes());
    body.extend(argument);
    body.resize(body.len().next_multiple_of(4), 0);
    let mark = 0x8000_0000 | body.len() as u32;
    [&mark.to_be_bytes()[..], &body].concat()
}
