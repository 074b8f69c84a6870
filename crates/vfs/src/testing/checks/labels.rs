//! Security labels.

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Error, LABEL_MAX};

pub(crate) const NEEDS: &[Capability] = &[Capability::ChangeIdentity];

pub(crate) fn are_kept_and_set_by_owners(s: &Scene<'_>) {
    if !s.user.features(&s.root).labels {
        println!("left out: there are no security labels here");
        refused(s.user.label(&s.root), &[Error::NotSupported]);
        refused(s.user.set_label(&s.root, b"label"), &[Error::NotSupported]);
        return;
    }
    let other = s.client(5, 99, &[]);
    let file = s.user.create(&s.root, "file").unwrap();
    let link = s.user.symlink(&s.root, "link", "nowhere").unwrap();
    for of in [&file, &link] {
        let before = s.user.stat(of);
        for label in [&b"system_u:object_r:etc_t:s0\0"[..], b"user_u:object_r:tmp_t:s0\0"] {
            s.user.set_label(of, label).unwrap();
            assert_eq!(s.user.label(of).unwrap().as_deref(), Some(label));
        }
        assert_ne!(s.user.stat(of).change, before.change);
        refused(other.set_label(of, b"other"), &[Error::NotOwner]);
        refused(s.user.set_label(of, &[b'x'; LABEL_MAX + 1]), &[Error::Invalid]);
        assert_eq!(other.label(of).unwrap().unwrap(), b"user_u:object_r:tmp_t:s0\0");
    }
}
