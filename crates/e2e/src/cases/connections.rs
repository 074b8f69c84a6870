//! Connections that break, links that go, and strangers at the door.

use std::io::Write;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Case;
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::{NFS_PORT, Setup};
use crate::session::Session;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new(
        "connections.reset",
        "fio verifies while all connections are reset again and again",
        reset,
    )
    .needs(&["fio"]),
    Case::new(
        "connections.lost_replies",
        "a change whose answer was lost is made once",
        lost_replies,
    ),
    Case::new(
        "connections.link_down",
        "the link goes for some seconds in the middle of a copy",
        link_down,
    ),
    Case::new(
        "connections.strangers",
        "idle, half and senseless connections harm nobody",
        strangers,
    ),
];

fn reset(scene: &mut Scene) -> Result<()> {
    let (client, relay) = scene.relayed(Backing::Memory, "vers=3,nolock,nconnect=4")?;
    let (mib, cuts) = scene.size((48, 8), (256, 60));
    let common = format!(
        "--name=reset --rw=randwrite --bsrange=4k-512k --size={mib}M \
         --verify=crc32c --verify_fatal=1"
    );
    let rate = mib * 1024 / (cuts * 3 / 4);
    let mut fio = client.start(&format!(
        "fio {common} --directory={MOUNT} --rate={rate}k --ioengine=libaio --direct=1 --iodepth=8"
    ))?;
    let mut broken = 0;
    while broken < cuts && fio.is_running()? {
        thread::sleep(Duration::from_millis(400));
        broken += u32::from(relay.cut() > 0);
    }
    ensure!(broken >= cuts / 2, "fio ended after {broken} resets");
    fio.succeed(Duration::from_secs(200))?;
    scene.note(format!("{broken} resets, {} connections in all", relay.accepted()));
    scene.host(&format!("fio {common} --directory={} --verify_only", scene.path())).map(drop)
}

/// A change, and how the server's side shows that it was made.
struct Change {
    what: &'static str,
    /// What the client has looked at before, so that it need not ask again.
    known: &'static str,
    prepare: fn(&Path) -> std::io::Result<()>,
    make: fn(&Session) -> Result<()>,
    made: fn(&Path) -> bool,
}

/// Each of them fails or does harm when it is made twice.
const CHANGES: &[Change] = &[
    Change {
        what: "mkdir",
        known: "",
        prepare: |_| Ok(()),
        make: |s| s.mkdir(format!("{MOUNT}/made"), 0o755),
        made: |d| d.join("made").exists(),
    },
    Change {
        what: "rmdir",
        known: "to-rmdir",
        prepare: |d| std::fs::create_dir(d.join("to-rmdir")),
        make: |s| s.rmdir(format!("{MOUNT}/to-rmdir")),
        made: |d| !d.join("to-rmdir").exists(),
    },
    Change {
        what: "unlink",
        known: "to-unlink",
        prepare: |d| std::fs::write(d.join("to-unlink"), "x"),
        make: |s| s.unlink(format!("{MOUNT}/to-unlink")),
        made: |d| !d.join("to-unlink").exists(),
    },
    Change {
        what: "rename",
        known: "to-rename",
        prepare: |d| std::fs::write(d.join("to-rename"), "x"),
        make: |s| s.rename(format!("{MOUNT}/to-rename"), format!("{MOUNT}/renamed")),
        made: |d| d.join("renamed").exists(),
    },
    Change {
        what: "link",
        known: "to-link",
        prepare: |d| std::fs::write(d.join("to-link"), "x"),
        make: |s| s.link(format!("{MOUNT}/to-link"), format!("{MOUNT}/linked")),
        made: |d| d.join("linked").exists(),
    },
    Change {
        what: "symlink",
        known: "",
        prepare: |_| Ok(()),
        make: |s| s.symlink("anywhere", format!("{MOUNT}/symlinked")),
        made: |d| d.join("symlinked").is_symlink(),
    },
    Change {
        what: "exclusive create",
        known: "",
        prepare: |_| Ok(()),
        make: |s| s.create(format!("{MOUNT}/created"), 0o644).and_then(|file| s.close(file)),
        made: |d| d.join("created").exists(),
    },
];

fn lost_replies(scene: &mut Scene) -> Result<()> {
    // Attributes stay cached, so that the change is the first call the client sends.
    let (client, relay) = scene.relayed(Backing::Memory, "vers=3,nolock,actimeo=600")?;
    let directory = scene.directory().to_owned();
    for Change { prepare, .. } in CHANGES {
        prepare(&directory)?;
    }
    let session = client.root()?;
    let mut hit = Vec::new();
    for Change { what, known, make, made, .. } in CHANGES {
        session.list(MOUNT)?;
        session.stat(format!("{MOUNT}/{known}"))?;
        relay.swallow_replies(true);
        let outcome = thread::scope(|scope| {
            let call = scope.spawn(|| make(&session));
            // When the client asks something else first, that answer is lost and the change waits.
            let reached = until(Duration::from_secs(1), what, || Ok(made(&directory))).is_ok();
            relay.swallow_replies(false);
            relay.cut();
            if reached {
                hit.push(*what);
            }
            call.join().ok().context("the client's thread broke")?
        });
        outcome.with_context(|| format!("{what} whose answer was lost"))?;
        ensure!(made(&directory), "{what} was not made");
    }
    scene.note(format!("answers lost of: {}", hit.join(", ")));
    ensure!(hit.len() >= CHANGES.len() / 2, "only of {hit:?} the answer was lost");
    Ok(())
}

fn link_down(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock,nconnect=2")?;
    client.check("dd if=/dev/urandom of=/run/tmp/data bs=1M count=64")?;
    for away in scene.size(&[3][..], &[1, 5, 20]) {
        let mut copy =
            client.start(&format!("cp /run/tmp/data {MOUNT}/data && sync {MOUNT}/data"))?;
        let begun = || Ok(scene.directory().join("data").exists());
        until(Duration::from_secs(10), "the copy begins", begun)?;
        client.set_link(false)?;
        thread::sleep(Duration::from_secs(*away));
        ensure!(copy.is_running()?, "the copy ended before the link was cut");
        client.set_link(true)?;
        copy.succeed(Duration::from_secs(120))?;
        scene.note(format!("copied over a gap of {away} s"));
        client.drop_caches()?;
        client.check(&format!("cmp /run/tmp/data {MOUNT}/data && rm {MOUNT}/data"))?;
    }
    Ok(())
}

fn strangers(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock,nconnect=2")?;
    let session = client.root()?;
    let descriptors = scene.server_descriptors()?;
    let connect = || TcpStream::connect((Ipv4Addr::LOCALHOST, NFS_PORT)).context("connect");
    let mut idle = Vec::new();
    for number in 0..scene.size(200, 900) {
        let mut stream = connect()?;
        // Nothing at all; part of a record's head; a head that promises more than comes.
        let beginning: &[u8] = [&b""[..], &[0x80, 0], &[0x80, 0, 0, 0x80, 1, 2, 3]][number % 3];
        stream.write_all(beginning)?;
        idle.push(stream);
    }
    session.put(format!("{MOUNT}/file"), 0o644, b"among strangers")?;
    for message in [
        // A record of 2 GiB, an empty one, one of fragments without end, and no RPC at all.
        [&[0xff; 4][..], &[7; 5000]].concat(),
        vec![0x80, 0, 0, 0],
        [0; 4].repeat(10_000),
        b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(),
        [&[0x80, 0, 0, 24][..], &[0xee; 24]].concat(),
    ] {
        for _ in 0..20 {
            let mut stream = connect()?;
            // The server may hang up at any byte of it.
            stream.write_all(&message).ok();
        }
    }
    client.drop_caches()?;
    same!(session.get(format!("{MOUNT}/file"))?, b"among strangers", "a file among strangers");
    client.check(&format!("dd if=/dev/zero of={MOUNT}/large bs=1M count=16 conv=fsync"))?;
    scene.check_server()?;
    drop(idle);
    session.put(format!("{MOUNT}/file"), 0o644, b"alone again")?;
    scene.check_server()?;
    // The file's own handle may stay open, and what the server needs for itself.
    until(Duration::from_secs(10), "the server closes what the strangers left", || {
        Ok(scene.server_descriptors()? < descriptors + 20)
    })
}
