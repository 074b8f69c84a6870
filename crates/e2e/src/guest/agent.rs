//! Serves the host's requests, a thread for each connection.

use std::io::{BufRead, BufReader, Read};
use std::net::{TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal, kill_process_group};

use crate::link::PATH;
use crate::wire::{Frame, GuestSetup, Request, Who, receive_line};

/// Serves until the host says halt.
pub fn serve(setup: &GuestSetup, listener: &TcpListener) -> Result<()> {
    loop {
        let (stream, _) = listener.accept().context("accept on the control link")?;
        let setup = setup.clone();
        thread::spawn(move || {
            if let Err(error) = answer(stream, &setup) {
                eprintln!("guest: {error:#}");
            }
        });
    }
}

fn answer(stream: TcpStream, setup: &GuestSetup) -> Result<()> {
    stream.set_nodelay(true)?;
    // Byte by byte: what follows the first line is for the session's process to read.
    let mut input = BufReader::with_capacity(1, stream.try_clone()?);
    match receive_line(&mut input)?.context("the host hung up")? {
        Request::Run { command, who } => run(&command, &who, setup, stream, input),
        Request::Session { who } => session(&who, setup, stream),
        Request::Halt => {
            super::power_off();
            Ok(())
        }
    }
}

/// A command as `who`, with a home and a temporary directory inside the guest's memory.
fn command_as(who: &Who, setup: &GuestSetup, argv: &[&str]) -> Command {
    let mut command = if who.groups.is_empty() {
        let mut command = Command::new(argv[0]);
        command.args(&argv[1..]);
        if *who != Who::root() {
            command.uid(who.uid).gid(who.gid);
        }
        command
    } else {
        let groups: Vec<String> = who.groups.iter().map(u32::to_string).collect();
        let mut command = Command::new("setpriv");
        command
            .arg(format!("--reuid={}", who.uid))
            .arg(format!("--regid={}", who.gid))
            .arg(format!("--groups={}", groups.join(",")))
            .args(argv);
        command
    };
    command
        .env_clear()
        .env("PATH", PATH)
        .env("HOME", "/run/home")
        .env("TMPDIR", "/run/tmp")
        .env("LC_ALL", "C")
        .env("E2E", &setup.program)
        .env("UML_MODULES", &setup.modules)
        .current_dir("/run/home");
    command
}

fn run(
    command: &str,
    who: &Who,
    setup: &GuestSetup,
    stream: TcpStream,
    input: BufReader<TcpStream>,
) -> Result<()> {
    let output = Arc::new(Mutex::new(stream));
    let spawned = command_as(who, setup, &["/bin/sh", "-c", command])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            send(&output, &Frame::Err(format!("cannot start: {error}\n").into_bytes()))?;
            return send(&output, &Frame::End(127));
        }
    };
    end_with_connection(&child, input);
    let copies = [
        child.stdout.take().map(|from| copy(from, Frame::Out, Arc::clone(&output))),
        child.stderr.take().map(|from| copy(from, Frame::Err, Arc::clone(&output))),
    ];
    let status = child.wait().context("wait for the command")?;
    for copy in copies.into_iter().flatten() {
        copy.join().ok();
    }
    send(&output, &Frame::End(status_number(status)))
}

/// Kills the command's process group when the host hangs up.
fn end_with_connection(child: &Child, mut input: BufReader<TcpStream>) {
    let group = Pid::from_child(child);
    thread::spawn(move || {
        // The host sends nothing more; the read ends when the connection does.
        while input.fill_buf().is_ok_and(|more| !more.is_empty()) {
            let len = input.buffer().len();
            input.consume(len);
        }
        kill_process_group(group, Signal::KILL).ok();
    });
}

fn copy(
    mut from: impl Read + Send + 'static,
    frame: fn(Vec<u8>) -> Frame,
    to: Arc<Mutex<TcpStream>>,
) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(len @ 1..) = from.read(&mut buffer) {
            if send(&to, &frame(buffer[..len].to_vec())).is_err() {
                return;
            }
        }
    })
}

fn send(to: &Mutex<TcpStream>, frame: &Frame) -> Result<()> {
    let mut to = to.lock().unwrap_or_else(PoisonError::into_inner);
    frame.send(&mut *to).context("answer the host")
}

fn status_number(status: ExitStatus) -> i32 {
    status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0))
}

/// A process of its own, since user, working directory and umask belong to a process.
fn session(who: &Who, setup: &GuestSetup, stream: TcpStream) -> Result<()> {
    let input: OwnedFd = stream.try_clone()?.into();
    let output: OwnedFd = stream.into();
    command_as(who, setup, &[&setup.program, "session"])
        .stdin(input)
        .stdout(output)
        .spawn()
        .context("start the session")?
        .wait()
        .context("wait for the session")?;
    Ok(())
}
