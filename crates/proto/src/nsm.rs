//! NSM version 1, the network status monitor: hosts tell each other that they were restarted, so
//! that locks of NFSv3 go or are claimed again (The Open Group, Protocols for Interworking: XNFS,
//! version 3W, chapter 11).

use hayase_xdr::{Opaque, Xdr};

use crate::numbered::numbered;

/// The RPC program number.
pub const PROGRAM: u32 = 100_024;
/// The only version.
pub const VERSION: u32 = 1;
/// The longest name in bytes (`SM_MAXSTRLEN`).
pub const NAME_MAX: u32 = 1024;

/// The name of a host.
pub type HostName<'a> = Opaque<'a, NAME_MAX>;

numbered! {
    /// The procedures.
    pub enum Proc {
        /// Does nothing.
        Null = 0 "NULL",
        /// Whether a host can be watched.
        Stat = 1 "STAT",
        /// Watch a host for a program of this host.
        Mon = 2 "MON",
        /// Watch it no more.
        Unmon = 3 "UNMON",
        /// Watch nobody any more for a program of this host.
        UnmonAll = 4 "UNMON_ALL",
        /// Behave as if this host had been restarted.
        SimuCrash = 5 "SIMU_CRASH",
        /// A host was restarted.
        Notify = 6 "NOTIFY",
    }
}

numbered! {
    /// Whether a request can be met (`res`).
    pub enum Outcome {
        /// Yes.
        Success = 0 "STAT_SUCC",
        /// No.
        Fail = 1 "STAT_FAIL",
    }
}

/// STAT (`sm_name`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct StatArgs<'a> {
    /// The host.
    pub mon_name: HostName<'a>,
}

/// Whom to tell (`my_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct MyId<'a> {
    /// This host.
    pub name: HostName<'a>,
    /// The program to call.
    pub program: u32,
    /// Its version.
    pub version: u32,
    /// The procedure to call.
    pub procedure: u32,
}

/// UNMON, and in MON whom to watch for whom (`mon_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct MonId<'a> {
    /// The host to watch.
    pub mon_name: HostName<'a>,
    /// Whom to tell.
    pub my_id: MyId<'a>,
}

/// MON (`mon`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct MonArgs<'a> {
    /// Whom to watch for whom.
    pub mon_id: MonId<'a>,
    /// What to say beside.
    pub private: [u8; 16],
}

/// What STAT and MON answer (`sm_stat_res`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct StatRes {
    /// Whether it can be done.
    pub outcome: Outcome,
    /// This host's state number: odd while it is up, and higher after each start.
    pub state: i32,
}

/// What UNMON and `UNMON_ALL` answer (`sm_stat`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct Stat {
    /// This host's state number.
    pub state: i32,
}

/// NOTIFY (`stat_chge`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct NotifyArgs<'a> {
    /// Who was restarted, by its own name.
    pub mon_name: HostName<'a>,
    /// Its state number now.
    pub state: i32,
}
