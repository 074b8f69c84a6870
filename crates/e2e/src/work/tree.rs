//! A tree of many files, and a checksum of one.

use std::ffi::OsString;
use std::fmt;
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::Path;

use anyhow::{Context, Result};

/// Files in a directory before the next is begun.
const FILES_PER_DIRECTORY: u32 = 100;

/// What a tree holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// Regular files.
    pub files: u64,
    /// Directories below the top, and links.
    pub others: u64,
    /// Bytes in regular files.
    pub bytes: u64,
    /// All names, types, permissions, link targets and contents.
    pub hash: u64,
}

impl fmt::Display for Sum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { files, others, bytes, hash } = self;
        write!(f, "{files} files, {others} others, {bytes} bytes, {hash:016x}")
    }
}

/// Makes `files` files below `top`, of sizes from nothing to 80 KiB, most of them small.
pub fn make(top: &Path, files: u32) -> Result<()> {
    fs::create_dir(top).with_context(|| format!("make {}", top.display()))?;
    let mut directory = top.to_owned();
    for number in 0..files {
        if number % FILES_PER_DIRECTORY == 0 {
            let turn = number / FILES_PER_DIRECTORY;
            // Some directories lie deep.
            directory = top.join(format!("part{:02}", turn % 10)).join(format!("d{turn}"));
            fs::create_dir_all(&directory)?;
            symlink(format!("file{number}"), directory.join("first"))?;
        }
        let path = directory.join(format!("file{number}"));
        fs::write(&path, content(number)).with_context(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

/// Bytes that differ in every file and every block.
fn content(number: u32) -> Vec<u8> {
    let mut random = u64::from(number).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let len = match number % 20 {
        0 => 0,
        1 => next() % (80 << 10),
        _ => next() % (4 << 10),
    };
    let mut bytes = Vec::with_capacity(len as usize + 8);
    while bytes.len() < len as usize {
        bytes.extend_from_slice(&next().to_le_bytes());
    }
    bytes.truncate(len as usize);
    bytes
}

/// Sums everything below `top`; the order in which a directory lists its names has no influence.
pub fn sum(top: &Path) -> Result<Sum> {
    let mut sum = Sum::default();
    let mut hasher = DefaultHasher::new();
    add(top, &mut sum, &mut hasher)?;
    sum.hash = hasher.finish();
    Ok(sum)
}

fn add(directory: &Path, sum: &mut Sum, hasher: &mut DefaultHasher) -> Result<()> {
    let mut names: Vec<OsString> = fs::read_dir(directory)
        .with_context(|| format!("list {}", directory.display()))?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<Result<_>>()?;
    names.sort_unstable();
    for name in names {
        let path = directory.join(&name);
        let found = fs::symlink_metadata(&path).with_context(|| path.display().to_string())?;
        name.as_bytes().hash(hasher);
        found.mode().hash(hasher);
        if found.is_file() {
            sum.files += 1;
            sum.bytes += found.len();
            found.len().hash(hasher);
            let read = add_content(&path, hasher)?;
            anyhow::ensure!(
                read == found.len(),
                "{}: {} bytes long, {read} bytes read",
                path.display(),
                found.len()
            );
            continue;
        }
        sum.others += 1;
        if found.is_dir() {
            add(&path, sum, hasher)?;
            // What follows is a sibling, not a child.
            0_u8.hash(hasher);
        } else if found.is_symlink() {
            fs::read_link(&path)?.as_os_str().as_bytes().hash(hasher);
        }
    }
    Ok(())
}

fn add_content(path: &Path, hasher: &mut DefaultHasher) -> Result<u64> {
    let mut file = File::open(path).with_context(|| format!("open {}", path.display()))?;
    let mut block = vec![0; 64 << 10];
    let mut total = 0;
    loop {
        let len = file.read(&mut block).with_context(|| format!("read {}", path.display()))?;
        if len == 0 {
            return Ok(total);
        }
        total += len as u64;
        hasher.write(&block[..len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_tells_trees_apart() {
        let top = std::env::temp_dir().join(format!("hayase-tree.{}", std::process::id()));
        fs::create_dir(&top).unwrap();
        let [one, two] = ["one", "two"].map(|name| top.join(name));
        make(&one, 250).unwrap();
        make(&two, 250).unwrap();
        let before = sum(&one).unwrap();
        assert_eq!((before.files, before.others), (250, 9));
        assert_eq!(sum(&two).unwrap(), before);

        let file = two.join("part00/d0/file7");
        let mut bytes = fs::read(&file).unwrap();
        bytes[0] ^= 1;
        fs::write(&file, &bytes).unwrap();
        assert_ne!(sum(&two).unwrap(), before);
        fs::remove_dir_all(top).unwrap();
    }
}
