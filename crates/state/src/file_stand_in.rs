//! Stands in for files until they are written.
#![allow(clippy::unused_self)]
use crate::{Config, Effect, Now, State};
#[derive(Debug)]
pub(crate) struct Files;
#[derive(Debug, Default)]
pub(crate) struct Held(std::sync::atomic::AtomicU8);
impl Files {
    pub(crate) fn new(_: u64, _: [u8; 32]) -> Self {
        Files
    }
    pub(crate) fn forget_client(
        &self,
        client: &crate::client::Client,
        _: Now,
        _: &mut Vec<Effect>,
    ) {
        client.held.0.store(0, std::sync::atomic::Ordering::Relaxed);
    }
}
impl Held {
    pub(crate) fn has_state(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) & 1 != 0
    }
    pub(crate) fn has_revoked(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) & 2 != 0
    }
    pub(crate) fn has_delegations(&self) -> bool {
        self.0.load(std::sync::atomic::Ordering::Relaxed) & 4 != 0
    }
    #[cfg(test)]
    pub(crate) fn pretend(&self, bits: u8) {
        self.0.store(bits, std::sync::atomic::Ordering::Relaxed);
    }
}
impl State {
    pub(crate) fn revoke_overdue(&self, _: Now, _: &mut Vec<Effect>) {
        let _: &Config = &self.config;
    }
}
