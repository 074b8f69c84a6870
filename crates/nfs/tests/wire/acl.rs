//! NFSACL version 3: literal lists in, literal lists out.

use crate::common::{Args, Client, Lab, args, program, stat};

const GETACL: u32 = 1;
const SETACL: u32 = 2;

const ACCESS: u32 = 1;
const DEFAULT: u32 = 4;
/// Both lists, and how long they are.
const ALL: u32 = 15;

/// An entry: whom it is about, an id, permissions.
type Entry = [u32; 3];

const NOBODY: &[Entry] = &[];

fn call(client: &Client<'_>, proc: u32, args: &Args) -> crate::common::Reply {
    client.call([program::NFSACL, 3, proc], args)
}

/// The lists of a file that are asked for, each with the length that is told.
#[track_caller]
fn get(client: &Client<'_>, file: &[u8], mask: u32) -> [(u32, Vec<Entry>); 2] {
    let mut reply = call(client, GETACL, &args().opaque(file).word(mask));
    reply.is([stat::OK]);
    reply.is_attr(&client.attr(file));
    reply.is([mask]);
    let lists = [(), ()].map(|()| {
        let told = reply.word();
        let entries = (0..reply.word()).map(|_| [(), (), ()].map(|()| reply.word()));
        let entries: Vec<_> = entries.collect();
        (told, entries)
    });
    reply.end();
    lists
}

fn setting(file: &[u8], mask: u32, access: &[Entry], default: &[Entry]) -> Args {
    [access, default].iter().fold(args().opaque(file).word(mask), |args, list| {
        let len = list.len() as u32;
        args.words([len, len]).words(list.iter().flatten().copied())
    })
}

#[track_caller]
fn set(client: &Client<'_>, file: &[u8], mask: u32, access: &[Entry], default: &[Entry]) {
    let mut reply = call(client, SETACL, &setting(file, mask, access, default));
    reply.is([stat::OK]);
    reply.is_attr(&client.attr(file));
    reply.end();
}

#[track_caller]
fn refused(client: &Client<'_>, file: &[u8], mask: u32, access: &[Entry], expected: u32) {
    let mut reply = call(client, SETACL, &setting(file, mask, access, NOBODY));
    reply.is([expected]);
    reply.is_attr(&client.attr(file));
    reply.end();
}

#[test]
fn a_file_without_a_list_has_what_its_mode_says() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    client.chmod(&file, 0o640);
    let [access, default] = get(&client, &file, ALL);
    // There is a mask, which Solaris has always.
    assert_eq!(access, (4, vec![[1, 0, 6], [4, 0, 4], [0x10, 0, 4], [0x20, 0, 0]]));
    assert_eq!(default, (0, vec![]));
    // Only lengths, only one list, nothing.
    assert_eq!(get(&client, &file, 2)[0], (4, vec![]));
    assert_eq!(get(&client, &file, DEFAULT)[0], (0, vec![]));
    assert_eq!(get(&client, &file, 0), [(0, vec![]), (0, vec![])]);
    let null = call(&client, 0, &args());
    null.end();
}

#[test]
fn lists_that_are_set_are_kept_and_decide() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file_of(&client.srv(), "file", b"content");
    client.chmod(&file, 0o600);
    // In any order, with bits that have no meaning, as Solaris sends them.
    let given = [[0x20, 0, 0], [2, 1001, 4], [1, 0, 6], [2, 1000, 0o76], [4, 0, 0], [0x10, 0, 6]];
    set(&client, &file, ACCESS, &given, NOBODY);
    let [access, _] = get(&client, &file, ALL);
    let kept = vec![[1, 0, 6], [2, 1000, 6], [2, 1001, 4], [4, 0, 0], [0x10, 0, 6], [0x20, 0, 0]];
    assert_eq!(access, (6, kept));
    assert_eq!(lab.user(1001, 1).data(&file), b"content");
    assert_eq!(client.attr(&file).mode(), 0o660, "the mask shows as the group's permissions");
    // Nobody is named any more: the mask was made up, and the mode is all there is.
    set(&client, &file, ACCESS, &[[1, 0, 6], [4, 0, 4], [0x10, 0, 4], [0x20, 0, 0]], NOBODY);
    assert_eq!(client.attr(&file).mode(), 0o640);
    assert_eq!(get(&client, &file, ALL)[0].0, 4);
}

#[test]
fn a_directory_has_a_list_for_what_is_made_in_it() {
    let lab = Lab::open();
    let client = lab.root();
    let dir = client.dir(&client.srv(), "dir");
    let default =
        [[0x1001, 0, 7], [0x1002, 1000, 6], [0x1004, 0, 5], [0x1010, 0, 7], [0x1020, 0, 0]];
    set(&client, &dir, DEFAULT, NOBODY, &default);
    let [access, told] = get(&client, &dir, ALL);
    assert_eq!(told, (5, default.to_vec()));
    assert_eq!(access.0, 4, "the other list is as it was");
    let file = client.file(&dir, "file");
    assert!(get(&client, &file, ALL)[0].1.contains(&[2, 1000, 6]));
    assert_eq!(get(&client, &file, ALL)[1], (0, vec![]));
    // An empty list is none.
    set(&client, &dir, DEFAULT, NOBODY, NOBODY);
    assert_eq!(get(&client, &dir, ALL)[1], (0, vec![]));
}

#[test]
fn what_makes_no_list_is_refused_and_changes_nothing() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let before = get(&client, &file, ALL);
    let whole = [[1, 0, 6], [4, 0, 4], [0x10, 0, 4], [0x20, 0, 0]];
    for missing in [0, 1, 3] {
        let mut list = whole.to_vec();
        list.remove(missing);
        refused(&client, &file, ACCESS, &list, stat::INVAL);
    }
    let with = |entries: &[Entry]| [&whole[..], entries].concat();
    let no_mask = [[1, 0, 6], [2, 5, 6], [4, 0, 4], [0x20, 0, 0]];
    refused(&client, &file, ACCESS, &no_mask, stat::INVAL);
    for entries in [&[[1, 0, 6]][..], &[[0x40, 0, 6]], &[[2, 5, 6], [2, 5, 4]]] {
        refused(&client, &file, ACCESS, &with(entries), stat::INVAL);
    }
    refused(&client, &file, 16 | ACCESS, &whole, stat::INVAL);
    let mut reply = call(&client, GETACL, &args().opaque(&file).word(16));
    reply.is([stat::INVAL]);
    reply.is_attr(&client.attr(&file));
    reply.end();
    // Only the owner may.
    refused(&lab.user(1000, 1), &file, ACCESS, &whole, stat::PERM);
    assert_eq!(get(&client, &file, ALL), before);
}

#[test]
fn an_export_can_be_without() {
    let lab =
        Lab::new("/srv *(rw,insecure,no_root_squash,no_acl)\n/ro *(ro,insecure,no_root_squash)");
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let whole = [[1, 0, 6], [4, 0, 4], [0x10, 0, 4], [0x20, 0, 0]];
    refused(&client, &file, ACCESS, &whole, stat::NOTSUPP);
    assert_eq!(get(&client, &file, ALL)[0].0, 4, "programs that only ask are content");
    refused(&client, &client.root_of("/ro"), ACCESS, &whole, stat::ROFS);
}

#[test]
fn calls_that_are_none_are_refused() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let mut reply = call(&client, GETACL, &args().opaque(b"nonsense").word(ALL));
    reply.is([stat::BADHANDLE, 0]);
    reply.end();
    // More entries than any list has; none of them is there.
    let long = args().opaque(&file).words([ACCESS, 2000, 2000]);
    for (target, args, refusal) in [
        ([program::NFSACL, 3, SETACL], long, 4),
        ([program::NFSACL, 3, 3], args(), 3),
        ([program::NFSACL, 2, GETACL], args().opaque(&file).word(ALL), 2),
    ] {
        // GARBAGE_ARGS, PROC_UNAVAIL, PROG_MISMATCH (RFC 5531 §9).
        let mut reply = client.send(&client.record(7, target, &args));
        reply.is([7, 1, 0, 0, 0, refusal]);
    }
}
