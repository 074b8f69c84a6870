//! Results that look like measured ones: nothing is timed, so that a test sees the same each time.

use hayase_bench::report::{
    Breakdown, Cpu, Direction, Environment, Fault, Flow, JobResult, Latency, Nic, Run, Sample,
    Server,
};

/// A run of one job that reads and writes.
pub fn run() -> Run {
    Run {
        tool: "hayase 0.1.0".to_owned(),
        started_unix_ms: 1_796_063_135_000,
        command: ["hayase", "bench", "run", "nfs://server/data?version=4.1", "--rw", "randrw"]
            .map(str::to_owned)
            .into(),
        environment: environment(),
        jobs: vec![job("job0")],
        interrupted: None,
    }
}

/// A run that went wrong, with names that would be markup if they could.
pub fn broken_run() -> Run {
    let mut run = run();
    run.interrupted = Some("server:2049 answers no more".to_owned());
    run.jobs = (0..12).map(|index| job(&format!("<b>client{index}</b>"))).collect();
    run.jobs[3].error = Some(Fault {
        errno: 28,
        message: "/data/<i>file</i>: no space left on device".to_owned(),
        operations: 3,
    });
    run
}

pub fn environment() -> Environment {
    Environment {
        host: Some("client.example".to_owned()),
        kernel: Some("Linux 6.1.0-18-amd64".to_owned()),
        cpu: Some("AMD EPYC 9654 96-Core Processor".to_owned()),
        cores: Some(192),
        memory_bytes: Some(811_748_818_944),
        nics: vec![Nic {
            name: "enp65s0np0".to_owned(),
            speed_mbits: Some(200_000),
            mtu: Some(9000),
        }],
        target: "nfs://server/data?version=4.1".to_owned(),
        server: Some(Server {
            address: "192.0.2.7:2049".to_owned(),
            version: "4.1".to_owned(),
            connections: 16,
            implementation: None,
            owner: Some("hayase/7f3a".to_owned()),
            read_max: Some(1 << 20),
            write_max: Some(1 << 20),
        }),
        ..Environment::default()
    }
}

pub fn job(name: &str) -> JobResult {
    let options = [("rw", "randrw"), ("bs", "64k"), ("iodepth", "16"), ("nconnect", "4")];
    JobResult {
        name: name.to_owned(),
        group: 0,
        jobs: 1,
        options: options.map(|(key, value)| (key.to_owned(), value.to_owned())).into(),
        error: None,
        read: Some(direction(700)),
        write: Some(direction(300)),
        meta: None,
        sync: Latency::default(),
        elapsed_nanos: 30_000_000_000,
        cpu: Cpu { user_nanos: 4_000_000_000, system_nanos: 9_000_000_000, ..Cpu::default() },
        depths: hayase_bench::report::Depths::default(),
        verified: None,
        breakdown: Some(Breakdown { queue: latency(20), wire: latency(900), server: None }),
        series: (0..60).map(sample).collect(),
    }
}

fn direction(per_mille: u32) -> Direction {
    let share = u64::from(per_mille);
    Direction {
        bytes: 36_000_000_000 * share / 1000,
        ops: 550_000 * share / 1000,
        runtime_nanos: 30_000_000_000,
        slat: latency(20),
        clat: latency(per_mille),
        lat: latency(per_mille),
        ..Direction::default()
    }
}

/// Latencies around so many µs, with a long tail.
fn latency(micros: u32) -> Latency {
    let shape = [2, 9, 30, 90, 180, 240, 200, 120, 60, 30, 15, 8, 5, 3, 2, 1, 1, 0, 1, 1, 0, 0, 1];
    let mut nanos = u64::from(micros) * 400;
    let buckets: Vec<(u64, u64)> = shape
        .iter()
        .map(|count| {
            nanos = nanos * 5 / 4;
            (nanos, count * 550)
        })
        .filter(|(_, count)| *count > 0)
        .collect();
    Latency {
        count: buckets.iter().map(|(_, count)| count).sum(),
        min_nanos: buckets[0].0,
        max_nanos: nanos,
        mean_nanos: f64::from(micros) * 1_400.0,
        stddev_nanos: f64::from(micros) * 700.0,
        buckets,
    }
}

fn sample(index: u64) -> Sample {
    // A stall in the middle, as a server's disk makes one.
    let slow = if (28..32).contains(&index) { 6 } else { 1 };
    let wave = 100 + index * 7 % 11;
    let flow = |share: u64| Flow {
        bytes: 6_000_000 * share * wave / slow / 10,
        ops: 92 * share * wave / slow / 10,
        errors: 0,
        p50_nanos: 7_000 * share / 10 * wave * slow,
        p99_nanos: 31_000 * share / 10 * wave * slow,
        max_nanos: 90_000 * share / 10 * wave * slow * slow,
    };
    Sample {
        at_millis: index * 500,
        span_millis: 500,
        read: flow(7),
        write: flow(3),
        meta: Flow::default(),
    }
}
