//! Device nodes.

use crate::testing::client::refused;
use crate::testing::{Capability, Scene};
use crate::{Error, FileType, NewNode};

pub(crate) const NEEDS: &[Capability] = &[Capability::ChangeIdentity, Capability::MakeDevices];

pub(crate) fn numbers_are_kept(s: &Scene<'_>) {
    let user = &s.user;
    for (n, rdev) in [(1, 3), (0, 0), (259, 70_000), (4095, 0xf_ffff)].into_iter().enumerate() {
        let character = NewNode::Character(rdev.0, rdev.1);
        let made = match user.make(&s.root, format!("c{n}"), &character, 0o600) {
            // XFS has fewer numbers.
            Err(Error::Invalid) if rdev.1 > 0x3_ffff => continue,
            made => made.unwrap(),
        };
        assert_eq!((made.attr.kind, made.attr.rdev), (FileType::Character, rdev));
        let block = NewNode::Block(rdev.0, rdev.1);
        let made = user.make(&s.root, format!("b{n}"), &block, 0o600).unwrap();
        assert_eq!((made.attr.kind, made.attr.rdev), (FileType::Block, rdev));
        let found = user.lookup(&s.root, format!("b{n}")).unwrap();
        assert_eq!((found.attr.kind, found.attr.rdev), (FileType::Block, rdev));
    }
}

/// The client opens its own device of that number, never the server's.
pub(crate) fn devices_are_not_opened(s: &Scene<'_>) {
    let user = &s.user;
    let zero = user.make(&s.root, "zero", &NewNode::Character(1, 5), 0o666).unwrap().handle;
    let expect = &[Error::WrongType, Error::Invalid];
    refused(user.read(&zero, 0, 10), expect);
    refused(user.write(&zero, 0, "data"), expect);
}

pub(crate) fn they_are_for_the_superuser(s: &Scene<'_>) {
    s.user.chmod(&s.root, 0o777).unwrap();
    let someone = s.client(1000, 1000, &[]);
    for what in [NewNode::Character(1, 3), NewNode::Block(8, 0)] {
        let made = someone.make(&s.root, "device", &what, 0o600);
        refused(made, &[Error::NotOwner, Error::Access]);
    }
    someone.make(&s.root, "fifo", &NewNode::Fifo, 0o600).unwrap();
    someone.make(&s.root, "socket", &NewNode::Socket, 0o600).unwrap();
}
