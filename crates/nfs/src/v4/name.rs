//! Names of entries as NFSv4 checks them (RFC 8881 §14.5, RFC 7530 §12.7).

use hayase_proto::nfs4::Status;
use hayase_vfs::{Error, Name};

/// Checks a component. Names are bytes here, as they are on Unix: what is not UTF-8 is taken.
pub(crate) fn name(component: &[u8]) -> Result<Name<'_>, Status> {
    Name::new(component).map_err(|error| match (error, component) {
        (Error::NameTooLong, _) => Status::NameTooLong,
        (_, b"") => Status::Inval,
        (_, b"." | b"..") => Status::BadName,
        _ => Status::BadChar,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_fault_of_a_name_has_its_status() {
        let status = |component| name(component).map(|_| ()).map_err(Status::name);
        assert_eq!(status(b""), Err("NFS4ERR_INVAL"));
        assert_eq!(status(b"."), Err("NFS4ERR_BADNAME"));
        assert_eq!(status(b".."), Err("NFS4ERR_BADNAME"));
        assert_eq!(status(b"a/b"), Err("NFS4ERR_BADCHAR"));
        assert_eq!(status(&[b'a'; 256]), Err("NFS4ERR_NAMETOOLONG"));
        assert_eq!(status(&[0xff, 0xfe]), Ok(()));
    }
}
