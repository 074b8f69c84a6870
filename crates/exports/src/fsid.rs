//! `fsid=`: the identity that the administrator gives to an export.

use crate::diagnostic::Problem;
use std::fmt;

/// The value of `fsid=`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fsid {
    /// A small integer. Zero, also written `root`, is the root of all exports in NFSv4.
    Number(u32),
    /// A UUID: 32 hexadecimal digits and arbitrary punctuation.
    Uuid([u8; 16]),
}

impl Fsid {
    /// `fsid=root`, which is `fsid=0`.
    pub const ROOT: Self = Self::Number(0);

    /// What counts of a number and a UUID given to one export, as exports(5) allows for the sake of
    /// old kernels: the UUID.
    pub(crate) fn beside(self, other: Option<Self>) -> Self {
        match (other, self) {
            (Some(uuid @ Self::Uuid(_)), Self::Number(1..)) => uuid,
            _ => self,
        }
    }

    /// Whether the two can stand in one list.
    pub(crate) fn goes_with(self, other: Self) -> bool {
        let pair = |a, b| matches!((a, b), (Self::Number(1..), Self::Uuid(_)));
        self == other || pair(self, other) || pair(other, self)
    }

    /// Reads a value as it stands after `fsid=`.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        if text == "root" {
            return Ok(Self::ROOT);
        }
        number(text).map(Self::Number).or_else(|| uuid(text).map(Self::Uuid)).ok_or_else(|| {
            Problem::new(
                format!("`{text}` is not an fsid"),
                "write a number below 4294967296, `root`, or a UUID of 32 hexadecimal digits",
            )
        })
    }
}

/// A number as C writes it: decimal, `0x` hexadecimal, or octal with a leading zero.
fn number(text: &str) -> Option<u32> {
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    // from_str_radix would take a sign.
    let clean = digits.bytes().all(|b| b.is_ascii_hexdigit());
    clean.then(|| u32::from_str_radix(digits, radix).ok())?
}

fn uuid(text: &str) -> Option<[u8; 16]> {
    let mut digits = Vec::with_capacity(32);
    for c in text.chars() {
        match c.to_digit(16) {
            Some(digit) => digits.push(digit as u8),
            None if c.is_ascii_punctuation() => {}
            None => return None,
        }
    }
    let bytes: Vec<u8> = digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect();
    (digits.len() == 32).then(|| bytes.try_into().ok())?
}

impl fmt::Display for Fsid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Uuid(bytes) => {
                for (i, byte) in bytes.iter().enumerate() {
                    let dash = if matches!(i, 4 | 6 | 8 | 10) { "-" } else { "" };
                    write!(f, "{dash}{byte:02x}")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_numbers_and_uuids() {
        let table = [
            ("root", Some("0")),
            ("0", Some("0")),
            ("4294967295", Some("4294967295")),
            ("0x1F", Some("31")),
            ("017", Some("15")),
            ("9F1A0D2E:77AA4CE38DDA4B5B5F0C9E11", Some("9f1a0d2e-77aa-4ce3-8dda-4b5b5f0c9e11")),
            ("00000000000000000000000000000001", Some("1")),
            ("4294967296", None),
            ("-1", None),
            ("+1", None),
            ("0x", None),
            ("", None),
            ("9f1a0d2e-77aa-4ce3-8dda-4b5b5f0c9e1", None),
            ("9f1a0d2e 77aa 4ce3 8dda 4b5b5f0c9e11", None),
            ("eins", None),
        ];
        for (text, shown) in table {
            let read = Fsid::parse(text).ok().map(|fsid| fsid.to_string());
            assert_eq!(read.as_deref(), shown, "{text}");
        }
    }
}
