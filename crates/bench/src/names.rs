//! Names of files by their number, made without allocation.

/// `f` and a decimal number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Name {
    bytes: [u8; 11],
    start: u8,
}

impl Name {
    pub(crate) fn numbered(number: u32) -> Self {
        let mut bytes = [0; 11];
        let mut start = bytes.len();
        let mut rest = number;
        loop {
            start -= 1;
            bytes[start] = b'0' + (rest % 10) as u8;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        start -= 1;
        bytes[start] = b'f';
        Name { bytes, start: start as u8 }
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[usize::from(self.start)..]
    }

    pub(crate) fn as_str(&self) -> &str {
        // Only ASCII is ever put there.
        std::str::from_utf8(self.as_bytes()).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 1, 9, 10, 1234, u32::MAX] {
            assert_eq!(Name::numbered(number).as_str(), format!("f{number}"));
        }
    }
}
