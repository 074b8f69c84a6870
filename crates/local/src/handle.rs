//! The bytes of handles.
//!
//! | kind | then |
//! |---|---|
//! | 1, by the kernel | tag of the file system (4), type of the kernel's handle (1), the kernel's handle |
//! | 2, by the index | tag (4), inode number (8), birth time (8) |
//! | 3, by the kernel with its parent (`subtree_check`) | tag (4), type (1), length (1), the kernel's handle, the parent's type (1), the parent's handle |
//!
//! Numbers are little-endian. The tag is a hash of what statfs calls the file system's id.

use hayase_vfs::Handle;

use crate::sys::KernelHandle;

const BY_KERNEL: u8 = 1;
const BY_INDEX: u8 = 2;
const BY_KERNEL_WITH_PARENT: u8 = 3;

/// A file by inode number and birth time, as the index knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Key {
    pub tag: u32,
    pub ino: u64,
    /// Seconds in the upper 34 bits, nanoseconds below; 0 if the file system does not know.
    pub birth: u64,
}

impl Key {
    /// Bytes of an encoded key.
    pub(crate) const LEN: usize = 20;

    /// The bytes.
    pub(crate) fn encode(&self) -> [u8; Key::LEN] {
        let mut bytes = [0; Key::LEN];
        bytes[..4].copy_from_slice(&self.tag.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.ino.to_le_bytes());
        bytes[12..].copy_from_slice(&self.birth.to_le_bytes());
        bytes
    }

    /// The birth time in seconds and nanoseconds, if the file system knows it.
    pub(crate) fn birth_time(&self) -> Option<(i64, i64)> {
        const NANOS_BITS: u32 = 30;
        let nanos = self.birth & ((1 << NANOS_BITS) - 1);
        (self.birth != 0).then_some(((self.birth >> NANOS_BITS).cast_signed(), nanos.cast_signed()))
    }

    /// The key of these bytes.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let (tag, rest) = bytes.split_first_chunk::<4>()?;
        let (ino, rest) = rest.split_first_chunk::<8>()?;
        let birth: [u8; 8] = rest.try_into().ok()?;
        Some(Key {
            tag: u32::from_le_bytes(*tag),
            ino: u64::from_le_bytes(*ino),
            birth: u64::from_le_bytes(birth),
        })
    }
}

/// A handle taken apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Name {
    /// The kernel opens it.
    Kernel { tag: u32, file: KernelHandle, parent: Option<KernelHandle> },
    /// The index leads to it.
    Index(Key),
}

impl Name {
    /// Takes a handle apart, if it is one of ours.
    pub(crate) fn parse(handle: &Handle) -> Option<Self> {
        let (kind, rest) = handle.as_bytes().split_first()?;
        if *kind == BY_INDEX {
            return Key::decode(rest).map(Name::Index);
        }
        let (tag, rest) = rest.split_first_chunk::<4>()?;
        let tag = u32::from_le_bytes(*tag);
        let (file_kind, rest) = rest.split_first()?;
        match *kind {
            BY_KERNEL => {
                let file = KernelHandle::new(*file_kind, rest)?;
                Some(Name::Kernel { tag, file, parent: None })
            }
            BY_KERNEL_WITH_PARENT => {
                let (len, rest) = rest.split_first()?;
                let (file, rest) = rest.split_at_checked(usize::from(*len))?;
                let (parent_kind, parent) = rest.split_first()?;
                Some(Name::Kernel {
                    tag,
                    file: KernelHandle::new(*file_kind, file)?,
                    parent: Some(KernelHandle::new(*parent_kind, parent)?),
                })
            }
            _ => None,
        }
    }

    /// The handle; nothing if it would be too long.
    pub(crate) fn handle(&self) -> Option<Handle> {
        let mut bytes = [0; Handle::MAX];
        let mut len = 0;
        let mut put = |part: &[u8]| -> Option<()> {
            bytes.get_mut(len..len + part.len())?.copy_from_slice(part);
            len += part.len();
            Some(())
        };
        match self {
            Name::Index(key) => {
                put(&[BY_INDEX])?;
                put(&key.encode())?;
            }
            Name::Kernel { tag, file, parent: None } => {
                put(&[BY_KERNEL])?;
                put(&tag.to_le_bytes())?;
                put(&[file.kind])?;
                put(file.bytes())?;
            }
            Name::Kernel { tag, file, parent: Some(parent) } => {
                put(&[BY_KERNEL_WITH_PARENT])?;
                put(&tag.to_le_bytes())?;
                put(&[file.kind, file.bytes().len() as u8])?;
                put(file.bytes())?;
                put(&[parent.kind])?;
                put(parent.bytes())?;
            }
        }
        Handle::new(&bytes[..len])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handles_come_back_as_they_were() {
        let file = KernelHandle::new(1, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
        let parent = KernelHandle::new(0x81, &[9; 12]).unwrap();
        let names = [
            Name::Kernel { tag: 0xdead_beef, file, parent: None },
            Name::Kernel { tag: 1, file, parent: Some(parent) },
            Name::Index(Key { tag: 7, ino: 1 << 40, birth: 99 }),
        ];
        for name in names {
            assert_eq!(Name::parse(&name.handle().unwrap()), Some(name));
        }
        assert_eq!(
            names[0].handle().unwrap().as_bytes(),
            [1, 0xef, 0xbe, 0xad, 0xde, 1, 1, 2, 3, 4, 5, 6, 7, 8]
        );
    }

    #[test]
    fn foreign_bytes_are_refused() {
        let long = KernelHandle::new(1, &[1; 20]).unwrap();
        assert_eq!(Name::Kernel { tag: 1, file: long, parent: Some(long) }.handle(), None);
        for bytes in [
            &b""[..],
            b"\x00aaaaaaaaaa",
            b"\x01abcd",
            b"\x01abcd\x01",
            b"\x02aaaaaaaaaaaaaaaaaaa",
            b"\x02aaaaaaaaaaaaaaaaaaaaa",
            b"\x03abcd\x01\x09aaaaaaaa",
            b"\x03abcd\x01\x08aaaaaaaa\x01",
            b"\x01abcd\x01aaaaaaa",
        ] {
            assert_eq!(Name::parse(&Handle::new(bytes).unwrap()), None, "{bytes:?}");
        }
    }
}
