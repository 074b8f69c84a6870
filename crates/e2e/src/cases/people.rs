//! A user whom this machine's name service knows in the namespace of one test.

use anyhow::Result;

use crate::scene::Scene;

/// The user `guest-of-e2e`, and the group of the same name.
pub const UID: u32 = 424_242;
/// See [`UID`].
pub const GID: u32 = 424_242;
/// The last of the forty groups that the user is in.
pub const LAST_GROUP: u32 = 424_340;

/// Makes the user known to programs of this namespace that start from now on.
pub fn invite(scene: &Scene) -> Result<()> {
    scene.host(
        "cp /etc/passwd passwd && cp /etc/group group
         echo guest-of-e2e:x:424242:424242::/:/bin/false >>passwd
         echo guest-of-e2e:x:424242: >>group
         for gid in $(seq 424301 424340); do echo g$gid:x:$gid:guest-of-e2e; done >>group
         mount --bind passwd /etc/passwd && mount --bind group /etc/group",
    )?;
    Ok(())
}
