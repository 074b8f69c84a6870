//! Which clients may claim their state again after a restart, on stable storage.
//!
//! One small file for each client, replaced as a whole, so that a crash leaves the old
//! record or the new one.

use std::fs::{self, DirBuilder, File};
use std::hash::Hasher;
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use hayase_state::{ClientName, ClientRecord, Principal, Protocol};
use serde::{Deserialize, Serialize};
use siphasher::sip128::{Hasher128, SipHasher24};

const NEW: &str = "new";

/// A record as it is written.
#[derive(Serialize, Deserialize)]
struct Written {
    protocol: WrittenProtocol,
    /// The client's name for itself, in hexadecimal.
    name: String,
    flavor: u32,
    uid: u32,
}

#[derive(Serialize, Deserialize)]
enum WrittenProtocol {
    #[serde(rename = "4.0")]
    V40,
    #[serde(rename = "4.1")]
    V41,
    /// A host of NFSv3, by its address.
    #[serde(rename = "nlm")]
    Nlm,
}

/// The directory of records.
#[derive(Debug)]
pub(crate) struct ClientRecords {
    dir: PathBuf,
}

impl ClientRecords {
    /// Opens the directory, made if need be, and reads what it holds.
    pub(crate) fn open(dir: &Path) -> Result<(Self, Vec<ClientRecord>)> {
        let cannot = || format!("the records of clients in {} cannot be read", dir.display());
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700).create(dir).with_context(cannot)?;
        let mut records = Vec::new();
        for entry in fs::read_dir(dir).with_context(cannot)? {
            let path = entry.with_context(cannot)?.path();
            if path.extension().is_some_and(|extension| extension == NEW) {
                // Left by a crash before it took the old one's place.
                fs::remove_file(&path).with_context(cannot)?;
                continue;
            }
            match read(&path) {
                Ok(record) => records.push(record),
                Err(error) => tracing::warn!(
                    "{} is no record of a client, which so cannot claim its state: {error:#}",
                    path.display()
                ),
            }
        }
        Ok((ClientRecords { dir: dir.to_owned() }, records))
    }

    /// Keeps a record; on stable storage when this returns.
    pub(crate) fn put(&self, record: &ClientRecord) -> io::Result<()> {
        let written = Written {
            protocol: match record.owner.protocol {
                Protocol::V40 => WrittenProtocol::V40,
                Protocol::V41 => WrittenProtocol::V41,
                Protocol::Nlm => WrittenProtocol::Nlm,
            },
            name: hex(&record.owner.bytes),
            flavor: record.principal.flavor,
            uid: record.principal.uid,
        };
        let path = self.path(&record.owner);
        let new = path.with_extension(NEW);
        let mut file = File::create(&new)?;
        file.write_all(&serde_json::to_vec(&written)?)?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        self.sync()
    }

    /// Forgets a record; gone from stable storage when this returns.
    pub(crate) fn remove(&self, name: &ClientName) -> io::Result<()> {
        match fs::remove_file(self.path(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        self.sync()
    }

    fn sync(&self) -> io::Result<()> {
        File::open(&self.dir)?.sync_all()
    }

    /// Where the record of a client is: names can be longer than a file's.
    fn path(&self, owner: &ClientName) -> PathBuf {
        let mut hasher = SipHasher24::new_with_key(b"hayase client id");
        hasher.write_u8(match owner.protocol {
            Protocol::V40 => 0,
            Protocol::V41 => 1,
            Protocol::Nlm => 2,
        });
        hasher.write(&owner.bytes);
        self.dir.join(hex(&hasher.finish128().as_bytes()))
    }
}

fn read(path: &Path) -> Result<ClientRecord> {
    let written: Written = serde_json::from_slice(&fs::read(path)?)?;
    let protocol = match written.protocol {
        WrittenProtocol::V40 => Protocol::V40,
        WrittenProtocol::V41 => Protocol::V41,
        WrittenProtocol::Nlm => Protocol::Nlm,
    };
    let name = unhex(&written.name).context("its name is not hexadecimal")?.into();
    let principal = Principal { flavor: written.flavor, uid: written.uid };
    Ok(ClientRecord { owner: ClientName { protocol, bytes: name }, principal })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
}

fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<_>> = text.chars().map(|digit| digit.to_digit(16)).collect();
    let digits = digits?;
    let (pairs, rest) = digits.as_chunks::<2>();
    rest.is_empty().then(|| pairs.iter().map(|[high, low]| (high << 4 | low) as u8).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(protocol: Protocol, name: &[u8], uid: u32) -> ClientRecord {
        let owner = ClientName { protocol, bytes: name.into() };
        ClientRecord { owner, principal: Principal { flavor: 1, uid } }
    }

    #[test]
    fn records_outlive_the_server_and_strange_files_are_no_harm() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("clients");
        let (records, found) = ClientRecords::open(&path).unwrap();
        assert!(found.is_empty());
        let long = record(Protocol::V40, &[0xff; 1024], 7);
        let first = record(Protocol::V41, b"same name", 0);
        let other = record(Protocol::V40, b"same name", 1);
        for record in [&long, &first, &other] {
            records.put(record).unwrap();
        }
        let first = ClientRecord { principal: Principal { flavor: 1, uid: 5 }, ..first };
        records.put(&first).unwrap();
        records.remove(&other.owner).unwrap();
        records.remove(&other.owner).unwrap();
        fs::write(path.join("strange"), b"{").unwrap();
        fs::write(path.join("half.new"), b"{").unwrap();
        let (_, mut found) = ClientRecords::open(&path).unwrap();
        found.sort_by_key(|record| record.principal.uid);
        assert_eq!(found, [first, long]);
        assert!(!path.join("half.new").exists());
    }
}
