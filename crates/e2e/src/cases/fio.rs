//! Data written and read back by fio, which puts a checksum in every block.

use std::time::Duration;

use anyhow::Result;

use super::Case;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("fio.buffered", "sequential and random, through the client's cache", buffered)
        .needs(&["fio"])
        .limit_secs(1200),
    Case::new("fio.direct", "sequential and random, O_DIRECT", direct)
        .needs(&["fio"])
        .limit_secs(1200),
    Case::new("fio.mapped", "random, through mmap", mapped).needs(&["fio"]),
];

/// One fio job in words that make sense on both sides, so that the host can verify what the guest
/// wrote.
struct Job {
    name: &'static str,
    pattern: &'static str,
    blocks: &'static str,
    engine: &'static str,
    direct: bool,
}

impl Job {
    fn command(&self, directory: &str, mib: u32) -> String {
        let Self { name, pattern, blocks, engine, direct } = self;
        format!(
            "fio --name={name} --directory={directory} --rw={pattern} --size={mib}M {blocks} \
             --ioengine={engine} --iodepth=16 --direct={} --verify=crc32c --verify_fatal=1 \
             --do_verify=1 --end_fsync=1",
            u8::from(*direct)
        )
    }
}

fn play(scene: &mut Scene, mib: u32, jobs: &[Job]) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock,nconnect=4")?;
    for job in jobs {
        client.start(&job.command(MOUNT, mib))?.succeed(Duration::from_secs(600))?;
        scene.note(format!("{} is verified by the client", job.name));
        let local = Job { engine: "psync", direct: false, ..*job };
        scene.host(&format!("{} --verify_only", local.command(&scene.path(), mib)))?;
        scene.note(format!("{} is verified on the server", job.name));
    }
    Ok(())
}

fn buffered(scene: &mut Scene) -> Result<()> {
    let (engine, direct) = ("psync", false);
    let mib = scene.size(32, 256);
    play(
        scene,
        mib,
        &[
            Job { name: "sequential", pattern: "write", blocks: "--bs=1M", engine, direct },
            Job { name: "random", pattern: "randwrite", blocks: "--bs=4k", engine, direct },
            // Pieces of pages are read before they are changed.
            Job { name: "odd", pattern: "randwrite", blocks: "--bsrange=512-128k", engine, direct },
        ],
    )
}

fn direct(scene: &mut Scene) -> Result<()> {
    let (engine, direct) = ("libaio", true);
    let mib = scene.size(32, 256);
    play(
        scene,
        mib,
        &[
            Job { name: "sequential", pattern: "write", blocks: "--bs=1M", engine, direct },
            Job { name: "random", pattern: "randwrite", blocks: "--bs=4k", engine, direct },
            Job { name: "mixed", pattern: "randwrite", blocks: "--bsrange=4k-2M", engine, direct },
        ],
    )
}

fn mapped(scene: &mut Scene) -> Result<()> {
    let (engine, direct) = ("mmap", false);
    // A guest maps each page of its processes on the host on its own, and may have 65,530 of
    // these (vm.max_map_count): with 512 MiB it dies.
    let mib = scene.size(32, 128);
    let job = Job { name: "mapped", pattern: "randwrite", blocks: "--bs=4k", engine, direct };
    play(scene, mib, &[job])
}
