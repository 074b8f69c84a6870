//! `RELEASE_LOCKOWNER` (RFC 7530 §16.37).

use hayase_proto::nfs4::Status;

use crate::owner::OwnerKind;
use crate::{ClientId, Effect, Now, State};

impl State {
    /// Forgets a lock owner of NFSv4.0 that holds no locks. One that is not known is forgotten
    /// already.
    pub fn release_lockowner(
        &self,
        now: Now,
        client: ClientId,
        owner: &[u8],
        effects: &mut Vec<Effect>,
    ) -> Result<(), Status> {
        let client = self.living(now, client)?;
        let Some(owner) = client.held.owner(OwnerKind::Lock, owner) else { return Ok(()) };
        let states = owner.states();
        for (number, key) in &states {
            let mut shard = self.files.shard(key);
            let locks = shard.file(key).and_then(|file| file.locks());
            if locks.is_some_and(|locks| locks.ranges().held_by(*number) > 0) {
                return Err(Status::LocksHeld);
            }
        }
        for (number, key) in states {
            let mut shard = self.files.shard(&key);
            let Some(file) = shard.file(&key) else { continue };
            // Locked in between: then the client has not given it up after all.
            if file.locks().is_some_and(|locks| locks.ranges().held_by(number) == 0) {
                file.forget_lock(number);
            }
            if shard.tidy(key) {
                effects.push(Effect::Unused { file: key });
            }
        }
        if !owner.has_states() {
            client.held.forget_owner(&owner);
        }
        Ok(())
    }
}
