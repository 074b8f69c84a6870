//! POSIX access control lists.

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Access, Acl, Error, NewNode, Perm, PosixAcl};

pub(crate) const NEEDS: &[Capability] = &[];

/// Whether there are lists here.
fn has_them(s: &Scene<'_>) -> bool {
    let has = s.user.features(&s.root).acls;
    if !has {
        println!("left out: there are no access control lists here");
        refused(s.user.acl(&s.root), &[Error::NotSupported]);
        refused(s.user.set_acl(&s.root, &Acl::default()), &[Error::NotSupported]);
    }
    has
}

fn list(classes: u32, users: &[(u32, u32)], groups: &[(u32, u32)], mask: Option<u32>) -> PosixAcl {
    let named = |ids: &[(u32, u32)]| {
        ids.iter().map(|(id, bits)| (*id, Perm::of_mode(*bits))).collect::<Vec<_>>()
    };
    PosixAcl::new(classes, named(users), named(groups), mask.map(Perm::of_mode)).unwrap()
}

fn access(list: &PosixAcl) -> Acl {
    Acl { access: Some(list.clone()), default: None }
}

pub(crate) fn lists_are_kept(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let long = list(0o751, &[(5, 6), (1000, 0)], &[(7, 3), (8, 1)], Some(4));
    let masked = list(0o640, &[], &[], Some(6));
    for of in [&file, &dir] {
        assert_eq!(user.acl(of).unwrap(), Acl::default());
        for acl in [&long, &masked] {
            user.set_acl(of, &access(acl)).unwrap();
            assert_eq!(user.acl(of).unwrap(), access(acl));
            assert_eq!(user.stat(of).mode, acl.mode());
        }
        // A list that says no more than a mode is one.
        user.set_acl(of, &access(&PosixAcl::of_mode(0o705))).unwrap();
        assert_eq!(user.acl(of).unwrap(), Acl::default());
        assert_eq!(user.stat(of).mode, 0o705);
    }
    let both = Acl { access: Some(long.clone()), default: Some(masked.clone()) };
    user.set_acl(&dir, &both).unwrap();
    assert_eq!(user.acl(&dir).unwrap(), both);
    user.set_acl(&dir, &Acl::default()).unwrap();
    assert_eq!(user.acl(&dir).unwrap(), Acl::default());
    assert_eq!(user.stat(&dir).mode, long.mode(), "the mode stays");
    refused(user.set_acl(&file, &both), &[Error::Invalid]);
}

pub(crate) fn mode_and_list_agree(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let file = user.create(&s.root, "file").unwrap();
    user.set_acl(&file, &access(&list(0o751, &[(5, 6)], &[], Some(7)))).unwrap();
    user.chmod(&file, 0o642).unwrap();
    let followed = list(0o652, &[(5, 6)], &[], Some(4));
    assert_eq!(user.acl(&file).unwrap(), access(&followed));
    assert_eq!(user.stat(&file).mode, 0o642);
    let before = user.stat(&file);
    user.set_acl(&file, &access(&followed)).unwrap();
    user.set_acl(&file, &access(&list(0o652, &[(6, 6)], &[], Some(4)))).unwrap();
    let after = user.stat(&file);
    assert_eq!((after.mode, after.mtime), (0o642, before.mtime));
    if s.fine_changes {
        assert_ne!(after.change, before.change);
    }
}

pub(crate) fn new_files_inherit_them(s: &Scene<'_>) {
    if !has_them(s) {
        return;
    }
    let user = &s.user;
    let dir = user.mkdir(&s.root, "dir").unwrap();
    let default = list(0o775, &[(5, 7)], &[(7, 5)], Some(7));
    let acl = Acl { access: Some(PosixAcl::of_mode(0o755)), default: Some(default.clone()) };
    user.set_acl(&dir, &acl).unwrap();
    let file = user.create_mode(&dir, "file", 0o644).unwrap();
    let inherited = list(0o674, &[(5, 7)], &[(7, 5)], Some(4));
    assert_eq!(user.acl(&file).unwrap(), access(&inherited));
    assert_eq!(user.stat(&file).mode, 0o644);
    let sub = user.make(&dir, "sub", &NewNode::Directory, 0o700).unwrap();
    let inherited = list(0o770, &[(5, 7)], &[(7, 5)], Some(0));
    let both = Acl { access: Some(inherited), default: Some(default) };
    assert_eq!(user.acl(&sub.handle).unwrap(), both);
    assert_eq!(sub.attr.mode, 0o700);
    let link = user.symlink(&dir, "link", "target").unwrap();
    assert_eq!(user.acl(&link).unwrap(), Acl::default());
    let pipe = user.make(&dir, "pipe", &NewNode::Fifo, 0o666).unwrap().handle;
    assert_eq!(user.acl(&pipe).unwrap().access.unwrap().mask(), Some(Perm::of_mode(6)));
}

pub(crate) fn they_rule(s: &Scene<'_>) {
    if !has_them(s) || s.user.cred.uid != 0 {
        return;
    }
    let file = s.user.file(&s.root, "file", "data");
    let (named, member, other) =
        (s.client(5, 99, &[]), s.client(6, 99, &[98, 7]), s.client(6, 99, &[]));
    let may = |client: &crate::testing::Client<'_>| {
        let granted = client.access(&file).unwrap();
        [Access::READ, Access::MODIFY, Access::EXECUTE].map(|bit| granted.intersects(bit))
    };
    for round in 0..8 {
        let acl = list(0o600 | round, &[(5, round)], &[(7, 7)], Some(6));
        s.user.set_acl(&file, &access(&acl)).unwrap();
        let bits = |perm: u32| [4, 2, 1].map(|bit| perm & bit != 0);
        assert_eq!(may(&named), bits(round & 6), "the named user by {acl:?}");
        assert_eq!(may(&member), bits(6), "a member by {acl:?}");
        assert_eq!(may(&other), bits(round), "others by {acl:?}");
        assert_eq!(named.read(&file, 0, 9).is_ok(), round & 4 != 0);
        assert_eq!(named.write(&file, 0, "d").is_ok(), round & 2 != 0);
    }
}

pub(crate) fn owners_set_them(s: &Scene<'_>) {
    if !has_them(s) || s.user.cred.uid != 0 {
        return;
    }
    let file = s.user.create(&s.root, "file").unwrap();
    s.user.chown(&file, Some(1001), Some(2001)).unwrap();
    s.user.chmod(&file, 0o2777).unwrap();
    let acl = access(&list(0o770, &[(5, 7)], &[], Some(7)));
    let (owner, other) = (s.client(1001, 9, &[]), s.client(1002, 2001, &[]));
    refused(other.set_acl(&file, &acl), &[Error::NotOwner]);
    owner.set_acl(&file, &acl).unwrap();
    assert_eq!(other.acl(&file).unwrap(), acl, "anybody may know");
    assert_eq!(s.user.stat(&file).mode, 0o770, "set-group-id is for members");
}
