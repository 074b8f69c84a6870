//! What happens to clients and server.

use hayase_proto::nfs4::{DestroyClientIdArgs, DestroySessionArgs, Status};

use super::Run;
use super::client::Record;
use super::grace::Grace;
use super::world::NAMES;
use super::{COURTESY, LEASE};

impl Run<'_> {
    pub(super) fn disconnect(&mut self, who: usize) {
        self.reconnect(who);
        if !self.choices.one_in(3) {
            self.bind(who);
        }
    }

    /// A local program wants a file.
    pub(super) fn want_locally(&mut self) {
        let file = self.choices.below(NAMES.len());
        let watched = self.world.want_locally(file);
        assert_eq!(watched, !self.model.files[file].lent.is_empty(), "who looks out for it");
        let intrusion = self.intrude(None, file, true);
        self.expel(&intrusion.expelled);
        self.note_recalled(file, &intrusion.recalled);
    }

    pub(super) fn pass_time(&mut self) {
        let secs = self.choices.pick(&[1, 1, 5, 9, LEASE + 1, LEASE + 1, 2 * LEASE, COURTESY + 1]);
        let diligent = !self.choices.one_in(4);
        for _ in 0..secs {
            self.pass_second(diligent);
        }
    }

    pub(super) fn pass_second(&mut self, diligent: bool) {
        self.world.pass_second();
        let now = self.world.now();
        for who in 0..self.clients.len() {
            if self.clients[who].alive && now - self.clients[who].heard > COURTESY {
                self.expel(&[who]);
            }
            if diligent {
                self.answer_callbacks(who);
            } else {
                // What is not answered makes the server doubt that there is a way.
                self.clients[who].back = false;
            }
        }
        self.revoke();
        self.end_grace();
    }

    /// A client ends its session or itself, or introduces itself once more.
    pub(super) fn come_and_go(&mut self, who: usize) {
        self.ready(who);
        if self.clients[who].minor == 0 {
            return self.introduce(who);
        }
        match self.choices.below(3) {
            0 => self.introduce(who),
            1 => self.end_session(who),
            _ => self.end_client(who),
        }
    }

    fn end_session(&mut self, who: usize) {
        let Some(session) = &self.clients[who].session else { return };
        let sessionid = session.id;
        let answer = self.alone(who, |writer| {
            writer.push(&DestroySessionArgs { sessionid });
        });
        let client = &mut self.clients[who];
        let expected = if client.alive { Ok(()) } else { Err(Status::BadSession) };
        assert_eq!(answer.status(), expected, "DESTROY_SESSION of client {who}");
        client.session = None;
        client.back = false;
    }

    fn end_client(&mut self, who: usize) {
        self.end_session(who);
        let Some(clientid) = self.clients[who].id else { return };
        let answer = self.alone(who, |writer| {
            writer.push(&DestroyClientIdArgs { clientid });
        });
        // The client may have other sessions that it has forgotten about.
        let busy = Err(Status::ClientIdBusy);
        let client = &self.clients[who];
        // What hangs on a lease that is over may go with it (RFC 8881 §18.50.3).
        let holds = self.model.has_state(who) && !client.is_courteous(self.world.now());
        if !client.alive {
            assert_eq!(
                answer.status(),
                Err(Status::StaleClientId),
                "DESTROY_CLIENTID of client {who}"
            );
        } else if holds {
            assert_eq!(answer.status(), busy, "DESTROY_CLIENTID of client {who}");
        } else if answer.status() != busy {
            assert_eq!(answer.status(), Ok(()), "DESTROY_CLIENTID of client {who}");
            self.forget(who);
            self.clients[who].id = None;
            self.clients[who].record = Record::May;
        }
    }

    pub(super) fn restart_something(&mut self, who: usize) {
        match self.choices.below(6) {
            0..=2 => self.restart_server(),
            3 | 4 => {
                let client = &mut self.clients[who];
                client.boots += 1;
                client.claims.clear();
                (client.id, client.session, client.back) = (None, None, false);
                self.introduce(who);
            }
            _ => {
                let broken = self.world.network.is_broken();
                self.world.network.set_broken(!broken);
                self.clients.iter_mut().for_each(|client| client.doubted |= !broken);
            }
        }
    }

    fn restart_server(&mut self) {
        for who in 0..self.clients.len() {
            let mut claims = self.claims_of(who);
            let client = &mut self.clients[who];
            // A claim of before the last restart is good as long as grace was not over.
            claims.append(&mut client.claims);
            client.claims = claims;
            client.alive = false;
            client.revoked.clear();
            client.back = false;
        }
        for file in &mut self.model.files {
            file.opens.clear();
            file.locks.clear();
            file.lent.clear();
        }
        let recorded = self.world.records.all().into_iter().map(|record| record.owner);
        self.model.grace = Grace::new(recorded, self.world.now());
        self.world.restart();
        for client in &mut self.clients {
            client.line = self.world.connect();
        }
        let files = self.world.files();
        for (file, handle) in self.model.files.iter().zip(&files[1..]) {
            assert_eq!(file.handle, *handle, "handles outlive the server");
        }
    }
}
