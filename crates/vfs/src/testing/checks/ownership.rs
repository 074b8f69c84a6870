//! Whose files are, and who may change that.

use crate::testing::client::{mode, refused, size};
use crate::testing::{Capability, Scene};
use crate::{Error, FileType, NewNode, Open, SetAttr};

pub(crate) const NEEDS: &[Capability] = &[Capability::ChangeIdentity];

pub(crate) fn new_files_are_their_makers(s: &Scene<'_>) {
    s.user.chmod(&s.root, 0o777).unwrap();
    let user = s.client(1000, 2000, &[3000]);
    let made = [
        user.open(&s.root, "guarded", &Open::Guarded(mode(0o600))).unwrap(),
        user.open(&s.root, "unchecked", &Open::Unchecked(mode(0o600))).unwrap(),
        user.open(&s.root, "exclusive", &Open::Exclusive(5)).unwrap(),
        user.make(&s.root, "dir", &NewNode::Directory, 0o700).unwrap(),
        user.make(&s.root, "link", &NewNode::Symlink(b"x"), 0o777).unwrap(),
        user.make(&s.root, "fifo", &NewNode::Fifo, 0o600).unwrap(),
        user.make(&s.root, "socket", &NewNode::Socket, 0o600).unwrap(),
    ];
    for node in made {
        assert_eq!((node.attr.uid, node.attr.gid), (1000, 2000), "{:?}", node.attr.kind);
    }
}

pub(crate) fn set_group_id_directories_hand_their_group_on(s: &Scene<'_>) {
    let dir = s.user.mkdir(&s.root, "dir").unwrap();
    s.user.chown(&dir, None, Some(4000)).unwrap();
    s.user.chmod(&dir, 0o2777).unwrap();
    let user = s.client(1000, 2000, &[]);
    let file = user.create_mode(&dir, "file", 0o644).unwrap();
    assert_eq!((user.stat(&file).uid, user.stat(&file).gid), (1000, 4000));
    assert_eq!(user.stat(&file).mode, 0o644);
    let sub = user.make(&dir, "sub", &NewNode::Directory, 0o755).unwrap();
    assert_eq!((sub.attr.gid, sub.attr.mode), (4000, 0o2755));
    let link = user.make(&dir, "link", &NewNode::Symlink(b"x"), 0o777).unwrap();
    assert_eq!(link.attr.gid, 4000);
}

pub(crate) fn only_the_superuser_gives_files_away(s: &Scene<'_>) {
    let file = s.user.create(&s.root, "file").unwrap();
    s.user.chown(&file, Some(1000), Some(2000)).unwrap();
    assert_eq!((s.user.stat(&file).uid, s.user.stat(&file).gid), (1000, 2000));
    let (owner, other) = (s.client(1000, 2000, &[3000, 3001]), s.client(1, 3000, &[]));
    refused(owner.chown(&file, Some(1), None), &[Error::NotOwner]);
    refused(owner.chown(&file, None, Some(4000)), &[Error::NotOwner]);
    refused(other.chown(&file, Some(1), None), &[Error::NotOwner]);
    refused(other.chown(&file, None, Some(3000)), &[Error::NotOwner]);
    owner.chown(&file, Some(1000), Some(2000)).unwrap();
    owner.chown(&file, None, Some(3001)).unwrap();
    assert_eq!(owner.stat(&file).gid, 3001);
    let dir = s.user.mkdir(&s.root, "dir").unwrap();
    let link = s.user.symlink(&s.root, "link", "file").unwrap();
    for of in [dir, link] {
        s.user.chown(&of, Some(5), Some(6)).unwrap();
        assert_eq!((s.user.stat(&of).uid, s.user.stat(&of).gid), (5, 6));
    }
    assert_eq!(s.user.stat(&file).uid, 1000, "the link was followed");
    let huge = s.user.create(&s.root, "huge").unwrap();
    s.user.chown(&huge, Some(u32::MAX - 1), Some(u32::MAX - 1)).unwrap();
    assert_eq!(s.user.stat(&huge).uid, u32::MAX - 1);
}

pub(crate) fn files_can_be_made_for_others_by_the_superuser(s: &Scene<'_>) {
    let set = SetAttr { mode: Some(0o600), uid: Some(77), gid: Some(88), ..SetAttr::default() };
    let made = s.user.open(&s.root, "file", &Open::Guarded(set)).unwrap();
    assert_eq!((made.attr.uid, made.attr.gid, made.attr.mode), (77, 88, 0o600));
    s.user.chmod(&s.root, 0o777).unwrap();
    let user = s.client(1000, 2000, &[]);
    match user.open(&s.root, "other", &Open::Guarded(set)) {
        Ok(made) => assert_eq!(made.attr.uid, 1000, "made, but the owner was not taken"),
        other => {
            refused(other, &[Error::NotOwner]);
            refused(user.lookup(&s.root, "other"), &[Error::NotFound]);
        }
    }
}

pub(crate) fn only_owners_change_modes(s: &Scene<'_>) {
    let file = s.user.create(&s.root, "file").unwrap();
    s.user.chown(&file, Some(1000), Some(2000)).unwrap();
    s.user.chmod(&file, 0o777).unwrap();
    refused(s.client(1, 2000, &[]).chmod(&file, 0o700), &[Error::NotOwner]);
    let owner = s.client(1000, 9000, &[]);
    owner.chmod(&file, 0o2750).unwrap();
    assert_eq!(s.user.stat(&file).mode, 0o750, "set-group-id is for members");
    s.client(1000, 2000, &[]).chmod(&file, 0o6750).unwrap();
    assert_eq!(s.user.stat(&file).mode, 0o6750);
}

pub(crate) fn set_id_bits_do_not_outlive_a_change(s: &Scene<'_>) {
    let file = s.user.file(&s.root, "file", "data");
    let armed = |bits| {
        s.user.chown(&file, Some(1000), Some(2000)).unwrap();
        s.user.chmod(&file, bits).unwrap();
        assert_eq!(s.user.stat(&file).mode, bits);
    };
    armed(0o6777);
    s.client(1, 1, &[]).put(&file, 0, "evil");
    assert_eq!(s.user.stat(&file).mode, 0o777, "after a stranger's write");
    armed(0o6777);
    s.client(1000, 2000, &[]).put(&file, 0, "mine");
    assert_eq!(s.user.stat(&file).mode, 0o777, "after the owner's write");
    armed(0o6777);
    s.user.put(&file, 0, "root");
    assert_eq!(s.user.stat(&file).mode, 0o6777, "after the superuser's write");
    s.user.chown(&file, Some(1001), None).unwrap();
    assert_eq!(s.user.stat(&file).mode, 0o777, "after a change of owner");
    armed(0o6777);
    s.user.chown(&file, None, Some(2001)).unwrap();
    assert_eq!(s.user.stat(&file).mode, 0o777, "after a change of group");
    let dir = s.user.mkdir(&s.root, "dir").unwrap();
    s.user.chmod(&dir, 0o2755).unwrap();
    s.user.chown(&dir, Some(1000), None).unwrap();
    let attr = s.user.stat(&dir);
    assert_eq!((attr.kind, attr.mode), (FileType::Directory, 0o2755), "directories keep it");
}

pub(crate) fn cutting_a_file_needs_permission_to_write(s: &Scene<'_>) {
    let file = s.user.file(&s.root, "file", "data");
    s.user.chmod(&file, 0o644).unwrap();
    let user = s.client(1, 1, &[]);
    refused(user.set(&file, &size(0)), &[Error::Access]);
    refused(user.open(&s.root, "file", &Open::Unchecked(size(0))), &[Error::Access]);
    user.open(&s.root, "file", &Open::Unchecked(mode(0o777))).unwrap();
    assert_eq!(s.user.contents(&file), b"data");
    assert_eq!(s.user.stat(&file).mode, 0o644);
}
