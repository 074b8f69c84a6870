//! Security labels (RFC 7862 §9.6, §12.2.4): passed through between clients and the file
//! system, where the export says `security_label`. Hayase knows no policy of its own.

use hayase_proto::nfs4::{SecLabel, Status};
use hayase_vfs::{Error, Handle, LABEL_MAX, Wcc};
use hayase_xdr::Opaque;

use crate::call::Target;
use crate::v4::fault::Fault;

/// The format that Linux and others use, whatever the label means (RFC 7862 §12.2.4).
const ANY_FORMAT: u32 = 0;

/// A file's label; none if it has none.
pub(super) fn of(file: &Target, own: &Handle) -> Result<Option<Vec<u8>>, Fault> {
    Ok(file.vfs().label(&file.cx(), own)?)
}

/// A label as it is told.
pub(super) fn told(label: &[u8]) -> SecLabel<'_> {
    SecLabel { lfs: ANY_FORMAT, pi: 0, data: Opaque(label) }
}

/// A label from the wire.
pub(super) fn parse(label: &SecLabel<'_>) -> Result<Box<[u8]>, Status> {
    if label.lfs != ANY_FORMAT {
        return Err(Status::WrongLfs);
    }
    if label.data.0.is_empty() || label.data.0.len() > LABEL_MAX {
        return Err(Status::BadLabel);
    }
    Ok(label.data.0.into())
}

/// Fails if the file's export has no labels.
pub(crate) fn check(file: &Target) -> Result<(), Fault> {
    let offered =
        file.options().security_label && file.vfs().features(&file.cx(), &file.handle)?.labels;
    if offered { Ok(()) } else { Err(Status::AttrNotSupp.into()) }
}

/// Sets a file's label.
pub(crate) fn set(file: &Target, label: &[u8]) -> Result<(), Fault> {
    check(file)?;
    let set = file.vfs().set_label(&file.cx(), &file.handle, label, &mut Wcc::default());
    set.map_err(|error| match error {
        Error::NotSupported => Status::AttrNotSupp.into(),
        Error::Invalid => Status::BadLabel.into(),
        other => other.into(),
    })
}
