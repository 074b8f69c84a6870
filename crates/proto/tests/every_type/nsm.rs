use hayase_proto::nsm::*;
use hayase_xdr::Opaque;

use crate::{Sample, samples};

pub(crate) fn add(to: &mut Vec<Sample>) {
    let mon_name = Opaque(&b"192.0.2.7"[..]);
    let my_id = MyId { name: Opaque(b"localhost"), program: 100_021, version: 4, procedure: 16 };
    let mon_id = MonId { mon_name, my_id };
    samples!(to: nsm {
        Proc [Proc::Null, Proc::Notify]
        Outcome [Outcome::Success, Outcome::Fail]
        HostName<'_> [mon_name]
        StatArgs<'_> [StatArgs { mon_name }]
        MyId<'_> [my_id]
        MonId<'_> [mon_id]
        MonArgs<'_> [MonArgs { mon_id, private: *b"sixteen bytes..." }]
        StatRes [StatRes { outcome: Outcome::Success, state: 7 }]
        Stat [Stat { state: 7 }]
        NotifyArgs<'_> [NotifyArgs { mon_name, state: 9 }]
    });
}
