//! File handles on the wire; their bytes are described in `docs/formats.md`.

use std::hash::Hasher;

use hayase_proto::{nfs3, nfs4};
use hayase_vfs::{Error, Handle};
use hayase_xdr::Opaque;
use siphasher::sip::SipHasher24;

use crate::ExportId;

const VERSION: u8 = 1;
const EXPORT_AT: usize = 1;
const CHECK_AT: usize = EXPORT_AT + 4;
const BODY_AT: usize = CHECK_AT + 8;

/// The secret that makes handles unguessable: who has a handle was given it.
#[derive(Clone)]
pub struct HandleKey([u8; 16]);

/// A handle as clients see it: at most 56 bytes, which every client takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct WireHandle {
    len: u8,
    bytes: [u8; BODY_AT + Handle::MAX],
}

impl HandleKey {
    /// A key of random bytes, to be kept for as long as handles are to stay good.
    pub fn new(bytes: [u8; 16]) -> Self {
        HandleKey(bytes)
    }

    /// A name for the server that has this key, which tells nothing of the key.
    pub fn identity(&self) -> Vec<u8> {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(b"the server that has this key");
        let identity = hasher.finish();
        format!("hayase-{identity:016x}").into_bytes()
    }

    /// Makes the handle of a file of an export.
    pub(crate) fn seal(&self, export: ExportId, handle: &Handle) -> WireHandle {
        let body = handle.as_bytes();
        let mut bytes = [0; BODY_AT + Handle::MAX];
        bytes[0] = VERSION;
        bytes[EXPORT_AT..CHECK_AT].copy_from_slice(&export.0.to_be_bytes());
        bytes[CHECK_AT..BODY_AT].copy_from_slice(&self.check(export, body));
        bytes[BODY_AT..BODY_AT + body.len()].copy_from_slice(body);
        WireHandle { len: (BODY_AT + body.len()) as u8, bytes }
    }

    /// Reads a handle that [`HandleKey::seal`] made.
    ///
    /// # Errors
    /// [`Error::BadHandle`] for what never was one; [`Error::Stale`] for one made
    /// with another key, as after the loss of the state directory.
    pub(crate) fn open(&self, wire: &[u8]) -> Result<(ExportId, Handle), Error> {
        let (head, body) = wire.split_first_chunk::<BODY_AT>().ok_or(Error::BadHandle)?;
        if head[0] != VERSION {
            return Err(Error::BadHandle);
        }
        let handle = Handle::new(body).ok_or(Error::BadHandle)?;
        let [a, b, c, d] = [head[1], head[2], head[3], head[4]];
        let export = ExportId(u32::from_be_bytes([a, b, c, d]));
        if head[CHECK_AT..] != self.check(export, body) {
            return Err(Error::Stale);
        }
        Ok((export, handle))
    }

    fn check(&self, export: ExportId, body: &[u8]) -> [u8; 8] {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(&[VERSION]);
        hasher.write(&export.0.to_be_bytes());
        hasher.write(body);
        hasher.finish().to_be_bytes()
    }
}

impl std::fmt::Debug for HandleKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("HandleKey(secret)")
    }
}

impl WireHandle {
    /// The handle as NFSv3 carries it.
    pub(crate) fn as_nfs3(&self) -> nfs3::FileHandle<'_> {
        Opaque(self.as_bytes())
    }

    /// The handle as NFSv4 carries it.
    pub(crate) fn as_nfs4(&self) -> nfs4::FileHandle<'_> {
        Opaque(self.as_bytes())
    }

    fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key() -> HandleKey {
        HandleKey::new([7; 16])
    }

    #[test]
    fn what_was_sealed_opens_and_fits_every_client() {
        let export = ExportId(0xdead_beef);
        for len in [0, 1, Handle::MAX] {
            let handle = Handle::new(&vec![9; len]).unwrap();
            let wire = key().seal(export, &handle);
            assert!(wire.as_nfs3().0.len() <= 56);
            assert_eq!(key().open(wire.as_nfs3().0), Ok((export, handle)));
        }
    }

    #[test]
    fn any_changed_bit_is_found() {
        let wire = key().seal(ExportId(1), &Handle::new(b"abcd").unwrap());
        let bytes = wire.as_nfs3().0.to_vec();
        for bit in 0..bytes.len() * 8 {
            let mut forged = bytes.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            let expected = if bit < 8 { Error::BadHandle } else { Error::Stale };
            assert_eq!(key().open(&forged), Err(expected), "bit {bit}");
        }
        for len in 0..BODY_AT {
            assert_eq!(key().open(&bytes[..len]), Err(Error::BadHandle));
        }
        assert_eq!(key().open(&[bytes, vec![0; 60]].concat()), Err(Error::BadHandle));
    }

    #[test]
    fn a_handle_of_another_key_is_stale() {
        let wire = HandleKey::new([8; 16]).seal(ExportId(1), &Handle::new(b"abcd").unwrap());
        assert_eq!(key().open(wire.as_nfs3().0), Err(Error::Stale));
    }
}
