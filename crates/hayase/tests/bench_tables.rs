//! `hayase bench matrix` and `hayase bench sweep` against a server of Hayase and the directory below it.
#![allow(clippy::unwrap_used)]

#[allow(dead_code, reason = "shared with tests that need more of it")]
mod support;

use std::path::Path;

use serde_json::Value;
use support::{Server, open_to_all, output, stderr};

struct Bed {
    server: Server,
    dir: tempfile::TempDir,
}

impl Bed {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        open_to_all(dir.path());
        let server = Server::start(&[dir.path().to_str().unwrap()]);
        Bed { server, dir }
    }

    fn local(&self) -> String {
        format!("file://{}", self.dir.path().display())
    }

    fn remote(&self, version: &str) -> String {
        let (address, dir) = (self.server.address(), self.dir.path().display());
        format!("nfs://{address}{dir}?version={version}")
    }
}

fn json(args: &[&str]) -> Value {
    let output = output(args);
    assert!(output.status.success(), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn page(path: &Path, words: &[&str]) {
    let page = std::fs::read_to_string(path).unwrap();
    for word in words {
        assert!(page.contains(word), "{word} is not in the page");
    }
}

#[test]
fn local_and_nfs_stand_in_one_table() {
    let bed = Bed::new();
    let row = format!("tmp={},{},{}", bed.local(), bed.remote("3"), bed.remote("4.1"));
    let report = bed.dir.path().join("report.html");
    let args = ["bench", "matrix", &row, "--size=4m", "--runtime=300ms", "--rounds=2"];
    let matrix = json(
        &[&args[..], &["--output-format=json", "--report", report.to_str().unwrap()]].concat(),
    );
    let row = &matrix["rows"][0];
    let names: Vec<&str> =
        row["targets"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["local", "NFSv3", "NFSv4.1"]);
    let cells = row["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 6);
    for cell in cells {
        assert_eq!(cell["rates"].as_array().unwrap().len(), 2, "{cell}");
        assert!(cell["median"].as_f64().unwrap() > 0.0 && cell["error"].is_null(), "{cell}");
        assert!(cell["to_local"].as_f64().unwrap() > 0.0, "{cell}");
    }
    assert_eq!(row["raw"]["file_read"].as_array().unwrap().len(), 2);
    assert_eq!(row["raw"]["tcp"][1].as_array().unwrap().len(), 2, "the server is on this host");
    assert!(row["raw"]["tcp"][0].as_array().unwrap().is_empty(), "local needs no link");
    page(&report, &["NFSv4.1", "Raw TCP", "page cache"]);
    let left: Vec<_> = std::fs::read_dir(bed.dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .filter(|name| name != "report.html")
        .collect();
    assert!(left.is_empty(), "{left:?} is left");
}

#[test]
fn a_cold_cache_is_made_through_the_local_directory() {
    let bed = Bed::new();
    let row = format!("tmp={},{}", bed.local(), bed.remote("4.2"));
    let args = ["bench", "matrix", &row, "--size=2m", "--runtime=200ms", "--rounds=1"];
    let matrix = json(&[&args[..], &["--cache=cold", "--output-format=json"]].concat());
    assert_eq!(matrix["cache"], "cold");
    let row = format!("tmp={}", bed.remote("3"));
    let args = ["bench", "matrix", &row, "--size=2m", "--cache=cold"];
    let refused = output(&args);
    assert!(!refused.status.success());
    assert!(stderr(&refused).contains("file:// target of the row"), "{}", stderr(&refused));
}

#[test]
fn a_row_that_fails_leaves_the_others() {
    let bed = Bed::new();
    let good = format!("good={}", bed.local());
    let missing = format!("missing={}/nowhere", bed.local());
    let args = ["bench", "matrix", &good, &missing, "--size=1m", "--runtime=100ms", "--rounds=1"];
    let output = output(&[&args[..], &["--output-format=json"]].concat());
    assert!(!output.status.success());
    let matrix: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(matrix["rows"][0]["cells"][0]["median"].as_f64().unwrap() > 0.0);
    let error = matrix["rows"][1]["cells"][0]["error"].as_str().unwrap();
    assert!(error.contains("nowhere"), "{error}");
}

#[test]
fn depth_is_swept_by_several_clients() {
    let bed = Bed::new();
    let report = bed.dir.path().join("report.html");
    let target = bed.remote("4.1");
    let args = [
        "bench",
        "sweep",
        &target,
        "--iodepth",
        "1..4",
        "--bs=4k",
        "--size=1m",
        "--clients=3",
        "--runtime=200ms",
        "--ramp-time=0",
        "--output-format=json",
    ];
    let sweep = json(&[&args[..], &["--report", report.to_str().unwrap()]].concat());
    let steps = sweep["steps"].as_array().unwrap();
    let values: Vec<&str> = steps.iter().map(|step| step["value"].as_str().unwrap()).collect();
    assert_eq!(values, ["1", "2", "4"]);
    for step in steps {
        assert_eq!(step["clients"].as_array().unwrap().len(), 3);
        let jain = step["fairness"]["jain"].as_f64().unwrap();
        assert!((1.0 / 3.0..=1.0).contains(&jain), "{step}");
        assert!(step["all"]["ops_per_sec"].as_f64().unwrap() > 0.0);
    }
    assert!(sweep["knee"]["shape"].is_string());
    page(&report, &["client3", "Fairness", "Jain"]);
    assert_eq!(std::fs::read_dir(bed.dir.path()).unwrap().count(), 1, "only the report is left");
}

#[test]
fn a_sweep_of_blocks_is_compared_by_bandwidth() {
    let bed = Bed::new();
    let target = bed.local();
    let args = ["bench", "sweep", &target, "--bs", "4k..16k", "--size=1m", "--runtime=100ms"];
    let sweep = json(&[&args[..], &["--ramp-time=0", "--output-format=json"]].concat());
    assert_eq!(sweep["figure"], "bandwidth");
    assert_eq!(sweep["parameter"], "bs");
    let said = output(&args);
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(text.contains("16k") && text.contains("knee"), "{text}");
}
