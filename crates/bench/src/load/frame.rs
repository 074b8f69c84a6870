//! What goes around a workload's part of a call and of its reply: the RPC header and, in a
//! session, the COMPOUND with its SEQUENCE.

use anyhow::{Result, bail, ensure};
use hayase_proto::nfs4::{
    CompoundHead, CompoundResHead, Op, PROC_COMPOUND, Res4, SequenceArgs, SequenceRes,
    SequenceResOk,
};
use hayase_xdr::{Decode, Encode, Opaque, Reader};

use crate::load::client::{Identity, Program, Results, Session};
use crate::load::workload::Procedure;

/// Where a compound's head has the number of operations, from the end of SEQUENCE…
const COUNT_FROM_END: usize = 4 + 4 + 16 + SEQUENCEID_FROM_END;
/// … and where SEQUENCE has its sequence id, slot, and highest slot.
const SEQUENCEID_FROM_END: usize = 4 + SLOT_FROM_END;
const SLOT_FROM_END: usize = 4 + HIGHEST_FROM_END;
const HIGHEST_FROM_END: usize = 4 + 4;

/// The beginning of every call of a workload, encoded once.
#[derive(Debug, Default)]
pub(super) struct Frame {
    head: Vec<u8>,
    in_session: bool,
}

/// What SEQUENCE says of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sequence {
    pub(super) slot: u32,
    pub(super) id: u32,
    pub(super) highest_slot: u32,
}

impl Frame {
    /// The frame of calls of `procedure`; those of NFSv4 are made in `session`.
    pub(super) fn new(
        identity: &Identity,
        procedure: Procedure,
        session: Option<&Session>,
    ) -> Self {
        match (procedure, session) {
            (Procedure::V3(proc), _) => {
                Frame { head: identity.header(Program::NFS3, proc.into(), 0), in_session: false }
            }
            (Procedure::V4(_), Some(session)) => {
                let mut head = identity.header(Program::NFS4, PROC_COMPOUND, 0);
                let (tag, minorversion) = (Opaque(&b""[..]), session.minor);
                CompoundHead { tag, minorversion, count: 0 }.encode(&mut head);
                Op::Sequence.encode(&mut head);
                let args = SequenceArgs {
                    sessionid: session.id,
                    sequenceid: 0,
                    slotid: 0,
                    highest_slotid: 0,
                    cachethis: false,
                };
                args.encode(&mut head);
                Frame { head, in_session: true }
            }
            (Procedure::V4(op), None) => unreachable!("{op} is only called in sessions"),
        }
    }

    /// The bytes that every call begins with.
    pub(super) fn head(&self) -> &[u8] {
        &self.head
    }

    /// Fills in what each call has of its own, in a copy of the head.
    pub(super) fn fill(&self, head: &mut [u8], xid: u32, sequence: Sequence, operations: u32) {
        put(xid, 0, head);
        if self.in_session {
            let end = self.head.len();
            put(operations + 1, end - COUNT_FROM_END, head);
            put(sequence.id, end - SEQUENCEID_FROM_END, head);
            put(sequence.slot, end - SLOT_FROM_END, head);
            put(sequence.highest_slot, end - HIGHEST_FROM_END, head);
        }
    }

    /// Reads what is before the workload's part of a result. In a session, also says what SEQUENCE
    /// answered, which has to be to `sequence`.
    pub(super) fn open<'a>(
        &self,
        result: &'a [u8],
        sequence: Sequence,
    ) -> Result<(&'a [u8], Option<SequenceResOk>)> {
        if !self.in_session {
            return Ok((result, None));
        }
        let mut reader = Reader::new(result);
        let head = CompoundResHead::decode(&mut reader)?;
        ensure!(head.count > 0, "the server refuses a compound: {}", head.status);
        let mut results = Results::new(reader.rest());
        let Sequence { slot, id, .. } = sequence;
        match results.take::<SequenceArgs>()? {
            SequenceRes::Ok(ok) => {
                let fits = (ok.slotid, ok.sequenceid) == (slot, id);
                ensure!(fits, "call {id} of slot {slot} is answered by {ok:?}");
                Ok((results.rest(), Some(ok)))
            }
            Res4::Fail(status) => bail!("SEQUENCE {id} of slot {slot}: {status}"),
        }
    }
}

fn put(word: u32, at: usize, to: &mut [u8]) {
    to[at..at + 4].copy_from_slice(&word.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use hayase_proto::nfs4::{CompoundResWriter, NfsStat, PutRootFhArgs, Status};
    use hayase_rpc::CallHeader;

    use super::*;
    use crate::load::workload::Call;

    const SESSION: Session = Session { id: *b"a session's name", minor: 2, slots: 9 };
    const SEQUENCE: Sequence = Sequence { slot: 5, id: 7, highest_slot: 8 };

    fn frame() -> Frame {
        Frame::new(&Identity::own(), Procedure::V4(Op::PutRootFh), Some(&SESSION))
    }

    #[test]
    fn what_is_filled_in_is_what_a_server_decodes() {
        let frame = frame();
        let mut wire = frame.head().to_vec();
        Call::begin(&mut wire).op(&PutRootFhArgs);
        frame.fill(&mut wire, 0x1234, SEQUENCE, 1);
        let mut reader = Reader::new(&wire);
        let header = CallHeader::decode(&mut reader).unwrap();
        assert_eq!((header.xid, header.prog, header.vers, header.proc), (0x1234, 100_003, 4, 1));
        let head = CompoundHead { tag: Opaque(b""), minorversion: 2, count: 2 };
        assert_eq!(CompoundHead::decode(&mut reader), Ok(head));
        assert_eq!(reader.word(), Ok(Op::Sequence.into()));
        let args = SequenceArgs {
            sessionid: SESSION.id,
            sequenceid: 7,
            slotid: 5,
            highest_slotid: 8,
            cachethis: false,
        };
        assert_eq!(SequenceArgs::decode(&mut reader), Ok(args));
        assert_eq!(reader.rest(), u32::from(Op::PutRootFh).to_be_bytes());
    }

    #[test]
    fn only_the_own_sequences_answer_will_do() {
        let answer = |res: SequenceRes| {
            let mut wire = Vec::new();
            let mut writer = CompoundResWriter::begin(&mut wire, b"");
            writer.begin_op(Op::Sequence, &mut wire);
            res.encode(&mut wire);
            writer.finish(NfsStat::OK, &mut wire);
            wire.extend_from_slice(b"rest");
            wire
        };
        let ok = SequenceResOk {
            sessionid: SESSION.id,
            sequenceid: 7,
            slotid: 5,
            highest_slotid: 30,
            target_highest_slotid: 20,
            status_flags: 0,
        };
        let wire = answer(SequenceRes::Ok(ok));
        assert_eq!(frame().open(&wire, SEQUENCE).unwrap(), (&b"rest"[..], Some(ok)));
        assert!(frame().open(&wire, Sequence { id: 8, ..SEQUENCE }).is_err());
        assert!(frame().open(&answer(Res4::Fail(Status::BadSlot)), SEQUENCE).is_err());
    }
}
