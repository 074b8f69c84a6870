//! Every wire type makes the round trip, refuses every truncation, and stands hostile input.
//! No type can be forgotten: the list is held against the source.
#![allow(missing_docs, clippy::unwrap_used)]

mod mount;
mod nfs3;
mod nfs4;
mod nfsacl;
mod nlm;
mod nsm;
mod portmap;
mod rquota;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use hayase_proto::check::{TYPES, WireType};

/// A value of a type on the wire.
struct Sample {
    name: &'static str,
    wire: Vec<u8>,
}

/// Adds values of one type, each checked to come back from the wire as it went.
macro_rules! samples {
    ($to:ident: $module:ident { $($name:ident $(<$lifetime:lifetime>)? [$($value:expr),* $(,)?])* }) => {$({
        let values: Vec<$name $(<$lifetime>)?> = vec![$($value),*];
        for value in values {
            let wire = hayase_xdr::to_vec(&value);
            assert_eq!(hayase_xdr::from_bytes(&wire), Ok(value));
            let name = concat!(stringify!($module), "::", stringify!($name));
            $to.push(crate::Sample { name, wire });
        }
    })*};
}
pub(crate) use samples;

fn all_samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    nfs3::add(&mut samples);
    nfs4::add(&mut samples);
    nfsacl::add(&mut samples);
    nlm::add(&mut samples);
    nsm::add(&mut samples);
    rquota::add(&mut samples);
    mount::add(&mut samples);
    portmap::add(&mut samples);
    samples
}

fn wire_type(name: &str) -> &'static WireType {
    TYPES.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("{name} is not in TYPES"))
}

#[test]
fn every_type_survives_the_wire_and_refuses_truncation() {
    for sample in all_samples() {
        assert!(sample.wire.len() % 4 == 0, "{}: not whole words", sample.name);
        wire_type(sample.name).check_valid(&sample.wire);
    }
}

#[test]
fn every_type_has_samples() {
    let sampled: BTreeSet<_> = all_samples().iter().map(|s| s.name).collect();
    let listed: BTreeSet<_> = TYPES.iter().map(|t| t.name).collect();
    assert_eq!(sampled, listed);
}

#[test]
fn every_type_of_the_source_is_listed() {
    // Types that do not travel by themselves, and byte arrays that XDR tests already.
    const EXEMPT: &[&str] = &[
        "nfs3::CookieVerf",
        "nfs3::CreateVerf",
        "nfs3::DataSpan",
        "nfs3::DirList",
        "nfs3::DirListIter",
        "nfs3::DirListWriter",
        "nfs3::Res3",
        "nfs3::WriteVerf",
        "nfs4::AttrAccess",
        "nfs4::AttrInfo",
        "nfs4::AttrLevel",
        "nfs4::BitmapIter",
        "nfs4::ClientId",
        "nfs4::CompoundReply",
        "nfs4::CompoundResWriter",
        "nfs4::CompoundWriter",
        "nfs4::CopyFail",
        "nfs4::DeviceId",
        "nfs4::FattrWriter",
        "nfs4::GetDeviceInfoFail",
        "nfs4::LayoutGetFail",
        "nfs4::LockFail",
        "nfs4::OpResult",
        "nfs4::ReaddirWriter",
        "nfs4::Res4",
        "nfs4::SessionId",
        "nfs4::SetAttrsError",
        "nfs4::SetClientIdFail",
        "nfs4::Verifier",
    ];
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![
        ("nfsacl", src.join("nfsacl.rs")),
        ("nlm", src.join("nlm.rs")),
        ("nsm", src.join("nsm.rs")),
        ("rquota", src.join("rquota.rs")),
        ("mount", src.join("mount.rs")),
        ("pmap", src.join("portmap/pmap.rs")),
        ("rpcb", src.join("portmap/rpcb.rs")),
    ];
    for module in ["nfs3", "nfs4"] {
        for file in fs::read_dir(src.join(module)).unwrap() {
            files.push((module, file.unwrap().path()));
        }
    }
    let mut found = BTreeSet::new();
    for (module, path) in files {
        for line in fs::read_to_string(path).unwrap().lines() {
            let mut words = line.split_whitespace();
            if words.next() == Some("pub")
                && matches!(words.next(), Some("struct" | "enum" | "type"))
            {
                let name = words.next().unwrap().split(['<', '(', ';', ' ']).next().unwrap();
                // Macros declare types by a name they are given.
                if !name.starts_with('$') {
                    found.insert(format!("{module}::{name}"));
                }
            }
        }
    }
    let known = TYPES.iter().map(|t| t.name).chain(EXEMPT.iter().copied()).map(String::from);
    assert_eq!(found, known.collect());
}

#[test]
fn hostile_words_are_refused_or_mean_what_they_say() {
    const WORDS: [u32; 7] = [0, 1, 2, 65, 0x7fff_ffff, 0xffff_fff0, u32::MAX];
    for sample in all_samples() {
        let wire_type = wire_type(sample.name);
        for at in (0..sample.wire.len()).step_by(4) {
            for word in WORDS {
                let mut wire = sample.wire.clone();
                wire[at..at + 4].copy_from_slice(&word.to_be_bytes());
                wire_type.check(&wire);
            }
        }
    }
}

#[test]
fn any_bytes_are_stood_by_every_type() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..200 {
        // Small words, since those are what lengths and discriminants look like.
        let len = random() as usize % 64;
        let bytes: Vec<u8> = (0..len).flat_map(|_| ((random() % 8) as u32).to_be_bytes()).collect();
        for wire_type in TYPES {
            wire_type.check(&bytes);
        }
    }
}
