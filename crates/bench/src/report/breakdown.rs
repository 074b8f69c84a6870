//! Where the time of operations went.

use serde::{Deserialize, Serialize};

use super::Latency;

/// Where the time of a job's operations went.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Breakdown {
    /// From when they were meant to start until they were handed to the kernel.
    pub queue: Latency,
    /// From then until they were done: in network and server or, on a `file://` target, in the kernel.
    pub beyond: Latency,
    /// Whether that was this machine's kernel.
    pub is_local: bool,
    /// What the server told of its part, operation by operation; `None` if it told nothing.
    pub told: Option<Told>,
}

/// The parts of what is beyond the kernel, as far as the server told; each has as many entries as there
/// were operations of which it did.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// What is left for the network, with both hosts' sockets.
    pub network: Latency,
    /// At the server, until it began with it.
    pub waiting: Latency,
    /// At the server, without disks.
    pub server: Latency,
    /// Waiting for the server's disks.
    pub disk: Latency,
}

/// One part.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part<'a> {
    /// A short name.
    pub name: &'static str,
    /// What it is.
    pub what: &'static str,
    /// How long it took.
    pub latency: &'a Latency,
}

impl Breakdown {
    /// All parts, in the order in which an operation meets them; they make its whole latency.
    pub fn parts(&self) -> Vec<Part<'_>> {
        let part = |name, what, latency| Part { name, what, latency };
        let mut parts = vec![part("queue", "here, until it was sent", &self.queue)];
        match &self.told {
            _ if self.is_local => parts.push(part("kernel", "file system and disk", &self.beyond)),
            None => parts.push(part(
                "wire",
                "network and server: the server told nothing",
                &self.beyond,
            )),
            Some(told) => parts.extend([
                part("network", "and both hosts' sockets", &told.network),
                part("waiting", "at the server, until it began", &told.waiting),
                part("server", "its work, without disks", &told.server),
                part("disk", "waiting for the server's disks", &told.disk),
            ]),
        }
        parts
    }

    /// Adds what someone else has measured.
    pub fn merge(&mut self, other: &Breakdown) {
        self.queue.merge(&other.queue);
        self.beyond.merge(&other.beyond);
        self.is_local |= other.is_local;
        if let Some(other) = &other.told {
            let own = self.told.get_or_insert_with(Told::default);
            own.network.merge(&other.network);
            own.waiting.merge(&other.waiting);
            own.server.merge(&other.server);
            own.disk.merge(&other.disk);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latency(nanos: u64) -> Latency {
        Latency { count: 1, max_nanos: nanos, buckets: vec![(nanos, 1)], ..Latency::default() }
    }

    #[test]
    fn what_the_server_told_takes_the_place_of_the_whole() {
        let names = |breakdown: &Breakdown| {
            breakdown.parts().iter().map(|part| part.name).collect::<Vec<_>>()
        };
        let mut all = Breakdown { beyond: latency(9), ..Breakdown::default() };
        assert_eq!(names(&all), ["queue", "wire"]);
        let told = Told { disk: latency(4), ..Told::default() };
        all.merge(&Breakdown { told: Some(told.clone()), ..Breakdown::default() });
        all.merge(&Breakdown { told: Some(told), ..Breakdown::default() });
        assert_eq!(names(&all), ["queue", "network", "waiting", "server", "disk"]);
        assert_eq!(all.told.unwrap().disk.count, 2);
        let local = Breakdown { is_local: true, ..Breakdown::default() };
        assert_eq!(names(&local), ["queue", "kernel"]);
    }
}
