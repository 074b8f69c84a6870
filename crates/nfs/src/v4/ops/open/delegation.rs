//! Delegations as OPEN tells them (RFC 8881 §18.16.2, RFC 9754).

use hayase_proto::nfs4::{
    DelegationType, NfsAce, OpenDelegation, ReadDelegation, SpaceLimit, Status, WhyNoDelegation,
    WriteDelegation,
};
use hayase_state::{Delegation, WhyNot};
use hayase_xdr::Opaque;

/// Nobody may open the file without asking the server: it alone knows who may.
const ASK: NfsAce<'static> = NfsAce { ace_type: 0, flag: 0, access_mask: 0, who: Opaque(b"") };

/// How large a file may become in the client's cache: any size, since space is checked when
/// it is written back.
const NO_LIMIT: SpaceLimit = SpaceLimit::Size(u64::MAX);

/// What OPEN answers.
pub(super) fn told(delegation: &Delegation) -> OpenDelegation<'static> {
    let grant = match delegation {
        Delegation::None => return OpenDelegation::None,
        Delegation::Refused(why) => return OpenDelegation::NoneExt(why_not(*why)),
        Delegation::Granted(grant) => grant,
    };
    let (stateid, recall, permissions) = (grant.stateid, grant.recall, ASK);
    let read = ReadDelegation { stateid, recall, permissions };
    let write = WriteDelegation { stateid, recall, space_limit: NO_LIMIT, permissions };
    match (grant.write, grant.timestamps) {
        (false, false) => OpenDelegation::Read(read),
        (false, true) => OpenDelegation::ReadAttrs(read),
        (true, false) => OpenDelegation::Write(write),
        (true, true) => OpenDelegation::WriteAttrs(write),
    }
}

fn why_not(why: WhyNot) -> WhyNoDelegation {
    match why {
        WhyNot::NotWanted => WhyNoDelegation::NotWanted,
        WhyNot::Contention => WhyNoDelegation::Contention(false),
        WhyNot::Resource => WhyNoDelegation::Resource(false),
        WhyNot::NotSuppFtype => WhyNoDelegation::NotSuppFtype,
        WhyNot::WriteDelegNotSuppFtype => WhyNoDelegation::WriteDelegNotSuppFtype,
        WhyNot::NotSuppUpgrade => WhyNoDelegation::NotSuppUpgrade,
        WhyNot::NotSuppDowngrade => WhyNoDelegation::NotSuppDowngrade,
        WhyNot::Cancelled => WhyNoDelegation::Cancelled,
        WhyNot::IsDir => WhyNoDelegation::IsDir,
    }
}

/// The delegation that a client claims to have had: for writing, or for reading.
pub(super) fn reclaimed(kind: DelegationType) -> Result<Option<bool>, Status> {
    match kind {
        DelegationType::None => Ok(None),
        DelegationType::Read | DelegationType::ReadAttrs => Ok(Some(false)),
        DelegationType::Write | DelegationType::WriteAttrs => Ok(Some(true)),
        DelegationType::NoneExt => Err(Status::Inval),
    }
}
