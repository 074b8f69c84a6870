//! The rules of opens, locks and delegations, one by one, and all together at random.

mod closing;
mod courtesy;
mod delegations;
mod export;
mod grace;
mod io;
mod locks;
mod model;
mod nlm;
mod opens;
mod sequences;
mod threads;
mod validity;
