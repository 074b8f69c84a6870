//! Taking away all that clients have of one export, which is not there any more.

use super::Release;
use super::open_file::File;
use crate::{Effect, FileKey, Now, State};

impl State {
    /// Ends every open, lock and delegation of an export's files, whoever has them. Clients are not
    /// told: they find the handles stale, and have nothing to claim.
    pub fn forget_export(&self, now: Now, export: u32, effects: &mut Vec<Effect>) {
        for mut shard in self.files.each_shard() {
            let of_export = |key: &&FileKey| key.export == export;
            let keys: Vec<FileKey> = shard.files.keys().filter(of_export).copied().collect();
            for key in keys {
                let Some(file) = shard.file(&key) else { continue };
                for lent in file.take_all_lent() {
                    self.files.count_returned(&lent);
                    self.files.recalls.remove(&lent);
                    effects.push(Effect::DelegationEnded { file: key });
                }
                let of_v4 = file.take_all_opens();
                let (_, of_hosts) = self.nlm_take_from(file, &Release::default());
                if of_v4 || of_hosts {
                    file.locks_went(key, now, effects);
                }
                if shard.tidy(key) {
                    effects.push(Effect::Unused { file: key });
                }
            }
        }
    }
}

impl File {
    /// Removes all opens, with what was locked through them; whether ranges went.
    fn take_all_opens(&mut self) -> bool {
        let opens: Vec<u64> = self.opens.iter().map(|(number, _)| number).collect();
        let mut released = false;
        for number in opens {
            released |= self.remove_open(number).is_some_and(|(_, released)| released);
        }
        released
    }
}
