//! From directories and exports(5) to a table of exports.

use std::fmt::Write;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use hayase_exports::{Client, Entry, ExportOptions, Fsid, Names, Rules, Unresolved};
use hayase_nfs::{Export, ExportId, ExportTable};

use crate::Options;
use crate::backends::{Backends, Kind};

/// An export before its file system is opened.
struct Plan {
    path: PathBuf,
    fsid: Option<Fsid>,
    rules: Rules,
    client_names: Vec<String>,
    kind: Kind,
}

/// Reads what is to be exported and opens the file systems behind it; those that were
/// open already stay as they are.
pub(crate) fn load(
    options: &Options,
    backends: &Backends,
    names: &dyn Names,
) -> Result<ExportTable> {
    let mut plans = Vec::new();
    for dir in &options.dirs {
        plans.push(plan_dir(dir, options.read_only)?);
    }
    if let Some(file) = &options.exports {
        plans.extend(read(file)?.iter().map(|entry| plan_entry(entry, names)));
    }
    if plans.is_empty() {
        bail!("nothing to serve: name a directory, or a file of exports with --exports");
    }
    let count = plans.len();
    let exports =
        plans.into_iter().map(|plan| open(plan, backends, count)).collect::<Result<_>>()?;
    let single_as_root = options.exports.is_none();
    ExportTable::new(exports, single_as_root).map_err(|paths| {
        let [first, second] = paths.map(|path| String::from_utf8_lossy(&path).into_owned());
        anyhow::anyhow!(
            "{first} and {second} cannot be told apart in file handles: give one of them an \
             fsid= of its own"
        )
    })
}

/// A directory of the command line: for everyone, from any port, with what is mounted below.
fn plan_dir(dir: &Path, read_only: bool) -> Result<Plan> {
    let path =
        std::path::absolute(dir).with_context(|| format!("{} cannot be served", dir.display()))?;
    let path: PathBuf = path.components().collect(); // no `/` at the end, no `.`
    let options =
        ExportOptions { ro: read_only, secure: false, crossmnt: true, ..ExportOptions::default() };
    let (rules, _) = Rules::new([(Client::Any, options)], &NoNames);
    let kind = Kind { cross_mounts: true, subtree_check: false };
    Ok(Plan { path, fsid: None, rules, client_names: vec![Client::Any.to_string()], kind })
}

fn plan_entry(entry: &Entry, names: &dyn Names) -> Plan {
    let (rules, unresolved) = Rules::of(entry, names);
    for Unresolved { client, error } in unresolved {
        tracing::warn!(
            "{}: {client} cannot be looked up ({error}) and matches nobody until a reload",
            entry.path.display()
        );
    }
    let any = |is: fn(&ExportOptions) -> bool| entry.grants.iter().any(|g| is(&g.options));
    Plan {
        path: entry.path.clone(),
        fsid: entry.fsid(),
        rules,
        client_names: entry.grants.iter().map(|grant| grant.client.to_string()).collect(),
        kind: Kind {
            cross_mounts: any(|options| options.crossmnt),
            subtree_check: any(|options| options.subtree_check),
        },
    }
}

fn read(file: &Path) -> Result<Vec<Entry>> {
    let text = fs::read(file).with_context(|| format!("exports file {}", file.display()))?;
    hayase_exports::parse(&text, file).map_err(|diagnostics| {
        let mut all = String::new();
        for diagnostic in &diagnostics {
            // Writing to a string does not fail.
            let _ = write!(all, "\n{diagnostic}");
        }
        anyhow::anyhow!("{} has {} errors:{all}", file.display(), diagnostics.len())
    })
}

fn open(plan: Plan, backends: &Backends, count: usize) -> Result<Export> {
    let path = plan.path.as_os_str().as_bytes().to_vec();
    Ok(Export {
        id: ExportId::of(&path, plan.fsid),
        vfs: backends.open(&plan.path, plan.kind, count)?,
        path,
        rules: plan.rules,
        client_names: plan.client_names,
    })
}

/// For rules that name no host.
struct NoNames;

impl Names for NoNames {
    fn addresses(&self, _: &str) -> std::io::Result<Vec<std::net::IpAddr>> {
        Ok(Vec::new())
    }

    fn names(&self, _: std::net::IpAddr) -> Vec<String> {
        Vec::new()
    }

    fn netgroup(&self, _: &str) -> std::io::Result<Vec<String>> {
        Ok(Vec::new())
    }
}
