//! `hayase clients`, `sessions`, `opens`, `locks`, `denied`, `evict` and `unlock`.

use anyhow::Result;
use hayase_server::Unlocked;
use hayase_server::admin::{Request, ask};
use hayase_server::view::{ClientView, Listing, LockView, OpenView, SessionView};
use serde_json::Value;

use crate::cli::{Evict, Target, Unlock};
use crate::status::state_dir;
use crate::table::Table;

pub(crate) fn clients(target: &Target) -> Result<()> {
    let headings = ["client", "version", "standing", "idle", "sessions", "holds", "calls", "name"];
    show(target, &Request::Clients, Table::new(&headings, 7), |client: ClientView| {
        vec![
            client.id,
            client.version,
            client.standing,
            format!("{} s", client.idle_secs),
            client.sessions.to_string(),
            if client.has_state { "state" } else { "-" }.to_owned(),
            if client.callback_works { "work" } else { "-" }.to_owned(),
            client.name,
        ]
    })
}

pub(crate) fn sessions(target: &Target) -> Result<()> {
    let headings =
        ["session", "client", "slots", "used", "running", "connections", "back", "kept bytes"];
    show(target, &Request::Sessions, Table::new(&headings, 0), |session: SessionView| {
        vec![
            session.id,
            session.client,
            session.slots.to_string(),
            session.slots_used.to_string(),
            session.running.to_string(),
            session.connections.to_string(),
            if session.has_back_channel { "yes" } else { "no" }.to_owned(),
            session.cached_bytes.to_string(),
        ]
    })
}

pub(crate) fn opens(target: &Target) -> Result<()> {
    let headings = ["client", "kind", "for", "denies", "recalled", "file"];
    show(target, &Request::Opens, Table::new(&headings, 5), |open: OpenView| {
        let dash = |text: String| if text.is_empty() { "-".to_owned() } else { text };
        vec![
            open.client,
            open.kind,
            open.access,
            dash(open.deny),
            if open.recalled { "yes" } else { "-" }.to_owned(),
            open.path,
        ]
    })
}

pub(crate) fn locks(target: &Target) -> Result<()> {
    let headings = ["client", "kind", "from", "to", "owner", "file"];
    show(target, &Request::Locks, Table::new(&headings, 5), |lock: LockView| {
        vec![
            lock.client,
            lock.kind,
            lock.start.to_string(),
            lock.last.map_or_else(|| "end".to_owned(), |last| last.to_string()),
            lock.owner_text.unwrap_or_else(|| "-".to_owned()),
            lock.path,
        ]
    })
}

pub(crate) fn evict(evict: &Evict) -> Result<()> {
    ask(&state_dir(&evict.target)?, &Request::Evict { client: evict.client })?;
    if evict.target.json {
        println!("null");
    } else {
        println!("client {:016x} has to begin anew", evict.client);
    }
    Ok(())
}

pub(crate) fn unlock(args: &Unlock) -> Result<()> {
    let Unlock { path, client, owner, target } = args;
    let (path, client, owner) = (path.clone(), client.clone(), owner.clone());
    // As the server knows it.
    let path = path.map(|path| path.canonicalize().unwrap_or(path));
    let request = Request::Unlock(hayase_server::Unlock { client, path, owner });
    let answer = ask(&state_dir(target)?, &request)?;
    if target.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
        return Ok(());
    }
    let Unlocked { owners, kept } = serde_json::from_value(answer)?;
    println!("locks of {owners} owners on NFSv3 clients are released");
    if kept > 0 {
        println!(
            "{kept} locks of NFSv4 clients stay: `hayase evict CLIENT` takes all that one has"
        );
    }
    Ok(())
}

/// What clients were refused: a line for each.
pub(crate) fn denied(target: &Target) -> Result<()> {
    let denied: Vec<String> = serde_json::from_value(ask(&state_dir(target)?, &Request::Denials)?)?;
    if target.json {
        println!("{}", serde_json::to_string_pretty(&denied)?);
    } else {
        for text in &denied {
            println!("{text}");
        }
    }
    Ok(())
}

/// Prints what there is.
fn show<T: serde::de::DeserializeOwned>(
    target: &Target,
    request: &Request,
    mut table: Table,
    row: impl Fn(T) -> Vec<String>,
) -> Result<()> {
    let answer: Value = ask(&state_dir(target)?, request)?;
    if target.json {
        println!("{}", serde_json::to_string_pretty(&answer)?);
        return Ok(());
    }
    let Listing { total, entries } = serde_json::from_value::<Listing<T>>(answer)?;
    let shown = entries.len();
    for entry in entries {
        table.row(row(entry));
    }
    for line in table.lines() {
        println!("{line}");
    }
    if shown < total {
        println!("and {} more", total - shown);
    }
    Ok(())
}
