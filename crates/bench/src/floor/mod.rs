//! Floors: bare loops that answer NFSv3 calls with the right bytes and nothing else. No handles,
//! permissions, attributes or locks; one thread, epoll, batched replies. What a server takes
//! above the floor is its own.

mod answer;
mod aside;
mod connection;
mod records;
mod sink;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;

use anyhow::Result;
use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use answer::Answers;
pub use answer::{Kind, Subject};
use connection::Connection;

const EVENTS: usize = 256;
/// How often a floor asks whether to stop.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };
/// epoll's number for the listener.
const LISTENER: u64 = u64::MAX;

/// A floor that listens.
#[derive(Debug)]
pub struct Floor {
    listener: TcpListener,
    answers: Answers,
}

impl Floor {
    /// Listens.
    pub fn bind(address: SocketAddr, subject: Subject) -> io::Result<Self> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Floor { listener, answers: Answers::new(subject) })
    }

    /// Where it listens.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until it is told to stop.
    pub fn serve(self, stop: impl Fn() -> bool) -> Result<()> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let listener = epoll::EventData::new_u64(LISTENER);
        epoll::add(&epoll, &self.listener, listener, epoll::EventFlags::IN)?;
        let mut connections: Vec<Option<Connection>> = Vec::new();
        let mut events = Vec::with_capacity(EVENTS);
        while !stop() {
            events.clear();
            match epoll::wait(&epoll, rustix::buffer::spare_capacity(&mut events), Some(&TICK)) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(errno) => return Err(errno.into()),
            }
            for event in &events {
                if event.data.u64() == LISTENER {
                    self.accept(&epoll, &mut connections)?;
                    continue;
                }
                let Some(place) = connections.get_mut(event.data.u64() as usize) else { continue };
                let Some(connection) = place else { continue };
                // Whatever ends a connection, the others go on.
                if connection.turn(&self.answers).is_err() {
                    *place = None;
                }
            }
        }
        Ok(())
    }

    fn accept(&self, epoll: &OwnedFd, connections: &mut Vec<Option<Connection>>) -> Result<()> {
        while let Ok((socket, _)) = self.listener.accept() {
            socket.set_nonblocking(true)?;
            socket.set_nodelay(true)?;
            let number = connections.iter().position(Option::is_none).unwrap_or(connections.len());
            let flags = epoll::EventFlags::IN | epoll::EventFlags::OUT | epoll::EventFlags::ET;
            epoll::add(epoll, &socket, epoll::EventData::new_u64(number as u64), flags)?;
            let connection = Some(Connection::new(socket, self.answers.kind()));
            match connections.get_mut(number) {
                Some(place) => *place = connection,
                None => connections.push(connection),
            }
        }
        Ok(())
    }
}
