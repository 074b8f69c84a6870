//! Exports that are found elsewhere (RFC 8881 §11, RFC 7530 §8).
//!
//! Nothing can be done with such a file system but to ask where it is: LOOKUP and PUTFH make
//! its root the current file handle, and all that follows is answered with MOVED, but for GETATTR
//! that asks for `fs_locations`.

use hayase_exports::Locations;
use hayase_proto::nfs4::{Attr, Bitmap, FattrWriter, FsLocation, FsLocations, NfsStat, Pathname};
use hayase_proto::nfs4::{Fsid, Status};
use hayase_xdr::{Array, Opaque};

use super::attr::supported;
use super::compound::Compound;
use super::pseudo::PseudoTree;
use crate::call::Target;
use crate::exports::rest_below;

/// What is told of a file system that is not here (RFC 7530 §8.3.1).
const TOLD: Bitmap =
    Bitmap::of(&[Attr::Fsid, Attr::RdattrError, Attr::FsLocations, Attr::MountedOnFileId]);

/// Who asks for the attributes of an export that is elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// GETATTR.
    Itself,
    /// READDIR of the directory that holds it.
    ByListing,
}

impl Compound<'_> {
    /// Appends a `fattr4` of an export that is elsewhere.
    pub(crate) fn write_moved(
        &self,
        root: &Target,
        wanted: &Bitmap,
        asked: Asked,
        to: &mut Vec<u8>,
    ) -> Result<(), Status> {
        let has_places = wanted.contains(Attr::FsLocations);
        let says_error = asked == Asked::ByListing && wanted.contains(Attr::RdattrError);
        if !has_places && !says_error {
            return Err(Status::Moved);
        }
        let mut told = *wanted & TOLD & supported(self.minor);
        if asked == Asked::Itself {
            told.remove(Attr::RdattrError);
        }
        let error = if has_places { NfsStat::OK } else { Status::Moved.into() };
        let id = root.export().id;
        let mut w = FattrWriter::begin(to, told);
        w.push(Attr::Fsid, &Fsid { major: u64::from(id.0), minor: 0 });
        w.push(Attr::RdattrError, &error);
        if w.wants(Attr::FsLocations) {
            w.push(Attr::FsLocations, &self.places(root));
        }
        w.push(Attr::MountedOnFileId, &self.covered_fileid(id));
        w.finish();
        Ok(())
    }

    /// Where else the export of a file is found.
    pub(crate) fn places<'t>(&self, file: &'t Target) -> FsLocations<'t> {
        let options = file.options();
        let places = options.refer.as_ref().or(options.replicas.as_ref());
        let locations = places.into_iter().flat_map(Locations::iter).map(|place| FsLocation {
            server: Array(place.hosts.iter().map(|host| Opaque(host.as_bytes())).collect()),
            rootpath: pathname(place.path.as_bytes()),
        });
        FsLocations {
            fs_root: pathname(self.seen_path(&file.export().path)),
            locations: Array(locations.collect()),
        }
    }

    /// The path at which clients see an export: with an export as the root, from there on. A
    /// client does not follow a referral whose path is not the one by which it came.
    fn seen_path<'p>(&self, path: &'p [u8]) -> &'p [u8] {
        let root = self.table.pseudo.node(PseudoTree::ROOT).export;
        let root = root.and_then(|id| self.table.by_id(id));
        root.and_then(|root| rest_below(&root.path, path)).unwrap_or(path)
    }
}

fn pathname(path: &[u8]) -> Pathname<'_> {
    let components = path.split(|b| *b == b'/').filter(|c| !c.is_empty());
    Array(components.map(Opaque).collect())
}
