//! `READ_PLUS` (RFC 7862 §15.10).

use hayase_buf::ReplyBuf;
use hayase_proto::nfs4::{
    ReadPlusArgs, ReadPlusContentHead, ReadPlusDataHead, ReadPlusHole, Status,
};
use hayase_state::IoAccess;
use hayase_vfs::{Cx, Error, ReadData, Seek};
use hayase_xdr::{Encode, Reader, padding};

use crate::call::Target;
use crate::v4::compound::Compound;
use crate::v4::fault::Fault;
use crate::v4::table::decode;

/// End of file and the number of pieces.
const HEAD_BYTES: usize = 4 + 4;
/// Most pieces of one answer: beyond, the client reads on.
const MOST_PIECES: u32 = 64;
/// A hole shorter than this is cheaper sent as zeros.
const LEAST_HOLE: u64 = 4096;

/// What one piece is.
enum Piece {
    Data { len: u64 },
    Hole { len: u64 },
}

/// Pieces are looked for one by one; the answer ends where the count, the room or the file does.
pub(crate) fn read_plus(
    compound: &mut Compound<'_>,
    args: &mut Reader<'_>,
    reply: &mut ReplyBuf,
) -> Result<(), Fault> {
    let ReadPlusArgs { stateid, offset, count } = decode(args)?;
    let room = compound.reply_room(reply).saturating_sub(4096) as u32;
    let count = count.min(compound.call.server.limits.transfer_bytes).min(room);
    let file = compound.file(Status::IsDir)?;
    let cx = compound.may(file, stateid, IoAccess::Read)?;
    let head_at = reply.bytes().len();
    reply.bytes_mut().extend_from_slice(&[0; HEAD_BYTES]);
    let end = offset.saturating_add(u64::from(count));
    let (mut at, mut pieces) = (offset, 0);
    let mut size = file.vfs().attr(&file.cx(), &file.handle)?.size;
    if count == 0 || offset >= size {
        // A file of no kind that has data says so by reading nothing of it.
        let nothing = file.vfs().read(&cx, &file.handle, offset, 0, &mut Vec::new());
        nothing.map_err(|error| super::not_regular(file, error))?;
    }
    while at < end.min(size) && pieces < MOST_PIECES {
        let len = match piece(file, &cx, at, end.min(size))? {
            Piece::Hole { len } => {
                let hole = ReadPlusHole { offset: at, length: len };
                ReadPlusContentHead::Hole(hole).encode(reply.bytes_mut());
                len
            }
            Piece::Data { len } => {
                let (len, eof) = data(file, &cx, at, len as u32, reply)?;
                if eof {
                    size = size.min(at + len);
                }
                if len == 0 {
                    break;
                }
                len
            }
        };
        at += len;
        pieces += 1;
    }
    let [eof, pieces] = [u32::from(at >= size), pieces].map(u32::to_be_bytes);
    let head = &mut reply.bytes_mut()[head_at..head_at + HEAD_BYTES];
    head[..4].copy_from_slice(&eof);
    head[4..].copy_from_slice(&pieces);
    Ok(())
}

/// What there is between two places.
fn piece(file: &Target, cx: &Cx<'_>, at: u64, end: u64) -> Result<Piece, Fault> {
    let vfs = file.vfs();
    let next_data = match vfs.seek(cx, &file.handle, at, Seek::Data) {
        Ok(sought) if sought.eof => end,
        Ok(sought) => sought.offset,
        // It cannot tell, or the file has just become shorter: reading will show.
        Err(Error::NotSupported | Error::NoDevice) => return Ok(Piece::Data { len: end - at }),
        Err(error) => return Err(super::not_regular(file, error)),
    };
    if next_data >= end || next_data - at >= LEAST_HOLE {
        return Ok(Piece::Hole { len: next_data.min(end) - at });
    }
    let next_hole = match vfs.seek(cx, &file.handle, next_data, Seek::Hole) {
        Ok(sought) => sought.offset,
        Err(_) => end,
    };
    Ok(Piece::Data { len: next_hole.clamp(at + 1, end) - at })
}

/// Appends a piece of data; answers its length, and whether the file ends with it.
fn data(
    file: &Target,
    cx: &Cx<'_>,
    at: u64,
    len: u32,
    reply: &mut ReplyBuf,
) -> Result<(u64, bool), Fault> {
    let mark = reply.mark();
    let to = reply.bytes_mut();
    let start = to.len();
    let head = |len| ReadPlusContentHead::Data(ReadPlusDataHead { offset: at, data_len: len });
    head(0).encode(to);
    let head_bytes = to.len() - start;
    let read = file.vfs().read(cx, &file.handle, at, len, to);
    let done = read.map_err(|error| super::not_regular(file, error))?;
    let read_len = done.data.len();
    if read_len == 0 {
        reply.rollback(mark);
        return Ok((0, true));
    }
    let len_at = start + head_bytes - 4;
    to[len_at..len_at + 4].copy_from_slice(&(read_len as u32).to_be_bytes());
    if let ReadData::Payload(payload) = done.data {
        reply.push_payload(payload);
    }
    reply.bytes_mut().extend_from_slice(&[0; 3][..padding(read_len)]);
    Ok((read_len as u64, done.eof))
}
