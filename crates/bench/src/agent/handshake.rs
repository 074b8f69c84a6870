//! How both sides show that they know the secret without saying it: each draws a nonce, and each answers with
//! an HMAC over both that only the other purpose's holder of the secret can make. Nothing but this
//! is understood before.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::frame::{Receiver, Sender, open};
use super::secret::{Nonce, Purpose, Secret, nonce};

/// Changes when old and new do not understand each other.
const PROTOCOL: u32 = 1;
/// How long the other side may take to prove itself.
const PATIENCE: Duration = Duration::from_secs(10);
/// Bytes of a message of someone who has not.
const STRANGER_LIMIT: usize = 1024;
/// Bytes of a message to an agent: a description of jobs.
const TO_AGENT_LIMIT: usize = 4 << 20;
/// Bytes of a message to a coordinator: results with their distributions.
const TO_COORDINATOR_LIMIT: usize = 64 << 20;

#[derive(Debug, Serialize, Deserialize)]
struct Hello {
    protocol: u32,
    nonce: Nonce,
}

#[derive(Debug, Serialize, Deserialize)]
struct Proof {
    nonce: Nonce,
    proof: Vec<u8>,
}

/// What the agent answers.
#[derive(Debug, Serialize, Deserialize)]
enum Verdict {
    Welcome { proof: Vec<u8> },
    Refused,
}

/// The agent's part.
pub(super) fn answer(stream: TcpStream, secret: &Secret) -> Result<(Sender, Receiver)> {
    let (to, mut from) = open(stream, STRANGER_LIMIT)?;
    let own = nonce()?;
    to.send(&Hello { protocol: PROTOCOL, nonce: own })?;
    let Proof { nonce: other, proof } = await_one(&mut from)?;
    if !secret.accepts(&proof, Purpose::Coordinator, &own, &other) {
        // Only so much that someone with an old file knows what to look at.
        to.send(&Verdict::Refused)?;
        bail!("has another secret");
    }
    let proof = secret.proof(Purpose::Agent, &own, &other).0.to_vec();
    to.send(&Verdict::Welcome { proof })?;
    let key = secret.proof(Purpose::Session, &own, &other);
    to.seal(&key, Purpose::Agent);
    from.seal(key, Purpose::Coordinator, TO_AGENT_LIMIT);
    Ok((to, from))
}

/// The coordinator's part.
pub(super) fn ask(stream: TcpStream, secret: &Secret) -> Result<(Sender, Receiver)> {
    let (to, mut from) = open(stream, STRANGER_LIMIT)?;
    let Hello { protocol, nonce: other } = await_one(&mut from)?;
    ensure!(
        protocol == PROTOCOL,
        "speaks version {protocol} of the agents' protocol, where this program speaks {PROTOCOL}; \
         the same version of Hayase is needed on both hosts"
    );
    let own = nonce()?;
    let proof = secret.proof(Purpose::Coordinator, &other, &own).0.to_vec();
    to.send(&Proof { nonce: own, proof })?;
    let Verdict::Welcome { proof } = await_one(&mut from)? else {
        bail!("has another secret; --secret-file has to have the same content on both hosts");
    };
    ensure!(
        secret.accepts(&proof, Purpose::Agent, &other, &own),
        "does not know the secret, so it is not the agent it should be"
    );
    let key = secret.proof(Purpose::Session, &other, &own);
    to.seal(&key, Purpose::Coordinator);
    from.seal(key, Purpose::Agent, TO_COORDINATOR_LIMIT);
    Ok((to, from))
}

fn await_one<T: serde::de::DeserializeOwned>(from: &mut Receiver) -> Result<T> {
    let until = Instant::now() + PATIENCE;
    from.receive(until.saturating_duration_since(Instant::now()))?
        .context("said nothing for 10 s; is that an agent of Hayase?")
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn meet(agent: &'static [u8], coordinator: &'static [u8]) -> (Result<()>, Result<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let agent = std::thread::spawn(move || -> Result<()> {
            let (stream, _) = listener.accept().unwrap();
            let (to, mut from) = answer(stream, &Secret::new(agent).unwrap())?;
            let word: String = await_one(&mut from)?;
            to.send(&word)
        });
        let coordinate = || -> Result<()> {
            let stream = TcpStream::connect(address)?;
            let (to, mut from) = ask(stream, &Secret::new(coordinator).unwrap())?;
            to.send(&"word")?;
            let word: String = await_one(&mut from)?;
            assert_eq!(word, "word");
            Ok(())
        };
        let coordinator = coordinate();
        (agent.join().unwrap(), coordinator)
    }

    #[test]
    fn those_who_share_a_secret_understand_each_other() {
        let (agent, coordinator) = meet(b"0123456789abcdef", b"0123456789abcdef");
        agent.unwrap();
        coordinator.unwrap();
    }

    #[test]
    fn others_are_told_nothing_but_that() {
        let (agent, coordinator) = meet(b"0123456789abcdef", b"0123456789abcdeF");
        assert!(agent.unwrap_err().to_string().contains("another secret"));
        assert!(coordinator.unwrap_err().to_string().contains("--secret-file"));
    }

    #[test]
    fn an_agent_that_accepts_everyone_is_found_out() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let impostor = std::thread::spawn(move || {
            let (to, mut from) = open(listener.accept().unwrap().0, STRANGER_LIMIT).unwrap();
            to.send(&Hello { protocol: PROTOCOL, nonce: [0; 32] }).unwrap();
            let Proof { proof, .. } = await_one(&mut from).unwrap();
            to.send(&Verdict::Welcome { proof }).unwrap();
        });
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let error = ask(TcpStream::connect(address).unwrap(), &secret).err().unwrap();
        assert!(error.to_string().contains("does not know the secret"), "{error}");
        impostor.join().unwrap();
    }

    #[test]
    fn something_else_that_listens_is_no_agent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let other = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            std::io::Write::write_all(&mut stream, b"SSH-2.0-OpenSSH_9.2\r\n").unwrap();
        });
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let error = ask(TcpStream::connect(address).unwrap(), &secret).err().unwrap();
        assert!(error.to_string().contains("is that a peer"), "{error}");
        other.join().unwrap();
    }
}
