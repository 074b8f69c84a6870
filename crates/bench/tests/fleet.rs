//! Several clients at once: of this process, and of agents on the loopback address.
#![allow(clippy::unwrap_used)]

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use hayase_bench::agent::{Agent, Ends, Remote, Secret};
use hayase_bench::engine::{Progress, Unwatched, Watch};
use hayase_bench::fleet::{Fleet, FleetRun, Work, sum};

const SECRET: &[u8] = b"a secret of some length";

fn secret() -> Secret {
    Secret::new(SECRET).unwrap()
}

/// An agent that may work in this directory. It listens until the test's process ends.
fn agent(dir: &Path) -> SocketAddr {
    let agent = Agent::bind("127.0.0.1:0", secret(), &[dir.to_owned()]).unwrap();
    let address = agent.address().unwrap();
    std::thread::spawn(move || agent.serve());
    address
}

fn work(dir: &Path, options: &[(&str, &str)]) -> Work {
    let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    Work::new(&format!("file://{}", dir.display()), "job", options.collect())
}

const TIMED: [(&str, &str); 5] =
    [("rw", "randrw"), ("bs", "4k"), ("size", "1m"), ("runtime", "600ms"), ("time_based", "1")];

/// Ends when it is stopped.
const LONG: [(&str, &str); 5] =
    [("rw", "randrw"), ("bs", "4k"), ("size", "1m"), ("runtime", "1h"), ("time_based", "1")];

fn is_sum(run: &FleetRun) {
    let all = sum(run);
    let bytes = |job: &hayase_bench::report::JobResult| {
        job.directions().map(|(_, direction)| direction.bytes).sum::<u64>()
    };
    let each: u64 =
        run.clients.iter().map(|client| bytes(&client.run.as_ref().unwrap().jobs[0])).sum();
    assert_eq!(bytes(&all.jobs[0]), each);
    let in_series: u64 = all.jobs[0].series.iter().map(|sample| sample.total().bytes).sum();
    assert_eq!(in_series, each, "the series of all has what all did");
    assert!(each > 0);
}

#[test]
fn clients_of_this_process_have_files_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let mut fleet = Fleet::local(3).unwrap();
    assert_eq!(fleet.names(), ["client1", "client2", "client3"]);
    let run = fleet.run(&work(dir.path(), &TIMED), &["command".to_owned()], &Unwatched);
    assert!(run.is_whole(), "{run:?}");
    is_sum(&run);
    // Each saw the CPU of the whole process, which is not that of three.
    let cpu = |job: &hayase_bench::report::JobResult| job.cpu.user_nanos + job.cpu.system_nanos;
    let each = run.clients.iter().map(|client| cpu(&client.run.as_ref().unwrap().jobs[0]));
    assert_eq!(cpu(&sum(&run).jobs[0]), each.max().unwrap());
    let mut names: Vec<_> = std::fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["job.client1.0.0", "job.client2.0.0", "job.client3.0.0"]);
    assert!(run.clients.iter().all(|client| client.starts.len() == 1 && client.offset.is_none()));
}

#[test]
fn agents_start_at_the_same_time_and_are_summed() {
    let dir = tempfile::tempdir().unwrap();
    let agents = [agent(dir.path()), agent(dir.path())];
    let agents: Vec<Remote> =
        agents.iter().map(|at| Remote::connect(&at.to_string(), &secret()).unwrap()).collect();
    let mut fleet = Fleet::remote(agents).unwrap();
    // The same agents do one thing after the other.
    for _ in 0..2 {
        let run = fleet.run(&work(dir.path(), &TIMED), &[], &Unwatched);
        assert!(run.is_whole(), "{run:?}");
        is_sum(&run);
        for client in &run.clients {
            assert_eq!(client.starts.len(), 1);
            assert!(client.offset.unwrap().uncertainty_nanos > 0);
        }
        assert!(run.skew_nanos().is_some());
        let text = hayase_bench::fleet::text(&run);
        for part in ["<127.0.0.1:", "All clients:", "Jain's index=", "all within"] {
            assert!(text.contains(part), "{part} is not in {text}");
        }
        let json = hayase_bench::fleet::json(&run, hayase_bench::fio::Bins::Without);
        assert_eq!(json["client_stats"].as_array().unwrap().len(), 3);
        assert_eq!(json["client_stats"][2]["hostname"], "All clients");
    }
}

/// Hands connections on until it is cut.
fn relay(to: SocketAddr, cut: Arc<AtomicBool>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let (client, _) = listener.accept().unwrap();
        let server = TcpStream::connect(to).unwrap();
        for (mut from, mut to) in [
            (client.try_clone().unwrap(), server.try_clone().unwrap()),
            (server.try_clone().unwrap(), client.try_clone().unwrap()),
        ] {
            std::thread::spawn(move || std::io::copy(&mut from, &mut to));
        }
        while !cut.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = (client.shutdown(Shutdown::Both), server.shutdown(Shutdown::Both));
    });
    address
}

/// Cuts when progress was told of often enough for all to have told of it.
struct Scissors {
    cut: Arc<AtomicBool>,
    told: AtomicUsize,
}

impl Watch for Scissors {
    fn progress(&self, progress: &Progress) {
        if progress.moved[0].1 > 0 && self.told.fetch_add(1, Ordering::Relaxed) == 5 {
            self.cut.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn what_a_lost_agent_had_done_is_kept_and_marked() {
    let dir = tempfile::tempdir().unwrap();
    let cut = Arc::new(AtomicBool::new(false));
    let agents = [agent(dir.path()), relay(agent(dir.path()), Arc::clone(&cut))];
    let agents: Vec<Remote> =
        agents.iter().map(|at| Remote::connect(&at.to_string(), &secret()).unwrap()).collect();
    let mut fleet = Fleet::remote(agents).unwrap();
    let options = [&TIMED[..3], &[("runtime", "4s"), ("time_based", "1")]].concat();
    let watch = Scissors { cut, told: AtomicUsize::new(0) };
    let run = fleet.run(&work(dir.path(), &options), &[], &watch);
    assert!(!run.is_whole());
    let [whole, lost] = &run.clients[..] else { panic!("{run:?}") };
    assert!(whole.run.as_ref().unwrap().is_whole() && lost.run.is_none());
    let heard = lost.last_heard.unwrap();
    assert!(heard.elapsed_millis > 0);
    let text = hayase_bench::fleet::text(&run);
    assert!(text.contains("heard last") && text.contains("operations until then"), "{text}");
    let json = hayase_bench::fleet::json(&run, hayase_bench::fio::Bins::Without);
    assert_eq!(json["clients"][1]["last_heard"]["elapsed_millis"], heard.elapsed_millis);
}

#[test]
fn an_agent_takes_bare_streams() {
    let dir = tempfile::tempdir().unwrap();
    let agents = [agent(dir.path()).to_string()];
    let ends = Ends::find(&agents, secret()).unwrap();
    let time = Duration::from_millis(50);
    for _ in 0..2 {
        let rate = ends.stream("127.0.0.1".parse().unwrap(), 2, time).unwrap().unwrap();
        assert!(rate > 1e6, "{rate}");
    }
    assert!(ends.stream("192.0.2.1".parse().unwrap(), 2, time).is_none());
}

#[test]
fn a_client_that_cannot_begin_keeps_the_others_from_beginning() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let agents = [agent(dir.path()), agent(other.path())];
    let agents: Vec<Remote> =
        agents.iter().map(|at| Remote::connect(&at.to_string(), &secret()).unwrap()).collect();
    let mut fleet = Fleet::remote(agents).unwrap();
    let run = fleet.run(&work(dir.path(), &TIMED), &[], &Unwatched);
    assert!(!run.is_whole());
    let why = run.interrupted.unwrap();
    assert!(why.contains("nothing was begun") && why.contains("--files"), "{why}");
    assert!(run.clients[0].starts.is_empty());
    assert!(run.clients[1].lost.as_ref().unwrap().contains("--files"));
}

#[test]
fn a_stop_ends_all_and_keeps_what_they_have() {
    struct Impatient(AtomicBool);
    impl Watch for Impatient {
        fn progress(&self, progress: &Progress) {
            if progress.rates.iter().any(|rate| rate.1 > 0.0) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        fn interrupted(&self) -> Option<String> {
            self.0.load(Ordering::Relaxed).then(|| "enough".to_owned())
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let address = agent(dir.path()).to_string();
    let agents = vec![Remote::connect(&address, &secret()).unwrap()];
    let mut fleet = Fleet::remote(agents).unwrap();
    let run = fleet.run(&work(dir.path(), &LONG), &[], &Impatient(AtomicBool::new(false)));
    assert_eq!(run.interrupted.as_deref(), Some("enough"));
    assert!(!run.is_whole());
    assert!(sum(&run).jobs[0].directions().any(|(_, direction)| direction.ops > 0));
}

/// Says when a run makes progress, and ends it on demand.
#[derive(Default)]
struct Tell {
    started: AtomicBool,
    enough: AtomicBool,
}

impl Watch for Tell {
    fn progress(&self, _: &Progress) {
        self.started.store(true, Ordering::Release);
    }
    fn interrupted(&self) -> Option<String> {
        self.enough.load(Ordering::Acquire).then(|| "enough".to_owned())
    }
}

#[test]
fn two_coordinators_do_not_disturb_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let address = agent(dir.path()).to_string();
    let connect = || Fleet::remote(vec![Remote::connect(&address, &secret()).unwrap()]).unwrap();
    let (mut first, mut second) = (connect(), connect());
    let tell = Tell::default();
    let long = work(dir.path(), &LONG);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| first.run(&long, &[], &tell));
        while !tell.started.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        let refused = second.run(&work(dir.path(), &TIMED), &[], &Unwatched);
        tell.enough.store(true, Ordering::Release);
        let lost = refused.clients[0].lost.as_ref();
        assert!(lost.is_some_and(|why| why.contains("another coordinator")), "{lost:?}");
        let run = running.join().unwrap();
        assert_eq!((&run.clients[0].lost, run.interrupted.as_deref()), (&None, Some("enough")));
        assert!(sum(&run).jobs[0].directions().any(|(_, direction)| direction.ops > 0));
    });
}
