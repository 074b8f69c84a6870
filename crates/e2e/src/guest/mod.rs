//! Process 1 of a guest: prepares the system, then serves commands.

pub mod agent;
mod locks;
pub mod session;

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot, sethostname};

use crate::link::{Link, PATH, ip};
use crate::wire::{AGENT_PORT, GuestSetup, HELLO_PORT};

/// Becomes the guest's init. `setup_file` was written by the host and is seen through hostfs.
///
/// Returns only when something went wrong; otherwise the guest is switched off from here.
pub fn init(setup_file: &Path) -> Result<()> {
    let outcome = boot(setup_file).and_then(|(setup, listener)| agent::serve(&setup, &listener));
    if let Err(error) = &outcome {
        // Standard error is the console, whose log the host shows.
        eprintln!("guest: {error:#}");
    }
    power_off();
    outcome
}

fn boot(setup_file: &Path) -> Result<(GuestSetup, TcpListener)> {
    let setup = fs::read(setup_file).with_context(|| format!("read {}", setup_file.display()))?;
    let setup: GuestSetup = serde_json::from_slice(&setup).context("parse the guest's setup")?;
    file_systems()?;
    network(setup.number)?;
    for module in ["nfs", "nfsv3", "nfsv4"] {
        // A kernel that has it built in has no such module, and mounting tells the rest.
        let mut modprobe = Command::new("modprobe");
        modprobe.args(["-d", &setup.modules, module]).env("PATH", PATH).status().ok();
    }
    let agent = (Link::Control.guest(setup.number), AGENT_PORT);
    let listener = TcpListener::bind(agent).context("listen on the control link")?;
    let hello = (Link::Control.host(setup.number), HELLO_PORT);
    TcpStream::connect_timeout(&hello.into(), Duration::from_secs(10))
        .context("tell the host that the guest is up")?;
    Ok((setup, listener))
}

/// Gives the guest memory of its own where it would otherwise write on this machine's disk.
fn file_systems() -> Result<()> {
    let none = MountFlags::empty();
    mount("proc", "/proc", "proc", none, None).context("mount /proc")?;
    mount("sysfs", "/sys", "sysfs", none, None).context("mount /sys")?;
    for (directory, options) in [
        ("/run", c"mode=755"),
        ("/mnt", c"mode=755"),
        ("/dev/shm", c"mode=1777"),
        ("/var/lib/nfs", c"mode=755"),
    ] {
        if Path::new(directory).is_dir() {
            mount("tmpfs", directory, "tmpfs", none, Some(options))
                .with_context(|| format!("mount {directory}"))?;
        }
    }
    if Path::new("/dev/pts").is_dir() {
        mount("devpts", "/dev/pts", "devpts", none, None).ok();
    }
    // rpcbind and rpc.statd want the first two, commands of any user the others.
    for directory in ["/run/lock", "/run/rpcbind", "/run/home", "/run/tmp"] {
        fs::create_dir_all(directory).with_context(|| format!("make {directory}"))?;
    }
    for directory in ["/run/home", "/run/tmp"] {
        fs::set_permissions(directory, fs::Permissions::from_mode(0o1777))?;
    }
    for directory in ["sm", "sm.bak", "rpc_pipefs"] {
        fs::create_dir_all(Path::new("/var/lib/nfs").join(directory)).ok();
    }
    Ok(())
}

fn network(number: u8) -> Result<()> {
    sethostname(format!("client{number}").as_bytes()).context("set the host name")?;
    ip(&["link", "set", "lo", "up"])?;
    // No default route: name look-ups would hang on it instead of failing at once.
    for (device, link) in [("vec0", Link::Data), ("vec1", Link::Control)] {
        ip(&["link", "set", device, "up"])?;
        ip(&["address", "add", &format!("{}/24", link.guest(number)), "dev", device])?;
    }
    Ok(())
}

/// Ends the guest's kernel, and with it this process.
pub fn power_off() {
    if let Err(error) = reboot(RebootCommand::PowerOff) {
        eprintln!("guest: cannot power off: {error}");
    }
}
