//! A floor's side of a connection.

use std::collections::VecDeque;
use std::net::TcpStream;

use anyhow::{Result, bail};
use rustix::io::Errno;
use rustix::net::SendFlags;

use super::answer::{Answers, Kind, Span};
use super::records::{Filled, Records};
use super::sink::Sink;

/// A connection, served by turns.
pub(super) struct Connection {
    socket: TcpStream,
    input: Input,
    output: Output,
}

enum Input {
    /// Small calls.
    Calls(Records),
    /// WRITEs.
    Data(Sink),
}

/// Answers that wait to be sent.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    sent: usize,
    /// Spans of the file, each with where in `bytes` it goes.
    spans: VecDeque<(usize, Span)>,
}

impl Connection {
    pub(super) fn new(socket: TcpStream, kind: Kind) -> Self {
        let input = match kind {
            Kind::Write => Input::Data(Sink::new()),
            _ => Input::Calls(Records::new()),
        };
        Connection { socket, input, output: Output::default() }
    }

    /// Does what can be done without waiting; an error ends the connection.
    pub(super) fn turn(&mut self, answers: &Answers) -> Result<()> {
        self.output.send(&self.socket, answers)?;
        loop {
            let filled = match &mut self.input {
                Input::Calls(records) => {
                    let filled = records.fill(&self.socket)?;
                    while let Some(call) = records.next()? {
                        if let Some(span) = answers.answer(call, &mut self.output.bytes)? {
                            self.output.spans.push_back((self.output.bytes.len(), span));
                        }
                    }
                    filled
                }
                Input::Data(sink) => sink.fill(&self.socket, answers, &mut self.output.bytes)?,
            };
            self.output.send(&self.socket, answers)?;
            match filled {
                Filled::More => {}
                Filled::All => return Ok(()),
                Filled::Closed => bail!("the peer has closed the connection"),
            }
        }
    }
}

impl Output {
    fn send(&mut self, socket: &TcpStream, answers: &Answers) -> Result<()> {
        loop {
            let result = match self.spans.front_mut() {
                Some((at, span)) if *at == self.sent => {
                    let mut offset = span.offset;
                    let sent =
                        rustix::fs::sendfile(socket, answers.file()?, Some(&mut offset), span.len);
                    sent.inspect(|&sent| {
                        span.offset += sent as u64;
                        span.len -= sent;
                    })
                }
                Some((at, _)) => {
                    let flags = SendFlags::NOSIGNAL | SendFlags::MORE;
                    let sent = rustix::net::send(socket, &self.bytes[self.sent..*at], flags);
                    sent.inspect(|sent| self.sent += sent)
                }
                None if self.sent < self.bytes.len() => {
                    let sent =
                        rustix::net::send(socket, &self.bytes[self.sent..], SendFlags::NOSIGNAL);
                    sent.inspect(|sent| self.sent += sent)
                }
                None => {
                    self.bytes.clear();
                    self.sent = 0;
                    return Ok(());
                }
            };
            match result {
                Ok(0) => bail!("the file ends before the calls do"),
                Err(Errno::AGAIN) => return Ok(()),
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            if self.spans.front().is_some_and(|(_, span)| span.len == 0) {
                self.spans.pop_front();
            }
        }
    }
}
