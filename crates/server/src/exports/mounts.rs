//! Which directories something is mounted on, and being told when that changes.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The kernel's list of mounts (proc(5)).
const MOUNTS: &str = "/proc/self/mountinfo";

/// The roots of all mounted file systems. Read from the kernel's list: to look at the
/// directories could wait for a server that is gone.
pub(crate) fn mount_points() -> io::Result<HashSet<PathBuf>> {
    fs::read(MOUNTS).map(|text| parse(&text))
}

fn parse(text: &[u8]) -> HashSet<PathBuf> {
    let point = |line: &[u8]| line.split(|b| *b == b' ').nth(4).map(unescaped);
    text.split(|b| *b == b'\n').filter_map(point).collect()
}

/// A path with its octal escapes resolved.
fn unescaped(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let digits = after.get(..3).filter(|_| *first == b'\\');
        let byte = digits.and_then(|digits| {
            digits.iter().try_fold(0u8, |value, digit| {
                matches!(digit, b'0'..=b'7')
                    .then(|| value.wrapping_mul(8).wrapping_add(digit - b'0'))
            })
        });
        path.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[3..] } else { after };
    }
    PathBuf::from(OsString::from_vec(path))
}

/// Waits for mounts to change.
#[derive(Debug)]
pub(crate) struct MountWatch(File);

impl MountWatch {
    pub(crate) fn new() -> io::Result<Self> {
        File::open(MOUNTS).map(MountWatch)
    }

    /// Whether mounts have changed within this time.
    pub(crate) fn changed(&self, within: Duration) -> bool {
        let within = Timespec {
            tv_sec: within.as_secs().cast_signed(),
            tv_nsec: within.subsec_nanos().into(),
        };
        let mut fds = [PollFd::from_borrowed_fd(self.0.as_fd(), PollFlags::PRI)];
        matches!(poll(&mut fds, Some(&within)), Ok(1..))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mount_points_are_read_with_their_escapes() {
        let text = b"22 1 0:21 / / rw - ext4 /dev/sda rw\n\
                     29 22 0:25 / /mnt/with\\040blank rw,nosuid shared:1 - tmpfs tmpfs rw\n";
        let points = parse(text);
        assert!(points.contains(&PathBuf::from("/")));
        assert!(points.contains(&PathBuf::from("/mnt/with blank")));
        assert_eq!(points.len(), 2);
        assert!(mount_points().unwrap().contains(&PathBuf::from("/proc")));
    }

    #[test]
    fn nothing_changes_by_itself() {
        let watch = MountWatch::new().unwrap();
        // Something else may mount meanwhile, but not without end.
        assert!((0..100).any(|_| !watch.changed(Duration::from_millis(1))));
    }
}
