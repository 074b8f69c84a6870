//! The secret that an agent and its coordinator share, which never crosses the wire.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// Fewer bytes could be guessed by whoever has listened to one proof.
const LEAST: usize = 16;
/// More is another file.
const MOST: usize = 4096;

/// What group and others may do.
const OTHERS: u32 = 0o077;

/// Bytes of a proof or a tag.
pub(super) const TAG_BYTES: usize = 32;
/// Something random, which no one has had before.
pub(super) type Nonce = [u8; 32];

/// What a proof is for; no proof of one thing is one of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Whoever opens the connection knows the secret.
    Coordinator,
    /// Whoever listens knows it.
    Agent,
    /// The key of this connection's messages.
    Session,
}

impl Purpose {
    fn label(self) -> &'static [u8] {
        match self {
            Purpose::Coordinator => b"hayase bench 1 coordinator",
            Purpose::Agent => b"hayase bench 1 agent",
            Purpose::Session => b"hayase bench 1 session",
        }
    }
}

/// A secret.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

impl Secret {
    /// Reads a file whose content, without white space around it, is the secret. It has to be readable by its
    /// owner only.
    pub fn read(path: &Path) -> Result<Self> {
        let name = path.display();
        let what = || format!("read the secret in {name}");
        let file = File::open(path).with_context(what)?;
        let mode = file.metadata().with_context(what)?.permissions().mode();
        ensure!(
            mode & OTHERS == 0,
            "{name} is open to others (mode {:03o}), so it holds no secret: chmod 600 {name}",
            mode & 0o777
        );
        let mut bytes = Vec::new();
        file.take(MOST as u64 + 1).read_to_end(&mut bytes).with_context(what)?;
        ensure!(bytes.len() <= MOST, "{name} has more than {MOST} bytes, which is no secret");
        Secret::new(bytes.trim_ascii()).with_context(|| name.to_string())
    }

    /// A secret of these bytes.
    pub fn new(bytes: &[u8]) -> Result<Self> {
        if bytes.len() < LEAST {
            bail!(
                "a secret of {} bytes can be guessed, {LEAST} are the least; to make one: \
                 head -c 32 /dev/urandom | base64",
                bytes.len()
            );
        }
        Ok(Secret(bytes.to_vec()))
    }

    /// What only those who know the secret can say about two nonces.
    pub(super) fn proof(&self, purpose: Purpose, agent: &Nonce, coordinator: &Nonce) -> Key {
        Key(self.mac(purpose, agent, coordinator).finalize().into_bytes().into())
    }

    /// Whether that is such a proof; takes the same time for every wrong one.
    pub(super) fn accepts(
        &self,
        proof: &[u8],
        purpose: Purpose,
        agent: &Nonce,
        coordinator: &Nonce,
    ) -> bool {
        self.mac(purpose, agent, coordinator).verify_slice(proof).is_ok()
    }

    fn mac(&self, purpose: Purpose, agent: &Nonce, coordinator: &Nonce) -> Hmac<Sha256> {
        keyed(&self.0).chain_update(purpose.label()).chain_update(agent).chain_update(coordinator)
    }
}

/// A key of one connection, or a proof.
#[derive(Clone)]
pub(super) struct Key(pub(super) [u8; TAG_BYTES]);

impl Key {
    /// The tag of a message: who sends it, the how manieth it is, what it says.
    pub(super) fn tag(&self, sender: Purpose, number: u64, body: &[u8]) -> [u8; TAG_BYTES] {
        self.mac(sender, number, body).finalize().into_bytes().into()
    }

    /// Whether that is its tag.
    pub(super) fn fits(&self, tag: &[u8], sender: Purpose, number: u64, body: &[u8]) -> bool {
        self.mac(sender, number, body).verify_slice(tag).is_ok()
    }

    fn mac(&self, sender: Purpose, number: u64, body: &[u8]) -> Hmac<Sha256> {
        keyed(&self.0)
            .chain_update(sender.label())
            .chain_update(number.to_be_bytes())
            .chain_update(body)
    }
}

fn keyed(key: &[u8]) -> Hmac<Sha256> {
    match Hmac::new_from_slice(key) {
        Ok(mac) => mac,
        Err(_) => unreachable!("HMAC takes keys of any length (RFC 2104 §2)"),
    }
}

/// A new nonce.
pub(super) fn nonce() -> Result<Nonce> {
    let mut nonce = [0; 32];
    let mut filled = 0;
    while filled < nonce.len() {
        let flags = rustix::rand::GetRandomFlags::empty();
        filled += rustix::rand::getrandom(&mut nonce[filled..], flags).context("draw a nonce")?;
    }
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(content: &[u8], mode: u32) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        file
    }

    #[test]
    fn a_secret_is_long_and_nobody_elses_business() {
        let good = file(b"  0123456789abcdef\n", 0o600);
        assert_eq!(Secret::read(good.path()).unwrap().0, b"0123456789abcdef");
        for (content, mode, word) in [
            (&b"0123456789abcdef"[..], 0o640, "chmod 600"),
            (b"0123456789abcde", 0o600, "15 bytes"),
            (b"", 0o600, "0 bytes"),
            (&[b'x'; MOST + 1], 0o600, "more than"),
        ] {
            let file = file(content, mode);
            let error = format!("{:#}", Secret::read(file.path()).unwrap_err());
            assert!(error.contains(word), "{error}");
        }
        let error = format!("{:#}", Secret::read(Path::new("/nowhere")).unwrap_err());
        assert!(error.contains("/nowhere"), "{error}");
    }

    #[test]
    fn a_proof_is_of_one_purpose_and_two_nonces() {
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let (a, b) = (nonce().unwrap(), nonce().unwrap());
        assert_ne!(a, b);
        let proof = secret.proof(Purpose::Agent, &a, &b).0;
        assert!(secret.accepts(&proof, Purpose::Agent, &a, &b));
        assert!(!secret.accepts(&proof, Purpose::Coordinator, &a, &b));
        assert!(!secret.accepts(&proof, Purpose::Agent, &b, &a));
        assert!(!secret.accepts(&proof[1..], Purpose::Agent, &a, &b));
        let other = Secret::new(b"0123456789abcdeF").unwrap();
        assert!(!other.accepts(&proof, Purpose::Agent, &a, &b));
        assert!(!format!("{secret:?}").contains("0123"));
    }

    #[test]
    fn hmac_is_that_of_rfc_4231() {
        // §4.2, test case 1.
        let mac = keyed(&[0x0b; 20]).chain_update(b"Hi There").finalize().into_bytes();
        assert_eq!(mac[..8], [0xb0, 0x34, 0x4c, 0x61, 0xd8, 0xdb, 0x38, 0x53]);
    }
}
