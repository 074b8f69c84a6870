//! The portmapper without its sockets: a call in, a reply out (RFC 1833 §2, §3).

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use hayase_proto::portmap::{self, pmap, rpcb, uaddr};
use hayase_rpc::{AuthStat, CallHeader, NotACall, Refusal, accept, refuse};
use hayase_xdr::{Decode, Encode, LinkedList, Opaque, Reader, from_bytes};

use crate::registry::netid_v2;
use crate::{Netid, Owner, Protocol, Registry, Service, sockaddr};

/// Ports that only a privileged program can have.
const PRIVILEGED_PORTS: std::ops::Range<u16> = 1..1024;

/// A call and where it came from.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The record or datagram.
    pub call: &'a [u8],
    /// Who sent it.
    pub peer: SocketAddr,
    /// The address of this host that the peer reached, or can reach.
    pub local: SocketAddr,
    /// How it came.
    pub protocol: Protocol,
    /// Seconds since 1970, for GETTIME.
    pub now_secs: u32,
}

impl Request<'_> {
    fn netid(&self) -> Netid {
        Netid::of(self.protocol, self.local)
    }

    /// Whether the table may be changed: by privileged programs of this host.
    fn may_change(&self) -> bool {
        self.peer.ip().is_loopback() && PRIVILEGED_PORTS.contains(&self.peer.port())
    }

    /// Whether a long answer is safe. A datagram's sender may be forged, and its
    /// victim would get many times what was sent.
    fn may_list(&self) -> bool {
        self.protocol == Protocol::Tcp || self.peer.ip().is_loopback()
    }

    /// A service's address as the caller can reach it.
    fn reachable(&self, service: &Service) -> Option<SocketAddr> {
        let addr = service.addr;
        if !addr.ip().is_unspecified() {
            return Some(addr);
        }
        let same_family = addr.is_ipv4() == self.local.is_ipv4();
        same_family.then(|| SocketAddr::new(self.local.ip(), addr.port()))
    }
}

/// Why a call gets no result.
enum NoResult {
    /// It is told so.
    Refused(Refusal),
    /// It is not answered at all.
    Silence,
}

impl From<hayase_xdr::Error> for NoResult {
    fn from(_: hayase_xdr::Error) -> Self {
        NoResult::Refused(Refusal::GarbageArgs)
    }
}

type Answer = Result<(), NoResult>;

const PROC_UNAVAIL: NoResult = NoResult::Refused(Refusal::ProcUnavail);

/// Answers a call by appending a reply, or nothing where silence is due.
///
/// Calls through the portmapper (CALLIT, BCAST, INDIRECT) are never answered:
/// they let strangers call programs in this host's name.
pub fn serve(request: &Request<'_>, registry: &mut Registry, out: &mut Vec<u8>) {
    let mut args = Reader::new(request.call);
    let header = match CallHeader::decode(&mut args) {
        Ok(header) => header,
        Err(NotACall::Refused { xid, why }) => return refuse(xid, why, out),
        Err(NotACall::Garbage) => return,
    };
    let start = out.len();
    accept(header.xid, out);
    if let Err(why) = answer(&header, args.rest(), request, registry, out) {
        out.truncate(start);
        if let NoResult::Refused(why) = why {
            refuse(header.xid, why, out);
        }
    }
}

fn answer(
    header: &CallHeader<'_>,
    args: &[u8],
    request: &Request<'_>,
    registry: &mut Registry,
    out: &mut Vec<u8>,
) -> Answer {
    if header.prog != portmap::PROGRAM {
        return Err(NoResult::Refused(Refusal::ProgUnavail));
    }
    let mut call = Call { vers: header.vers, args, request, registry, out };
    match header.vers {
        pmap::VERSION => {
            let proc = pmap::Proc::try_from(header.proc).map_err(|_| PROC_UNAVAIL)?;
            call.registry.stats.called(header.vers, header.proc);
            call.portmap(proc)
        }
        rpcb::VERSION_3 | rpcb::VERSION_4 => {
            let proc = rpcb::Proc::try_from(header.proc).map_err(|_| PROC_UNAVAIL)?;
            if header.vers == rpcb::VERSION_3 && proc as u32 > rpcb::Proc::Taddr2Uaddr as u32 {
                return Err(PROC_UNAVAIL);
            }
            call.registry.stats.called(header.vers, header.proc);
            call.rpcbind(proc)
        }
        _ => {
            let (low, high) = (pmap::VERSION, rpcb::VERSION_4);
            Err(NoResult::Refused(Refusal::ProgMismatch { low, high }))
        }
    }
}

struct Call<'c> {
    vers: u32,
    args: &'c [u8],
    request: &'c Request<'c>,
    registry: &'c mut Registry,
    out: &'c mut Vec<u8>,
}

impl<'c> Call<'c> {
    fn portmap(&mut self, proc: pmap::Proc) -> Answer {
        match proc {
            pmap::Proc::Null => self.args::<()>(),
            pmap::Proc::Set => {
                let mapping = self.change_args::<pmap::Mapping>()?;
                let done = service_of_mapping(&mapping).is_some_and(|service| self.set(service));
                self.reply(&done)
            }
            pmap::Proc::Unset => {
                let mapping = self.change_args::<pmap::Mapping>()?;
                let done = self.unset(mapping.prog, mapping.vers, &[Netid::Tcp, Netid::Udp]);
                self.reply(&done)
            }
            pmap::Proc::GetPort => {
                let mapping = self.args::<pmap::Mapping>()?;
                let port = Protocol::of_number(mapping.prot).map_or(0, |protocol| {
                    let netid = netid_v2(protocol);
                    let found = self.registry.any_version(mapping.prog, mapping.vers, netid);
                    let port = found.map_or(0, |service| u32::from(service.addr.port()));
                    let asked = (mapping.prog, mapping.vers, netid);
                    self.registry.stats.asked(self.vers, asked, port != 0);
                    port
                });
                self.reply(&port)
            }
            pmap::Proc::Dump => {
                self.args::<()>()?;
                self.listing()?;
                let v4 = self.registry.services().filter(|(service, _)| service.addr.is_ipv4());
                let list = v4.map(|(service, _)| pmap::Mapping {
                    prog: service.prog,
                    vers: service.vers,
                    prot: service.protocol.number(),
                    port: u32::from(service.addr.port()),
                });
                let list: pmap::DumpRes = LinkedList(list.collect());
                self.reply(&list)
            }
            pmap::Proc::CallIt => Err(NoResult::Silence),
        }
    }

    fn rpcbind(&mut self, proc: rpcb::Proc) -> Answer {
        match proc {
            rpcb::Proc::Null => self.args::<()>(),
            rpcb::Proc::Set => {
                let rpcb = self.change_args::<rpcb::Rpcb<'_>>()?;
                let done = service_of_rpcb(&rpcb).is_some_and(|service| self.set(service));
                self.reply(&done)
            }
            rpcb::Proc::Unset => {
                let rpcb = self.change_args::<rpcb::Rpcb<'_>>()?;
                let done = match (rpcb.netid.0, Netid::parse(rpcb.netid.0)) {
                    (b"", _) => self.unset(rpcb.prog, rpcb.vers, &Netid::ALL),
                    (_, Some(netid)) => self.unset(rpcb.prog, rpcb.vers, &[netid]),
                    (_, None) => false,
                };
                self.reply(&done)
            }
            rpcb::Proc::GetAddr => self.address(Registry::any_version),
            rpcb::Proc::GetVersAddr => self.address(Registry::exact),
            rpcb::Proc::Dump => {
                self.args::<()>()?;
                self.listing()?;
                self.dump()
            }
            rpcb::Proc::Bcast | rpcb::Proc::Indirect => Err(NoResult::Silence),
            rpcb::Proc::GetTime => {
                self.args::<()>()?;
                self.reply(&self.request.now_secs)
            }
            rpcb::Proc::Uaddr2Taddr => {
                let text = self.args::<rpcb::Text<'_>>()?;
                let buf = uaddr::parse(text.0).map(sockaddr::of_addr).unwrap_or_default();
                self.reply(&rpcb::Netbuf { maxlen: buf.len() as u32, buf: Opaque(&buf) })
            }
            rpcb::Proc::Taddr2Uaddr => {
                let netbuf = self.args::<rpcb::Netbuf<'_>>()?;
                let text = sockaddr::to_addr(netbuf.buf.0).map(uaddr::format).unwrap_or_default();
                self.reply(&Opaque::<255>(text.as_bytes()))
            }
            rpcb::Proc::GetAddrList => self.address_list(),
            rpcb::Proc::GetStat => {
                self.args::<()>()?;
                self.listing()?;
                let stats = self.registry.stats.by_version();
                self.reply(&stats)
            }
        }
    }

    fn args<T: Decode<'c>>(&self) -> Result<T, NoResult> {
        Ok(from_bytes(self.args)?)
    }

    /// The arguments of a call that changes the table.
    fn change_args<T: Decode<'c>>(&self) -> Result<T, NoResult> {
        if !self.request.may_change() {
            return Err(NoResult::Refused(Refusal::Auth(AuthStat::TooWeak)));
        }
        self.args()
    }

    fn listing(&self) -> Answer {
        if self.request.may_list() { Ok(()) } else { Err(NoResult::Silence) }
    }

    #[expect(clippy::unnecessary_wraps, reason = "ends the arms of the tables above")]
    fn reply(&mut self, result: &impl Encode) -> Answer {
        result.encode(self.out);
        Ok(())
    }

    fn set(&mut self, service: Service) -> bool {
        let done = service.addr.port() != 0 && self.registry.set(service, Owner::Local);
        if done {
            self.registry.stats.set(self.vers);
        }
        done
    }

    fn unset(&mut self, prog: u32, vers: u32, netids: &[Netid]) -> bool {
        let done = self.registry.unset(prog, vers, netids, Owner::Local);
        if done {
            self.registry.stats.unset(self.vers);
        }
        done
    }

    /// The transport asked about is the one that the call came by, whatever the
    /// argument says (RFC 1833 §2.2.1, GETADDR).
    fn address(&mut self, find: fn(&Registry, u32, u32, Netid) -> Option<&Service>) -> Answer {
        let rpcb::Rpcb { prog, vers, .. } = self.args()?;
        let netid = self.request.netid();
        let found = find(self.registry, prog, vers, netid);
        let addr = found.and_then(|service| self.request.reachable(service));
        let text = addr.map(uaddr::format).unwrap_or_default();
        self.registry.stats.asked(self.vers, (prog, vers, netid), addr.is_some());
        self.reply(&Opaque::<255>(text.as_bytes()))
    }

    fn dump(&mut self) -> Answer {
        for (service, owner) in self.registry.services() {
            true.encode(self.out);
            let addr = uaddr::format(service.addr);
            let owner = match owner {
                Owner::Server => "superuser",
                Owner::Local => "unknown",
            };
            let rpcb = rpcb::Rpcb {
                prog: service.prog,
                vers: service.vers,
                netid: Opaque(service.netid().name().as_bytes()),
                addr: Opaque(addr.as_bytes()),
                owner: Opaque(owner.as_bytes()),
            };
            rpcb.encode(self.out);
        }
        self.reply(&false)
    }

    fn address_list(&mut self) -> Answer {
        let rpcb::Rpcb { prog, vers, .. } = self.args()?;
        let services = self.registry.services().map(|(service, _)| service);
        for service in services.filter(|service| (service.prog, service.vers) == (prog, vers)) {
            let Some(addr) = self.request.reachable(service) else { continue };
            let (netid, addr) = (service.netid(), uaddr::format(addr));
            true.encode(self.out);
            let entry = rpcb::Entry {
                maddr: Opaque(addr.as_bytes()),
                nc_netid: Opaque(netid.name().as_bytes()),
                nc_semantics: netid.semantics(),
                nc_protofmly: Opaque(netid.family().as_bytes()),
                nc_proto: Opaque(netid.proto().as_bytes()),
            };
            entry.encode(self.out);
        }
        self.reply(&false)
    }
}

fn service_of_mapping(mapping: &pmap::Mapping) -> Option<Service> {
    let protocol = Protocol::of_number(mapping.prot)?;
    let addr = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), mapping.port.try_into().ok()?);
    Some(Service { prog: mapping.prog, vers: mapping.vers, protocol, addr })
}

fn service_of_rpcb(rpcb: &rpcb::Rpcb<'_>) -> Option<Service> {
    let netid = Netid::parse(rpcb.netid.0)?;
    let addr = uaddr::parse(rpcb.addr.0)?;
    let service = Service { prog: rpcb.prog, vers: rpcb.vers, protocol: netid.protocol(), addr };
    (service.netid() == netid).then_some(service)
}
