//! Owners and groups on the wire (RFC 8881 §5.9).

use hayase_proto::nfs4::Status;
use hayase_xdr::Opaque;

const MAX_DIGITS: usize = 10;

/// A number in decimal digits, without memory of its own.
pub(crate) struct Decimal {
    digits: [u8; MAX_DIGITS],
    start: usize,
}

impl Decimal {
    pub(crate) fn of(mut number: u32) -> Self {
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

    /// The digits as an owner or a group travels.
    pub(crate) fn as_opaque(&self) -> Opaque<'_> {
        Opaque(&self.digits[self.start..])
    }
}

/// The user or group that a string names: with `AUTH_SYS`, its number.
///
/// # Errors
/// [`Status::BadOwner`] for names nobody here bears; [`Status::Inval`] for what is no string.
pub(crate) fn parse(owner: &[u8]) -> Result<u32, Status> {
    let text = std::str::from_utf8(owner).map_err(|_| Status::Inval)?;
    if text.is_empty() {
        return Err(Status::Inval);
    }
    let number = text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten();
    // The number of nobody at all, which to the kernel means "leave it as it is".
    number.filter(|number| *number != u32::MAX).ok_or(Status::BadOwner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_and_read_back() {
        for number in [0, 7, 10, 1000, 65_534, u32::MAX - 1] {
            let decimal = Decimal::of(number);
            assert_eq!(decimal.as_opaque().0, number.to_string().as_bytes());
            assert_eq!(parse(decimal.as_opaque().0), Ok(number));
        }
    }

    #[test]
    fn what_names_nobody_is_refused() {
        let names: [&[u8]; 5] = [b"root@example.org", b"-1", b"+1", b"4294967295", b"4294967296"];
        for name in names {
            assert_eq!(parse(name), Err(Status::BadOwner));
        }
        assert_eq!(parse(b""), Err(Status::Inval));
        assert_eq!(parse(&[0xff]), Err(Status::Inval));
    }
}
