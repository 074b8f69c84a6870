//! Credentials and verifiers (RFC 5531 §8.2, appendix A).

use hayase_xdr::{Array, Opaque, Xdr, from_bytes};

use crate::AuthStat;

/// Authentication flavors (RFC 5531 §8.2, RFC 2203).
pub mod flavor {
    /// No authentication.
    pub const AUTH_NONE: u32 = 0;
    /// Numeric user and group ids, believed as they are.
    pub const AUTH_SYS: u32 = 1;
    /// GSS-API.
    pub const RPCSEC_GSS: u32 = 6;
}

/// A credential or verifier as it travels: at most 400 bytes of body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OpaqueAuth<'a> {
    /// How to read the body.
    pub flavor: u32,
    /// What the flavor says it is.
    pub body: Opaque<'a, 400>,
}

impl OpaqueAuth<'_> {
    /// `AUTH_NONE` with an empty body.
    pub const NONE: OpaqueAuth<'static> =
        OpaqueAuth { flavor: flavor::AUTH_NONE, body: Opaque(&[]) };
}

/// The body of an `AUTH_SYS` credential (RFC 5531 appendix A).
#[derive(Clone, Debug, PartialEq, Eq, Xdr)]
pub struct AuthSysArgs<'a> {
    /// Chosen by the caller; means nothing but for [one](crate::ASKING_STAMP).
    pub stamp: u32,
    /// The caller's own host name.
    pub machine_name: Opaque<'a, 255>,
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
    /// Supplementary groups.
    pub gids: Array<u32, 16>,
}

/// Who an `AUTH_SYS` caller says it is; small enough to be made per call without allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AuthSys {
    /// Effective user id.
    pub uid: u32,
    /// Effective group id.
    pub gid: u32,
    gids: [u32; 16],
    count: u8,
}

impl AuthSys {
    /// Supplementary groups: at most 16.
    pub fn gids(&self) -> &[u32] {
        &self.gids[..self.count as usize]
    }
}

/// A call's credential, checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Credential {
    /// `AUTH_NONE`.
    None,
    /// `AUTH_SYS`.
    Sys(AuthSys),
}

impl Credential {
    /// Checks a credential and its verifier; the error is what RFC 5531 §9 names for it.
    pub fn check(cred: OpaqueAuth<'_>, verf: OpaqueAuth<'_>) -> Result<Self, AuthStat> {
        match cred.flavor {
            flavor::AUTH_NONE => Ok(Credential::None),
            flavor::AUTH_SYS => {
                if verf.flavor != flavor::AUTH_NONE {
                    return Err(AuthStat::BadVerf);
                }
                decode_sys(cred.body.0).map(Credential::Sys).map_err(|_| AuthStat::BadCred)
            }
            _ => Err(AuthStat::RejectedCred),
        }
    }
}

/// Like decoding [`AuthSysArgs`], without the vector.
fn decode_sys(body: &[u8]) -> hayase_xdr::Result<AuthSys> {
    let mut reader = hayase_xdr::Reader::new(body);
    reader.word()?;
    let name_len = reader.length(255)?;
    reader.take_padded(name_len)?;
    let (uid, gid) = (reader.word()?, reader.word()?);
    let count = reader.length(16)?;
    let mut gids = [0; 16];
    for slot in &mut gids[..count] {
        *slot = reader.word()?;
    }
    reader.finish()?;
    Ok(AuthSys { uid, gid, gids, count: count as u8 })
}

impl<'a> AuthSysArgs<'a> {
    /// Reads the body of a credential.
    pub fn from_body(body: &'a [u8]) -> hayase_xdr::Result<Self> {
        from_bytes(body)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hayase_xdr::to_vec;

    fn sys(body: &[u8]) -> Result<Credential, AuthStat> {
        let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(body) };
        Credential::check(cred, OpaqueAuth::NONE)
    }

    fn args(groups: usize) -> AuthSysArgs<'static> {
        AuthSysArgs {
            stamp: 1,
            machine_name: Opaque(b"client"),
            uid: 1000,
            gid: 100,
            gids: Array((0..groups as u32).collect()),
        }
    }

    #[test]
    fn sixteen_groups_are_read() {
        let body = to_vec(&args(16));
        let Ok(Credential::Sys(auth)) = sys(&body) else { panic!("refused") };
        assert_eq!((auth.uid, auth.gid), (1000, 100));
        assert_eq!(auth.gids(), (0..16).collect::<Vec<_>>());
        assert_eq!(AuthSysArgs::from_body(&body), Ok(args(16)));
    }

    #[test]
    fn seventeen_groups_and_broken_bodies_are_bad_credentials() {
        assert_eq!(sys(&to_vec(&args(17))), Err(AuthStat::BadCred));
        let body = to_vec(&args(3));
        for len in 0..body.len() {
            assert_eq!(sys(&body[..len]), Err(AuthStat::BadCred), "cut at {len}");
        }
        assert_eq!(sys(&[body, vec![0; 4]].concat()), Err(AuthStat::BadCred));
    }

    #[test]
    fn unknown_flavors_are_rejected() {
        let cred = OpaqueAuth { flavor: flavor::RPCSEC_GSS, body: Opaque(&[]) };
        assert_eq!(Credential::check(cred, OpaqueAuth::NONE), Err(AuthStat::RejectedCred));
        assert_eq!(Credential::check(OpaqueAuth::NONE, cred), Ok(Credential::None));
    }

    #[test]
    fn auth_sys_wants_an_empty_verifier() {
        let body = to_vec(&args(0));
        let cred = OpaqueAuth { flavor: flavor::AUTH_SYS, body: Opaque(&body) };
        assert_eq!(Credential::check(cred, cred), Err(AuthStat::BadVerf));
    }
}
