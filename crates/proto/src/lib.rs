//! The wire types of NFSv3 (RFC 1813), NFSv4 (RFC 7530, RFC 8881, RFC 7862 and their
//! extensions), NFSACL, MOUNT (RFC 1813 appendix I, RFC 1094 appendix A), NLM (RFC 1813
//! appendix II), NSM, RQUOTA and portmap/rpcbind (RFC 1833).
//!
//! Pure data: every type knows its own bytes and nothing of what they mean.
//! Arguments borrow names, handles and data from where they were received;
//! results are encoded into one buffer. [`check::TYPES`] lists every type, for
//! tests and fuzzing.
#![forbid(unsafe_code)]

mod numbered;

pub mod check;
pub mod mount;
pub mod nfs3;
pub mod nfs4;
pub mod nfsacl;
pub mod nlm;
pub mod nsm;
pub mod portmap;
pub mod rquota;
