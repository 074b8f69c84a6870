//! All shards together.

use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use hayase_buf::ReplyBuf;
use hayase_rpc::record::MARK_BYTES;

use crate::connection::{Core, TURN_BYTES};
use crate::inbox::{Inbox, Message};
use crate::input::Large;
use crate::listener::Spreader;
use crate::shard::{Acceptor, Shard};
use crate::workers::Workers;
use crate::{Limits, Service};

/// How many threads serve, and within which limits.
#[derive(Clone, Debug)]
pub struct Config {
    /// Event loops; one per core is best.
    pub shards: usize,
    /// Threads for what may wait, at most; they are started when they are needed.
    pub threads: usize,
    /// Bounds on what peers can make us hold.
    pub limits: Limits,
}

/// A running server.
#[derive(Debug)]
pub struct Transport {
    inboxes: Vec<Arc<Inbox>>,
    shards: Vec<JoinHandle<()>>,
    workers: Arc<Workers>,
    connections: Arc<AtomicUsize>,
}

impl Transport {
    /// Starts to serve what comes in at the listeners (see [`crate::bind`]).
    pub fn start<S: Service>(
        config: &Config,
        service: &Arc<S>,
        listeners: Vec<TcpListener>,
    ) -> io::Result<Self> {
        let limits = Arc::new(config.limits.clone());
        assert!(
            limits.small_record_bytes + MARK_BYTES <= TURN_BYTES,
            "a small record must fit what one turn receives"
        );
        let pool = Large::pool(&limits);
        let workers = Arc::new(Workers::start(config.threads, limits.queued_jobs)?);
        let connections = Arc::new(AtomicUsize::new(0));
        let inboxes = (0..config.shards)
            .map(|_| Inbox::new().map(Arc::new))
            .collect::<io::Result<Vec<_>>>()?;
        let mut acceptor = Some(Acceptor {
            listeners,
            spreader: Spreader::new(config.shards),
            shards: inboxes.clone(),
        });
        let mut shards = Vec::new();
        for (number, inbox) in inboxes.iter().enumerate() {
            let core = Core {
                service: Arc::clone(service),
                workers: Arc::clone(&workers),
                inbox: Arc::clone(inbox),
                pool: Arc::clone(&pool),
                limits: Arc::clone(&limits),
                receive_buffer: vec![0; TURN_BYTES].into(),
                batch: ReplyBuf::new(),
                in_flight: 0,
                now_secs: 0,
                moved: 0,
                others_wait: false,
            };
            let mut shard = Shard::new(core, acceptor.take(), Arc::clone(&connections))?;
            let thread = std::thread::Builder::new().name(format!("shard-{number}"));
            shards.push(thread.spawn(move || shard.run())?);
        }
        Ok(Transport { inboxes, shards, workers, connections })
    }

    /// Tells how many connections are open, also from other threads.
    pub fn connection_counter(&self) -> Arc<dyn Fn() -> usize + Send + Sync> {
        let connections = Arc::clone(&self.connections);
        Arc::new(move || connections.load(Ordering::Relaxed))
    }

    /// Asks all shards, also from other threads, whether they still run; false if not all have
    /// answered in the given time. Shards that have stopped do not answer.
    pub fn pulse(&self) -> impl Fn(Duration) -> bool + Send + Sync + 'static {
        let inboxes = self.inboxes.clone();
        move |patience| {
            let deadline = Instant::now() + patience;
            let (answer, answers) = sync_channel(inboxes.len());
            for inbox in &inboxes {
                inbox.push(Message::Answer(answer.clone()));
            }
            let left = || deadline.saturating_duration_since(Instant::now());
            inboxes.iter().all(|_| answers.recv_timeout(left()).is_ok())
        }
    }

    /// Takes no more calls, finishes those begun, sends their replies, and closes all connections.
    /// What is not done after `patience` is cut off; then the answer is `false`.
    pub fn stop(mut self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        for inbox in &self.inboxes {
            inbox.push(Message::Stop);
        }
        while Instant::now() < deadline && !self.shards.iter().all(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(5));
        }
        if !self.shards.iter().all(JoinHandle::is_finished) {
            return false;
        }
        for shard in self.shards.drain(..) {
            let _ = shard.join();
        }
        self.workers.stop();
        true
    }
}
