//! Programs that people run in their home directories.

use anyhow::{Result, ensure};

use super::Case;
use crate::scene::{Backing, MOUNT, Scene};
use crate::server::Setup;

/// The tests of this theme.
pub const CASES: &[Case] = &[
    Case::new("apps.git", "init, add, commit, gc, clone and fsck", git)
        .needs(&["git"])
        .limit_secs(600),
    Case::new("apps.sqlite", "load, index, change, vacuum and integrity check", sqlite)
        .needs(&["sqlite3"]),
];

fn git(scene: &mut Scene) -> Result<()> {
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock,nconnect=4")?;
    let (files, commits) = scene.size((300, 5), (3000, 50));
    let script = format!(
        "set -e; cd {MOUNT}
        git config --global user.name e2e; git config --global user.email e2e@example.org
        git config --global gc.auto 0; git config --global init.defaultBranch main
        git config --global safe.directory '*'
        git init -q origin; cd origin
        $E2E work tree-make files {files}
        git add .; git commit -qm first
        i=0; while [ $i -lt {commits} ]; do
            i=$((i + 1)); echo $i >>files/part00/d0/file7; git commit -qam $i; done
        git gc -q --prune=now
        cd ..; git clone -q origin copy; git clone -q --bare file://$PWD/origin bare.git
        git -C origin branch side; git -C copy fetch -q
        for repository in origin copy bare.git; do git -C $repository fsck --strict; done
        git -C copy rev-parse HEAD; git -C bare.git rev-parse HEAD; git -C origin rev-parse HEAD
        git -C copy rev-list --count HEAD; git -C copy status --porcelain"
    );
    let said = client.check(&script)?;
    let lines: Vec<&str> = said.lines().collect();
    same!(lines.len(), 4, "what git says at the end:\n{said}");
    ensure!(lines[0] == lines[1] && lines[1] == lines[2], "the clones differ:\n{said}");
    same!(lines[3].parse(), Ok(commits + 1), "the number of commits");
    // What the client wrote is a repository for the server too.
    let fsck = format!("git -c safe.directory='*' -C {}/bare.git fsck --strict", scene.path());
    scene.host(&fsck).map(drop)
}

fn sqlite(scene: &mut Scene) -> Result<()> {
    // Without a lock manager locks are local to the client, which is enough for one.
    let client = scene.ordinary(Backing::Memory, Setup::default(), "vers=3,nolock")?;
    let rows = scene.size(20_000, 500_000);
    let script = format!(
        "pragma journal_mode=delete; pragma synchronous=full;
         create table t(id integer primary key, name text, value blob);
         begin;
         with recursive n(i) as (select 1 union all select i+1 from n where i < {rows})
             insert into t select i, 'name' || (i * 7919 % 100003), zeroblob(i % 300) from n;
         commit;
         create index t_name on t(name);
         update t set name = 'changed' || id where id % 10 = 3;
         delete from t where id % 10 = 7;
         vacuum;
         pragma integrity_check;
         select count(*), sum(length(value)), count(distinct name) from t;"
    );
    let said =
        client.check(&format!("sqlite3 {MOUNT}/base '{}'", script.replace('\'', "'\\''")))?;
    let lines: Vec<&str> = said.lines().collect();
    ensure!(lines.contains(&"ok"), "the integrity check says: {said}");
    client.drop_caches()?;
    let check = "pragma integrity_check; \
                 select count(*), sum(length(value)), count(distinct name) from t;";
    let again = client.check(&format!("sqlite3 {MOUNT}/base '{check}'"))?;
    let there = scene.host(&format!("sqlite3 {}/base '{check}'", scene.path()))?;
    let wanted = lines[lines.len() - 2..].join("\n");
    same!(again.trim(), wanted, "read again by the client");
    same!(there.trim(), wanted, "read on the server");
    Ok(())
}
