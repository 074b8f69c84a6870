use crate::Sample;

pub(crate) fn add(to: &mut Vec<Sample>) {
    portmap(to);
    rpcbind(to);
}

fn portmap(to: &mut Vec<Sample>) {
    use hayase_proto::portmap::pmap::*;
    use hayase_xdr::{LinkedList, Opaque};

    let mapping = Mapping { prog: 100_003, vers: 3, prot: IPPROTO_TCP, port: 2049 };
    crate::samples!(to: pmap {
        Proc [Proc::Null, Proc::CallIt]
        Mapping [mapping]
        DumpRes [LinkedList(vec![]), LinkedList(vec![mapping, mapping])]
        CallArgs<'_> [CallArgs { prog: 1, vers: 2, proc: 3, args: Opaque(b"arguments") }]
        CallResult<'_> [CallResult { port: 2049, res: Opaque(b"result") }]
    });
}

fn rpcbind(to: &mut Vec<Sample>) {
    use hayase_proto::portmap::rpcb::*;
    use hayase_xdr::{LinkedList, Opaque};

    let rpcb = Rpcb {
        prog: 100_003,
        vers: 3,
        netid: Opaque(b"tcp6"),
        addr: Opaque(b"::.8.1"),
        owner: Opaque(b"superuser"),
    };
    let entry = Entry {
        maddr: Opaque(b"192.0.2.1.8.1"),
        nc_netid: Opaque(b"tcp"),
        nc_semantics: semantics::COTS_ORD,
        nc_protofmly: Opaque(b"inet"),
        nc_proto: Opaque(b"tcp"),
    };
    let asked = AddrCount { prog: 1, vers: 2, success: 3, failure: 4, netid: Opaque(b"udp") };
    let called = RmtCallCount { proc: 5, indirect: 1, netid: Opaque(b"tcp"), ..Default::default() };
    let stat = Stat {
        info: ProcCounts([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
        setinfo: 14,
        unsetinfo: 15,
        addrinfo: LinkedList(vec![asked]),
        rmtinfo: LinkedList(vec![called, called]),
    };
    crate::samples!(to: rpcb {
        Proc [Proc::Null, Proc::GetStat]
        Text<'_> [Opaque(b""), Opaque(&[b'x'; 255])]
        Rpcb<'_> [rpcb]
        DumpRes<'_> [LinkedList(vec![]), LinkedList(vec![rpcb, rpcb])]
        RmtCallArgs<'_> [RmtCallArgs { prog: 1, vers: 2, proc: 3, args: Opaque(b"x") }]
        RmtCallRes<'_> [RmtCallRes { addr: Opaque(b"::1.8.1"), results: Opaque(b"xy") }]
        Entry<'_> [entry]
        GetAddrListRes<'_> [LinkedList(vec![]), LinkedList(vec![entry])]
        Netbuf<'_> [Netbuf { maxlen: 16, buf: Opaque(&[2, 0, 8, 1, 127, 0, 0, 1]) }]
        ProcCounts [stat.info]
        AddrCount<'_> [asked]
        RmtCallCount<'_> [called]
        Stat<'_> [stat.clone(), Stat::default()]
        StatByVers<'_> [StatByVers([Stat::default(), stat, Stat::default()])]
    });
}
