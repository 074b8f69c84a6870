//! OPEN, CLOSE and `OPEN_DOWNGRADE`.

use hayase_proto::nfs4::{
    Attr, Bitmap, CloseArgs, CreateHow, Fattr, OpenArgs, OpenClaim, OpenConfirmArgs,
    OpenDelegation, OpenDowngradeArgs, OpenHow, OpenOwner, OpenResOk, PutFhArgs, Res4, StateId,
    Status, open_result, share_access, share_want,
};
use hayase_xdr::Opaque;

use super::Run;
use super::client::{Client, Counts};
use super::lent::Intrusion;
use super::model::Open;
use super::world::NAMES;

/// What is asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) file: usize,
    pub(super) owner: u8,
    pub(super) access: u32,
    pub(super) deny: u32,
    pub(super) want: u32,
    pub(super) truncate: bool,
    pub(super) claim: Right,
}

/// By what right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Right {
    /// None, by the file's name.
    Name,
    /// None, by its handle.
    Handle,
    /// A delegation.
    Delegation(StateId),
    /// It was so before the server restarted.
    Before(hayase_proto::nfs4::DelegationType),
}

impl Run<'_> {
    pub(super) fn open(&mut self, who: usize) {
        self.ready(who);
        let file = self.choices.below(NAMES.len());
        let access = self.choices.pick(&[1, 2, 3, 3]);
        let minor = self.clients[who].minor;
        let wants = [
            0,
            0,
            0x100,
            0x200,
            0x300,
            share_want::NO_DELEG,
            0x500,
            share_want::OPEN_XOR_DELEGATION | 0x300,
        ];
        let wants = match minor {
            0 => &wants[..1],
            1 => &wants[..7],
            _ => &wants[..],
        };
        let lent = self.model.files[file].lent.iter().find(|lent| lent.client == who);
        // Against what it has not claimed yet it would be its own enemy.
        let lent = lent.filter(|_| self.clients[who].claims.is_empty());
        let claim = match lent.map(|lent| lent.stateid) {
            Some(stateid) if minor > 0 && self.choices.one_in(3) => Right::Delegation(stateid),
            _ if minor > 0 && self.choices.one_in(2) => Right::Handle,
            _ => Right::Name,
        };
        let asked = Asked {
            file,
            owner: self.choices.below(2) as u8,
            access,
            deny: self.choices.pick(&[0, 0, 0, 0, 0, 1, 2, 3]),
            want: self.choices.pick(wants),
            truncate: claim == Right::Name
                && access & share_access::WRITE != 0
                && self.choices.one_in(6),
            claim,
        };
        let expected = self.expect_open(who, &asked);
        self.try_open(who, &asked, expected);
    }

    /// What the state says to an open that claims nothing of before. Other clients may lose what
    /// they have by it.
    fn expect_open(&self, who: usize, asked: &Asked) -> Result<Intrusion, Status> {
        if !matches!(asked.claim, Right::Delegation(_)) && self.must_wait(who) {
            return Err(Status::Grace);
        }
        let now = self.world.now();
        let file = &self.model.files[asked.file];
        let mut expelled = Vec::new();
        // Its own opens count as well (RFC 7530 §9.9, RFC 8881 §9.7).
        for other in file.opens.iter().filter(|o| o.conflicts_with(asked.access, asked.deny)) {
            if other.client == who || !self.clients[other.client].is_courteous(now) {
                return Err(Status::ShareDenied);
            }
            expelled.push(other.client);
        }
        let with_readers = asked.access & share_access::WRITE != 0 || asked.deny & 1 != 0;
        let mut intrusion = self.intrude(Some(who), asked.file, with_readers);
        // Those that share reservations cost their lives lend nothing any more.
        intrusion.recalled.retain(|other| !expelled.contains(other));
        intrusion.expelled.extend(expelled);
        Ok(intrusion)
    }

    /// Sends an OPEN and sees to it that it is answered so.
    pub(super) fn try_open(
        &mut self,
        who: usize,
        asked: &Asked,
        expected: Result<Intrusion, Status>,
    ) -> bool {
        let client = &self.clients[who];
        let (minor, clientid) = (client.minor, client.id.unwrap_or(0));
        let seqid = client.next_seqid(Counts::Open(asked.owner));
        let by_name = asked.claim == Right::Name;
        let handle =
            if by_name { &self.model.root } else { &self.model.files[asked.file].handle }.clone();
        let owner = Client::owner_name(asked.owner);
        let size = 0u64.to_be_bytes();
        let empty = Fattr { mask: Bitmap::of(&[Attr::Size]), values: Opaque(&size) };
        let answer = self.send(who, true, |writer| {
            writer.push(&PutFhArgs { object: Opaque(&handle) }).push(&OpenArgs {
                seqid,
                share_access: asked.access | asked.want,
                share_deny: asked.deny,
                owner: OpenOwner { clientid, owner: Opaque(&owner) },
                openhow: if asked.truncate {
                    OpenHow::Create(CreateHow::Unchecked(empty))
                } else {
                    OpenHow::NoCreate
                },
                claim: match asked.claim {
                    Right::Name => OpenClaim::Null(Opaque(NAMES[asked.file])),
                    Right::Handle => OpenClaim::Fh,
                    Right::Delegation(stateid) => OpenClaim::DelegCurFh(stateid),
                    Right::Before(kind) => OpenClaim::Previous(kind),
                },
            });
        });
        let Some(answer) = answer else { return false };
        let status = answer.status();
        if minor == 0 {
            self.clients[who].seqids.insert(Counts::Open(asked.owner), seqid);
        }
        let intrusion = match expected {
            Ok(intrusion) => intrusion,
            Err(expected) => {
                assert_eq!(status, Err(expected), "{asked:?} of client {who}");
                if expected == Status::Grace {
                    self.note_put_off(who);
                }
                return false;
            }
        };
        self.expel(&intrusion.expelled);
        if !intrusion.recalled.is_empty() {
            assert_eq!(status, Err(Status::Delay), "{asked:?} of client {who} while it is lent");
            self.note_recalled(asked.file, &intrusion.recalled);
            return false;
        }
        let Some(Res4::Ok(ok)) = answer.result::<OpenArgs<'_>>() else {
            panic!("{asked:?} of client {who}: {status:?}");
        };
        self.opened(who, asked, &ok);
        true
    }

    /// An open succeeded.
    fn opened(&mut self, who: usize, asked: &Asked, ok: &OpenResOk<'_>) {
        if asked.truncate {
            self.model.files[asked.file].content.clear();
        }
        let existing = self.model.files[asked.file]
            .opens
            .iter()
            .position(|open| open.client == who && open.owner == asked.owner);
        let lent = match &ok.delegation {
            OpenDelegation::None | OpenDelegation::NoneExt(_) => None,
            OpenDelegation::Read(read) | OpenDelegation::ReadAttrs(read) => {
                Some((read.stateid, false, read.recall))
            }
            OpenDelegation::Write(write) | OpenDelegation::WriteAttrs(write) => {
                Some((write.stateid, true, write.recall))
            }
        };
        if ok.rflags & open_result::NO_OPEN_STATEID != 0 {
            let wanted = asked.want & share_want::OPEN_XOR_DELEGATION != 0;
            assert!(wanted && lent.is_some() && existing.is_none() && asked.deny == 0, "no open");
        } else {
            self.add_open(who, asked, ok, existing);
        }
        if let Some((stateid, write, recall)) = lent {
            self.lend(who, asked.file, stateid, write, recall);
        }
        self.note_granted(who);
    }

    fn add_open(&mut self, who: usize, asked: &Asked, ok: &OpenResOk<'_>, existing: Option<usize>) {
        let mut stateid = ok.stateid;
        let minor = self.clients[who].minor;
        if ok.rflags & open_result::CONFIRM != 0 {
            assert!(minor == 0 && !matches!(asked.claim, Right::Before(_)), "who has to confirm");
            let seqid = self.clients[who].next_seqid(Counts::Open(asked.owner));
            let handle = self.model.files[asked.file].handle.clone();
            let answer = self.send(who, true, |writer| {
                writer
                    .push(&PutFhArgs { object: Opaque(&handle) })
                    .push(&OpenConfirmArgs { open_stateid: stateid, seqid });
            });
            let answer = answer.expect("it has just opened a file");
            let Some(Res4::Ok(confirmed)) = answer.result::<OpenConfirmArgs>() else {
                panic!("OPEN_CONFIRM: {:?}", answer.status());
            };
            assert_eq!(confirmed, StateId { seqid: stateid.seqid + 1, ..stateid });
            stateid = confirmed;
            self.clients[who].seqids.insert(Counts::Open(asked.owner), seqid);
        }
        let opens = &mut self.model.files[asked.file].opens;
        match existing.map(|at| &mut opens[at]) {
            Some(open) => {
                assert_eq!(stateid.other, open.stateid.other, "another stateid for the same open");
                assert_eq!(stateid.seqid, open.stateid.seqid + 1, "the seqid of an upgrade");
                open.stateid = stateid;
                open.access |= asked.access;
                open.deny |= asked.deny;
                open.opened.push((asked.access, asked.deny));
            }
            None => opens.push(Open {
                client: who,
                owner: asked.owner,
                stateid,
                access: asked.access,
                deny: asked.deny,
                opened: vec![(asked.access, asked.deny)],
            }),
        }
    }

    pub(super) fn close(&mut self, who: usize) {
        let opens = self.model.opens_of(who);
        if opens.is_empty() {
            return self.open(who);
        }
        let (file, at) = self.choices.pick(&opens);
        let open = self.model.files[file].opens[at].clone();
        let (stateid, fault) = self.some_seqid(who, open.stateid);
        let seqid = self.clients[who].next_seqid(Counts::Open(open.owner));
        let handle = self.model.files[file].handle.clone();
        let answer = self.send(who, fault.is_none(), |writer| {
            writer
                .push(&PutFhArgs { object: Opaque(&handle) })
                .push(&CloseArgs { seqid, open_stateid: stateid });
        });
        let Some(answer) = answer else { return };
        self.count(who, Counts::Open(open.owner), seqid, answer.status());
        assert_eq!(answer.status(), fault.map_or(Ok(()), Err), "CLOSE of client {who}");
        if fault.is_none() {
            let file = &mut self.model.files[file];
            file.opens.remove(at);
            file.locks.retain(|locks| locks.client != who || locks.open != open.owner);
        }
    }

    pub(super) fn downgrade(&mut self, who: usize) {
        let opens = self.model.opens_of(who);
        if opens.is_empty() {
            return self.open(who);
        }
        let (file, at) = self.choices.pick(&opens);
        let open = self.model.files[file].opens[at].clone();
        let to = (1 + self.choices.below(3) as u32, self.choices.below(4) as u32);
        let (stateid, fault) = self.some_seqid(who, open.stateid);
        let minor = self.clients[who].minor;
        let can = adds_up_to(&open.opened, to, minor);
        let expected = fault.map_or(if can { Ok(()) } else { Err(Status::Inval) }, Err);
        let seqid = self.clients[who].next_seqid(Counts::Open(open.owner));
        let handle = self.model.files[file].handle.clone();
        let answer = self.send(who, fault.is_none(), |writer| {
            writer.push(&PutFhArgs { object: Opaque(&handle) }).push(&OpenDowngradeArgs {
                open_stateid: stateid,
                seqid,
                share_access: to.0,
                share_deny: to.1,
            });
        });
        let Some(answer) = answer else { return };
        self.count(who, Counts::Open(open.owner), seqid, answer.status());
        assert_eq!(answer.status(), expected, "{:?} of client {who} to {to:?}", open.opened);
        if let Some(Res4::Ok(new)) = answer.result::<OpenDowngradeArgs>() {
            assert_eq!(new, StateId { seqid: open.stateid.seqid + 1, ..open.stateid });
            let open = &mut self.model.files[file].opens[at];
            open.stateid = new;
            (open.access, open.deny) = to;
            open.opened.retain(|(access, deny)| access & !to.0 == 0 && deny & !to.1 == 0);
            open.opened.push(to);
        }
    }

    /// Mostly the stateid as it is now; else one whose seqid is wrong, and what that is answered with.
    pub(super) fn some_seqid(&mut self, who: usize, stateid: StateId) -> (StateId, Option<Status>) {
        let minor = self.clients[who].minor;
        let with = |seqid| StateId { seqid, ..stateid };
        match self.choices.below(24) {
            1 if stateid.seqid > 1 => (with(stateid.seqid - 1), Some(Status::OldStateId)),
            2 => (with(stateid.seqid + 1), Some(Status::BadStateId)),
            3..6 if minor > 0 => (with(0), None),
            6 if minor == 0 => (with(0), Some(Status::OldStateId)),
            _ => (stateid, None),
        }
    }

    /// An owner of NFSv4.0 counts a request, unless its failure says otherwise (RFC 7530 §9.1.7).
    pub(super) fn count(
        &mut self,
        who: usize,
        owner: Counts,
        seqid: u32,
        status: Result<(), Status>,
    ) {
        let counts = !matches!(
            status,
            Err(Status::StaleClientId
                | Status::StaleStateId
                | Status::BadStateId
                | Status::BadSeqId
                | Status::BadXdr
                | Status::Resource
                | Status::NoFileHandle)
        );
        if counts && self.clients[who].minor == 0 {
            self.clients[who].seqids.insert(owner, seqid);
        }
    }
}

/// Whether some of the modes add up to just this: in NFSv4.0 some in access and deny together, later
/// some in either (RFC 7530 §16.19.4, RFC 8881 §18.18.3).
fn adds_up_to(opened: &[(u32, u32)], to: (u32, u32), minor: u32) -> bool {
    let mut found = false;
    for subset in 1..1u32 << opened.len().min(12) {
        let chosen = || opened.iter().enumerate().filter(move |(at, _)| subset & 1 << at != 0);
        let access = chosen().fold(0, |all, (_, mode)| all | mode.0) == to.0;
        let deny = chosen().fold(0, |all, (_, mode)| all | mode.1) == to.1;
        if minor == 0 && access && deny {
            return true;
        }
        found |= access;
    }
    let deny = (1..1u32 << opened.len().min(12)).any(|subset| {
        let chosen = opened.iter().enumerate().filter(|(at, _)| subset & 1 << at != 0);
        chosen.fold(0, |all, (_, mode)| all | mode.1) == to.1
    });
    minor > 0 && found && deny
}
