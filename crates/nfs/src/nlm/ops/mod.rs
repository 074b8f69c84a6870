//! The procedures, one file each.

pub(super) mod cancel;
pub(super) mod free_all;
pub(super) mod granted;
pub(super) mod lock;
pub(super) mod share;
pub(super) mod sm_notify;
pub(super) mod test;
pub(super) mod unlock;
