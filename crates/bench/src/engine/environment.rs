//! What this machine says about itself, and about its mounts.

use std::fs;
use std::path::{Path, PathBuf};

use crate::report::{Environment, Nic};

/// What is known of this machine.
pub(crate) fn probe() -> Environment {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    let nics = nics(Path::new("/sys/class/net"));
    Environment {
        host: Some(text(uname.nodename())),
        kernel: Some(format!("{} {}", text(uname.sysname()), text(uname.release()))),
        cpu: fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| cpu_model(&text)),
        cores: std::thread::available_parallelism().ok().map(|cores| cores.get() as u32),
        memory_bytes: fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory(&text)),
        nics,
        ..Environment::default()
    }
}

/// The model in a cpuinfo, under the names that architectures have for it.
fn cpu_model(text: &str) -> Option<String> {
    ["model name", "cpu model", "Model", "Processor"].into_iter().find_map(|wanted| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            (key.trim() == wanted && !value.trim().is_empty()).then(|| value.trim().to_owned())
        })
    })
}

fn memory(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kib.checked_mul(1024)
}

/// The interfaces that are up, without the loopback; physical ones first.
fn nics(dir: &Path) -> Vec<Nic> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut nics: Vec<_> = entries
        .flatten()
        .filter_map(|entry| {
            let path = entry.path();
            let read = |name: &str| fs::read_to_string(path.join(name)).ok();
            let number = |name: &str| read(name)?.trim().parse().ok();
            let name = entry.file_name().to_string_lossy().into_owned();
            let up = matches!(read("operstate")?.trim(), "up" | "unknown");
            // A speed of -1 is none, which is no number without a sign.
            let nic = Nic { name, speed_mbits: number("speed"), mtu: number("mtu") };
            (up && nic.name != "lo").then(|| (!path.join("device").exists(), nic))
        })
        .collect();
    nics.sort_by(|(a, x), (b, y)| (a, &x.name).cmp(&(b, &y.name)));
    nics.into_iter().map(|(_, nic)| nic).collect()
}

/// What is mounted where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) kind: String,
    pub(crate) source: String,
    pub(crate) options: String,
}

/// The mount that a path lies in.
pub(crate) fn mount_of(path: &Path) -> Option<Mount> {
    find_mount(&fs::read_to_string("/proc/self/mountinfo").ok()?, path)
}

/// Finds it in a mountinfo (proc(5)): the longest mount point above the path, and of those that hide
/// each other the last.
fn find_mount(mountinfo: &str, path: &Path) -> Option<Mount> {
    let mut found: Option<(usize, Mount)> = None;
    for line in mountinfo.lines() {
        let Some((own, above)) = line.split_once(" - ") else { continue };
        let own: Vec<_> = own.split(' ').collect();
        let above: Vec<_> = above.splitn(3, ' ').collect();
        let ([.., point, options], [kind, source, further]) = (own.get(..6)?, &above[..]) else {
            continue;
        };
        let point = unescape(point);
        if !path.starts_with(&point) {
            continue;
        }
        let length = point.components().count();
        if found.as_ref().is_none_or(|(longest, _)| length >= *longest) {
            let (kind, source) = ((*kind).to_owned(), unescape(source).display().to_string());
            let options = joined(options, further);
            found = Some((length, Mount { kind, source, options }));
        }
    }
    found.map(|(_, mount)| mount)
}

/// Options of the mount and of the file system, each once.
fn joined(own: &str, further: &str) -> String {
    let mut options: Vec<&str> = Vec::new();
    for option in own.split(',').chain(further.split(',')) {
        if !option.is_empty() && !options.contains(&option) {
            options.push(option);
        }
    }
    options.join(",")
}

/// Blanks and the like are octal in there.
fn unescape(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..3).and_then(|octal| u8::from_str_radix(octal, 8).ok());
        let (first, rest) = byte.map_or(('\\', part), |byte| (byte as char, &part[3..]));
        out.push(first);
        out.push_str(rest);
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 1 254:1 / / rw,relatime - ext4 /dev/vda1 rw,errors=remount-ro
40 22 0:35 / /mnt rw,relatime shared:20 - nfs4 server:/srv rw,vers=4.2,rsize=1048576,nconnect=16
41 22 0:36 / /mnt/with\\040blank ro - tmpfs tmp ro,size=64k
";

    #[test]
    fn the_nearest_mount_is_found() {
        let kind = |path: &str| find_mount(MOUNTS, Path::new(path)).unwrap().kind;
        assert_eq!(kind("/home"), "ext4");
        assert_eq!(kind("/mnt/x"), "nfs4");
        assert_eq!(kind("/mntx"), "ext4");
        assert_eq!(kind("/mnt/with blank/y"), "tmpfs");
        let mount = find_mount(MOUNTS, Path::new("/mnt")).unwrap();
        assert_eq!(mount.source, "server:/srv");
        assert_eq!(mount.options, "rw,relatime,vers=4.2,rsize=1048576,nconnect=16");
    }

    #[test]
    fn this_machine_says_something() {
        let environment = probe();
        assert!(environment.kernel.unwrap().starts_with("Linux "));
        assert!(environment.cores.unwrap() > 0);
        assert!(environment.memory_bytes.unwrap() > 1 << 20);
        assert!(environment.nics.iter().all(|nic| nic.name != "lo"));
    }

    #[test]
    fn files_of_proc_are_read() {
        assert_eq!(cpu_model("processor\t: 0\nmodel name\t: A CPU\n").unwrap(), "A CPU");
        assert_eq!(cpu_model("x: y\n"), None);
        assert_eq!(memory("MemTotal:       24000 kB\nMemFree: 1 kB\n"), Some(24_576_000));
    }
}
