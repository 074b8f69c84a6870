//! Access control lists to the wire and from it (RFC 8881 §6.2.1).

use hayase_proto::nfs4::{Acl as WireAcl, NfsAce, Status, ace_flag, ace_type, acl_support};
use hayase_vfs::acl::nfs4::{Ace, AceKind, Who, from_nfs4, to_nfs4};
use hayase_vfs::{Attr, Error, FileType, Handle, Wcc};
use hayase_xdr::{Array, Encode, Opaque};

use crate::call::Target;
use crate::v4::fault::Fault;
use crate::v4::owner::{self, Decimal};

/// What entries there can be.
pub(crate) const SUPPORT: u32 = acl_support::ALLOW | acl_support::DENY;

/// The list of a file.
pub(crate) fn of(file: &Target, own: &Handle, attr: &Attr) -> Result<Vec<Ace>, Fault> {
    let acl = file.vfs().acl(&file.cx(), own)?;
    Ok(to_nfs4(&acl, attr.mode, attr.kind == FileType::Directory))
}

/// A list as it travels.
pub(crate) struct Told<'a>(pub(crate) &'a [Ace]);

impl Encode for Told<'_> {
    fn encode(&self, to: &mut Vec<u8>) {
        (self.0.len() as u32).encode(to);
        for ace in self.0 {
            let number;
            let who = match ace.who {
                Who::Owner => Opaque(b"OWNER@".as_slice()),
                Who::Group => Opaque(b"GROUP@".as_slice()),
                Who::Everyone => Opaque(b"EVERYONE@".as_slice()),
                Who::User(id) | Who::NamedGroup(id) => {
                    number = Decimal::of(id);
                    number.as_opaque()
                }
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
pub(crate) fn parse(acl: &WireAcl<'_>) -> Result<Vec<Ace>, Status> {
    let Array(aces) = acl;
    aces.iter().map(parse_ace).collect()
}

fn parse_ace(ace: &NfsAce<'_>) -> Result<Ace, Status> {
    let kind = match ace.ace_type {
        ace_type::ALLOWED => AceKind::Allow,
        ace_type::DENIED => AceKind::Deny,
        ace_type::AUDIT | ace_type::ALARM => return Err(Status::AttrNotSupp),
        _ => return Err(Status::Inval),
    };
    let is_group = ace.flag & ace_flag::IDENTIFIER_GROUP != 0;
    let who = match ace.who.0 {
        b"OWNER@" => Who::Owner,
        b"GROUP@" => Who::Group,
        b"EVERYONE@" => Who::Everyone,
        name if is_group => Who::NamedGroup(owner::parse(name)?),
        name => Who::User(owner::parse(name)?),
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
