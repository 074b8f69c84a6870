//! `hayase bench` beside fio: the same job file, on a mount and without one.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Case;
use crate::client::Client;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("bench.agrees", "hayase bench and fio do the same for a job file", agrees)
        .needs(&["fio"])
        .limit_secs(600),
    Case::new("bench.full", "a full disk ends a job of hayase bench, whose results are kept", full),
];

/// What both read as it is. Sizes decide when it ends, so that counts can be compared.
const JOBS: &str = "; for fio and for hayase bench
[global]
ioengine=psync
size=8m
nrfiles=2
numjobs=2
group_reporting

[stream-write]
rw=write
bs=64k
end_fsync=1

[stream-read]
stonewall
rw=read
bs=64k
numjobs=1

[mixed]
stonewall
rw=randrw
rwmixread=70
bs=4k
size=1m
";

fn agrees(scene: &mut Scene) -> Result<()> {
    let hayase = scene.hayase()?.display().to_string();
    let options = format!("vers={},nolock,nconnect=2", scene.version());
    let client = scene.ordinary(Backing::Memory, Setup::default(), &options)?;
    let file = scene.directory().join("jobs.fio");
    fs::write(&file, JOBS).context("write the job file")?;
    let directory = |name: &str| -> Result<()> {
        fs::create_dir(scene.directory().join(name)).with_context(|| format!("make {name}"))
    };
    ["fio", "mounted", "direct"].into_iter().try_for_each(directory)?;

    let fio = client
        .check(&format!("fio --output-format=json --directory={MOUNT}/fio {MOUNT}/jobs.fio"))?;
    let fio = counts(&fio, "fio on the mount")?;
    scene.note("fio has run on the mount");
    let mounted = client.check(&format!(
        "{hayase} bench run file://{MOUNT}/mounted {MOUNT}/jobs.fio --output-format=json"
    ))?;
    let mounted_json = parse(&mounted)?;
    same!(counts(&mounted, "hayase bench on the mount")?, fio, "on the mount, beside fio");
    same!(
        mounted_json["environment"]["mounted_from"].as_str().is_some_and(|from| from.contains(':')),
        true,
        "what is mounted is told: {}",
        mounted_json["environment"]
    );
    scene.note("hayase bench has run on the mount");
    let direct = scene.host(&format!(
        "{hayase} bench run 'nfs://127.0.0.1{}/direct?version={}' {} --output-format=json",
        scene.path(),
        scene.version(),
        file.display()
    ))?;
    same!(counts(&direct, "hayase bench without a mount")?, fio, "without a mount, beside fio");
    scene.note("hayase bench has run without a mount");
    // What one has written the others would.
    for name in ["stream-write.0.0", "stream-write.1.1", "mixed.0.0"] {
        let len = |directory: &str| -> Result<u64> {
            let path = scene.directory().join(directory).join(name);
            Ok(fs::metadata(&path).with_context(|| path.display().to_string())?.len())
        };
        same!(len("mounted")?, len("fio")?, "{name} on the mount");
        same!(len("direct")?, len("fio")?, "{name} without a mount");
    }
    paced(scene, &client, &hayase)
}

/// At a rate, both move the same, both from the guest, and neither is faster than the rate. A busy machine
/// may make either slower.
fn paced(scene: &Scene, client: &Client, hayase: &str) -> Result<()> {
    const PACED: &str = "--rw=read --bs=64k --size=2m --rate=1m --direct=1 --output-format=json";
    let fio =
        client.check(&format!("fio --name=paced --directory={MOUNT} --ioengine=psync {PACED}"))?;
    let (server, path, version) = (client.server(), scene.path(), scene.version());
    let bench = client.check(&format!(
        "{hayase} bench run 'nfs://{server}{path}?version={version}' --name=paced {PACED}"
    ))?;
    same!(counts(&bench, "hayase bench")?, counts(&fio, "fio")?, "at a rate, beside fio");
    for (json, who) in [(fio, "fio"), (bench, "hayase bench")] {
        let millis = parse(&json)?["jobs"][0]["read"]["runtime"].as_u64();
        scene.note(format!("{who} reads 2 MiB at 1 MiB/s in {millis:?} ms"));
        // The first block goes at once, the 32nd at 1,938 ms.
        ensure!(millis >= Some(1800), "{who} reads 2 MiB at 1 MiB/s in {millis:?} ms");
    }
    Ok(())
}

fn parse(json: &str) -> Result<Value> {
    serde_json::from_str(json).with_context(|| format!("no JSON: {json}"))
}

/// Name, error, and both ways together operations and bytes of each job. How often a mix reads is
/// drawn by lot; all else is the same whoever does it.
fn counts(json: &str, who: &str) -> Result<Vec<(String, i64, u64, u64)>> {
    let parsed = parse(json)?;
    let jobs = parsed["jobs"].as_array().with_context(|| format!("{who}: no jobs"))?;
    let mut counts = Vec::new();
    for job in jobs {
        let sum = |field: &str| -> Result<u64> {
            let of = |way: &str| job[way][field].as_u64();
            of("read").zip(of("write")).map(|(r, w)| r + w).with_context(|| format!("{who}: {job}"))
        };
        ensure!(sum("runtime")? > 0 && job["job_runtime"].as_u64() > Some(0), "{who}: {job}");
        let name = job["jobname"].as_str().context("a job has no name")?.to_owned();
        let error = job["error"].as_i64().context("a job has no error field")?;
        counts.push((name, error, sum("total_ios")?, sum("io_bytes")?));
    }
    Ok(counts)
}

fn full(scene: &mut Scene) -> Result<()> {
    let hayase = scene.hayase()?.display().to_string();
    scene.export(Backing::SmallMemory(16))?;
    scene.start_server(Setup::default())?;
    let url = format!("nfs://127.0.0.1{}?version={}", scene.path(), scene.version());
    let out = Path::new("bench.json");
    let status = scene.host(&format!(
        "{hayase} bench run '{url}' --rw=write --bs=64k --size=64m --iodepth=4 --unlink \
         --output-format=json --output={} 2>errors; echo $?",
        out.display()
    ))?;
    same!(status.trim(), "1", "the exit status");
    let json = parse(&scene.host(&format!("cat {}", out.display()))?)?;
    let job = &json["jobs"][0];
    same!(job["error"], 28, "ENOSPC in {job}");
    let bytes = job["write"]["io_bytes"].as_u64().unwrap_or_default();
    ensure!((4 << 20..=16 << 20).contains(&bytes), "{bytes} bytes are kept");
    let errors = scene.host("cat errors")?;
    ensure!(errors.contains("write of bench.0.0 at"), "{errors}");
    Ok(())
}
