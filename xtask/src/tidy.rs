//! The structure of the tree, checked.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::command::{cargo, root};

/// The rooms of the house from the bottom up; ARCHITECTURE.md has the picture. A crate
/// may depend only on crates of floors below its own.
const FLOORS: &[&[&str]] = &[
    &["hayase-xdr-derive"],
    &["hayase-xdr", "hayase-buf", "hayase-conf"],
    &["hayase-rpc", "hayase-vfs", "hayase-exports"],
    &["hayase-proto", "hayase-transport", "hayase-local", "hayase-mem", "hayase-identity"],
    &["hayase-state", "hayase-portmap"],
    &["hayase-nfs", "hayase-client"],
    &["hayase-server", "hayase-fuzz", "hayase-bench"],
    &["hayase", "hayase-e2e", "xtask"],
];

/// The only crates with `unsafe` code; every other one forbids it.
const UNSAFE_CRATES: &[&str] = &["hayase-local"];

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: String,
    dependencies: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    name: String,
    /// None for an ordinary dependency.
    kind: Option<String>,
}

pub(crate) fn run() -> Result<()> {
    let output = cargo(&["metadata", "--format-version", "1", "--no-deps"]).output()?;
    let metadata: Metadata =
        serde_json::from_slice(&output.stdout).context("cargo metadata cannot be read")?;
    let mut faults = arrows(&metadata.packages);
    for package in &metadata.packages {
        faults.extend(unsafe_code(package)?);
        faults.extend(is_on_the_map(package)?);
    }
    if !faults.is_empty() {
        bail!("the tree is not tidy:\n  {}", faults.join("\n  "));
    }
    Ok(())
}

/// Dependencies that do not lead downwards.
fn arrows(packages: &[Package]) -> Vec<String> {
    let floors: BTreeMap<&str, usize> = FLOORS
        .iter()
        .enumerate()
        .flat_map(|(floor, names)| names.iter().map(move |name| (*name, floor)))
        .collect();
    let mut faults = Vec::new();
    for package in packages {
        let Some(floor) = floors.get(&*package.name) else {
            faults.push(format!("{} is on no floor of xtask/src/tidy.rs", package.name));
            continue;
        };
        for dependency in package.dependencies.iter().filter(|d| d.kind.is_none()) {
            if floors.get(&*dependency.name).is_some_and(|below| below >= floor) {
                faults.push(format!(
                    "{} depends on {}, which is not below it",
                    package.name, dependency.name
                ));
            }
        }
    }
    faults
}

/// A crate that neither forbids unsafe code nor is one of those that may have it.
fn unsafe_code(package: &Package) -> Result<Option<String>> {
    if UNSAFE_CRATES.contains(&&*package.name) {
        return Ok(None);
    }
    let source = Path::new(&package.manifest_path).with_file_name("src");
    let crate_root = ["lib.rs", "main.rs"].map(|name| source.join(name));
    for file in crate_root.iter().filter(|file| file.exists()) {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        if !text.contains("forbid(unsafe_code)") {
            return Ok(Some(format!("{} does not forbid unsafe code", file.display())));
        }
    }
    Ok(None)
}

/// A crate that ARCHITECTURE.md does not name.
fn is_on_the_map(package: &Package) -> Result<Option<String>> {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).context("ARCHITECTURE.md")?;
    let name = format!("`{}`", package.name);
    Ok((!map.contains(&name)).then(|| format!("ARCHITECTURE.md does not name {name}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrow_that_leads_up_or_sideways_is_found() {
        let package = |name: &str, on: &[&str]| Package {
            name: name.to_owned(),
            manifest_path: String::new(),
            dependencies: on
                .iter()
                .map(|name| Dependency { name: (*name).to_owned(), kind: None })
                .collect(),
        };
        assert!(arrows(&[package("hayase-nfs", &["hayase-vfs", "libc"])]).is_empty());
        assert_eq!(arrows(&[package("hayase-vfs", &["hayase-nfs"])]).len(), 1);
        assert_eq!(arrows(&[package("hayase-rpc", &["hayase-vfs"])]).len(), 1);
        assert_eq!(arrows(&[package("hayase-new", &[])]).len(), 1);
    }
}
