//! Who may do what.

use std::thread;

use crate::testing::client::{Client, at, refused, size};
use crate::testing::{Capability, Scene};
use crate::{Access, Error, Handle, NewNode, SetAttr, SetTime};

pub(crate) const NEEDS: &[Capability] = &[Capability::ChangeIdentity];

const OWNER: u32 = 1001;
const GROUP: u32 = 2001;

/// Those whom the mode bits tell apart, and how far to shift these for them.
fn everyone<'a>(s: &Scene<'a>) -> [(&'static str, Client<'a>, u32); 5] {
    let many: Vec<u32> = (3000..3030).chain([GROUP]).collect();
    [
        ("owner", s.client(OWNER, 9000, &[]), 6),
        ("group", s.client(1002, GROUP, &[]), 3),
        ("supplementary group", s.client(1003, 9000, &[9001, GROUP, 9002]), 3),
        ("one of many groups", s.client(1004, 9000, &many), 3),
        ("other", s.client(1005, 9000, &[9001]), 0),
    ]
}

/// Hands a file over to the owner and group that the checks speak of.
fn give(s: &Scene<'_>, of: &Handle, bits: u32) {
    s.user.chown(of, Some(OWNER), Some(GROUP)).unwrap();
    s.user.chmod(of, bits).unwrap();
}

#[track_caller]
#[allow(clippy::needless_pass_by_value)] // takes results as they come
fn expect<T: std::fmt::Debug>(result: crate::Result<T>, allowed: bool, what: &str) {
    match result {
        Ok(_) => assert!(allowed, "{what} was allowed"),
        Err(error) => assert_eq!((allowed, error), (false, Error::Access), "{what}"),
    }
}

pub(crate) fn mode_bits_rule_files(s: &Scene<'_>) {
    let file = s.user.file(&s.root, "file", "data");
    for (who, client, shift) in everyone(s) {
        for bits in 0..8 {
            // All others may do the opposite, so that it shows if the wrong class is asked.
            give(s, &file, (0o777 & !(7 << shift) & !(bits * 0o111)) | bits << shift);
            let what = format!("{who} with {bits:o}");
            let (read, write, exec) = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0);
            let mut granted = Access::default();
            for (bit, has) in [
                (Access::READ, read),
                (Access::MODIFY | Access::EXTEND, write),
                (Access::EXECUTE, exec),
            ] {
                granted = if has { granted | bit } else { granted };
            }
            let told = client.access(&file).unwrap();
            assert_eq!(told.0 & !Access::DELETE.0, granted.0, "access of {what}");
            let owner = shift == 6;
            expect(client.write(&file, 0, "data"), write || owner, &format!("write by {what}"));
            expect(client.set(&file, &size(4)), write || owner, &format!("cut by {what}"));
            let may_read = read || exec || owner;
            expect(client.read(&file, 0, 4), may_read, &format!("read by {what}"));
        }
    }
}

pub(crate) fn mode_bits_rule_directories(s: &Scene<'_>) {
    let dir = s.user.mkdir(&s.root, "dir").unwrap();
    let file = s.user.file(&dir, "file", "data");
    s.user.chmod(&file, 0o777).unwrap();
    for (who, client, shift) in everyone(s) {
        for bits in 0..8 {
            give(s, &dir, (0o777 & !(7 << shift) & !(bits * 0o111)) | bits << shift);
            let what = format!("{who} with {bits:o}");
            let (read, write, exec) = (bits & 4 != 0, bits & 2 != 0, bits & 1 != 0);
            let mut granted = Access::default();
            for (bit, has) in [
                (Access::READ, read),
                (Access::LOOKUP, exec),
                (Access::MODIFY | Access::EXTEND | Access::DELETE, write && exec),
            ] {
                granted = if has { granted | bit } else { granted };
            }
            let told = client.access(&dir).unwrap();
            assert_eq!(told.0 & !Access::EXECUTE.0, granted.0, "access of {what}");
            expect(client.page(&dir, 0, 9, false), read, &format!("listing by {what}"));
            expect(client.page(&dir, 0, 9, true), read, &format!("listing by {what}"));
            expect(client.lookup(&dir, "file"), exec, &format!("lookup by {what}"));
            let may_change = write && exec;
            expect(client.create(&dir, "new"), may_change, &format!("create by {what}"));
            expect(client.mkdir(&dir, "sub"), may_change, &format!("mkdir by {what}"));
            expect(client.symlink(&dir, "ln", "x"), may_change, &format!("symlink by {what}"));
            let moved = client.rename((&dir, "file"), (&dir, "moved"));
            expect(moved, may_change, &format!("rename by {what}"));
            if may_change {
                client.link(&client.lookup(&dir, "new").unwrap().handle, &dir, "second").unwrap();
                client.rename((&dir, "moved"), (&dir, "file")).unwrap();
                for entry in ["new", "second", "ln"] {
                    client.remove(&dir, entry).unwrap();
                }
                client.rmdir(&dir, "sub").unwrap();
            } else {
                expect(client.remove(&dir, "file"), false, &format!("remove by {what}"));
            }
            // What a handle leads to is not protected by the directories above it.
            client.read(&file, 0, 4).unwrap();
        }
    }
}

pub(crate) fn the_superuser_may(s: &Scene<'_>) {
    let root = &s.user;
    let dir = root.mkdir(&s.root, "dir").unwrap();
    let file = root.file(&dir, "file", "data");
    give(s, &file, 0);
    give(s, &dir, 0);
    let all = Access::READ | Access::MODIFY | Access::EXTEND;
    assert_eq!(root.access(&file).unwrap().0 & !Access::DELETE.0, all.0, "nobody executes it");
    root.chmod(&file, 0o010).unwrap();
    assert!(root.access(&file).unwrap().intersects(Access::EXECUTE));
    let all = all | Access::LOOKUP | Access::DELETE;
    assert_eq!(root.access(&dir).unwrap().0 & !Access::EXECUTE.0, all.0);
    assert_eq!(root.contents(&file), b"data");
    root.put(&file, 0, "more");
    root.create(&dir, "new").unwrap();
    root.rename((&dir, "file"), (&dir, "moved")).unwrap();
    root.remove(&dir, "moved").unwrap();
    assert_eq!(root.names(&dir).unwrap(), [b"new"]);
}

/// A client checks the mode when a file is opened, and may use it until it is closed.
pub(crate) fn owners_can_always_read_and_write(s: &Scene<'_>) {
    let file = s.user.file(&s.root, "file", "data");
    give(s, &file, 0);
    let owner = s.client(OWNER, 9000, &[]);
    assert_eq!(owner.contents(&file), b"data");
    owner.put(&file, 0, "more");
    owner.set(&file, &size(2)).unwrap();
    let open = owner.access(&file).unwrap();
    let wanted = Access::READ | Access::MODIFY | Access::EXTEND | Access::EXECUTE;
    assert!(!open.intersects(wanted), "opening is another matter");
    // Directories have no such rule.
    let dir = s.user.mkdir(&s.root, "dir").unwrap();
    give(s, &dir, 0);
    refused(owner.page(&dir, 0, 10, false), &[Error::Access]);
    refused(owner.create(&dir, "x"), &[Error::Access]);
}

/// Permission is looked at when a file is opened: what was opened then can be used so, and
/// nothing else.
pub(crate) fn who_opened_a_file_can_go_on(s: &Scene<'_>) {
    let file = s.user.file(&s.root, "file", "data");
    give(s, &file, 0);
    let stranger = s.client(1005, 9000, &[9001]);
    let reader = Client { opened: Access::READ, ..stranger.clone() };
    let writer = Client { opened: Access::MODIFY, ..stranger.clone() };
    assert_eq!(reader.read(&file, 0, 9).unwrap().0, b"data");
    refused(reader.write(&file, 0, "x"), &[Error::Access]);
    refused(reader.set(&file, &size(1)), &[Error::Access]);
    refused(writer.read(&file, 0, 9), &[Error::Access]);
    writer.write(&file, 0, "D").unwrap();
    let cut = SetAttr { mtime: SetTime::Now, ..size(3) };
    writer.set(&file, &cut).unwrap();
    assert_eq!(s.user.contents(&file), b"Dat");
    // Neither makes an owner.
    refused(writer.chmod(&file, 0o666), &[Error::NotOwner]);
    refused(
        writer.set(&file, &SetAttr { mtime: at(1, 0), ..SetAttr::default() }),
        &[Error::NotOwner, Error::Access],
    );
    refused(stranger.read(&file, 0, 9), &[Error::Access]);
}

pub(crate) fn times_are_set_by_owners_and_writers(s: &Scene<'_>) {
    let file = s.user.create(&s.root, "file").unwrap();
    give(s, &file, 0o020);
    let (owner, writer) = (s.client(OWNER, 9000, &[]), s.client(1002, GROUP, &[]));
    let other = s.client(1005, 9000, &[]);
    let chosen = SetAttr { atime: at(7, 0), mtime: at(7, 0), ..SetAttr::default() };
    let now = SetAttr { atime: SetTime::Now, mtime: SetTime::Now, ..SetAttr::default() };
    owner.set(&file, &chosen).unwrap();
    owner.set(&file, &now).unwrap();
    writer.set(&file, &now).unwrap();
    refused(writer.set(&file, &chosen), &[Error::NotOwner]);
    refused(other.set(&file, &chosen), &[Error::NotOwner]);
    refused(other.set(&file, &now), &[Error::Access]);
}

pub(crate) fn sticky_directories_protect_files(s: &Scene<'_>) {
    let dir = s.user.mkdir(&s.root, "dir").unwrap();
    let target = s.user.mkdir(&s.root, "target").unwrap();
    s.user.chmod(&target, 0o777).unwrap();
    give(s, &dir, 0o1777);
    let (a, b) = (s.client(1, 1, &[]), s.client(2, 2, &[]));
    let host = s.client(OWNER, 9000, &[]);
    let expect = &[Error::NotOwner, Error::Access];
    for round in ["one", "two", "three"] {
        a.create_mode(&dir, round, 0o666).unwrap();
        a.make(&dir, format!("{round} dir"), &NewNode::Directory, 0o777).unwrap();
        b.create(&dir, "mine").unwrap();
        refused(b.remove(&dir, round), expect);
        refused(b.rmdir(&dir, format!("{round} dir")), expect);
        refused(b.rename((&dir, round), (&dir, "stolen")), expect);
        refused(b.rename((&dir, round), (&target, "stolen")), expect);
        refused(b.rename((&dir, "mine"), (&dir, round)), expect);
        b.rename((&dir, "mine"), (&dir, "my own")).unwrap();
        b.remove(&dir, "my own").unwrap();
    }
    a.remove(&dir, "one").unwrap();
    a.rename((&dir, "one dir"), (&dir, "renamed")).unwrap();
    a.rmdir(&dir, "renamed").unwrap();
    host.remove(&dir, "two").unwrap();
    host.rmdir(&dir, "two dir").unwrap();
    s.user.remove(&dir, "three").unwrap();
    s.user.rmdir(&dir, "three dir").unwrap();
}

pub(crate) fn renaming_needs_both_directories(s: &Scene<'_>) {
    let open = s.user.mkdir(&s.root, "open").unwrap();
    let shut = s.user.mkdir(&s.root, "shut").unwrap();
    give(s, &open, 0o777);
    give(s, &shut, 0o777);
    let user = s.client(1, 1, &[]);
    let file = user.create(&open, "file").unwrap();
    user.create(&shut, "inside").unwrap();
    give(s, &shut, 0o755);
    refused(user.rename((&open, "file"), (&shut, "moved")), &[Error::Access]);
    refused(user.rename((&open, "file"), (&shut, "inside")), &[Error::Access]);
    refused(user.rename((&shut, "inside"), (&open, "moved")), &[Error::Access]);
    refused(user.link(&file, &shut, "second"), &[Error::Access]);
    refused(user.remove(&shut, "inside"), &[Error::Access]);
    // Whose the file is does not matter.
    give(s, &open, 0o777);
    s.client(2, 2, &[]).remove(&open, "file").unwrap();
}

/// An identity that is put on for one call must be off for the next, on every thread.
pub(crate) fn identities_do_not_leak(s: &Scene<'_>) {
    let secret = s.user.file(&s.root, "secret", "data");
    s.user.chmod(&secret, 0o600).unwrap();
    s.user.chmod(&s.root, 0o777).unwrap();
    thread::scope(|scope| {
        for uid in 1..5 {
            let (user, root) = (s.client(uid, uid, &[uid + 100]), s.client(0, 0, &[]));
            scope.spawn(move || {
                for round in 0..50 {
                    let cx = user.cx(crate::Wait::Allowed);
                    let name = format!("{uid} {round}");
                    let name = crate::Name::new(name.as_bytes()).unwrap();
                    let how = crate::Open::Guarded(crate::testing::client::mode(0o644));
                    let wcc = &mut crate::Wcc::default();
                    let made = s.fs.create(&cx, &s.root, name, &how, wcc).unwrap();
                    assert_eq!((made.attr.uid, made.attr.gid), (uid, uid));
                    refused(user.read(&secret, 0, 1), &[Error::Access]);
                    root.read(&secret, 0, 1).unwrap();
                    refused(user.read(&secret, 0, 1), &[Error::Access]);
                }
            });
        }
    });
}
