//! Calls from words, replies to words.

use super::Attr;

/// A `sattr3` that sets nothing (RFC 1813 §2.6).
pub const KEEP: [u32; 6] = [0; 6];

/// A `sattr3` that sets the mode.
pub fn mode(mode: u32) -> [u32; 7] {
    [1, mode, 0, 0, 0, 0, 0]
}

/// A `sattr3` that sets the size.
pub fn size(size: u64) -> [u32; 8] {
    [0, 0, 0, 1, (size >> 32) as u32, size as u32, 0, 0]
}

/// Arguments being written.
#[derive(Clone, Default)]
pub struct Args(Vec<u8>);

/// No arguments yet.
pub fn args() -> Args {
    Args::default()
}

impl Args {
    pub fn word(self, word: u32) -> Self {
        self.words([word])
    }

    pub fn words(mut self, words: impl IntoIterator<Item = u32>) -> Self {
        for word in words {
            self.0.extend(word.to_be_bytes());
        }
        self
    }

    /// A number of 64 bits.
    pub fn long(mut self, number: u64) -> Self {
        self.0.extend(number.to_be_bytes());
        self
    }

    /// Length, bytes, padding: a handle, a name, a path, data.
    pub fn opaque(mut self, bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        self = self.word(bytes.len() as u32);
        self.0.extend(bytes);
        while !self.0.len().is_multiple_of(4) {
            self.0.push(0);
        }
        self
    }

    /// A `diropargs3`.
    pub fn entry(self, dir: impl AsRef<[u8]>, name: impl AsRef<[u8]>) -> Self {
        self.opaque(dir).opaque(name)
    }

    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// A reply being read, from the front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    bytes: Vec<u8>,
    at: usize,
}

impl Reply {
    pub fn new(bytes: Vec<u8>) -> Self {
        assert_eq!(bytes.len() % 4, 0, "a reply is whole words");
        Reply { bytes, at: 0 }
    }

    /// What has not been read.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    pub fn take(&mut self, len: usize) -> &[u8] {
        let start = self.at;
        self.at += len;
        self.bytes.get(start..self.at).expect("the reply goes on")
    }

    pub fn word(&mut self) -> u32 {
        let bytes = self.take(4);
        u32::from_be_bytes(bytes.try_into().expect("four bytes"))
    }

    pub fn long(&mut self) -> u64 {
        u64::from(self.word()) << 32 | u64::from(self.word())
    }

    /// The next words are these.
    #[track_caller]
    pub fn is(&mut self, words: impl IntoIterator<Item = u32>) {
        for (at, expected) in words.into_iter().enumerate() {
            let word = self.word();
            assert_eq!(word, expected, "word {at} is {word:#x} instead of {expected:#x}");
        }
    }

    /// The next number of 64 bits is this.
    #[track_caller]
    pub fn is_long(&mut self, expected: u64) {
        assert_eq!(self.long(), expected);
    }

    /// Length, bytes, and padding of zeros.
    #[track_caller]
    pub fn opaque(&mut self) -> Vec<u8> {
        let len = self.word() as usize;
        let bytes = self.take(len).to_vec();
        let pad = (4 - len % 4) % 4;
        assert!(self.take(pad).iter().all(|byte| *byte == 0), "padding is zeros");
        bytes
    }

    /// The next opaque holds these bytes.
    #[track_caller]
    pub fn is_opaque(&mut self, expected: impl AsRef<[u8]>) {
        let bytes = self.opaque();
        let expected = expected.as_ref();
        assert_eq!(bytes.escape_ascii().to_string(), expected.escape_ascii().to_string());
    }

    pub fn bool(&mut self) -> bool {
        match self.word() {
            0 => false,
            1 => true,
            other => panic!("{other} is no boolean"),
        }
    }

    /// A `fattr3`.
    pub fn fattr(&mut self) -> Attr {
        Attr::new(self.take(Attr::BYTES))
    }

    /// A `post_op_attr` that is filled in.
    #[track_caller]
    pub fn attr(&mut self) -> Attr {
        assert!(self.bool(), "attributes are left out");
        self.fattr()
    }

    /// A `post_op_attr` that is these attributes.
    #[track_caller]
    pub fn is_attr(&mut self, expected: &Attr) {
        assert_eq!(self.attr(), *expected);
    }

    /// A `post_op_attr` or `pre_op_attr` that is left out.
    #[track_caller]
    pub fn no_attr(&mut self) {
        assert!(!self.bool(), "attributes of what nobody may know");
    }

    /// A `wcc_data` that is filled in, with these attributes before and after.
    #[track_caller]
    pub fn is_wcc(&mut self, before: &Attr, after: &Attr) {
        assert!(self.bool(), "pre-operation attributes are left out");
        assert_eq!(self.take(24), before.wcc(), "pre-operation attributes");
        self.is_attr(after);
    }

    /// A `wcc_data` that is left out.
    #[track_caller]
    pub fn no_wcc(&mut self) {
        self.no_attr();
        self.no_attr();
    }

    /// A `post_op_fh3` that is filled in.
    #[track_caller]
    pub fn handle(&mut self) -> Vec<u8> {
        assert!(self.bool(), "the handle is left out");
        self.opaque()
    }

    /// Nothing is left.
    #[track_caller]
    pub fn end(self) {
        assert_eq!(self.at, self.bytes.len(), "bytes are left: {:x?}", self.rest());
    }
}
