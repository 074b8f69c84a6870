//! The agent itself.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};

use super::clock::Clock;
use super::secret::Secret;
use super::session::Session;
use super::{handshake, with_port};
use crate::fleet::Work;

/// Connections at once, of which all but one can only wait or be strangers.
const MAX_CONNECTIONS: usize = 16;

/// An agent that listens.
#[derive(Debug)]
pub struct Agent {
    listener: TcpListener,
    house: Arc<House>,
}

/// What all of an agent's connections share.
#[derive(Debug)]
pub(super) struct House {
    secret: Secret,
    /// Directories below which `file://` targets may lie.
    files: Vec<PathBuf>,
    pub(super) clock: Clock,
    /// Whether a run is under way; two at once would spoil both.
    pub(super) busy: AtomicBool,
    connections: AtomicUsize,
}

impl Agent {
    /// Listens to `HOST[:PORT]`. `file://` targets are run only below the directories `files`.
    pub fn bind(listen: &str, secret: Secret, files: &[PathBuf]) -> Result<Self> {
        let address = with_port(listen);
        let listener =
            TcpListener::bind(&address).with_context(|| format!("listen to {address}"))?;
        let whole = |path: &PathBuf| {
            path.canonicalize().with_context(|| format!("find {}", path.display()))
        };
        let house = House {
            secret,
            files: files.iter().map(whole).collect::<Result<_>>()?,
            clock: Clock::default(),
            busy: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
        };
        Ok(Agent { listener, house: Arc::new(house) })
    }

    /// Where it listens.
    pub fn address(&self) -> Result<SocketAddr> {
        self.listener.local_addr().context("find the own address")
    }

    /// Serves coordinators, one after the other, and says on standard error what happens.
    pub fn serve(&self) -> Result<()> {
        loop {
            let (stream, peer) = match self.listener.accept() {
                Ok(accepted) => accepted,
                // A peer that hung up before it was let in is none of ours.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionAborted => continue,
                Err(error) => return Err(error).context("accept a connection"),
            };
            if self.house.connections.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                self.house.connections.fetch_sub(1, Ordering::Relaxed);
                eprintln!("{peer} is sent away: there are {MAX_CONNECTIONS} connections");
                continue;
            }
            let house = Arc::clone(&self.house);
            std::thread::Builder::new()
                .name("coordinator".to_owned())
                .spawn(move || {
                    match receive(&house, stream) {
                        Ok(()) => eprintln!("{peer} is done"),
                        Err(error) => eprintln!("{peer}: {error:#}"),
                    }
                    house.connections.fetch_sub(1, Ordering::Relaxed);
                })
                .context("start a thread")?;
        }
    }
}

fn receive(house: &House, stream: TcpStream) -> Result<()> {
    let (to, from) = handshake::answer(stream, &house.secret)?;
    Session::new(house, to, from).serve()
}

impl House {
    /// Whether this agent may do that at all.
    pub(super) fn check(&self, work: &Work) -> Result<()> {
        let plan = work.plan()?;
        let Some(path) = work.target.strip_prefix("file://") else { return Ok(()) };
        let whole = std::fs::canonicalize(path).with_context(|| format!("find {path}"))?;
        let inside = self.files.iter().any(|allowed| whole.starts_with(allowed));
        ensure!(
            inside,
            "this agent does not work in {path}; to let it, start it with --files {path}"
        );
        // The engine refuses paths that lead out of the target, but not those that begin anew.
        for job in &plan.jobs {
            let names = [&job.filename, &job.directory].into_iter().flatten();
            let outside = names.flat_map(|names| names.split(':')).find(|n| n.starts_with('/'));
            ensure!(outside.is_none(), "job {}: {outside:?} is not below {path}", job.name);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_worked_on_where_that_is_allowed_only() {
        let dir = tempfile::tempdir().unwrap();
        let (inside, outside) = (dir.path().join("in"), dir.path().join("out"));
        std::fs::create_dir(&inside).unwrap();
        std::fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let agent = Agent::bind("127.0.0.1:0", secret, std::slice::from_ref(&inside)).unwrap();
        let work = |path: PathBuf, filename: &str| {
            let options = vec![("filename".to_owned(), filename.to_owned())];
            Work::new(&format!("file://{}", path.display()), "a", options)
        };
        agent.house.check(&work(inside.clone(), "data")).unwrap();
        for wrong in [
            work(outside, "data"),
            work(inside.join("../out"), "data"),
            work(inside.join("link"), "data"),
            work(inside.clone(), "/etc/passwd"),
            work(inside.join("missing"), "data"),
        ] {
            assert!(agent.house.check(&wrong).is_err(), "{wrong:?}");
        }
    }
}
