//! A database whose files are on the server, over a crash of it.

use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use super::Case;
use crate::scene::{Backing, MOUNT, Scene, until};
use crate::server::Setup;
use crate::version::Version;
use crate::wire::Who;

/// The test of this theme.
pub const CASES: &[Case] = &[Case::new(
    "apps.postgres",
    "initdb and pgbench over kill -9 of the server; the books balance, also after recovery",
    postgres,
)
.needs(&["pgbench"])
.limit_secs(900)];

/// Who runs the database, which refuses to be root.
const OWNER: u32 = 65534;
/// The longest that one command may take: the guest is slow at starting processes.
const LIMIT: Duration = Duration::from_secs(300);

/// Where Debian keeps the server's programs.
const PATH: &str = "PATH=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -n 1):$PATH; \
                    export PGHOST=/run/postgres PGUSER=nobody PGDATABASE=postgres";

/// What all accounts, tellers and branches have and what was moved is one sum, and the number of
/// moves.
const BOOKS: &str = "select (select sum(abalance) from pgbench_accounts) =
                            (select sum(delta) from pgbench_history)
                        and (select sum(tbalance) from pgbench_tellers) =
                            (select sum(delta) from pgbench_history)
                        and (select sum(bbalance) from pgbench_branches) =
                            (select sum(delta) from pgbench_history),
                        (select count(*) from pgbench_history)";

fn postgres(scene: &mut Scene) -> Result<()> {
    let mut setup = Setup::default();
    if scene.version() == Version::V40 {
        // It never says that it has claimed all it had: new files wait for the end of grace.
        setup.arguments = ["--grace-secs", "4"].map(str::to_owned).to_vec();
    }
    let client = scene.ordinary(Backing::Disk, setup, "vers=3,nolock,nconnect=4")?;
    client.check(&format!("install -d -o {OWNER} -g {OWNER} -m 700 {MOUNT}/data /run/postgres"))?;
    let nobody = Who { uid: OWNER, gid: OWNER, groups: Vec::new() };
    let run = |command: &str| -> Result<String> {
        let command = format!("set -e; cd /; {PATH}; {command}");
        client.start_as(&nobody, &command)?.succeed(LIMIT)
    };
    let begin = format!(
        "pg_ctl -s -w -t 120 -D {MOUNT}/data -l /run/postgres/log start \
         -o \"-c listen_addresses='' -c unix_socket_directories=/run/postgres\" \
         || {{ cat /run/postgres/log; exit 1; }}"
    );
    run(&format!("initdb -k -A trust -E UTF8 --locale=C -D {MOUNT}/data >/dev/null"))?;
    run(&begin)?;
    run("pgbench -q -i -s 1 2>/dev/null")?;

    let (transactions, crashes) = scene.size((150, 1), (1500, 4));
    let bench = format!("{PATH}; pgbench -n -c 4 -t {transactions}");
    let mut bench = client.start_as(&nobody, &bench)?;
    let mut moved = 0;
    for _ in 0..crashes {
        // In the middle, however slow the guest is.
        until(LIMIT, "pgbench goes on", || {
            let count = run("psql -A -t -c 'select count(*) from pgbench_history'")?;
            let before = std::mem::replace(&mut moved, count.trim().parse::<u64>()?);
            Ok(moved > before)
        })?;
        ensure!(bench.is_running()?, "pgbench ended before the server was killed");
        scene.kill_server()?;
        thread::sleep(Duration::from_millis(500));
        scene.restart_server()?;
    }
    let said = bench.succeed(LIMIT)?;
    let processed = said
        .lines()
        .find_map(|line| line.strip_prefix("number of transactions actually processed: "))
        .and_then(|count| count.split('/').next()?.trim().parse::<u64>().ok())
        .with_context(|| format!("pgbench says:\n{said}"))?;
    ensure!(said.contains("number of failed transactions: 0"), "pgbench says:\n{said}");
    same!(processed, 4 * transactions, "transactions");
    let wanted = format!("t|{processed}");
    let books = |when: &str| -> Result<()> {
        same!(run(&format!("psql -A -t -c '{BOOKS}'"))?.trim(), wanted, "the books {when}");
        Ok(())
    };
    books("after the crash of the server")?;

    // The database itself crashes, and has to recover by what it had synced.
    run(&format!("pg_ctl -s -D {MOUNT}/data -m immediate stop"))?;
    client.drop_caches()?;
    run(&begin)?;
    books("after the recovery of the database")?;
    run(&format!("pg_ctl -s -D {MOUNT}/data -m fast stop"))?;
    client.drop_caches()?;
    let checked = run(&format!("pg_checksums --check -D {MOUNT}/data"))?;
    ensure!(checked.contains("Bad checksums:  0"), "pg_checksums says:\n{checked}");
    scene.note(format!("{processed} transactions, {crashes} crashes"));
    Ok(())
}
