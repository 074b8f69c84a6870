//! What has been asked of the own portmapper, as GETSTAT tells it (RFC 1833 §2.1).

use hayase_proto::portmap::rpcb::{AddrCount, ProcCounts, Stat, StatByVers};
use hayase_xdr::{LinkedList, Opaque};

use crate::Netid;

/// Programs asked for that are counted by themselves, per version of the protocol.
/// Those beyond it are served all the same.
const ADDRESSES_MAX: usize = 64;

/// Counters for versions 2, 3 and 4.
#[derive(Debug, Default)]
pub(crate) struct Stats([Version; 3]);

#[derive(Debug, Default)]
struct Version {
    calls: [u32; 13],
    set: u32,
    unset: u32,
    asked: Vec<Asked>,
}

#[derive(Debug)]
struct Asked {
    prog: u32,
    vers: u32,
    netid: Netid,
    success: u32,
    failure: u32,
}

impl Stats {
    fn version(&mut self, version: u32) -> &mut Version {
        &mut self.0[(version.clamp(2, 4) - 2) as usize]
    }

    pub(crate) fn called(&mut self, version: u32, proc: u32) {
        if let Some(count) = self.version(version).calls.get_mut(proc as usize) {
            *count = count.wrapping_add(1);
        }
    }

    pub(crate) fn set(&mut self, version: u32) {
        let count = &mut self.version(version).set;
        *count = count.wrapping_add(1);
    }

    pub(crate) fn unset(&mut self, version: u32) {
        let count = &mut self.version(version).unset;
        *count = count.wrapping_add(1);
    }

    pub(crate) fn asked(
        &mut self,
        version: u32,
        (prog, vers, netid): (u32, u32, Netid),
        found: bool,
    ) {
        let list = &mut self.version(version).asked;
        let known = list.iter().position(|a| (a.prog, a.vers, a.netid) == (prog, vers, netid));
        let at = match known {
            Some(at) => at,
            None if list.len() < ADDRESSES_MAX => {
                list.push(Asked { prog, vers, netid, success: 0, failure: 0 });
                list.len() - 1
            }
            None => return,
        };
        let count = if found { &mut list[at].success } else { &mut list[at].failure };
        *count = count.wrapping_add(1);
    }

    pub(crate) fn by_version(&self) -> StatByVers<'static> {
        StatByVers(self.0.each_ref().map(|version| Stat {
            info: ProcCounts(version.calls),
            setinfo: version.set,
            unsetinfo: version.unset,
            addrinfo: LinkedList(version.asked.iter().map(Asked::count).collect()),
            rmtinfo: LinkedList(Vec::new()),
        }))
    }
}

impl Asked {
    fn count(&self) -> AddrCount<'static> {
        AddrCount {
            prog: self.prog,
            vers: self.vers,
            success: self.success,
            failure: self.failure,
            netid: Opaque(self.netid.name().as_bytes()),
        }
    }
}
