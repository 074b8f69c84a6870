//! The admin socket: how the command line talks to a running server.
//!
//! A Unix socket in the state directory, for its owner only. Each line is a request in
//! JSON, such as `{"command":"status"}`; each answer is a line, `{"ok":…}` or `{"error":"…"}`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Unlock;
use crate::exports::Place;
use crate::state_dir::admin_socket;

/// What a server can be asked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// How are you? Answered with a [`crate::Status`].
    Status,
    /// Read the exports again. Answered with [`Changes`](crate::Changes), as are the two that
    /// change single exports.
    Reload,
    /// What is exported? Answered with an [`ExportsView`](crate::ExportsView).
    Exports,
    /// Export to one client more, or with other options.
    ExportAdd {
        /// What, to whom.
        place: Place,
        /// Options of exports(5).
        options: String,
        /// Write it down, too, so that it stays.
        persist: bool,
    },
    /// Export to one client less, or to nobody any more.
    ExportRemove {
        /// What, to whom.
        place: Place,
        /// Take it out of what was written down, too.
        persist: bool,
    },
    /// Which settings were in force when the server started? Answered with
    /// [`Effective`](crate::config::Effective)s.
    Settings,
    /// What were clients refused, and why? Answered with texts.
    Denials,
    /// Who is connected? Answered with [`ConnectionView`](crate::view::ConnectionView)s.
    Connections,
    /// Which bounds are there, and how much of each is used? Answered with
    /// [`Bound`](crate::view::Bound)s.
    Limits,
    /// Which NFSv4 clients are there, and which of NFSv3 hold locks? Answered with a
    /// [`Listing`](crate::view::Listing), as are the next three.
    Clients,
    /// Which sessions do they have?
    Sessions,
    /// What have they open, and what is lent to them?
    Opens,
    /// What have they locked?
    Locks,
    /// Take everything from a client, which then has to begin anew.
    Evict {
        /// Its id.
        client: u64,
    },
    /// Release locks of NFSv3 clients. Answered with [`Unlocked`](crate::Unlocked).
    Unlock(Unlock),
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    Ok(Value),
    Error(String),
}

/// The longest request.
const REQUEST_BYTES: u64 = 64 << 10;
const PATIENCE: Duration = Duration::from_secs(10);

/// Asks the server that uses this state directory.
///
/// # Errors
/// No server runs there, or what it answers.
pub fn ask(state_dir: &Path, request: &Request) -> Result<Value> {
    let path = admin_socket(state_dir);
    let mut stream = UnixStream::connect(&path).with_context(|| {
        format!(
            "no server answers at {}: is one running, and with this --state-dir?",
            path.display()
        )
    })?;
    stream.set_read_timeout(Some(PATIENCE))?;
    let mut line = serde_json::to_string(request)?;
    line.push('\n');
    stream.write_all(line.as_bytes())?;
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).context("the server does not answer")?;
    match serde_json::from_str(&answer).context("the server's answer cannot be read")? {
        Answer::Ok(value) => Ok(value),
        Answer::Error(error) => bail!("{error}"),
    }
}

/// Whether a server uses this state directory.
pub fn is_running(state_dir: &Path) -> bool {
    UnixStream::connect(admin_socket(state_dir)).is_ok()
}

/// A thread that answers requests until it is dropped.
#[derive(Debug)]
pub(crate) struct AdminSocket {
    path: PathBuf,
    listener: Arc<UnixListener>,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl AdminSocket {
    /// Listens at `path` and has `answer` answer.
    pub(crate) fn start(
        path: PathBuf,
        answer: impl Fn(Request) -> Result<Value> + Send + 'static,
    ) -> Result<Self> {
        let cannot = || format!("the admin socket {} cannot be made", path.display());
        match fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(error).with_context(cannot);
            }
            // Left by a server that was killed: the state directory's lock is ours.
            _ => {}
        }
        let listener = UnixListener::bind(&path).with_context(|| {
            format!("{}: if the path is long, choose a shorter --state-dir", cannot())
        })?;
        let listener = Arc::new(listener);
        let stopping = Arc::new(AtomicBool::new(false));
        let (listening, stop) = (Arc::clone(&listener), Arc::clone(&stopping));
        let thread = std::thread::Builder::new()
            .name("admin".to_owned())
            .spawn(move || serve(&listening, &answer, &stop))
            .with_context(cannot)?;
        Ok(AdminSocket { path, listener, stopping, thread: Some(thread) })
    }
}

impl Drop for AdminSocket {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        // Wakes the thread out of accept, also if somebody has removed the socket's file.
        let _ = rustix::net::shutdown(&*self.listener, rustix::net::Shutdown::Both);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let _ = fs::remove_file(&self.path);
    }
}

fn serve(listener: &UnixListener, answer: &dyn Fn(Request) -> Result<Value>, stop: &AtomicBool) {
    for stream in listener.incoming() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        // One after the other: requests are short, and a silent peer is given up on.
        match stream {
            Ok(stream) => {
                if let Err(error) = converse(stream, answer) {
                    tracing::debug!("admin socket: {error:#}");
                }
            }
            Err(error) => {
                tracing::warn!("the admin socket cannot take a request: {error}");
                std::thread::sleep(Duration::from_secs(1)); // want of descriptors, say
            }
        }
    }
}

fn converse(stream: UnixStream, answer: &dyn Fn(Request) -> Result<Value>) -> Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(1)))?;
    stream.set_write_timeout(Some(Duration::from_secs(1)))?;
    let mut writer = stream.try_clone()?;
    let mut reader = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if (&mut reader).take(REQUEST_BYTES).read_line(&mut line)? == 0 {
            return Ok(());
        }
        let request = serde_json::from_str(&line).context("not a request");
        let answer = match request.and_then(answer) {
            Ok(value) => Answer::Ok(value),
            Err(error) => Answer::Error(format!("{error:#}")),
        };
        let mut line = serde_json::to_string(&answer)?;
        line.push('\n');
        writer.write_all(line.as_bytes())?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_ends_when_its_file_is_gone() {
        // A server whose state directory had been removed did not obey SIGTERM.
        let dir = tempfile::tempdir().unwrap();
        let socket = AdminSocket::start(admin_socket(dir.path()), |_| Ok(Value::Null)).unwrap();
        dir.close().unwrap();
        drop(socket);
    }

    #[test]
    fn requests_are_answered_and_garbage_is_an_error() {
        let dir = tempfile::tempdir().unwrap();
        let path = admin_socket(dir.path());
        let socket = AdminSocket::start(path.clone(), |request| match request {
            Request::Status => Ok(Value::from("fine")),
            Request::Reload => bail!("line 3 is wrong"),
            other => bail!("{other:?} was not asked"),
        })
        .unwrap();
        assert_eq!(ask(dir.path(), &Request::Status).unwrap(), "fine");
        assert_eq!(ask(dir.path(), &Request::Reload).unwrap_err().to_string(), "line 3 is wrong");
        let mut stream = UnixStream::connect(&path).unwrap();
        stream.write_all(b"{\"command\":\"explode\"}\n").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        assert!(answer.starts_with("{\"error\":\"not a request"), "{answer}");
        drop(socket);
        assert!(!path.exists());
        let nobody = ask(dir.path(), &Request::Status).unwrap_err();
        assert!(nobody.to_string().contains("no server answers"), "{nobody}");
    }
}
