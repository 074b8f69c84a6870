use hayase_proto::nlm::*;
use hayase_xdr::Opaque;

use crate::{Sample, samples};

pub(crate) fn add(to: &mut Vec<Sample>) {
    let cookie = Opaque(&b"\0\0\0\x07"[..]);
    let lock = Lock {
        caller_name: Opaque(b"client1"),
        fh: Opaque(b"handle"),
        oh: Opaque(b"17@client1"),
        svid: -17,
        offset: 1 << 40,
        length: 0,
    };
    let holder =
        Holder { exclusive: true, svid: 3, oh: Opaque(b"3@other"), offset: 5, length: u64::MAX };
    let share = ShareOf {
        caller_name: Opaque(b"dos"),
        fh: Opaque(b"handle"),
        oh: Opaque(b"owner"),
        mode: SHARE_MAX,
        access: SHARE_MAX,
    };
    let tested = TestReply::Denied(holder);
    samples!(to: nlm {
        Proc [Proc::Null, Proc::FreeAll]
        Status [Status::Granted, Status::Failed]
        NetObj<'_> [cookie, Opaque(&[])]
        HostName<'_> [Opaque(b"client1")]
        Holder<'_> [holder]
        Lock<'_> [lock]
        TestArgs<'_> [TestArgs { cookie, exclusive: false, lock }]
        LockArgs<'_> [
            LockArgs { cookie, block: true, exclusive: true, lock, reclaim: false, state: 7 },
        ]
        CancelArgs<'_> [CancelArgs { cookie, block: true, exclusive: false, lock }]
        UnlockArgs<'_> [UnlockArgs { cookie, lock }]
        Res<'_> [Res { cookie, status: Status::Blocked }]
        TestReply<'_> [tested, TestReply::Other(Status::Granted)]
        TestRes<'_> [TestRes { cookie, reply: tested }]
        ShareOf<'_> [share]
        ShareArgs<'_> [ShareArgs { cookie, share, reclaim: true }]
        ShareRes<'_> [ShareRes { cookie, status: Status::Denied, sequence: 1 }]
        FreeAllArgs<'_> [FreeAllArgs { name: Opaque(b"dos"), state: 9 }]
        SmNotifyArgs<'_> [
            SmNotifyArgs { mon_name: Opaque(b"192.0.2.7"), state: 5, private: *b"sixteen bytes...", },
        ]
    });
}
