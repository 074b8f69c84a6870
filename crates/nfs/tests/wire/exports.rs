//! What the options of an export and its coming and going mean on the wire.

use std::sync::Arc;

use crate::common::{Client, Lab, args, mnt, proc, stat};

/// MNT of a path: the handle, or why not.
fn mount(client: &Client<'_>, path: &str) -> Result<Vec<u8>, u32> {
    let mut reply = client.mount(mnt::MNT, &args().opaque(path));
    match reply.word() {
        stat::OK => Ok(reply.opaque()),
        status => Err(status),
    }
}

/// Whether a call may make a directory.
fn mkdir(client: &Client<'_>, dir: &[u8], name: &str) -> u32 {
    let no_attributes = args().words([0; 6]);
    client.status(proc::MKDIR, &args().opaque(dir).opaque(name).raw(no_attributes.bytes()))
}

#[test]
fn options_that_follow_a_flavor_are_for_its_calls() {
    // exports(5): the only options that may vary in this way are those about access and squashing.
    let lab = Lab::new("/srv *(insecure,sec=sys,rw,no_root_squash,sec=none,ro)");
    let stated = lab.root();
    let srv = mount(&stated, "/srv").unwrap();
    let nobody = Client::new(&lab, "192.0.2.1:700");
    assert_eq!(mkdir(&nobody, &srv, "a"), stat::ROFS);
    assert_eq!(mkdir(&stated, &srv, "a"), stat::OK);
    let lab = Lab::new("/srv *(insecure,sec=none:sys,ro)");
    let srv = mount(&lab.root(), "/srv").unwrap();
    assert_eq!(mkdir(&lab.root(), &srv, "a"), stat::ROFS);
}

#[test]
fn a_port_can_be_for_one_flavor_only() {
    let lab = Lab::new("/srv *(sec=sys,secure,rw,no_root_squash,sec=none,insecure,ro)");
    let high = Client::new(&lab, "192.0.2.1:7000");
    let srv = mount(&high, "/srv").unwrap();
    assert_eq!(high.status(proc::GETATTR, &args().opaque(&srv)), stat::OK);
    let high = high.with_user(0, 0, &[]);
    assert_eq!(high.status(proc::GETATTR, &args().opaque(&srv)), stat::PERM);
}

#[test]
fn the_innermost_export_that_is_given_to_a_client_counts() {
    // As with nfs-utils: /srv/data is for somebody else, but /srv is for this client.
    let lab = Lab::new("/srv *(rw,insecure,no_root_squash)\n/srv/data 198.51.100.7(rw,insecure)");
    let client = lab.root();
    let srv = mount(&client, "/srv").unwrap();
    let data = client.dir(&srv, "data");
    assert_eq!(mount(&client, "/srv/data"), Ok(data.clone()));
    let other = Client::new(&lab, "198.51.100.7:700").with_user(0, 0, &[]);
    assert_ne!(mount(&other, "/srv/data"), Ok(data));
}

#[test]
fn nordirplus_has_clients_use_readdir() {
    let lab = Lab::new("/srv *(rw,insecure,nordirplus)");
    let client = lab.root();
    let srv = mount(&client, "/srv").unwrap();
    let plus = args().opaque(&srv).long(0).long(0).words([4096, 4096]);
    assert_eq!(client.status(proc::READDIRPLUS, &plus), stat::NOTSUPP);
    let plain = args().opaque(&srv).long(0).long(0).word(4096);
    assert_eq!(client.status(proc::READDIR, &plain), stat::OK);
}

#[test]
fn an_export_that_goes_is_stale_and_nobody_holds_on_to_it() {
    // A connection on which nothing happened kept the file system of a removed export busy.
    let lab = Lab::new("/srv *(rw,insecure,no_root_squash)\n/pub *(ro,insecure)");
    let client = lab.root();
    let (srv, public) = (mount(&client, "/srv").unwrap(), mount(&client, "/pub").unwrap());
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&srv)), stat::OK);
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&public)), stat::OK);
    let held = |disk: usize| Arc::strong_count(&lab.disks[disk]);
    assert_eq!(held(1), 2);
    lab.export("/srv *(rw,insecure,no_root_squash)");
    assert_eq!(held(1), 1, "only this test knows the file system");
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&public)), stat::STALE);
    assert_eq!(client.status(proc::GETATTR, &args().opaque(&srv)), stat::OK);
    let connected = lab.service.connections();
    assert_eq!(connected.len(), 1);
    assert_eq!(connected[0].exports.len(), 1);
    client.hang_up();
    assert!(lab.service.connections().is_empty());
}
