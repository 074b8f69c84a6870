//! What this machine must have for the tests.

use std::os::unix::fs::FileTypeExt;
use std::path::Path;

use crate::client::MODULES;

/// A program that is needed, and the Debian package that has it.
type Needed = (&'static str, &'static str);

/// Without these nothing runs.
const HARNESS: &[Needed] = &[
    ("linux.uml", "user-mode-linux"),
    ("mount.nfs", "nfs-common"),
    ("unshare", "util-linux"),
    ("setpriv", "util-linux"),
    ("ip", "iproute2"),
    ("modprobe", "kmod"),
];

/// Programs that single tests run, in a guest mostly. A test names those it needs.
const WORKLOADS: &[Needed] = &[
    ("fio", "fio"),
    ("git", "git"),
    ("sqlite3", "sqlite3"),
    ("pgbench", "postgresql"),
    ("showmount", "nfs-common"),
    ("rpcinfo", "rpcbind"),
    ("ss", "iproute2"),
    ("mkfs.ext4", "e2fsprogs"),
    ("setfacl", "acl"),
    ("mkfs.xfs", "xfsprogs"),
    ("nfs4_setfacl", "nfs4-acl-tools"),
];

/// What keeps the whole harness from running, a line each; empty when all is there.
pub fn missing() -> Vec<String> {
    let mut missing = Vec::new();
    if !rustix::process::geteuid().is_root() {
        missing.push("not root: namespaces, mounts and TAP links need it (sudo)".to_owned());
    }
    let tun = std::fs::metadata("/dev/net/tun");
    if !tun.is_ok_and(|tun| tun.file_type().is_char_device()) {
        missing.push(
            "no /dev/net/tun: `modprobe tun`; in a container pass the device in \
             (--device /dev/net/tun --cap-add NET_ADMIN,SYS_ADMIN,SYS_PTRACE)"
                .to_owned(),
        );
    }
    for (program, package) in HARNESS {
        if !is_installed(program) {
            missing.push(format!("no {program}: apt-get install {package}"));
        }
    }
    if !Path::new(MODULES).is_dir() {
        missing.push(format!("no {MODULES}: apt-get install user-mode-linux"));
    }
    missing
}

/// One line that installs everything, for a fresh Debian or Ubuntu.
pub fn install_line() -> String {
    let mut packages: Vec<&str> =
        HARNESS.iter().chain(WORKLOADS).map(|(_, package)| *package).collect();
    packages.sort_unstable();
    packages.dedup();
    format!("apt-get install --no-install-recommends {}", packages.join(" "))
}

/// Which of the programs that a test needs are missing, with their packages.
pub fn missing_workloads(needs: &[&str]) -> Vec<String> {
    needs
        .iter()
        .filter(|program| !is_installed(program))
        .map(|program| {
            let package = WORKLOADS.iter().find(|(name, _)| name == program);
            format!("no {program} (apt-get install {})", package.map_or(*program, |(_, p)| p))
        })
        .collect()
}

/// Where `PATH` or the system's directories have a program.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(["/usr/sbin", "/sbin", "/usr/bin", "/bin"].map(Into::into))
        .any(|directory| directory.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_says_how_to_get_it() {
        assert_eq!(missing_workloads(&["sh"]), [""; 0]);
        assert_eq!(missing_workloads(&["no-such"]), ["no no-such (apt-get install no-such)"]);
    }

    #[test]
    fn one_line_installs_each_package_once() {
        let line = install_line();
        assert_eq!(line.matches("nfs-common").count(), 1, "{line}");
        assert!(line.contains("user-mode-linux"), "{line}");
    }
}
