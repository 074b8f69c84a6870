mod attrs;
mod basics;
mod callbacks;
mod copies;
mod data;
mod layouts;
mod opens;
mod sessions;

use hayase_proto::nfs4::*;
use hayase_xdr::Opaque;

use crate::Sample;

const FH: FileHandle<'static> = Opaque(b"handle of odd length!");
const NAME: Component<'static> = Opaque(b"name");
const STATEID: StateId = StateId { seqid: 3, other: *b"state other!" };
const TIME: NfsTime = NfsTime { seconds: -1, nseconds: 999_999_999 };
const CHANGE: ChangeInfo = ChangeInfo { atomic: true, before: 1 << 40, after: (1 << 40) + 1 };
const OWNER: StateOwner<'static> = StateOwner { clientid: 7 << 40, owner: Opaque(b"open id:1") };
const FATTR: Fattr<'static> =
    Fattr { mask: Bitmap::from_words([1 << 4, 1 << 1, 0, 0]), values: Opaque(&[0; 12]) };

pub(crate) fn add(to: &mut Vec<Sample>) {
    basics::add(to);
    attrs::add(to);
    opens::add(to);
    sessions::add(to);
    data::add(to);
    layouts::add(to);
    copies::add(to);
    callbacks::add(to);
}
