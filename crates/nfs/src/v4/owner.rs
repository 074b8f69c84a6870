//! Owners and groups on the wire (RFC 8881 §5.9): names, `alice@example.org`, or numbers in
//! decimal digits. Both are understood; the configuration says which are sent.

use std::sync::Arc;

use hayase_identity::{Identities, Unmapped};
use hayase_proto::nfs4::Status;
use hayase_vfs::{Error, Wait};
use hayase_xdr::Opaque;

use super::compound::Compound;
use super::fault::Fault;

const MAX_DIGITS: usize = 10;

/// A number in decimal digits, without memory of its own.
struct Decimal {
    digits: [u8; MAX_DIGITS],
    start: usize,
}

impl Decimal {
    fn of(mut number: u32) -> Self {
        let mut decimal = Decimal { digits: [b'0'; MAX_DIGITS], start: MAX_DIGITS };
        loop {
            decimal.start -= 1;
            decimal.digits[decimal.start] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                return decimal;
            }
        }
    }
}

/// A user or a group as it is told.
pub(crate) struct Told(Text);

enum Text {
    Number(Decimal),
    Name(Arc<str>),
}

impl Told {
    fn of(name: Option<Arc<str>>, number: u32) -> Self {
        Told(name.map_or_else(|| Text::Number(Decimal::of(number)), Text::Name))
    }

    /// As it travels.
    pub(crate) fn as_opaque(&self) -> Opaque<'_> {
        Opaque(match &self.0 {
            Text::Number(Decimal { digits, start }) => &digits[*start..],
            Text::Name(name) => name.as_bytes(),
        })
    }
}

/// Users and groups, as one call may look them up.
#[derive(Clone, Copy)]
pub(crate) struct Owners<'c> {
    identities: &'c Identities,
    wait: Wait,
}

impl Compound<'_> {
    /// Users and groups by name and number.
    pub(crate) fn owners(&self) -> Owners<'_> {
        Owners { identities: &self.call.server.identities, wait: self.call.wait }
    }
}

impl Owners<'_> {
    /// A user as it is told.
    pub(crate) fn user(self, uid: u32) -> Result<Told, Fault> {
        let name = self.identities.user_name(uid, self.wait).map_err(|_| Error::WouldBlock)?;
        Ok(Told::of(name, uid))
    }

    /// A group as it is told.
    pub(crate) fn group(self, gid: u32) -> Result<Told, Fault> {
        let name = self.identities.group_name(gid, self.wait).map_err(|_| Error::WouldBlock)?;
        Ok(Told::of(name, gid))
    }

    /// The user that a string names.
    ///
    /// # Errors
    /// [`Status::BadOwner`] for names nobody here bears; [`Status::Inval`] for what is no string;
    /// [`Status::Delay`] if the name service does not answer in time.
    pub(crate) fn uid(self, owner: &[u8]) -> Result<u32, Fault> {
        parse(owner, |name| self.identities.user_id(name, self.wait))
    }

    /// The group that a string names, in the same way.
    pub(crate) fn gid(self, group: &[u8]) -> Result<u32, Fault> {
        parse(group, |name| self.identities.group_id(name, self.wait))
    }
}

/// A string of digits is a number, whatever names there are (RFC 7530 §5.9).
fn parse(text: &[u8], look_up: impl FnOnce(&str) -> Result<u32, Unmapped>) -> Result<u32, Fault> {
    let text = std::str::from_utf8(text).map_err(|_| Status::Inval)?;
    if text.is_empty() {
        return Err(Status::Inval.into());
    }
    if text.bytes().all(|b| b.is_ascii_digit()) {
        // The number of nobody at all, which to the kernel means "leave it as it is".
        let number = text.parse().ok().filter(|number| *number != u32::MAX);
        return number.ok_or(Fault::Status(Status::BadOwner));
    }
    look_up(text).map_err(|why| match why {
        Unmapped::Nobody => Fault::Status(Status::BadOwner),
        Unmapped::Later => Fault::Status(Status::Delay),
        Unmapped::WouldBlock => Error::WouldBlock.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Abort;

    fn parsed(text: &[u8]) -> Result<u32, Fault> {
        parse(text, |name| match name {
            "alice@lab" => Ok(1000),
            "slow@lab" => Err(Unmapped::Later),
            "new@lab" => Err(Unmapped::WouldBlock),
            _ => Err(Unmapped::Nobody),
        })
    }

    #[test]
    fn numbers_are_written_and_read_back() {
        for number in [0, 7, 10, 1000, 65_534, u32::MAX - 1] {
            let told = Told::of(None, number);
            assert_eq!(told.as_opaque().0, number.to_string().as_bytes());
            assert_eq!(parsed(told.as_opaque().0), Ok(number));
        }
        assert_eq!(Told::of(Some("alice@lab".into()), 1000).as_opaque().0, b"alice@lab");
    }

    #[test]
    fn names_are_looked_up_and_what_names_nobody_is_refused() {
        assert_eq!(parsed(b"alice@lab"), Ok(1000));
        assert_eq!(parsed(b"slow@lab"), Err(Fault::Status(Status::Delay)));
        assert_eq!(parsed(b"new@lab"), Err(Fault::Abort(Abort::WouldBlock)));
        let names: [&[u8]; 6] = [b"bob@lab", b"alice", b"-1", b"+1", b"4294967295", b"4294967296"];
        for name in names {
            assert_eq!(parsed(name), Err(Fault::Status(Status::BadOwner)));
        }
        assert_eq!(parsed(b""), Err(Fault::Status(Status::Inval)));
        assert_eq!(parsed(&[0xff]), Err(Fault::Status(Status::Inval)));
    }
}
