//! The Linux kernel's own server beside Hayase: both in one guest, in turn, over its loopback.
//!
//! A guest has one processor, which the servers share with who measures them. So what counts is the
//! ratio of the rates: it is that of the time which a request takes of the server and the client together.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::client::Client;
use crate::prerequisites;
use crate::run::frozen;
use crate::scene::{Scale, Scene};
use crate::server::Program;
use crate::stage::{self, End, Scratch, Spec, Task};

/// Beside the 2049 of the kernel's server.
const HAYASE_PORT: u16 = 20_490;

/// How it is measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Plan {
    /// The table has the medians of so many rounds.
    pub rounds: usize,
    /// How long each measurement takes.
    pub secs: u64,
    /// Where `exportfs`, `rpc.nfsd` and `rpc.mountd` are.
    pub tools: PathBuf,
}

/// What is done, and the options of `hayase bench run` for it.
const WORK: &[(&str, &str)] = &[
    ("getattr, 16 at once", "--rw=getattr --nrfiles=100 --iodepth=16"),
    ("create, 4 at once", "--rw=create --nrfiles=100000 --iodepth=4 --unlink"),
    ("randread 4 KiB, 16 at once", "--rw=randread --bs=4k --size=64m --iodepth=16"),
    ("randwrite 4 KiB, 16 at once", "--rw=randwrite --bs=4k --size=64m --iodepth=16"),
    ("read 1 MiB, 4 at once", "--rw=read --bs=1m --size=64m --iodepth=4"),
    ("write 1 MiB, 4 at once", "--rw=write --bs=1m --size=64m --iodepth=4"),
];

const VERSIONS: &[&str] = &["3", "4.2"];

/// A server in the guest: its URL without the version, for NFSv3 and for the others.
struct Rival {
    name: &'static str,
    v3: String,
    v4: String,
}

/// Prints a table of both.
pub fn run(server: &Program, mut plan: Plan) -> Result<ExitCode> {
    let mut missing = prerequisites::missing();
    // The guest's commands run elsewhere.
    plan.tools = std::path::absolute(&plan.tools)?;
    for tool in ["exportfs", "rpc.nfsd", "rpc.mountd"] {
        let path = plan.tools.join(tool);
        if !path.is_file() {
            let path = path.display();
            missing.push(format!("no {path}: apt-get install nfs-kernel-server, or --tools DIR"));
        }
    }
    if !missing.is_empty() {
        bail!("{}", missing.join("\n"));
    }
    let measurements = 2 * plan.rounds as u64 * (WORK.len() * VERSIONS.len()) as u64;
    let limit = Duration::from_secs(120 + measurements * (plan.secs + 10));
    let scratch = Scratch::new(false)?;
    let (program, server) = frozen(server, scratch.path())?;
    let spec = Spec {
        task: Task::Knfsd(plan),
        scale: Scale::Full,
        version: None,
        mount_options: None,
        capture: false,
        server,
        program,
        scratch: scratch.path().to_owned(),
    };
    match stage::play(&spec, limit, None)? {
        End::Status(status) if status.success() => Ok(ExitCode::SUCCESS),
        End::Status(status) => bail!("the measurement ended with {status}"),
        End::TimedOut => bail!("the measurement did not end within {limit:?}"),
    }
}

/// The part in the namespaces.
pub(crate) fn inside(spec: Spec, plan: &Plan) -> Result<ExitCode> {
    let mut scene = Scene::new(spec)?;
    let hayase = scene.hayase()?.display().to_string();
    let client = scene.boot_client()?;
    let rivals = [start_knfsd(&client, plan)?, start_hayase(&client, &hayase)?];
    let mut table = String::from("| work | NFS | knfsd | Hayase | Hayase : knfsd |\n");
    table.push_str("|---|---|---|---|---|\n");
    for (work, options) in WORK {
        for version in VERSIONS {
            let mut rates = [Vec::new(), Vec::new()];
            for round in 0..plan.rounds {
                // Each begins as often as the other.
                let order = if round.is_multiple_of(2) { [0, 1] } else { [1, 0] };
                for number in order {
                    let rate = measure(&client, &hayase, &rivals[number], version, options, plan);
                    let rate = rate.with_context(|| {
                        format!("{work} by NFS {version} on {}", rivals[number].name)
                    })?;
                    rates[number].push(rate);
                }
            }
            let [knfsd, ours] = rates.map(median);
            eprintln!("{work}, NFS {version}: knfsd {knfsd:.0}/s, Hayase {ours:.0}/s");
            let ratio = ours / knfsd;
            writeln!(table, "| {work} | {version} | {knfsd:.0}/s | {ours:.0}/s | {ratio:.2} |")?;
        }
    }
    print!("{table}");
    Ok(ExitCode::SUCCESS)
}

fn start_knfsd(client: &Client, plan: &Plan) -> Result<Rival> {
    // An order in which each finds what it needs: as a module of its own, auth_rpcgss does not.
    let modules = "oid_registry sunrpc auth_rpcgss grace lockd nfs_acl nfsd";
    let tools = plan.tools.to_str().context("the path of --tools is not UTF-8")?;
    let tools = tools.replace('\'', r"'\''");
    client.check(&format!(
        "export PATH=$PATH:'{tools}'
         for module in {modules}; do modprobe -d $UML_MODULES $module || exit; done
         mkdir -p /run/knfsd /var/lib/nfs/v4recovery && touch /var/lib/nfs/etab /var/lib/nfs/rmtab
         mount -t nfsd nfsd /proc/fs/nfsd && mount -t tmpfs -o mode=1777 tmpfs /run/knfsd || exit
         rpcbind -w && exportfs -i -o rw,insecure,no_subtree_check,fsid=0 '*:/run/knfsd' || exit
         rpc.nfsd --grace-time 10 --lease-time 10 8 2>/run/nfsd.log || {{ cat /run/nfsd.log >&2; exit 1; }}
         setsid rpc.mountd >/run/mountd.log 2>&1 || {{ cat /run/mountd.log >&2; exit 1; }}"
    ))?;
    let v3 = "nfs://127.0.0.1/run/knfsd".to_owned();
    Ok(Rival { name: "knfsd", v3, v4: "nfs://127.0.0.1/".to_owned() })
}

fn start_hayase(client: &Client, hayase: &str) -> Result<Rival> {
    client.check(&format!(
        "mkdir -p /run/hayase && mount -t tmpfs -o mode=1777 tmpfs /run/hayase || exit
         setsid '{hayase}' serve /run/hayase --port {HAYASE_PORT} --state-dir /run/state \
             --no-portmap </dev/null >/run/hayase.log 2>&1 &
         for i in $(seq 100); do
             '{hayase}' status --state-dir /run/state >/dev/null 2>&1 && exit 0; sleep 0.1
         done
         cat /run/hayase.log >&2; exit 1"
    ))?;
    let whole = format!("nfs://127.0.0.1:{HAYASE_PORT}/run/hayase");
    Ok(Rival { name: "Hayase", v3: whole.clone(), v4: whole })
}

/// Operations per second.
fn measure(
    client: &Client,
    hayase: &str,
    rival: &Rival,
    version: &str,
    options: &str,
    plan: &Plan,
) -> Result<f64> {
    let base = if version == "3" { &rival.v3 } else { &rival.v4 };
    let secs = plan.secs;
    let json = client.check(&format!(
        "'{hayase}' bench run '{base}?version={version}' {options} --runtime={secs} --time_based \
         --output-format=json"
    ))?;
    let parsed: Value = serde_json::from_str(&json).with_context(|| format!("no JSON: {json}"))?;
    let job = &parsed["jobs"][0];
    ensure!(job["error"] == 0, "{}", job["error_text"]);
    let rates = ["read", "write", "meta"].map(|way| job[way]["iops"].as_f64().unwrap_or(0.0));
    let rate = rates.iter().sum::<f64>();
    ensure!(rate > 0.0, "nothing was done: {json}");
    Ok(rate)
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    let middle = rates.len() / 2;
    if rates.len().is_multiple_of(2) {
        f64::midpoint(rates[middle - 1], rates[middle])
    } else {
        rates[middle]
    }
}

#[cfg(test)]
mod tests {
    use super::median;

    #[test]
    fn a_median_is_the_middle() {
        assert!((median(vec![3.0, 1.0, 2.0]) - 2.0).abs() < 1e-9);
        assert!((median(vec![4.0, 1.0, 2.0, 3.0]) - 2.5).abs() < 1e-9);
    }
}
