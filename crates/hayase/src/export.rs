//! `hayase export` and `hayase reload`.

use std::path::PathBuf;

use anyhow::{Result, bail};
use hayase_server::admin::{Request, ask};
use hayase_server::{Changes, ExportsView, Place};
use serde_json::Value;

use crate::cli::{Export, ExportAdd, ExportLs, ExportRm, Target};
use crate::status::state_dir;

pub(crate) fn run(command: &Export) -> Result<()> {
    match command {
        Export::Ls(args) => ls(args),
        Export::Add(args) => add(args),
        Export::Rm(args) => rm(args),
        Export::Reload(target) => reload(target),
    }
}

fn ls(args: &ExportLs) -> Result<()> {
    let view = if args.exports.is_empty() {
        serde_json::from_value(ask(&state_dir(&args.target)?, &Request::Exports)?)?
    } else {
        ExportsView::of_files(args.exports.clone())?
    };
    if args.target.json {
        println!("{}", serde_json::to_string_pretty(&view.exports)?);
        return Ok(());
    }
    print!(
        "{}",
        if args.plain {
            &view.plain
        } else if args.table {
            &view.table
        } else {
            &view.verbose
        }
    );
    for export in &view.exports {
        if let Some(why) = &export.dormant {
            eprintln!("{} is not served: {why}", export.path.display());
        }
    }
    Ok(())
}

fn add(args: &ExportAdd) -> Result<()> {
    let place = place(&args.place)?;
    if place.client.is_none() {
        bail!("`{0}` names no client: write `CLIENT:{0}`, or `*:{0}` for everyone", args.place);
    }
    let request =
        Request::ExportAdd { place, options: args.options.clone(), persist: args.persist };
    change(&args.target, &request, args.persist)
}

fn rm(args: &ExportRm) -> Result<()> {
    let request = Request::ExportRemove { place: place(&args.place)?, persist: args.persist };
    change(&args.target, &request, args.persist)
}

/// Has the exports of a running server read again.
pub(crate) fn reload(target: &Target) -> Result<()> {
    change(target, &Request::Reload, true)
}

fn change(target: &Target, request: &Request, stays: bool) -> Result<()> {
    let answer: Value = ask(&state_dir(target)?, request)?;
    if target.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
        return Ok(());
    }
    let changes: Changes = serde_json::from_value(answer)?;
    println!("{changes}");
    if !stays && !changes.is_empty() {
        eprintln!("until the next reload; --persist keeps it");
    }
    Ok(())
}

/// `CLIENT:PATH`, as exportfs(8) takes it, or a path alone.
fn place(text: &str) -> Result<Place> {
    let (client, path) = match text.strip_prefix('[').and_then(|rest| rest.split_once("]:")) {
        Some((address, path)) => (Some(address), path),
        None if text.starts_with('/') => (None, text),
        None => match text.split_once(":/") {
            Some((client, _)) => (Some(client), &text[client.len() + 1..]),
            None => bail!("`{text}` is not `CLIENT:PATH` with a path that begins with `/`"),
        },
    };
    let client = client.filter(|client| !client.is_empty()).map(str::to_owned);
    Ok(Place { path: PathBuf::from(path), client })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_read_as_exportfs_reads_them() {
        let read = |text| place(text).ok().map(|place| (place.client, place.path));
        let some = |client: &str, path: &str| Some((Some(client.to_owned()), PathBuf::from(path)));
        assert_eq!(read("10.0.0.0/8:/srv/a:b"), some("10.0.0.0/8", "/srv/a:b"));
        assert_eq!(read("*:/srv"), some("*", "/srv"));
        assert_eq!(read("[2001:db8::1]:/srv"), some("2001:db8::1", "/srv"));
        assert_eq!(read("2001:db8::1:/srv"), some("2001:db8::1", "/srv"));
        assert_eq!(read("/srv/a:/b"), Some((None, "/srv/a:/b".into())));
        assert_eq!(read(":/srv"), Some((None, "/srv".into())));
        assert_eq!(read("host:srv"), None);
        assert_eq!(read("srv"), None);
    }
}
