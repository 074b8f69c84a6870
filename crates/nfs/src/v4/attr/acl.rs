//! Access control lists to the wire and from it (RFC 8881 §6.2.1).

use hayase_proto::nfs4::{Acl as WireAcl, NfsAce, Status, ace_flag, ace_type, acl_support};
use hayase_vfs::acl::nfs4::{Ace, AceKind, Who, from_nfs4, to_nfs4};
use hayase_vfs::{Attr, Error, FileType, Handle, Wcc};
use hayase_xdr::{Array, Encode, Opaque};

use crate::call::Target;
use crate::v4::fault::Fault;
use crate::v4::owner::{self, Owners};

/// What entries there can be.
pub(crate) const SUPPORT: u32 = acl_support::ALLOW | acl_support::DENY;

/// The list of a file.
pub(crate) fn of(file: &Target, own: &Handle, attr: &Attr) -> Result<Vec<Ace>, Fault> {
    let acl = file.vfs().acl(&file.cx(), own)?;
    Ok(to_nfs4(&acl, attr.mode, attr.kind == FileType::Directory))
}

/// A list as it travels: entries, and whom each is about.
pub(crate) struct Told(Vec<(Ace, Whom)>);

enum Whom {
    Special(&'static [u8]),
    Named(owner::Told),
}

/// The list as it travels.
pub(crate) fn told(aces: Vec<Ace>, owners: Owners<'_>) -> Result<Told, Fault> {
    let told = aces.into_iter().map(|ace| {
        let whom = match ace.who {
            Who::Owner => Whom::Special(b"OWNER@"),
            Who::Group => Whom::Special(b"GROUP@"),
            Who::Everyone => Whom::Special(b"EVERYONE@"),
            Who::User(uid) => Whom::Named(owners.user(uid)?),
            Who::NamedGroup(gid) => Whom::Named(owners.group(gid)?),
        };
        Ok((ace, whom))
    });
    told.collect::<Result<_, Fault>>().map(Told)
}

impl Encode for Told {
    fn encode(&self, to: &mut Vec<u8>) {
        (self.0.len() as u32).encode(to);
        for (ace, whom) in &self.0 {
            let who = match whom {
                Whom::Special(name) => Opaque(name),
                Whom::Named(name) => name.as_opaque(),
            };
            let group = if ace.who.is_group() { ace_flag::IDENTIFIER_GROUP } else { 0 };
            let ace_type = match ace.kind {
                AceKind::Allow => ace_type::ALLOWED,
                AceKind::Deny => ace_type::DENIED,
            };
            NfsAce { ace_type, flag: ace.flags | group, access_mask: ace.mask, who }.encode(to);
        }
    }
}

/// Reads a list.
pub(crate) fn parse(acl: &WireAcl<'_>, owners: Owners<'_>) -> Result<Vec<Ace>, Fault> {
    let Array(aces) = acl;
    aces.iter().map(|ace| parse_ace(ace, owners)).collect()
}

fn parse_ace(ace: &NfsAce<'_>, owners: Owners<'_>) -> Result<Ace, Fault> {
    let kind = match ace.ace_type {
        ace_type::ALLOWED => AceKind::Allow,
        ace_type::DENIED => AceKind::Deny,
        ace_type::AUDIT | ace_type::ALARM => return Err(Status::AttrNotSupp.into()),
        _ => return Err(Status::Inval.into()),
    };
    let is_group = ace.flag & ace_flag::IDENTIFIER_GROUP != 0;
    let who = match ace.who.0 {
        b"OWNER@" => Who::Owner,
        b"GROUP@" => Who::Group,
        b"EVERYONE@" => Who::Everyone,
        name if is_group => Who::NamedGroup(owners.gid(name)?),
        name => Who::User(owners.uid(name)?),
    };
    Ok(Ace { kind, flags: ace.flag & !ace_flag::IDENTIFIER_GROUP, mask: ace.access_mask, who })
}

/// Gives a file a list.
pub(crate) fn set(file: &Target, aces: &[Ace]) -> Result<(), Fault> {
    let (vfs, cx) = (file.vfs(), file.cx());
    let attr = vfs.attr(&cx, &file.handle)?;
    // What a list says that POSIX cannot is no attribute of this file system.
    let unsaid = |error| match error {
        Error::NotSupported => Fault::Status(Status::AttrNotSupp),
        other => other.into(),
    };
    let acl = from_nfs4(aces, attr.kind == FileType::Directory).map_err(unsaid)?;
    vfs.set_acl(&cx, &file.handle, &acl, &mut Wcc::default()).map_err(unsaid)
}
