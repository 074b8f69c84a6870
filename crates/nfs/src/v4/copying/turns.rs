//! Whose turn it is: clients one after the other, and of each its copies one after the other.

use std::collections::VecDeque;
use std::sync::Arc;

use hayase_state::{AsyncCopy, ClientId};

use super::Job;

/// Copies that wait. There are as many as state has, which bounds them.
#[derive(Default)]
pub(super) struct Turns(VecDeque<(ClientId, VecDeque<Job>)>);

impl Turns {
    /// The copy comes behind all of its client's. A client without others waiting comes behind all
    /// clients.
    pub(super) fn push(&mut self, job: Job) {
        let client = job.copy().client();
        match self.0.iter_mut().find(|(other, _)| *other == client) {
            Some((_, jobs)) => jobs.push_back(job),
            None => self.0.push_back((client, VecDeque::from([job]))),
        }
    }

    /// The copy whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Job> {
        let (client, mut jobs) = self.0.pop_front()?;
        let job = jobs.pop_front();
        if !jobs.is_empty() {
            self.0.push_back((client, jobs));
        }
        job
    }

    /// Takes out this copy, if it waits.
    pub(super) fn take(&mut self, copy: &Arc<AsyncCopy>) -> Option<Job> {
        let client_at = self.0.iter().position(|(client, _)| *client == copy.client())?;
        let jobs = &mut self.0[client_at].1;
        let at = jobs.iter().position(|job| Arc::ptr_eq(job.copy(), copy))?;
        let job = jobs.remove(at);
        if jobs.is_empty() {
            self.0.remove(client_at);
        }
        job
    }
}
