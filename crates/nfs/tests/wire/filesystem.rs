//! FSSTAT, FSINFO, PATHCONF (RFC 1813 §3.3.18 to §3.3.20).

use crate::common::{Lab, args, proc, stat};
use hayase_mem::{Limits, MemFs, PAGE_BYTES};

#[test]
fn fsstat_counts_bytes_and_files() {
    let limits = Limits { bytes: 100 * PAGE_BYTES as u64, inodes: 50, ..Limits::default() };
    let lab = Lab::over("/srv *(rw,insecure,no_root_squash)", || MemFs::with_limits(limits));
    let client = lab.root();
    let srv = client.srv();
    let file = client.file_of(&srv, "file", &[1; 3 * PAGE_BYTES]);
    for object in [&srv, &file] {
        let mut reply = client.nfs(proc::FSSTAT, &args().opaque(object));
        reply.is([stat::OK]);
        reply.is_attr(&client.attr(object));
        for pages in [100, 97, 97] {
            reply.is_long(pages * PAGE_BYTES as u64); // tbytes, fbytes, abytes
        }
        for files in [50, 48, 48] {
            reply.is_long(files); // tfiles, ffiles, afiles
        }
        reply.is([0]); // invarsec
        reply.end();
    }
}

#[test]
fn fsinfo_tells_what_one_call_can_carry() {
    let lab = Lab::open();
    let client = lab.root();
    let srv = client.srv();
    let mut reply = client.nfs(proc::FSINFO, &args().opaque(&srv));
    reply.is([stat::OK]);
    reply.is_attr(&client.attr(&srv));
    reply.is([1 << 20, 1 << 20, 4096]); // rtmax, rtpref, rtmult
    reply.is([1 << 20, 1 << 20, 4096]); // wtmax, wtpref, wtmult
    reply.is([1 << 20]); // dtpref
    reply.is_long((1 << 63) - 1); // maxfilesize
    reply.is([0, 1]); // time_delta: a nanosecond
    reply.is([0x01 | 0x02 | 0x08 | 0x10]); // LINK, SYMLINK, HOMOGENEOUS, CANSETTIME
    reply.end();
}

#[test]
fn pathconf_tells_limits_of_names() {
    let lab = Lab::open();
    let client = lab.root();
    let file = client.file(&client.srv(), "file");
    let mut reply = client.nfs(proc::PATHCONF, &args().opaque(&file));
    reply.is([stat::OK]);
    reply.is_attr(&client.attr(&file));
    reply.is([65_000, 255]); // linkmax, name_max
    reply.is([1, 1, 0, 1]); // no_trunc, chown_restricted, case_insensitive, case_preserving
    reply.end();
}
