//! The corpora of the fuzz targets, as ordinary tests.

use std::fs;
use std::path::{Path, PathBuf};

use hayase_fuzz::TARGETS;

fn corpus(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(name)
}

#[test]
fn every_input_of_the_corpora_passes() {
    for target in TARGETS {
        let mut count = 0;
        for file in fs::read_dir(corpus(target.name)).expect("every target has a corpus") {
            let path = file.expect("an entry").path();
            println!("{}", path.display()); // shown when the check fails
            (target.check)(&fs::read(&path).expect("a file"));
            count += 1;
        }
        assert!((1..=40).contains(&count), "{}: {count} inputs", target.name);
    }
}

#[test]
fn every_target_has_a_fuzz_target_and_the_other_way_round() {
    let targets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    let mut files: Vec<_> = fs::read_dir(targets)
        .expect("the fuzz targets")
        .map(|file| file.expect("an entry").path().file_stem().expect("a name").to_owned())
        .collect();
    files.sort();
    let mut names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
    names.sort_unstable();
    assert_eq!(files, names);
}
