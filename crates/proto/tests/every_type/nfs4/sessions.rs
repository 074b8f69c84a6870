use hayase_proto::nfs4::*;
use hayase_xdr::{Array, Opaque};

use super::{NAME, OWNER, STATEID, TIME};
use crate::{Sample, samples};

const SESSION: SessionId = *b"a session's id!!";
const ADDR: NetAddr<'static> = NetAddr { netid: Opaque(b"tcp"), addr: Opaque(b"192.0.2.1.8.1") };
const CLIENT: NfsClientId<'static> = NfsClientId { verifier: *b"bootverf", id: Opaque(b"me") };
const CALLBACK: CbClient<'static> = CbClient { cb_program: 0x4000_0000, cb_location: ADDR };
const CONFIRM: SetClientIdResOk =
    SetClientIdResOk { clientid: 5, setclientid_confirm: *b"confirm!" };
const CLIENT_OWNER: ClientOwner<'static> =
    ClientOwner { verifier: *b"bootverf", ownerid: Opaque(b"Linux NFSv4.2 host") };
const IMPL: NfsImplId<'static> =
    NfsImplId { domain: Opaque(b"kernel.org"), name: Opaque(b"Linux 6.13"), date: TIME };
const OPS: StateProtectOps = StateProtectOps {
    must_enforce: Bitmap::from_words([0, 0x0600_0000, 0, 0]),
    must_allow: Bitmap::EMPTY,
};
const SERVER: ServerOwner<'static> = ServerOwner { minor_id: 1, major_id: Opaque(b"hayase") };
const CHANNEL: ChannelAttrs = ChannelAttrs {
    headerpadsize: 0,
    maxrequestsize: 1_049_620,
    maxresponsesize: 1_049_480,
    maxresponsesize_cached: 7584,
    maxoperations: 8,
    maxrequests: 64,
    rdma_ird: None,
};
const GSS: RpcSecGssInfo<'static> =
    RpcSecGssInfo { oid: Opaque(b"\x2a\x86\x48"), qop: 0, service: GssService::Privacy };
const GSS_CB: GssCbHandles<'static> = GssCbHandles {
    service: GssService::Integrity,
    handle_from_server: Opaque(b"s"),
    handle_from_client: Opaque(b"client"),
};
const SEQUENCE: SequenceArgs = SequenceArgs {
    sessionid: SESSION,
    sequenceid: 2,
    slotid: 3,
    highest_slotid: 4,
    cachethis: true,
};
const SEQUENCED: SequenceResOk = SequenceResOk {
    sessionid: SESSION,
    sequenceid: 2,
    slotid: 3,
    highest_slotid: 63,
    target_highest_slotid: 63,
    status_flags: seq4_status::CB_PATH_DOWN,
};

fn auth_sys() -> AuthSysParms<'static> {
    AuthSysParms { stamp: 1, machinename: Opaque(b"host"), uid: 0, gid: 0, gids: Array(vec![1, 2]) }
}

fn ssv_parms() -> SsvParms<'static> {
    SsvParms {
        ops: OPS,
        hash_algs: Array(vec![Opaque(b"hash!")]),
        encr_algs: Array(vec![Opaque(b"a"), Opaque(b"b")]),
        window: 8,
        num_gss_handles: 1,
    }
}

fn ssv_info() -> SsvInfo<'static> {
    SsvInfo {
        ops: OPS,
        hash_alg: 0,
        encr_alg: 1,
        ssv_len: 32,
        window: 8,
        handles: Array(vec![Opaque(b"handle")]),
    }
}

pub(crate) fn add(to: &mut Vec<Sample>) {
    clients_of_minor_0(to);
    clients(to);
    sessions(to);
    in_a_session(to);
    security(to);
}

fn clients_of_minor_0(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        NetAddr<'_> [ADDR]
        SetClientIdArgs<'_> [SetClientIdArgs {
            client: CLIENT,
            callback: CALLBACK,
            callback_ident: 1,
        }]
        NfsClientId<'_> [CLIENT]
        CbClient<'_> [CALLBACK]
        SetClientIdResOk [CONFIRM]
        SetClientIdRes<'_> [
            SetClientIdRes::Ok(CONFIRM),
            SetClientIdRes::Fail(SetClientIdFail::ClidInUse(ADDR)),
            SetClientIdRes::Fail(Status::Delay.into()),
        ]
        SetClientIdConfirmArgs [SetClientIdConfirmArgs {
            clientid: 5,
            setclientid_confirm: *b"confirm!",
        }]
        SetClientIdConfirmRes [SetClientIdConfirmRes::Fail(Status::StaleClientId)]
        RenewArgs [RenewArgs { clientid: 5 }]
        RenewRes [RenewRes::Fail(Status::CbPathDown)]
        ReleaseLockOwnerArgs<'_> [ReleaseLockOwnerArgs { lock_owner: OWNER }]
        ReleaseLockOwnerRes [ReleaseLockOwnerRes::Fail(Status::LocksHeld)]
    });
}

fn clients(to: &mut Vec<Sample>) {
    let args = |state_protect| ExchangeIdArgs {
        clientowner: CLIENT_OWNER,
        flags: exchange_id_flag::SUPP_MOVED_REFER,
        state_protect,
        client_impl_id: Some(IMPL),
    };
    let ok = |state_protect| ExchangeIdResOk {
        clientid: 5,
        sequenceid: 1,
        flags: exchange_id_flag::USE_PNFS_MDS,
        state_protect,
        server_owner: SERVER,
        server_scope: Opaque(b"hayase"),
        server_impl_id: None,
    };
    samples!(to: nfs4 {
        ExchangeIdArgs<'_> [args(StateProtectArgs::None)]
        ClientOwner<'_> [CLIENT_OWNER]
        NfsImplId<'_> [IMPL]
        StateProtectArgs<'_> [
            StateProtectArgs::None,
            StateProtectArgs::MachCred(OPS),
            StateProtectArgs::Ssv(ssv_parms()),
        ]
        StateProtectOps [OPS]
        SsvParms<'_> [ssv_parms()]
        StateProtectRes<'_> [
            StateProtectRes::None,
            StateProtectRes::MachCred(OPS),
            StateProtectRes::Ssv(ssv_info()),
        ]
        SsvInfo<'_> [ssv_info()]
        ServerOwner<'_> [SERVER]
        ExchangeIdResOk<'_> [ok(StateProtectRes::None)]
        ExchangeIdRes<'_> [
            ExchangeIdRes::Ok(ok(StateProtectRes::MachCred(OPS))),
            ExchangeIdRes::Fail(Status::ClidInUse),
        ]
        DestroyClientIdArgs [DestroyClientIdArgs { clientid: 5 }]
        DestroyClientIdRes [DestroyClientIdRes::Fail(Status::ClientIdBusy)]
    });
}

fn sessions(to: &mut Vec<Sample>) {
    let created = CreateSessionResOk {
        sessionid: SESSION,
        sequence: 1,
        flags: create_session_flag::CONN_BACK_CHAN,
        fore_chan_attrs: CHANNEL,
        back_chan_attrs: CHANNEL,
    };
    let bound = BindConnToSessionResOk {
        sessionid: SESSION,
        dir: ChannelDirFromServer::Both,
        use_conn_in_rdma_mode: false,
    };
    samples!(to: nfs4 {
        CreateSessionArgs<'_> [CreateSessionArgs {
            clientid: 5,
            sequence: 1,
            flags: create_session_flag::CONN_BACK_CHAN,
            fore_chan_attrs: CHANNEL,
            back_chan_attrs: ChannelAttrs { rdma_ird: Some(1), ..CHANNEL },
            cb_program: 0x4000_0000,
            sec_parms: Array(vec![CbSecParms::Sys(auth_sys())]),
        }]
        CreateSessionResOk [created]
        CreateSessionRes [
            CreateSessionRes::Ok(created),
            CreateSessionRes::Fail(Status::SeqMisordered),
        ]
        ChannelAttrs [CHANNEL]
        CbSecParms<'_> [CbSecParms::None, CbSecParms::Sys(auth_sys()), CbSecParms::Gss(GSS_CB)]
        AuthSysParms<'_> [auth_sys()]
        GssCbHandles<'_> [GSS_CB]
        DestroySessionArgs [DestroySessionArgs { sessionid: SESSION }]
        DestroySessionRes [DestroySessionRes::Fail(Status::BackChanBusy)]
        ChannelDirFromClient [ChannelDirFromClient::Fore, ChannelDirFromClient::BackOrBoth]
        ChannelDirFromServer [ChannelDirFromServer::Fore, ChannelDirFromServer::Both]
        BindConnToSessionArgs [BindConnToSessionArgs {
            sessionid: SESSION,
            dir: ChannelDirFromClient::ForeOrBoth,
            use_conn_in_rdma_mode: false,
        }]
        BindConnToSessionResOk [bound]
        BindConnToSessionRes [
            BindConnToSessionRes::Ok(bound),
            BindConnToSessionRes::Fail(Status::NotOnlyOp),
        ]
        BackchannelCtlArgs<'_> [BackchannelCtlArgs {
            cb_program: 0x4000_0000,
            sec_parms: Array(vec![CbSecParms::None]),
        }]
        BackchannelCtlRes [BackchannelCtlRes::Ok(())]
    });
}

fn in_a_session(to: &mut Vec<Sample>) {
    samples!(to: nfs4 {
        SequenceArgs [SEQUENCE]
        SequenceResOk [SEQUENCED]
        SequenceRes [SequenceRes::Ok(SEQUENCED), SequenceRes::Fail(Status::BadSession)]
        SetSsvArgs<'_> [SetSsvArgs { ssv: Opaque(b"secret"), digest: Opaque(b"digest!") }]
        SetSsvRes<'_> [
            SetSsvRes::Ok(Opaque(b"digest")),
            SetSsvRes::Fail(Status::BadSessionDigest),
        ]
        ReclaimCompleteArgs [ReclaimCompleteArgs { one_fs: false }]
        ReclaimCompleteRes [ReclaimCompleteRes::Fail(Status::CompleteAlready)]
        FreeStateIdArgs [FreeStateIdArgs { stateid: STATEID }]
        FreeStateIdRes [FreeStateIdRes::Fail(Status::LocksHeld)]
        TestStateIdArgs [TestStateIdArgs { stateids: Array(vec![STATEID, StateId::INVALID]) }]
        TestStateIdRes [
            TestStateIdRes::Ok(Array(vec![NfsStat::OK, Status::BadStateId.into()])),
            TestStateIdRes::Fail(Status::Delay),
        ]
    });
}

fn security(to: &mut Vec<Sample>) {
    let flavors = Array(vec![SecInfo::Gss(GSS), SecInfo::Flavor(1)]);
    samples!(to: nfs4 {
        SecOid<'_> [GSS.oid]
        GssHandle<'_> [Opaque(b""), Opaque(b"handle")]
        GssService [GssService::None, GssService::Privacy]
        SecInfoArgs<'_> [SecInfoArgs { name: NAME }]
        SecInfo<'_> [SecInfo::Gss(GSS), SecInfo::Flavor(0), SecInfo::Flavor(1)]
        RpcSecGssInfo<'_> [GSS]
        SecInfoResOk<'_> [Array(vec![]), flavors.clone()]
        SecInfoRes<'_> [SecInfoRes::Ok(flavors.clone()), SecInfoRes::Fail(Status::NoEnt)]
        SecInfoStyle [SecInfoStyle::CurrentFh, SecInfoStyle::Parent]
        SecInfoNoNameArgs [SecInfoNoNameArgs { style: SecInfoStyle::Parent }]
        SecInfoNoNameRes<'_> [SecInfoNoNameRes::Ok(flavors)]
    });
}
