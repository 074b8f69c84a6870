//! Extended attributes of users (RFC 8276).

use std::fmt;

use crate::{Error, Result};

/// The name of an extended attribute, without the prefix `user.`: 1 to 250 bytes, no NUL.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct XattrName<'a>(&'a [u8]);

impl<'a> XattrName<'a> {
    /// The longest name in bytes: Linux' 255, less the prefix.
    pub const MAX: usize = 250;

    /// Checks a name.
    ///
    /// # Errors
    /// [`Error::NameTooLong`], [`Error::Invalid`].
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        match bytes {
            b"" => Err(Error::Invalid),
            _ if bytes.len() > Self::MAX => Err(Error::NameTooLong),
            _ if bytes.contains(&0) => Err(Error::Invalid),
            _ => Ok(XattrName(bytes)),
        }
    }

    /// The bytes.
    pub fn as_bytes(self) -> &'a [u8] {
        self.0
    }

    /// Where a list goes on behind this name; never 0.
    ///
    /// File systems list names in no order that lasts. A hash of the name as its place keeps a list
    /// stable while other names come and go. Two names of one hash are one place: should a page
    /// end between them, the second is missed, which only who chose such names will notice.
    pub fn cookie(self) -> u64 {
        let hash = self.0.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        });
        hash.max(1)
    }
}

impl fmt::Debug for XattrName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

/// The longest value of an extended attribute: Linux'. File systems may take less.
pub const XATTR_VALUE_MAX: usize = 65_536;

/// Whether an extended attribute may be there before it is set (RFC 8276 §8.4.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SetXattr {
    /// It may.
    Either,
    /// It must not ([`Error::Exists`]).
    Create,
    /// It must ([`Error::NoXattr`]).
    Replace,
}

/// Takes names and their cookies; answers whether this one still had room.
pub type XattrSink<'a> = dyn FnMut(XattrName<'_>, u64) -> bool + 'a;

/// Hands all of `names` behind `cookie` to `sink`, in the order of their cookies, until it is
/// full; answers whether none was left.
pub fn list_xattr_names<'a>(
    names: impl Iterator<Item = XattrName<'a>>,
    cookie: u64,
    sink: &mut XattrSink<'_>,
) -> bool {
    let placed = names.map(|name| (name.cookie(), name));
    let mut rest: Vec<_> = placed.filter(|(place, _)| *place > cookie).collect();
    rest.sort_unstable();
    rest.into_iter().all(|(place, name)| sink(name, place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_a_name_is_refused() {
        assert_eq!(XattrName::new(b"").unwrap_err(), Error::Invalid);
        assert_eq!(XattrName::new(b"a\0").unwrap_err(), Error::Invalid);
        assert_eq!(XattrName::new(&[b'x'; 251]).unwrap_err(), Error::NameTooLong);
        assert!(XattrName::new(b"a/b").is_ok());
        assert!(XattrName::new(&[0xff; 250]).is_ok());
    }

    #[test]
    fn lists_go_on_where_they_ended() {
        let names: Vec<String> = (0..50).map(|n| format!("name {n}")).collect();
        let all = || names.iter().map(|name| XattrName::new(name.as_bytes()).unwrap());
        let (mut seen, mut at) = (Vec::new(), 0);
        loop {
            let mut room = 7;
            let eof = list_xattr_names(all(), at, &mut |name, cookie| {
                if room == 0 {
                    return false;
                }
                room -= 1;
                at = cookie;
                seen.push(String::from_utf8(name.as_bytes().to_vec()).unwrap());
                true
            });
            if eof {
                break;
            }
        }
        seen.sort();
        let mut expected = names.clone();
        expected.sort();
        assert_eq!(seen, expected);
    }
}
