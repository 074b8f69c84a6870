//! What the server says to clients.

use hayase_buf::ReplyBuf;
use hayase_nfs::Answered;
use hayase_proto::nfs4::{
    CB_PROC_NULL, CbCompoundHead, CbOp, CbRecallArgs, CbSequenceArgs, CbSequenceResOk,
    CompoundResWriter, NfsStat, OpSet, Res4, StateId, Status,
};
use hayase_rpc::{CallHeader, accept};
use hayase_vfs::Wait;
use hayase_xdr::{Decode, Encode, Reader};

use super::Run;
use super::world::FIRST_PORT;

/// The operations of a call of the server's, with what is recalled by it.
fn each_op(record: &[u8], mut each: impl FnMut(CbOp, &mut Reader<'_>)) -> (u32, bool) {
    let mut reader = Reader::new(record);
    let header = CallHeader::decode(&mut reader).expect("a call");
    if header.proc == CB_PROC_NULL {
        return (header.xid, true);
    }
    let head = CbCompoundHead::decode(&mut reader).expect("the head of a callback");
    for _ in 0..head.count {
        let op = CbOp::try_from(reader.word().expect("an operation")).expect("an operation");
        let mut args = reader;
        op.skip_args(&mut reader).expect("its arguments");
        each(op, &mut args);
    }
    assert!(reader.rest().is_empty(), "bytes behind a callback");
    (header.xid, false)
}

/// What a client answers that does as it is told.
pub(super) fn reply_to(record: &[u8]) -> Vec<u8> {
    let mut results = Vec::new();
    let mut writer = CompoundResWriter::begin(&mut results, b"");
    let (xid, is_null) = each_op(record, |op, args| {
        writer.begin_op(op, &mut results);
        match op {
            CbOp::Sequence => {
                let args = CbSequenceArgs::decode(args).expect("CB_SEQUENCE");
                let highest = args.highest_slotid;
                Res4::<_, Status>::Ok(CbSequenceResOk {
                    sessionid: args.sessionid,
                    sequenceid: args.sequenceid,
                    slotid: args.slotid,
                    highest_slotid: highest,
                    target_highest_slotid: highest,
                })
                .encode(&mut results);
            }
            _ => NfsStat::OK.encode(&mut results),
        }
    });
    writer.finish(NfsStat::OK, &mut results);
    let mut reply = Vec::new();
    accept(xid, &mut reply);
    if !is_null {
        reply.extend(results);
    }
    reply
}

/// The delegations that calls ask for.
fn recalled(records: &[Vec<u8>]) -> Vec<StateId> {
    let mut all = Vec::new();
    for record in records {
        each_op(record, |op, args| {
            if op == CbOp::Recall {
                all.push(CbRecallArgs::decode(args).expect("CB_RECALL").stateid);
            }
        });
    }
    all
}

impl Run<'_> {
    /// Looks at what a client was sent, and answers it.
    pub(super) fn answer_callbacks(&mut self, who: usize) {
        self.take_callbacks(who);
    }

    /// What a client was asked to give back. All that came is answered.
    fn take_callbacks(&mut self, who: usize) -> Vec<StateId> {
        let client = &self.clients[who];
        if client.minor == 0 {
            return recalled(&self.world.network.take(FIRST_PORT + who as u16));
        }
        let records = client.line.inbox.take();
        for record in &records {
            let mut reply = ReplyBuf::new();
            let taken = self.world.service.call(
                &client.line.peer,
                &reply_to(record),
                Wait::Never,
                &mut reply,
            );
            // The answer to a call of before a restart means nothing to the server of after it.
            assert!(matches!(taken, Answered::Silent | Answered::Garbage), "{taken:?}");
        }
        recalled(&records)
    }

    /// A delegation is wanted back: its holder is told, if it can be.
    pub(super) fn check_recalled(&mut self, who: usize, stateid: &StateId) {
        let told = self.take_callbacks(who);
        let client = &self.clients[who];
        let reachable = if client.minor == 0 { !client.doubted } else { client.back };
        let is_told = told.iter().any(|recalled| recalled.other == stateid.other);
        assert!(is_told || !reachable, "client {who} is not asked for its delegation");
    }
}
