//! Addresses and TAP links between the namespace and its guests.
//!
//! Each guest has two: NFS goes over the data link, which tests may break;
//! commands go over the control link, which stays up.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

/// Frames this long let a 1 MiB transfer take few packets.
pub const MTU_BYTES: u32 = 9000;

/// The two links of a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Carries NFS.
    Data,
    /// Carries the harness's commands.
    Control,
}

impl Link {
    /// The TAP interface on the namespace's side.
    pub fn interface(self, guest: u8) -> String {
        match self {
            Self::Data => format!("data{guest}"),
            Self::Control => format!("control{guest}"),
        }
    }

    /// The namespace's address.
    pub fn host(self, guest: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, self.subnet(), guest, 1)
    }

    /// The guest's address.
    pub fn guest(self, guest: u8) -> Ipv4Addr {
        Ipv4Addr::new(10, self.subnet(), guest, 2)
    }

    const fn subnet(self) -> u8 {
        match self {
            Self::Data => 99,
            Self::Control => 98,
        }
    }

    /// Makes the TAP interface and brings it up.
    pub fn create(self, guest: u8) -> Result<()> {
        let interface = self.interface(guest);
        let mtu = MTU_BYTES.to_string();
        let address = format!("{}/24", self.host(guest));
        ip(&["tuntap", "add", &interface, "mode", "tap"])?;
        ip(&["address", "add", &address, "dev", &interface])?;
        ip(&["link", "set", &interface, "mtu", &mtu, "up"])
    }

    /// Lets nothing through any more in either direction, without a word to either side, or lets
    /// it through again.
    ///
    /// Taking the TAP interface down would be closer to a pulled plug, but a guest's driver does
    /// not come back from that.
    pub fn set_open(self, guest: u8, open: bool) -> Result<()> {
        let change = if open { "delete" } else { "add" };
        ip(&["route", change, "blackhole", &format!("{}/32", self.guest(guest))])
    }
}

/// Where system programs are. A guest's process 1 is born without any `PATH`.
pub const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Runs ip(8).
pub fn ip(arguments: &[&str]) -> Result<()> {
    let mut command = Command::new("ip");
    let output = command.args(arguments).env("PATH", PATH).output().context("start ip(8)")?;
    ensure!(
        output.status.success(),
        "ip {}: {}",
        arguments.join(" "),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(())
}

/// Records a guest's data link in `dataN.pcap`, as long as the namespace lives.
pub fn capture(guest: u8, directory: &Path) -> Result<()> {
    let interface = Link::Data.interface(guest);
    let file = directory.join(format!("{interface}.pcap"));
    let mut tcpdump = Command::new("tcpdump");
    // Written packet by packet, since nobody ends it in good order.
    tcpdump.args(["-U", "-s", "0", "-B", "16384", "-Z", "root", "-i", &interface, "-w"]).arg(&file);
    tcpdump.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    tcpdump.spawn().context("start tcpdump (apt-get install tcpdump)")?;
    // The file is there when the recording has begun.
    for _ in 0..100 {
        if file.exists() {
            return Ok(());
        }
        thread::sleep(Duration::from_millis(20));
    }
    bail!("tcpdump does not begin to record {interface}")
}
