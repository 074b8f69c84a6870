//! Two clients that look at the same files.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use super::Case;
use crate::client::Client;
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::Setup;
use crate::session::{Errno, Open, Session, fails};

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("two.close_to_open", "what one closed the other reads when it opens", close_to_open),
    Case::new("two.names", "renames and removals are seen by the other", names),
    Case::new("two.races", "of two that make the same name exactly one wins", races),
    Case::new("two.append", "appending in turns loses nothing", append),
];

fn both(scene: &mut Scene, options: &str) -> Result<[(Client, Session); 2]> {
    let [first, second] = scene.ordinary_two(Backing::Memory, Setup::default(), options)?;
    let sessions = (first.root()?, second.root()?);
    Ok([(first, sessions.0), (second, sessions.1)])
}

fn close_to_open(scene: &mut Scene) -> Result<()> {
    let [(_a, a), (_b, b)] = both(scene, "vers=3,nolock")?;
    let path = format!("{MOUNT}/shared");
    let rounds = scene.size(40, 400);
    for round in 0..rounds {
        // Longer, shorter, and of the same length as before.
        let len = [100_000, 100_000, 10, 70_000][round % 4];
        let data: Vec<u8> = (0..len).map(|at| (at / 7 + round * 31) as u8).collect();
        let (writer, reader) = if round % 3 == 0 { (&b, &a) } else { (&a, &b) };
        writer.put(&*path, 0o644, &data)?;
        let found = reader.get(&*path)?;
        same!(found.len(), data.len(), "round {round}: length that the other client reads");
        ensure!(found == data, "round {round}: the other client reads something else");
        // Version 3 tells changes apart by their time alone: two within one tick of the server's
        // clock that leave the length are one to a client.
        thread::sleep(Duration::from_millis(12));
    }
    Ok(())
}

fn names(scene: &mut Scene) -> Result<()> {
    let [(_a, a), (_b, b)] = both(scene, "vers=3,nolock,actimeo=1")?;
    let path = |name: &str| format!("{MOUNT}/{name}");
    let limit = Duration::from_secs(10);
    let exists = |session: &Session, name: &str| match session.stat(path(name)) {
        Ok(_) => Ok(true),
        Err(error) if error.downcast_ref() == Some(&Errno::NOENT) => Ok(false),
        Err(error) => Err(error),
    };

    a.put(path("old"), 0o644, b"content")?;
    ensure!(exists(&b, "old")? && !exists(&b, "new")?, "before the rename");
    a.rename(path("old"), path("new"))?;
    until(limit, "the new name", || exists(&b, "new"))?;
    until(limit, "the end of the old name", || Ok(!exists(&b, "old")?))?;
    same!(b.get(path("new"))?, b"content", "the renamed file");

    // Over an existing file that the other has open: its content stays readable or is known to
    // be gone, but it is never the other file's.
    a.put(path("target"), 0o644, b"first")?;
    let open = b.open(path("target"), Open::RDONLY, 0)?;
    a.put(path("source"), 0o644, b"other")?;
    a.rename(path("source"), path("target"))?;
    match b.read(open, 0, 100) {
        Ok(data) => same!(data, b"first", "a file that was replaced while open"),
        Err(error) => fails::<()>(Err(error), Errno::STALE, "a file replaced while open")?,
    }
    until(limit, "the replaced file", || Ok(b.get(path("target"))? == b"other"))?;

    a.mkdir(path("directory"), 0o755)?;
    a.put(path("directory/inside"), 0o644, b"x")?;
    until(limit, "the new directory", || exists(&b, "directory/inside"))?;
    fails(b.rmdir(path("directory")), Errno::NOTEMPTY, "rmdir of a directory in use")?;
    a.unlink(path("directory/inside"))?;
    a.rmdir(path("directory"))?;
    until(limit, "the end of the directory", || Ok(!exists(&b, "directory")?))
}

/// Makes both clients do the same thing at the same moment; what each got.
fn at_once<T: Send>(
    sessions: [&Session; 2],
    act: impl Fn(&Session) -> Result<T> + Sync,
) -> Result<[Result<T>; 2]> {
    let start = Barrier::new(2);
    let run = |session| {
        start.wait();
        act(session)
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| run(sessions[1]));
        let mine = run(sessions[0]);
        Ok([mine, other.join().ok().context("the other client's thread broke")?])
    })
}

fn one_wins<T: std::fmt::Debug>(what: &str, outcome: [Result<T>; 2]) -> Result<usize> {
    let won = usize::from(outcome[0].is_err());
    if let [Err(one), Err(other)] = &outcome {
        bail!("{what}: nobody won: {one:#}; {other:#}");
    }
    for (client, result) in outcome.into_iter().enumerate() {
        if client != won {
            fails(result, Errno::EXIST, &format!("{what}: the one that lost"))?;
        }
    }
    Ok(won)
}

fn races(scene: &mut Scene) -> Result<()> {
    let [(_a, a), (_b, b)] = both(scene, "vers=3,nolock")?;
    let mut wins = [0; 2];
    for round in 0..scene.size(100, 1000) {
        let path = format!("{MOUNT}/file{round}");
        let won = one_wins(
            "O_EXCL",
            at_once([&a, &b], |s| {
                let file = s.create(&*path, 0o644)?;
                s.close(file)
            })?,
        )?;
        wins[won] += 1;
        let path = format!("{MOUNT}/directory{round}");
        one_wins("mkdir", at_once([&a, &b], |s| s.mkdir(&*path, 0o755))?)?;
        let (file, path) = (format!("{MOUNT}/file{round}"), format!("{MOUNT}/link{round}"));
        one_wins("link", at_once([&a, &b], |s| s.link(&*file, &*path))?)?;
    }
    scene.note(format!("the clients won {wins:?} times"));
    Ok(())
}

fn append(scene: &mut Scene) -> Result<()> {
    let [(_a, a), (_b, b)] = both(scene, "vers=3,nolock")?;
    let path = format!("{MOUNT}/log");
    let mut wanted = String::new();
    for turn in 0..scene.size(60, 600) {
        let session = [&a, &b][turn % 2];
        let line = format!("turn {turn} {}\n", "x".repeat(turn * 37 % 500));
        let file = session.open(&*path, Open::CREATE | Open::WRONLY | Open::APPEND, 0o644)?;
        same!(session.append(file, line.as_bytes())? as usize, line.len(), "turn {turn}");
        session.close(file)?;
        wanted.push_str(&line);
    }
    let found = std::fs::read_to_string(scene.directory().join("log"))?;
    same!(found.lines().count(), wanted.lines().count(), "lines in the log");
    ensure!(found == wanted, "the log differs from what was appended");
    Ok(())
}
