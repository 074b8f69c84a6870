//! Which delegation a client wishes (RFC 8881 §18.16.3, RFC 9754).

use hayase_proto::nfs4::Status;

/// The wishes in `share_access`, from NFSv4.1 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Want {
    /// Which one.
    pub kind: WantKind,
    /// Rather the delegation alone than with an open stateid
    /// (`OPEN4_SHARE_ACCESS_WANT_OPEN_XOR_DELEGATION`, RFC 9754 §3).
    pub open_xor_delegation: bool,
    /// The client would keep the file's times (`OPEN4_SHARE_ACCESS_WANT_DELEG_TIMESTAMPS`,
    /// RFC 9754 §4).
    pub timestamps: bool,
}

/// Which delegation is wished (`OPEN4_SHARE_ACCESS_WANT_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WantKind {
    /// Whatever the server thinks best; all that NFSv4.0 knows.
    #[default]
    NoPreference,
    /// One for reading.
    Read,
    /// One for writing.
    Write,
    /// One of any kind.
    Any,
    /// None.
    No,
    /// None, and no wish of before stands.
    Cancel,
}

/// Which of them.
const KIND: u32 = 0xff00;
/// `OPEN4_SHARE_ACCESS_WANT_SIGNAL_DELEG_WHEN_RESRC_AVAIL` and
/// `OPEN4_SHARE_ACCESS_WANT_PUSH_DELEG_WHEN_UNCONTENDED`: promises a server need not make.
const LATER: u32 = 0x0003_0000;
/// `OPEN4_SHARE_ACCESS_WANT_DELEG_TIMESTAMPS`.
const TIMESTAMPS: u32 = 0x0010_0000;
/// `OPEN4_SHARE_ACCESS_WANT_OPEN_XOR_DELEGATION`.
const XOR: u32 = 0x0020_0000;

impl Want {
    /// The wishes of OPEN's `share_access` or `WANT_DELEGATION`'s `wda_want`. Bits that mean
    /// nothing are invalid (RFC 8881 §18.16.4); NFSv4.0 has none that do.
    pub fn new(share_access: u32, minor_version: u32) -> Result<Self, Status> {
        let bits = share_access & !3;
        if minor_version == 0 {
            return if bits == 0 { Ok(Want::default()) } else { Err(Status::Inval) };
        }
        let kind = match bits & KIND {
            0x0000 => WantKind::NoPreference,
            0x0100 => WantKind::Read,
            0x0200 => WantKind::Write,
            0x0300 => WantKind::Any,
            0x0400 => WantKind::No,
            0x0500 => WantKind::Cancel,
            _ => return Err(Status::Inval),
        };
        if bits & !(KIND | LATER | TIMESTAMPS | XOR) != 0 {
            return Err(Status::Inval);
        }
        Ok(Want { kind, open_xor_delegation: bits & XOR != 0, timestamps: bits & TIMESTAMPS != 0 })
    }

    /// Whether the client said what it wishes, so that it can be told why it did not get it
    /// (`OPEN_DELEGATE_NONE_EXT`).
    pub const fn is_explicit(&self) -> bool {
        !matches!(self.kind, WantKind::NoPreference)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_read_from_the_wire() {
        // RFC 8881 §18.16.3, RFC 9754 §3, §4: the bits above access; unknown ones are invalid.
        assert_eq!(Want::new(3, 0), Ok(Want::default()));
        assert_eq!(Want::new(0x0101, 0), Err(Status::Inval));
        assert_eq!(Want::new(0x0401, 1).unwrap().kind, WantKind::No);
        assert_eq!(Want::new(0x0003_0303, 1).unwrap().kind, WantKind::Any);
        let both = Want::new(0x0030_0201, 2).unwrap();
        assert!(both.timestamps && both.open_xor_delegation && both.kind == WantKind::Write);
        assert_eq!(Want::new(0x0601, 1), Err(Status::Inval));
        assert_eq!(Want::new(0x0004_0001, 1), Err(Status::Inval));
        assert_eq!(Want::new(0x0005, 1), Err(Status::Inval));
    }
}
