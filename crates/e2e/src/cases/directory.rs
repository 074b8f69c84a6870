//! Large directories, listed and emptied, also while they change.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Case;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("directory.large", "one directory of many files listed, then emptied", large)
        .limit_secs(900),
    Case::new("directory.changing", "listings are complete while files come and go", changing),
    Case::new("directory.long_names", "names of 255 bytes fill many replies", long_names),
];

fn large(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock")?;
    let files: usize = scene.size(10_000, 100_000);
    let inside = scene.directory().join("many");
    fs::create_dir(&inside)?;
    for number in 0..files {
        fs::write(inside.join(format!("file{number}")), "x")?;
    }
    scene.note(format!("{files} files are there"));
    let limit = Duration::from_secs(300);
    let count = client.start(&format!("ls -U {MOUNT}/many | wc -l"))?.succeed(limit)?;
    same!(count.trim().parse(), Ok(files), "names in a plain listing");
    let different =
        client.start(&format!("ls -U {MOUNT}/many | sort -u | wc -l"))?.succeed(limit)?;
    same!(different.trim().parse(), Ok(files), "different names in it");
    client.drop_caches()?;
    let sizes = format!("ls -lU {MOUNT}/many | awk '{{ bytes += $5 }} END {{ print bytes }}'");
    let bytes = client.start(&sizes)?.succeed(limit)?;
    same!(bytes.trim().parse(), Ok(files), "bytes in a listing with attributes");
    scene.note("listed");
    client.start(&format!("rm -rf {MOUNT}/many"))?.succeed(limit)?;
    scene.note("removed");
    ensure!(!inside.exists(), "the directory is still on the server");
    Ok(())
}

fn changing(scene: &mut Scene) -> Result<()> {
    // Memory file systems before Linux 6.6 have no stable positions in a directory; disks have.
    let client = scene.ordinary(Backing::Disk, Setup::default(), "vers=3,nolock,actimeo=1")?;
    let (stable, rounds) = scene.size((2_000, 10), (20_000, 50));
    let inside = scene.directory().join("busy");
    fs::create_dir(&inside)?;
    for number in 0..stable {
        File::create(inside.join(format!("stable{number}")))?;
    }
    let wanted: HashSet<Vec<u8>> =
        (0..stable).map(|number| format!("stable{number}").into_bytes()).collect();
    let session = client.root()?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        // One other program on the client, one beside the server.
        let mut guest_churn = client.start(&format!("exec $E2E work churn {MOUNT}/busy guest"))?;
        let host_churn = scope.spawn(|| churn(&inside, &over));
        let outcome = (0..rounds).try_for_each(|round| {
            let names = session.list(format!("{MOUNT}/busy"))?;
            let mut seen = HashSet::new();
            for name in &names {
                let name_text = String::from_utf8_lossy(name);
                // No name of a file that comes and goes is used twice.
                ensure!(seen.insert(name.clone()), "round {round}: {name_text} is listed twice");
            }
            let lost: Vec<_> =
                wanted.difference(&seen).map(|n| String::from_utf8_lossy(n)).collect();
            ensure!(
                lost.is_empty(),
                "round {round}: {} of {stable} names are missing: {:.5?}",
                lost.len(),
                lost
            );
            Ok(())
        });
        over.store(true, Ordering::Relaxed);
        ensure!(guest_churn.is_running()?, "the program that changes ended");
        drop(guest_churn);
        let changes = host_churn.join().ok().context("the thread that changes broke")??;
        scene.note(format!("{rounds} listings during {changes} changes on the server's side"));
        ensure!(changes > rounds, "too little changed to mean anything");
        outcome
    })
}

/// Makes and removes files until told to stop; how many.
fn churn(directory: &Path, over: &AtomicBool) -> Result<u64> {
    let mut count = 0;
    while !over.load(Ordering::Relaxed) {
        let path = |number| directory.join(format!("host{number}"));
        File::create(path(count))?;
        if count >= 50 {
            fs::remove_file(path(count - 50))?;
        }
        count += 1;
        thread::sleep(Duration::from_micros(500));
    }
    Ok(count)
}

fn long_names(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock")?;
    let inside = scene.directory().join("long");
    fs::create_dir(&inside)?;
    let names: HashSet<Vec<u8>> =
        (0..3000).map(|number| format!("{number:0>255}").into_bytes()).collect();
    for name in &names {
        File::create(inside.join(std::str::from_utf8(name)?))?;
    }
    let session = client.root()?;
    for pass in ["first", "cached"] {
        let listed = session.list(format!("{MOUNT}/long"))?;
        same!(listed.len(), names.len(), "names in the {pass} listing");
        same!(listed.into_iter().collect::<HashSet<_>>(), names, "the {pass} listing");
    }
    Ok(())
}
