//! The Debian package, tried: installed in a fresh Debian, started as its unit says, used, and
//! purged, after which everything has to be as it was.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use super::output;
use crate::command::{self, is_installed, root};

/// Where this host's packages come from; the first that there is.
const SOURCES: [&str; 2] = ["/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"];
/// What apt and dpkg keep of any package, adduser's lock, and copies of the user database.
const NOT_OURS: [&str; 9] = [
    "var/log",
    "var/cache",
    "var/lib/apt",
    "var/lib/dpkg/status-old",
    "run/adduser",
    "etc/passwd-",
    "etc/group-",
    "etc/shadow-",
    "etc/gshadow-",
];
/// The user database.
const USERS: [&str; 4] = ["etc/passwd", "etc/group", "etc/shadow", "etc/gshadow"];

/// Starts the server in namespaces of its own, waits for it, and has its own client write and verify.
const USE: &str = r#"
ip link set lo up
mount -t proc proc "$ROOT/proc"
in_root() { chroot "$ROOT" "$@"; }
chroot "$ROOT" setpriv --reuid hayase --regid hayase --clear-groups --no-new-privs \
    --inh-caps "$CAPS" --ambient-caps "$CAPS" --bounding-set "$CAPS" $START &
server=$!
tries=0
until in_root hayase status >/dev/null 2>&1; do
    kill -0 $server
    tries=$((tries + 1)); [ $tries -lt 100 ]; sleep 0.1
done
in_root hayase status
in_root hayase bench run nfs://127.0.0.1/srv/check --rw write --size 4m --bs 64k --verify crc32c
in_root hayase export add 127.0.0.1:/srv --persist
in_root hayase reload
kill $server
wait $server
"#;

/// Tries the package in a Debian made in `scratch`.
pub(super) fn check(package: &Path, scratch: &Path) -> Result<()> {
    ensure!(rustix::process::geteuid().is_root(), "--check makes namespaces and needs root");
    ensure!(is_installed("mmdebstrap"), "--check needs mmdebstrap: apt-get install mmdebstrap");
    fs::create_dir_all(scratch)?;
    let debian = scratch.canonicalize()?.join("debian");
    ensure!(!debian.exists(), "{} is there from another time: remove it", debian.display());
    let sources = SOURCES.into_iter().find(|file| Path::new(file).exists());
    command::run(
        Command::new("mmdebstrap")
            .args(["--quiet", "--variant=apt", "--include=adduser", "bookworm"])
            .arg(&debian)
            .args(sources),
    )?;
    let before = State::of(&debian)?;
    install(package, &debian)?;
    serve(&debian)?;
    // As an upgrade does.
    install(package, &debian)?;
    apt(&debian, &["purge", "hayase"])?;
    before.compare(&State::of(&debian)?)?;
    fs::remove_dir_all(&debian).with_context(|| debian.display().to_string())?;
    println!("{} installs, serves and purges without leftovers", package.display());
    Ok(())
}

fn apt(debian: &Path, args: &[&str]) -> Result<()> {
    let mut apt = Command::new("chroot");
    apt.arg(debian).args(["apt-get", "--quiet", "--yes", "--no-install-recommends"]).args(args);
    command::run(apt.env("DEBIAN_FRONTEND", "noninteractive").env("LC_ALL", "C.UTF-8"))
}

fn install(package: &Path, debian: &Path) -> Result<()> {
    // Where apt's own user can read it.
    fs::copy(package, debian.join("tmp/hayase.deb"))?;
    apt(debian, &["install", "--reinstall", "--allow-downgrades", "/tmp/hayase.deb"])?;
    Ok(fs::remove_file(debian.join("tmp/hayase.deb"))?)
}

/// Serves a directory as the installed unit would, without systemd, which does not run in a chroot.
fn serve(debian: &Path) -> Result<()> {
    let unit = fs::read_to_string(debian.join("usr/lib/systemd/system/hayase.service"))?;
    let setting = |name: &str| {
        let line = unit.lines().find_map(|line| line.strip_prefix(name));
        line.with_context(|| format!("the unit has no {name}"))
    };
    let capabilities = setting("AmbientCapabilities=CAP_")?.replace(" CAP_", ",+").to_lowercase();
    let export = debian.join("srv/check");
    let exports = debian.join("etc/exports");
    fs::create_dir(&export)?;
    fs::write(&exports, "/srv/check 127.0.0.1(rw,insecure,no_root_squash)\n")?;
    let namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child"];
    command::run(
        Command::new("unshare")
            .args(namespaces)
            .args(["sh", "-ec", USE])
            .env("ROOT", debian)
            .env("CAPS", format!("-all,+{capabilities}"))
            .env("START", setting("ExecStart=")?)
            .current_dir(root()),
    )?;
    fs::remove_dir_all(&export)?;
    Ok(fs::remove_file(&exports)?)
}

/// What a package must leave as it was.
struct State {
    /// Kind, mode, owner and path of every file.
    files: BTreeSet<String>,
    /// The user database.
    users: Vec<(PathBuf, String)>,
}

impl State {
    fn of(debian: &Path) -> Result<Self> {
        let found = output(Command::new("find").arg(debian).args([
            "-xdev",
            "-printf",
            "%y %m %U:%G %P\n",
        ]))?;
        let is_ours = |line: &&str| {
            let path = line.splitn(4, ' ').nth(3).unwrap_or_default();
            !NOT_OURS.iter().any(|not| Path::new(path).starts_with(not))
        };
        let files = found.lines().filter(is_ours).map(str::to_owned).collect();
        let read = |name| Ok((PathBuf::from(name), fs::read_to_string(debian.join(name))?));
        Ok(State { files, users: USERS.into_iter().map(read).collect::<Result<_>>()? })
    }

    fn compare(&self, after: &State) -> Result<()> {
        let mut faults: Vec<_> =
            after.files.difference(&self.files).map(|line| format!("left: {line}")).collect();
        faults.extend(self.files.difference(&after.files).map(|line| format!("gone: {line}")));
        for ((name, before), (_, after)) in self.users.iter().zip(&after.users) {
            if before != after {
                faults.push(format!("changed: {}", name.display()));
            }
        }
        if !faults.is_empty() {
            bail!("the purged package has left its marks:\n  {}", faults.join("\n  "));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_gone_or_changed_is_told() {
        let state = |files: &[&str], users: &str| State {
            files: files.iter().map(|file| (*file).to_owned()).collect(),
            users: vec![("etc/passwd".into(), users.to_owned())],
        };
        let before = state(&["f 644 0:0 a", "f 644 0:0 b"], "root");
        before.compare(&state(&["f 644 0:0 a", "f 644 0:0 b"], "root")).unwrap();
        let after = state(&["f 600 0:0 a"], "root\nhayase");
        let said = before.compare(&after).unwrap_err().to_string();
        for fault in ["left: f 600 0:0 a", "gone: f 644 0:0 a", "gone: f 644 0:0 b", "changed: etc"]
        {
            assert!(said.contains(fault), "{said}");
        }
    }
}
