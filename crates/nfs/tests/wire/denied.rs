//! Refusals are explained once for each client and cause.

use crate::common::{Client, Lab, args, mnt, proc, stat};

/// What was told of refusals; each text with these words, and no others.
#[track_caller]
fn told(lab: &Lab, expected: &[&[&str]]) {
    let denials = lab.service.denials();
    assert_eq!(denials.len(), expected.len(), "{denials:#?}");
    for words in expected {
        let has = |text: &String| words.iter().all(|word| text.contains(word));
        assert!(denials.iter().any(has), "{words:?} in {denials:#?}");
    }
}

fn mount(client: &Client<'_>, path: &str) -> u32 {
    client.mount(mnt::MNT, &args().opaque(path)).word()
}

fn mkdir(client: &Client<'_>, dir: &[u8]) -> u32 {
    let no_attributes = args().words([0; 6]);
    client.status(proc::MKDIR, &args().opaque(dir).opaque("new").raw(no_attributes.bytes()))
}

#[test]
fn a_mount_that_is_refused_says_why_and_what_to_do() {
    let lab = Lab::new("/srv 198.51.100.7(rw) 192.0.2.9(rw)");
    let client = lab.root();
    for _ in 0..3 {
        assert_eq!(mount(&client, "/other"), stat::NOENT);
        assert_eq!(mount(&client, "/another"), stat::NOENT);
        assert_eq!(mount(&client, "/srv"), stat::ACCES);
    }
    let high = Client::new(&lab, "198.51.100.7:7000");
    assert_eq!(mount(&high, "/srv"), stat::PERM);
    told(
        &lab,
        &[
            &["client 192.0.2.1: it mounts /other, which is not exported", "hayase reload"],
            &["client 192.0.2.1: /srv is not exported to it, but to 198.51.100.7, 192.0.2.9"],
            &["client 198.51.100.7: its port 7000 is above 1023", "`insecure`"],
        ],
    );
    // After a change of the exports it is news again.
    lab.export("/srv 198.51.100.7(rw)");
    told(&lab, &[]);
    assert_eq!(mount(&client, "/srv"), stat::ACCES);
    told(&lab, &[&["not exported to it, but to 198.51.100.7:"]]);
}

#[test]
fn a_squashed_root_that_is_refused_is_told_of_and_other_users_are_not() {
    let lab = Lab::new("/srv *(rw,insecure,anonuid=1234)");
    let (root, user) = (lab.root(), lab.user(1000, 1000));
    let srv = root.srv();
    for client in [&root, &user, &root] {
        assert_eq!(mkdir(client, &srv), stat::ACCES);
    }
    told(&lab, &[&["its root is user 1234 on /srv", "`no_root_squash`"]]);
    let lab = Lab::new("/srv *(rw,insecure,all_squash,anonuid=1234)");
    assert_eq!(mkdir(&lab.user(1000, 1000), &lab.root().srv()), stat::ACCES);
    told(&lab, &[&["all its users are user 1234 on /srv", "`anonuid=`"]]);
    let lab = Lab::new("/srv *(rw,insecure,squash_uids=1000)");
    assert_eq!(mkdir(&lab.user(1000, 1000), &lab.root().srv()), stat::ACCES);
    told(&lab, &[&["`squash_uids` of /srv"]]);
}

#[test]
fn read_only_exports_and_foreign_flavors_are_told_of() {
    let lab = Lab::new("/srv *(ro,insecure)");
    let srv = lab.root().srv();
    assert_eq!(mkdir(&lab.root(), &srv), stat::ROFS);
    told(&lab, &[&["/srv is exported to it with `ro`", "`rw`"]]);
    let nobody = Client::new(&lab, "192.0.2.2:700");
    let call = args().opaque(&srv);
    nobody.send(&nobody.record(7, [crate::common::program::NFS, 3, proc::GETATTR], &call));
    told(&lab, &[&["`ro`"], &["client 192.0.2.2: its calls are not of the security flavor"]]);
}
