//! What a server says when it starts: how to mount it, and what it cannot do.

use std::fmt::Write;
use std::net::IpAddr;
use std::path::PathBuf;

use hayase_nfs::Versions;
use hayase_proto::nfs3::PORT as NFS_PORT;

use crate::system;

/// What the banner speaks of.
pub(crate) struct Facts<'a> {
    pub(crate) paths: &'a [PathBuf],
    /// The only path is also mounted as `/`.
    pub(crate) is_root: bool,
    pub(crate) port: u16,
    pub(crate) versions: Versions,
    /// Addresses listened to; none named means all.
    pub(crate) listen: &'a [IpAddr],
    /// Whether clients are told the port by a portmapper; else why not.
    pub(crate) portmap: Result<&'a str, &'a str>,
    /// The exports files that were read; empty if none was.
    pub(crate) read: &'a str,
    /// Exports that are not served.
    pub(crate) dormant: &'a [PathBuf],
    /// Why clients of NFSv3 cannot lock, if they cannot.
    pub(crate) no_locks: Option<&'static str>,
    /// What the file systems say of themselves.
    pub(crate) notes: &'a [String],
}

/// The text, with a line feed at the end.
pub(crate) fn banner(facts: &Facts<'_>) -> String {
    let host = host(facts.listen);
    let Versions { v3, v4 } = facts.versions;
    let served = match (v3, facts.versions.any_v4()) {
        (true, true) => "NFSv3 and NFSv4",
        (true, false) => "NFSv3",
        (false, _) => "NFSv4",
    };
    let mut text = format!("Hayase {} serves {served}\n", env!("CARGO_PKG_VERSION"));
    // NFSv4 needs no portmapper: only a port other than its own has to be named.
    let port = match facts.port {
        NFS_PORT => String::new(),
        port => format!(",port={port}"),
    };
    // Locks of NFSv3 are found by the portmapper alone.
    let locks = facts.portmap.is_ok() && facts.no_locks.is_none();
    let all_ports = match facts.portmap {
        Ok(_) => String::new(),
        Err(_) => format!(",port={0},mountport={0}", facts.port),
    };
    if !facts.read.is_empty() {
        line(&mut text, &format!("Exports are those of {}.", facts.read));
    }
    if facts.paths.is_empty() {
        line(&mut text, "Nothing is exported yet: `hayase export add`, or `hayase reload`.");
    }
    for path in facts.dormant {
        line(&mut text, &format!("{} is not served; the log says why.", path.display()));
    }
    let root = if system::is_root() { "" } else { "sudo " };
    for path in facts.paths {
        let path = path.display();
        line(&mut text, &format!("\n{path}"));
        let place = if facts.is_root { "/".to_owned() } else { path.to_string() };
        let linux = match v4.iter().rposition(|served| *served) {
            Some(minor) => format!("vers=4.{minor},nconnect=16{port}"),
            None => format!("vers=3,nconnect=16{}{all_ports}", if locks { "" } else { ",nolock" }),
        };
        line(&mut text, &format!("  Linux    {root}mount -t nfs -o {linux} {host}:{place} /mnt"));
        // These know no other minor version than 0.
        let macos = match (v3, v4[0]) {
            (true, _) => {
                format!("vers=3{},tcp{all_ports}", if locks { "" } else { ",nolocks" })
            }
            (false, true) => format!("vers=4{port}"),
            (false, false) => String::new(),
        };
        if !macos.is_empty() {
            line(
                &mut text,
                &format!("  macOS    sudo mount -t nfs -o {macos} {host}:{place} /mnt"),
            );
        }
        if v3 {
            let windows = path.to_string().trim_start_matches('/').replace('/', "\\");
            let options = if locks { "anon" } else { "anon,nolock" };
            line(&mut text, &format!("  Windows  mount -o {options} \\\\{host}\\{windows} Z:"));
        }
    }
    text.push('\n');
    match facts.portmap {
        Ok(how) => line(&mut text, &format!("Clients find the port through {how}.")),
        Err(why) => {
            line(&mut text, &format!("Not announced on port 111 ({why}):"));
            if v3 {
                line(&mut text, "NFSv3 clients have to name the ports, and Windows cannot mount.");
            }
        }
    }
    if let Some(why) = facts.no_locks {
        line(&mut text, why);
    }
    for note in facts.notes {
        line(&mut text, note);
    }
    text
}

fn line(text: &mut String, line: &str) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{line}");
}

/// The name by which clients reach this host.
fn host(listen: &[IpAddr]) -> String {
    match listen {
        [IpAddr::V4(ip), ..] if !ip.is_unspecified() => ip.to_string(),
        [IpAddr::V6(ip), ..] if !ip.is_unspecified() => format!("[{ip}]"),
        _ => rustix::system::uname().nodename().to_string_lossy().into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(portmap: Result<&'static str, &'static str>) -> String {
        facts_of(portmap, false)
    }

    fn facts_of(portmap: Result<&'static str, &'static str>, is_root: bool) -> String {
        with_versions(Versions::ALL, portmap, is_root)
    }

    fn with_versions(
        versions: Versions,
        portmap: Result<&'static str, &'static str>,
        is_root: bool,
    ) -> String {
        banner(&Facts {
            paths: &["/srv/data".into()],
            is_root,
            port: 2050,
            versions,
            listen: &["192.0.2.7".parse().unwrap()],
            portmap,
            read: "/etc/exports",
            dormant: &["/srv/gone".into()],
            no_locks: None,
            notes: &["Everything acts as alice.".to_owned()],
        })
    }

    #[test]
    fn commands_name_ports_only_where_clients_cannot_find_them() {
        let found = facts(Ok("rpcbind"));
        assert!(
            found.contains("vers=4.2,nconnect=16,port=2050 192.0.2.7:/srv/data /mnt"),
            "{found}"
        );
        assert!(found.contains("vers=3,tcp 192.0.2.7:/srv/data /mnt"), "{found}");
        assert!(found.contains("mount -o anon "), "{found}");
        assert!(found.contains(r"\\192.0.2.7\srv\data Z:"), "{found}");
        let root = facts_of(Ok("rpcbind"), true);
        assert!(root.contains("port=2050 192.0.2.7:/ /mnt"), "{root}");
        assert!(root.contains("tcp 192.0.2.7:/ /mnt"), "{root}");
        assert!(root.contains(r"\\192.0.2.7\srv\data Z:"), "{root}");
        let hidden = facts(Err("no permission"));
        assert!(hidden.contains("nolocks,tcp,port=2050,mountport=2050 "), "{hidden}");
        assert!(hidden.contains("mount -o anon,nolock "), "{hidden}");
        assert!(hidden.contains("(no permission)"), "{hidden}");
        assert!(hidden.ends_with("Everything acts as alice.\n"), "{hidden}");
        assert!(hidden.contains("\nExports are those of /etc/exports.\n/srv/gone is not served"));
    }
    /// With NFSv4 switched off, the command named version 4.2.
    #[test]
    fn commands_name_versions_that_are_served() {
        let of = |v3, v4| with_versions(Versions { v3, v4 }, Err("no permission"), false);
        let only_3 = of(true, [false; 3]);
        assert!(only_3.contains("serves NFSv3\n"), "{only_3}");
        let linux = "vers=3,nconnect=16,nolock,port=2050,mountport=2050 192.0.2.7:/srv/data /mnt";
        assert!(only_3.contains(linux) && only_3.contains("Windows  mount"), "{only_3}");
        let only_4 = of(false, [true, true, false]);
        assert!(only_4.contains("serves NFSv4\n"), "{only_4}");
        assert!(only_4.contains("vers=4.1,nconnect=16,port=2050 192"), "{only_4}");
        assert!(only_4.contains("sudo mount -t nfs -o vers=4,port=2050 192"), "{only_4}");
        assert!(!only_4.contains("Windows") && !only_4.contains("NFSv3"), "{only_4}");
        assert!(!of(false, [false, false, true]).contains("macOS"));
    }
}
