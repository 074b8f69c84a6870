//! A bounded number of random inputs for every target: the same in every run.

use std::fs;
use std::path::Path;

use hayase_fuzz::random::Random;

/// Tries random bytes, and inputs of the corpus with a few changes.
fn smoke(name: &str, rounds: u64, most_bytes: usize) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name);
    let mut paths: Vec<_> = fs::read_dir(corpus)
        .expect("every target has a corpus")
        .map(|file| file.expect("an entry").path())
        .collect();
    paths.sort();
    let inputs: Vec<_> = paths.iter().map(|path| fs::read(path).expect("a file")).collect();
    for seed in 0..rounds {
        let mut random = Random::new(seed);
        let bytes = if random.below(2) == 0 {
            random.bytes(most_bytes)
        } else {
            let at = random.below(inputs.len());
            random.mutate(&inputs[at])
        };
        println!("seed {seed}"); // shown when the check fails
        hayase_fuzz::check(name, &bytes);
    }
}

#[test]
fn record() {
    smoke("record", 1000, 300);
}

#[test]
fn rpc() {
    smoke("rpc", 20_000, 200);
}

#[test]
fn nfs3() {
    smoke("nfs3", 5000, 200);
}

#[test]
fn nfs4() {
    smoke("nfs4", 5000, 400);
}

#[test]
fn mount() {
    smoke("mount", 2000, 200);
}

#[test]
fn nlm() {
    smoke("nlm", 2000, 300);
}

#[test]
fn portmap() {
    smoke("portmap", 5000, 500);
}

#[test]
fn exports() {
    smoke("exports", 5000, 200);
}

#[test]
fn sequence() {
    smoke("sequence", 1000, 800);
}

#[test]
fn state() {
    smoke("state", 250, 1200);
}
