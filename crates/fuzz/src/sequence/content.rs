//! What the bytes of a file should be.

/// Everything that was done to a file's data.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) size: u64,
    edits: Vec<Edit>,
    /// Some of it may be lost in a crash.
    pub(super) dirty: bool,
    /// Some of it was, so that nothing is known but the size.
    pub(super) unknown: bool,
}

#[derive(Debug)]
enum Edit {
    Write { offset: u64, len: u64, fill: u8 },
    Cut(u64),
}

impl Content {
    pub(super) fn write(&mut self, offset: u64, len: u64, fill: u8) {
        if len > 0 {
            self.edits.push(Edit::Write { offset, len, fill });
            self.size = self.size.max(offset + len);
        }
    }

    pub(super) fn resize(&mut self, size: u64) {
        self.edits.push(Edit::Cut(size));
        self.size = size;
        if size == 0 {
            self.edits.clear();
            self.unknown = false;
        }
    }

    /// The bytes of a range inside the file.
    pub(super) fn bytes(&self, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let end = offset + len as u64;
        for edit in &self.edits {
            let (from, to, fill) = match *edit {
                Edit::Write { offset, len, fill } => (offset, offset + len, fill),
                Edit::Cut(size) => (size, u64::MAX, 0),
            };
            let (from, to) = (from.clamp(offset, end), to.clamp(offset, end));
            bytes[(from - offset) as usize..(to - offset) as usize].fill(fill);
        }
        bytes
    }
}
