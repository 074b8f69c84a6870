//! READDIR (RFC 8881 §18.23, RFC 7530 §16.24).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{Attr, Bitmap, NfsStat, ReaddirArgs, ReaddirWriter, Status};
use hayase_vfs::{DirEntry, FileType};
use hayase_xdr::{Encode, Reader};

use crate::call::Target;
use crate::v4::attr::{Extra, check_readable, write, write_error, write_number};
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::moved::Asked;
use crate::v4::object::{Object, Subject};
use crate::v4::pseudo::NodeId;
use crate::v4::table::decode;

/// Cookies are positions that the file system keeps for as long as it exists, also over
/// restarts, so one verifier is good for all of them.
const COOKIE_VERIFIER: [u8; 8] = [0; 8];
/// Cookies 0, 1 and 2 are not for entries (RFC 8881 §18.23.3), but may be a file system's.
const COOKIE_OFFSET: u64 = 2;
/// What can be told of an entry without looking at it.
const NUMBERS: Bitmap = Bitmap::of(&[Attr::MountedOnFileId, Attr::RdattrError]);

/// Bytes of the status word.
const STATUS_BYTES: usize = 4;

/// Why an entry is not written.
enum Skip {
    /// It has just been removed.
    Gone,
    Fault(Fault),
}

impl<T: Into<Fault>> From<T> for Skip {
    fn from(fault: T) -> Self {
        Skip::Fault(fault.into())
    }
}

pub(crate) fn readdir(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let args: ReaddirArgs = decode(args)?;
    check_readable(&args.attr_request)?;
    if args.cookie != 0 && args.cookieverf != COOKIE_VERIFIER {
        return Err(Status::NotSame.into());
    }
    if matches!(args.cookie, 1..=COOKIE_OFFSET) {
        return Err(Status::BadCookie.into());
    }
    let room = compound.reply_room(reply) as u32;
    let max = args.maxcount.min(compound.call.server.limits.listing_bytes).min(room);
    let to = reply.bytes_mut();
    // The writer writes the status, too.
    let status_at = to.len() - STATUS_BYTES;
    to.truncate(status_at);
    let listed = list(compound, &args, max, to);
    if listed.is_err() {
        to.truncate(status_at);
        NfsStat::OK.encode(to);
    }
    listed
}

/// `dircount` is a hint that would cost the client entries that fit: Linux asks with an
/// eighth of `maxcount`.
fn list(
    compound: &Compound<'_>,
    args: &ReaddirArgs,
    max: u32,
    to: &mut Vec<u8>,
) -> Result<(), Fault> {
    let mut writer = ReaddirWriter::begin(to, COOKIE_VERIFIER, max)?;
    let entries = Entries { compound, wanted: args.attr_request };
    let eof = match compound.current()? {
        Object::Barred(..) => return Err(Status::WrongSec.into()),
        Object::Moved(_) => return Err(Status::Moved.into()),
        Object::Foreign => return Err(Status::Stale.into()),
        Object::Pseudo(node) => entries.of_pseudo(*node, args.cookie, &mut writer)?,
        Object::Real(dir) => entries.of_dir(dir, args.cookie, &mut writer)?,
    };
    Ok(writer.finish(eof)?)
}

/// What is told of entries.
struct Entries<'l> {
    compound: &'l Compound<'l>,
    wanted: Bitmap,
}

impl Entries<'_> {
    /// Lists a directory of an export; answers whether no entry is left.
    fn of_dir(
        &self,
        dir: &Target,
        cookie: u64,
        writer: &mut ReaddirWriter<'_>,
    ) -> Result<bool, Fault> {
        let cookie = cookie.saturating_sub(COOKIE_OFFSET);
        let with_nodes = !self.only_numbers();
        let mut failed = None;
        let mut sink = |entry: &DirEntry<'_>| {
            if matches!(entry.name, b"." | b"..") {
                return true;
            }
            let cookie = entry.cookie.saturating_add(COOKIE_OFFSET);
            match writer.push(cookie, entry.name, |to| self.entry(dir, entry, to)) {
                Ok(fits) => fits,
                Err(Skip::Gone) => true,
                Err(Skip::Fault(fault)) => {
                    failed = Some(fault);
                    false
                }
            }
        };
        let (vfs, cx) = (dir.vfs(), dir.cx());
        let read = vfs.read_dir(&cx, &dir.handle, cookie, with_nodes, &mut sink)?;
        failed.map_or(Ok(read.eof), Err)
    }

    /// Lists a pseudo directory; answers whether no entry is left.
    fn of_pseudo(
        &self,
        node: NodeId,
        cookie: u64,
        writer: &mut ReaddirWriter<'_>,
    ) -> Result<bool, Fault> {
        let compound = self.compound;
        let children = (COOKIE_OFFSET + 1..).zip(&compound.table.pseudo.node(node).children);
        for (at, (name, child)) in children.filter(|(at, _)| *at > cookie) {
            let Some(object) = compound.uncover(*child)? else { continue };
            match writer.push(at, name, |to| self.object(&object, to)) {
                Ok(true) | Err(Skip::Gone) => {}
                Ok(false) => return Ok(false),
                Err(Skip::Fault(fault)) => return Err(fault),
            }
        }
        Ok(true)
    }

    /// Whether entries need not be looked at. Of other exports there is more to say.
    fn only_numbers(&self) -> bool {
        self.wanted.is_subset(&NUMBERS) && !self.compound.table.pseudo.has_junctions()
    }

    /// Writes the attributes of an entry of an export.
    fn entry(&self, dir: &Target, entry: &DirEntry<'_>, to: &mut Vec<u8>) -> Result<(), Skip> {
        if self.only_numbers() {
            write_number(entry.fileid, self.wanted, to);
            return Ok(());
        }
        let node = entry.node.as_ref().ok_or(Skip::Gone)?;
        let compound = self.compound;
        if node.attr.kind == FileType::Directory && compound.table.pseudo.has_junctions() {
            return match compound.cross(dir.clone().with_handle(node.handle)) {
                Ok(object) => self.object(&object, to),
                Err(fault) => self.unknown(fault, to),
            };
        }
        let mut subject = compound.real_subject(dir, &node.handle, node.attr);
        subject.mounted_on = Some(entry.fileid);
        self.subject(&subject, to)
    }

    fn object(&self, object: &Object, to: &mut Vec<u8>) -> Result<(), Skip> {
        if let Object::Moved(root) = object {
            let asked = Asked::ByListing;
            return Ok(self.compound.write_moved(root, &self.wanted, asked, to)?);
        }
        match self.compound.subject(object) {
            Ok(subject) => self.subject(&subject, to),
            Err(fault) => self.unknown(fault, to),
        }
    }

    fn subject(&self, subject: &Subject<'_>, to: &mut Vec<u8>) -> Result<(), Skip> {
        let extra = Extra { rdattr_error: Some(NfsStat::OK) };
        Ok(write(self.compound, subject, self.wanted, extra, to)?)
    }

    /// An entry whose attributes cannot be told: the listing fails, unless the client wants
    /// to know of each entry (RFC 8881 §18.23.3).
    fn unknown(&self, fault: Fault, to: &mut Vec<u8>) -> Result<(), Skip> {
        match fault {
            Fault::Status(status) if self.wanted.contains(Attr::RdattrError) => {
                write_error(status, to);
                Ok(())
            }
            other => Err(other.into()),
        }
    }
}
