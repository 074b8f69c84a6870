//! What a coordinator and an agent tell each other, once each has proved that it knows the secret.

use serde::{Deserialize, Serialize};

use crate::fleet::{Event, Work};

/// To an agent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum ToAgent {
    /// What does your clock show?
    Ping,
    /// Lay this out, connect, and say that you are ready.
    Work(Work),
    /// Start what is ready when your clock shows so many ns.
    Start { at_nanos: u64 },
    /// End, and tell what you have.
    Stop { why: String },
    /// Take so many bare TCP streams, and count their bytes.
    Streams { count: u32 },
    /// Nothing; the coordinator is there.
    Alive,
}

/// To a coordinator.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum ToCoordinator {
    /// The clock shows so many ns.
    Pong { at_nanos: u64 },
    /// What happens with the work.
    Event(Event),
    /// The streams are taken at that port of the address that the coordinator has connected to.
    StreamsAt { port: u16 },
    /// They have ended: their bytes, or why they were not counted.
    Streamed(Result<u64, String>),
    /// Nothing; the agent is there.
    Alive,
}
