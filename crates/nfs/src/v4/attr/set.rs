//! Attributes from the wire: SETATTR, CREATE and OPEN.

use hayase_proto::nfs4::{
    Attr, Bitmap, Fattr, ModeMasked, NfsTime, SetAttrs, SetTime as WireSetTime, Status,
};
use hayase_vfs::acl::nfs4::Ace;
use hayase_vfs::{SetAttr, SetTime, Time};

use super::acl::{self, set as set_acl};
use super::label::{self, set as set_label};
use super::supported::{exclusive, supported};
use crate::call::Target;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::owner::Owners;

const NANOS_PER_SEC: u32 = 1_000_000_000;
const MODE_BITS: u32 = 0o7777;

/// What is to be set, and as what it was asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct New {
    pub(crate) set: SetAttr,
    /// The times are those of a delegation's holder.
    pub(crate) delegated_times: bool,
    /// The access control list.
    pub(crate) acl: Option<Vec<Ace>>,
    /// The security label.
    pub(crate) label: Option<Box<[u8]>>,
    /// Taken from the mode unless the directory says what is inherited.
    umask: u32,
    /// Needs the mode of before.
    pub(crate) masked: Option<ModeMasked>,
    /// What the answer says was set.
    pub(crate) mask: Bitmap,
}

impl New {
    /// What can be set while an object is made in a directory. A default list there takes the
    /// place of the umask (RFC 8275 §4).
    pub(crate) fn made_in(&self, dir: &Target) -> SetAttr {
        let mode = self.set.mode.map(|mode| {
            let inherits =
                || dir.vfs().acl(&dir.cx(), &dir.handle).is_ok_and(|acl| acl.default.is_some());
            if self.umask != 0 && !inherits() { mode & !self.umask } else { mode }
        });
        SetAttr { mode, ..self.set }
    }

    /// Sets what has to be set afterwards, and tells what was set in all.
    pub(crate) fn complete(&self, made: &Target) -> Result<Bitmap, Fault> {
        let mut mask = self.mask;
        if let Some(aces) = &self.acl
            && let Err(fault) = set_acl(made, aces)
        {
            if let Fault::Abort(_) = fault {
                return Err(fault);
            }
            // The object is there: the client is told that this was not set.
            mask.remove(Attr::Acl);
        }
        if let Some(label) = &self.label
            && let Err(fault) = set_label(made, label)
        {
            if let Fault::Abort(_) = fault {
                return Err(fault);
            }
            mask.remove(Attr::SecLabel);
        }
        Ok(mask)
    }
}

/// For what an object is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Created {
    /// Ordinarily.
    Plain,
    /// With a verifier (`EXCLUSIVE4_1`).
    Exclusive,
}

/// What SETATTR is to set (RFC 8881 §18.30).
pub(crate) fn parse_set(fattr: Fattr<'_>, compound: &Compound<'_>) -> Result<New, Fault> {
    let attrs = SetAttrs::parse(fattr, &supported(compound.minor)).map_err(Status::from)?;
    if attrs.mode_umask.is_some() {
        return Err(Status::Inval.into()); // RFC 8275 §4: only for new objects
    }
    convert(&attrs, fattr.mask, compound.owners())
}

/// What a new object is to have (RFC 8881 §18.4, §18.16).
pub(crate) fn parse_created(
    fattr: Fattr<'_>,
    how: Created,
    compound: &Compound<'_>,
) -> Result<New, Fault> {
    let minor = compound.minor;
    let attrs = SetAttrs::parse(fattr, &supported(minor)).map_err(Status::from)?;
    if how == Created::Exclusive && !fattr.mask.is_subset(&exclusive(minor)) {
        return Err(Status::Inval.into()); // RFC 8881 §18.16.3
    }
    let mut new = convert(&attrs, fattr.mask, compound.owners())?;
    if new.delegated_times {
        return Err(Status::Inval.into()); // nobody holds what is not there yet
    }
    if let Some(both) = attrs.mode_umask {
        if both.mode & !MODE_BITS != 0 || both.umask & !0o777 != 0 {
            return Err(Status::Inval.into());
        }
        new.set.mode = Some(both.mode);
        new.umask = both.umask;
    }
    if let Some(masked) = new.masked.take() {
        new.set.mode = Some(masked.value & masked.mask);
    }
    Ok(new)
}

fn convert(attrs: &SetAttrs<'_>, mask: Bitmap, owners: Owners<'_>) -> Result<New, Fault> {
    let modes = [Attr::Mode, Attr::ModeSetMasked, Attr::ModeUmask];
    if modes.iter().filter(|mode| mask.contains(**mode)).count() > 1 {
        return Err(Status::Inval.into()); // RFC 8881 §6.2.5, RFC 8275 §4
    }
    if attrs.time_create.is_some() {
        return Err(Status::Inval.into()); // a file is made once
    }
    let too_many = |mode: u32| mode & !MODE_BITS != 0;
    if attrs.mode.is_some_and(too_many)
        || attrs.mode_set_masked.is_some_and(|m| too_many(m.value) || too_many(m.mask))
    {
        return Err(Status::Inval.into());
    }
    let delegated = [attrs.time_deleg_access, attrs.time_deleg_modify];
    let delegated_times = delegated.iter().any(Option::is_some);
    if delegated_times && (attrs.time_access_set.is_some() || attrs.time_modify_set.is_some()) {
        return Err(Status::Inval.into()); // the same times twice
    }
    let [access, modify] = delegated.map(|time| time.map(WireSetTime::ClientTime));
    let set = SetAttr {
        mode: attrs.mode,
        uid: attrs.owner.map(|owner| owners.uid(owner.0)).transpose()?,
        gid: attrs.owner_group.map(|group| owners.gid(group.0)).transpose()?,
        size: attrs.size,
        atime: set_time(attrs.time_access_set.or(access))?,
        mtime: set_time(attrs.time_modify_set.or(modify))?,
    };
    let acl = attrs.acl.as_ref().map(|acl| acl::parse(acl, owners)).transpose()?;
    let label = attrs.sec_label.as_ref().map(label::parse).transpose()?;
    Ok(New { set, delegated_times, acl, label, umask: 0, masked: attrs.mode_set_masked, mask })
}

fn set_time(time: Option<WireSetTime>) -> Result<SetTime, Status> {
    Ok(match time {
        None => SetTime::Keep,
        Some(WireSetTime::ServerTime) => SetTime::Now,
        Some(WireSetTime::ClientTime(NfsTime { seconds, nseconds })) => {
            if nseconds >= NANOS_PER_SEC {
                return Err(Status::Inval);
            }
            SetTime::To(Time { secs: seconds, nanos: nseconds })
        }
    })
}
