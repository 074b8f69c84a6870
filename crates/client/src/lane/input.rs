//! Cutting what a server sends into replies. The data of a large READ is received straight into its buffer.

use std::io::IoSliceMut;
use std::os::fd::AsFd;

use hayase_rpc::record::{MARK_BYTES, Mark};
use hayase_xdr::padding;
use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvFlags};

use super::call::{Call, Calls};
use crate::Transfer;
use crate::wire::{Codec, ReadHead};

/// READs of fewer bytes are received together with what else comes, and copied.
pub(super) const DIRECT_FROM: u32 = 16 << 10;
/// Bytes received at once while only small replies are awaited.
const WINDOW_BYTES: usize = 256 << 10;
/// Bytes received at once, data aside, while data is awaited: hardly more than a reply's head, so that
/// hardly any data has to be copied.
const HEAD_WINDOW_BYTES: usize = 512;
/// The head of a READ's reply is shorter than this.
const LONGEST_READ_HEAD: usize = 2 << 10;
/// No reply is longer: all that a READ may bring, and its head.
const LONGEST_REPLY: usize = Transfer::MAX as usize + (64 << 10);

/// What receiving came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// Everything that was there.
    All,
    /// As much as was asked for; there may be more.
    More,
    /// The peer has closed the connection.
    Closed,
}

/// A reply that has arrived.
#[derive(Debug)]
pub(super) enum Arrival<'a> {
    /// The reply of the call in a place, whole.
    Record(u32, &'a [u8]),
    /// That of a READ, whose data is in its buffer.
    Data(u32, ReadHead),
}

/// What no server may send.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Nonsense {
    /// To which call it was the reply, as far as that is known.
    pub(super) place: Option<u32>,
    pub(super) what: String,
}

/// The data of a READ that is arriving.
#[derive(Clone, Copy, Debug)]
struct Direct {
    place: u32,
    head: ReadHead,
    filled: usize,
}

impl Direct {
    fn len(&self) -> usize {
        self.head.count as usize
    }
}

/// The receiving half of one connection.
#[derive(Debug)]
pub(super) struct Input {
    window: Vec<u8>,
    start: usize,
    end: usize,
    /// As far as the window is filled by the next call.
    room: usize,
    /// Bytes of the window that are wanted before anything can be done with them.
    wanted: usize,
    /// Bytes at the window's start that are done with when the next reply is asked for.
    passed: usize,
    direct: Option<Direct>,
    /// A record that comes in fragments, as far as it has come.
    fragments: Vec<u8>,
    in_fragments: bool,
}

impl Input {
    pub(super) fn new() -> Self {
        Input {
            window: Vec::new(),
            start: 0,
            end: 0,
            room: 0,
            wanted: MARK_BYTES,
            passed: 0,
            direct: None,
            fragments: Vec::new(),
            in_fragments: false,
        }
    }

    /// Receives once. `bulk` says that data of large READs is awaited.
    pub(super) fn fill(
        &mut self,
        socket: impl AsFd,
        calls: &mut Calls,
        bulk: bool,
    ) -> rustix::io::Result<Filled> {
        self.make_room(bulk);
        let room = &mut self.window[self.end..self.room];
        let (data, asked) = match &self.direct {
            Some(direct) => {
                let data = calls.read_space(direct.place, direct.filled, direct.len());
                let asked = data.len() + room.len();
                (data, asked)
            }
            None => (&mut [][..], room.len()),
        };
        let data_len = data.len();
        let received = if data_len == 0 {
            rustix::net::recv(socket, room, RecvFlags::DONTWAIT).map(|(_, received)| received)
        } else {
            let mut pieces = [IoSliceMut::new(data), IoSliceMut::new(room)];
            let mut none = RecvAncillaryBuffer::default();
            rustix::net::recvmsg(socket, &mut pieces, &mut none, RecvFlags::DONTWAIT)
                .map(|message| message.bytes)
        };
        let received = match received {
            Ok(0) => return Ok(Filled::Closed),
            Ok(received) => received,
            Err(Errno::AGAIN | Errno::INTR) => return Ok(Filled::All),
            Err(errno) => return Err(errno),
        };
        let of_data = received.min(data_len);
        if let Some(direct) = &mut self.direct {
            direct.filled += of_data;
        }
        self.end += received - of_data;
        Ok(if received == asked { Filled::More } else { Filled::All })
    }

    /// Takes the next reply that has arrived on `connection`.
    pub(super) fn next(
        &mut self,
        calls: &mut Calls,
        codec: &Codec,
        connection: usize,
    ) -> Result<Option<Arrival<'_>>, Nonsense> {
        self.start += std::mem::take(&mut self.passed);
        loop {
            if let Some(direct) = self.direct {
                let padding = padding(direct.len());
                self.wanted = padding;
                if direct.filled < direct.len() || self.end - self.start < padding {
                    return Ok(None);
                }
                self.start += padding;
                self.direct = None;
                return Ok(Some(Arrival::Data(direct.place, direct.head)));
            }
            let have = self.end - self.start;
            let Some((mark, rest)) = self.window[self.start..self.end].split_first_chunk() else {
                self.wanted = MARK_BYTES;
                return Ok(None);
            };
            let mark = Mark::decode(*mark);
            if self.fragments.len() + mark.len > LONGEST_REPLY {
                let what = format!("it announces a reply of {} bytes", mark.len);
                return Err(Nonsense { place: None, what });
            }
            if !mark.last || self.in_fragments {
                self.wanted = MARK_BYTES + mark.len;
                if have < self.wanted {
                    return Ok(None);
                }
                self.fragments.extend_from_slice(&rest[..mark.len]);
                self.start += MARK_BYTES + mark.len;
                self.in_fragments = !mark.last;
                if mark.last {
                    return self.assembled(calls, connection).map(Some);
                }
                continue;
            }
            let Some(xid) = rest[..mark.len.min(rest.len())].first_chunk() else {
                if mark.len < size_of::<u32>() {
                    let what = format!("it sends a reply of {} bytes", mark.len);
                    return Err(Nonsense { place: None, what });
                }
                self.wanted = MARK_BYTES + size_of::<u32>();
                return Ok(None);
            };
            let place = awaiting(*xid, calls, connection)?;
            if calls.get(place).and_then(Call::read_len).is_some_and(|len| len >= DIRECT_FROM) {
                match self.begin_data(place, mark.len, calls, codec)? {
                    Begun::Data => continue,
                    Begun::NotYet => return Ok(None),
                    Begun::NoData => {}
                }
            }
            self.wanted = MARK_BYTES + mark.len;
            if have < self.wanted {
                return Ok(None);
            }
            self.passed = self.wanted;
            let record = &self.window[self.start + MARK_BYTES..self.start + self.wanted];
            return Ok(Some(Arrival::Record(place, record)));
        }
    }

    /// Reads the head of a READ's reply of `len` bytes, and goes over to receiving its data.
    fn begin_data(
        &mut self,
        place: u32,
        len: usize,
        calls: &mut Calls,
        codec: &Codec,
    ) -> Result<Begun, Nonsense> {
        let nonsense = |what| Nonsense { place: Some(place), what };
        let record = &self.window[self.start + MARK_BYTES..self.end];
        let record = &record[..record.len().min(len)];
        let Some(call) = calls.get(place) else { return Ok(Begun::NoData) };
        let head = match codec.read_head(record, &call.request, call.sequence.as_ref()) {
            Ok(Some(head)) => head,
            Ok(None) => return Ok(Begun::NoData),
            Err(hayase_xdr::Error::Truncated)
                if record.len() < len && record.len() < LONGEST_READ_HEAD =>
            {
                // As much as will tell, whatever the head is like.
                self.wanted = MARK_BYTES + len.min(record.len() + HEAD_WINDOW_BYTES / 4);
                return Ok(Begun::NotYet);
            }
            Err(error) => {
                return Err(nonsense(format!("its reply to READ cannot be read: {error}")));
            }
        };
        let count = head.count as usize;
        if call.read_len().is_none_or(|asked| head.count > asked) {
            return Err(nonsense(format!(
                "it answers READ with {count} bytes, more than were asked for"
            )));
        }
        if len != head.data_at + count + padding(count) {
            return Err(nonsense(format!(
                "its reply to READ is {len} bytes long and has {count} bytes of data"
            )));
        }
        let arrived = &record[head.data_at..];
        let filled = arrived.len().min(count);
        calls.read_space(place, 0, filled).copy_from_slice(&arrived[..filled]);
        self.start += MARK_BYTES + head.data_at + filled;
        self.direct = Some(Direct { place, head, filled });
        Ok(Begun::Data)
    }

    /// The record that has come in fragments.
    fn assembled(&mut self, calls: &Calls, connection: usize) -> Result<Arrival<'_>, Nonsense> {
        // It stays where it is until the next one begins.
        let record = std::mem::take(&mut self.fragments);
        let Some(xid) = record.first_chunk() else {
            let what = format!("it sends a reply of {} bytes", record.len());
            return Err(Nonsense { place: None, what });
        };
        let place = awaiting(*xid, calls, connection)?;
        // Behind what has arrived there is no room for it: it takes the place of what has passed.
        self.assembled_at_front(&record);
        Ok(Arrival::Record(place, &self.window[self.start..self.start + self.passed]))
    }

    /// Puts a record in front of what is still to be read.
    fn assembled_at_front(&mut self, record: &[u8]) {
        let rest = self.window[self.start..self.end].to_vec();
        self.window.resize(self.window.len().max(record.len() + rest.len()), 0);
        self.window[..record.len()].copy_from_slice(record);
        self.window[record.len()..record.len() + rest.len()].copy_from_slice(&rest);
        (self.start, self.end) = (0, record.len() + rest.len());
        self.passed = record.len();
    }

    /// Makes room behind what has arrived: for what is wanted, and as much as is received at once.
    fn make_room(&mut self, bulk: bool) {
        let have = self.end - self.start;
        let usual = if bulk || self.direct.is_some() { HEAD_WINDOW_BYTES } else { WINDOW_BYTES };
        // Memory follows what arrives: twice that, however much is announced.
        self.room = usual.max(self.wanted.min(2 * have)).max(have + 1);
        if self.start > 0 {
            self.window.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, have);
        }
        if self.window.len() < self.room {
            self.window.resize(self.room, 0);
        }
    }
}

enum Begun {
    /// What comes now is data.
    Data,
    /// The head has not arrived as a whole.
    NotYet,
    /// It is a reply without data.
    NoData,
}

/// The place of the call with an xid as it is on the wire.
fn awaiting(xid: [u8; 4], calls: &Calls, connection: usize) -> Result<u32, Nonsense> {
    let xid = u32::from_be_bytes(xid);
    calls.awaiting(xid, connection).ok_or_else(|| {
        let what = format!("it answers call {xid:#x}, which was not made");
        Nonsense { place: None, what }
    })
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    use hayase_buf::Buffer;
    use hayase_proto::nfs3::{ReadHeadRes, ReadResHead};
    use hayase_xdr::Encode;

    use super::super::call::State;
    use super::*;
    use crate::net::Identity;
    use crate::{FileHandle, OpenFile, Options, Request, Version};

    /// A lane's calls, sent on connection 0: READs of these lengths, and for 0 a NULL.
    fn calls(lens: &[u32]) -> Calls {
        let mut calls = Calls::new(lens.len());
        for len in lens {
            let buffer = Buffer::unpooled(*len as usize);
            let file = OpenFile::anonymous(FileHandle::ROOT);
            let request = match len {
                0 => Request::Null,
                len => Request::Read { file, offset: 0, len: *len, buffer },
            };
            let place = calls.insert(Call::new(0, request, None)).unwrap();
            let xid = calls.next_xid(place);
            let call = calls.get_mut(place).unwrap();
            (call.xid, call.state) = (xid, State::Sent(0));
        }
        calls
    }

    fn data(place: u32, len: usize) -> Vec<u8> {
        (0..len).map(|at| (at / 7) as u8 ^ place as u8).collect()
    }

    /// The reply to the call in a place.
    fn reply(calls: &Calls, place: u32) -> Vec<u8> {
        let call = calls.get(place).unwrap();
        let mut record = Vec::new();
        hayase_rpc::accept(call.xid, &mut record);
        if let Some(count) = call.read_len() {
            let head = ReadResHead { file_attributes: None, count, eof: false };
            ReadHeadRes::Ok(head).encode(&mut record);
            record.extend(data(place, count as usize));
            record.resize(record.len() + padding(count as usize), 0);
        }
        let mark = Mark { last: true, len: record.len() }.encode();
        mark.into_iter().chain(record).collect()
    }

    #[test]
    fn data_gets_to_its_buffer_however_the_bytes_arrive() {
        let lens = [0, DIRECT_FROM, 5, 100_001, 0, 0, 300_000, DIRECT_FROM + 2, 0];
        let codec = Codec::new(Version::V3, &Identity::new(&Options::default()));
        for piece in [1_000, 4_096, 77_777, 1 << 20] {
            for bulk in [false, true] {
                let mut calls = calls(&lens);
                let places = 0..lens.len() as u32;
                let stream: Vec<u8> = places.flat_map(|place| reply(&calls, place)).collect();
                let (ours, mut theirs) = UnixStream::pair().unwrap();
                let sender = std::thread::spawn(move || {
                    stream.chunks(piece).try_for_each(|piece| theirs.write_all(piece))
                });
                let (mut input, mut next) = (Input::new(), 0);
                while next < lens.len() {
                    assert_ne!(input.fill(&ours, &mut calls, bulk), Ok(Filled::Closed));
                    while let Some(arrival) = input.next(&mut calls, &codec, 0).unwrap() {
                        let (place, direct) = match arrival {
                            Arrival::Record(place, record) => {
                                let (place, record) = (place, record.to_vec());
                                assert_eq!(record[..], reply(&calls, place)[4..]);
                                (place, false)
                            }
                            Arrival::Data(place, _) => (place, true),
                        };
                        let len = lens[place as usize];
                        assert_eq!((place as usize, direct), (next, len >= DIRECT_FROM));
                        if direct {
                            let buffer = calls.get_mut(place).unwrap().read_buffer().unwrap();
                            assert!(buffer[..] == data(place, len as usize)[..], "{len} bytes");
                        }
                        next += 1;
                    }
                }
                sender.join().unwrap().unwrap();
            }
        }
    }

    #[test]
    fn what_was_not_asked_for_is_refused() {
        let codec = Codec::new(Version::V3, &Identity::new(&Options::default()));
        let refused = |lens: &[u32], spoil: &dyn Fn(&mut Vec<u8>)| {
            let mut calls = calls(lens);
            let mut wire = reply(&calls, 0);
            spoil(&mut wire);
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            theirs.write_all(&wire).unwrap();
            let mut input = Input::new();
            input.fill(&ours, &mut calls, true).unwrap();
            input.next(&mut calls, &codec, 0).map(|_| ()).unwrap_err()
        };
        let absurd = refused(&[0], &|wire| wire[..4].copy_from_slice(&[0xff; 4]));
        assert_eq!((absurd.place, absurd.what.contains("2147483647")), (None, true), "{absurd:?}");
        let nobodys = refused(&[0], &|wire| wire[7] ^= 1);
        assert_eq!((nobodys.place, nobodys.what.contains("not made")), (None, true));
        // The count of READ, and the length before its data.
        let more = refused(&[DIRECT_FROM], &|wire| {
            wire[38] ^= 1;
            wire[46] ^= 1;
        });
        assert!(more.place == Some(0), "{more:?}");
        let longer = refused(&[DIRECT_FROM], &|wire| wire[3] ^= 4);
        assert_eq!(longer.place, Some(0));
    }
}
