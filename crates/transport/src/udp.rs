//! The few programs that are also asked by datagram.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use hayase_buf::ReplyBuf;
use hayase_vfs::Wait;

use crate::service::call;
use crate::{Carrier, Disposition, Service};

/// Largest datagram taken or sent. Larger replies are not sent: the caller has TCP.
const DATAGRAM_BYTES: usize = 8 << 10;
const LOOK_UP: Duration = Duration::from_millis(250);

/// A thread that answers datagrams, one after the other, until it is dropped.
#[derive(Debug)]
pub struct UdpServer {
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl UdpServer {
    /// Starts to answer what comes to `socket`.
    pub fn start<S: Service>(socket: UdpSocket, service: Arc<S>) -> io::Result<Self> {
        socket.set_read_timeout(Some(LOOK_UP))?;
        let stopping = Arc::new(AtomicBool::new(false));
        let stop = Arc::clone(&stopping);
        let thread = std::thread::Builder::new()
            .name("udp".to_owned())
            .spawn(move || serve(&socket, &*service, &stop))?;
        Ok(UdpServer { stopping, thread: Some(thread) })
    }
}

impl Drop for UdpServer {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve<S: Service>(socket: &UdpSocket, service: &S, stop: &AtomicBool) {
    let mut datagram = vec![0; DATAGRAM_BYTES];
    let mut reply = ReplyBuf::new();
    while !stop.load(Ordering::Relaxed) {
        // Errors are time-outs, or about a datagram sent earlier; neither concerns the next one.
        let Ok((len, from)) = socket.recv_from(&mut datagram) else { continue };
        reply.clear();
        let peer = service.connected(from, Carrier::Udp, None);
        let disposition = call(service, &peer, &datagram[..len], Wait::Allowed, &mut reply);
        if disposition == Disposition::Reply && reply.len() <= DATAGRAM_BYTES {
            let _ = socket.send_to(reply.bytes(), from);
        }
    }
}
