//! Attributes as they travel.

/// The 84 bytes of a `fattr3` (RFC 1813 §2.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attr([u8; Attr::BYTES]);

impl Attr {
    pub const BYTES: usize = 84;

    pub fn new(bytes: &[u8]) -> Self {
        Attr(bytes.try_into().expect("84 bytes"))
    }

    fn word(&self, at: usize) -> u32 {
        u32::from_be_bytes(self.0[at..at + 4].try_into().expect("four bytes"))
    }

    fn long(&self, at: usize) -> u64 {
        u64::from(self.word(at)) << 32 | u64::from(self.word(at + 4))
    }

    fn time(&self, at: usize) -> (u32, u32) {
        (self.word(at), self.word(at + 4))
    }

    pub fn ftype(&self) -> u32 {
        self.word(0)
    }

    pub fn mode(&self) -> u32 {
        self.word(4)
    }

    pub fn nlink(&self) -> u32 {
        self.word(8)
    }

    /// Owner and group.
    pub fn owner(&self) -> (u32, u32) {
        (self.word(12), self.word(16))
    }

    pub fn size(&self) -> u64 {
        self.long(20)
    }

    pub fn used(&self) -> u64 {
        self.long(28)
    }

    /// Major and minor number.
    pub fn rdev(&self) -> (u32, u32) {
        (self.word(36), self.word(40))
    }

    pub fn fsid(&self) -> u64 {
        self.long(44)
    }

    pub fn fileid(&self) -> u64 {
        self.long(52)
    }

    pub fn atime(&self) -> (u32, u32) {
        self.time(60)
    }

    pub fn mtime(&self) -> (u32, u32) {
        self.time(68)
    }

    pub fn ctime(&self) -> (u32, u32) {
        self.time(76)
    }

    /// The `wcc_attr` of these attributes: size, mtime, ctime.
    pub fn wcc(&self) -> [u8; 24] {
        let mut wcc = [0; 24];
        wcc[..8].copy_from_slice(&self.0[20..28]);
        wcc[8..].copy_from_slice(&self.0[68..]);
        wcc
    }
}
