//! Results that look like measured ones: nothing is timed, so that a test sees the same each time.

use hayase_bench::agent::Offset;
use hayase_bench::fleet::{ClientRun, FleetRun, Reckoned, Start};
use hayase_bench::matrix::{Cache, Cell, Column, Limit, Matrix, Raw, Row, Way};
use hayase_bench::report::{
    Breakdown, Cpu, Direction, Environment, Fault, Flow, JobResult, Latency, Nic, Run, Sample,
    Server, Told,
};
use hayase_bench::statistics::{Knee, fairness};
use hayase_bench::sweep::{Figure, Measured, Step, Sweep};

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

/// Three clients, one of them lost.
pub fn fleet() -> FleetRun {
    let client = |number: u64| {
        let mut run = run();
        for sample in &mut run.jobs[0].series {
            sample.read.bytes = sample.read.bytes * (number + 2) / 4;
        }
        ClientRun {
            name: format!("node{number}.example:20490"),
            agent: Some(format!("node{number}.example:20490")),
            offset: Some(Offset { nanos: -7_000_000, uncertainty_nanos: 61_000 }),
            starts: vec![Start { group: 0, late_nanos: 900 * number }],
            run: Some(run),
            lost: None,
            last_heard: None,
        }
    };
    let mut clients: Vec<ClientRun> = (1..=3).map(client).collect();
    clients[1].run = None;
    clients[1].lost = Some("the connection was closed".to_owned());
    clients[1].last_heard = Some(Reckoned { elapsed_millis: 12_400, ..Reckoned::default() });
    let Run { tool, started_unix_ms, command, .. } = run();
    FleetRun { tool, started_unix_ms, command, clients, interrupted: None }
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
        breakdown: Some(Breakdown {
            queue: latency(20),
            beyond: latency(900),
            is_local: false,
            told: Some(Told {
                network: latency(300),
                waiting: latency(50),
                server: latency(150),
                disk: latency(400),
            }),
        }),
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

/// A sweep over depths by three clients, of which the third is served worse the more there is to do.
pub fn sweep() -> Sweep {
    let measured = |rate: f64, slow: f64| Measured {
        bytes_per_sec: rate * 4096.0,
        ops_per_sec: rate,
        p50_nanos: 90_000.0 * slow,
        p99_nanos: 400_000.0 * slow,
        client_cores: rate / 100_000.0,
    };
    let rates = [9_000.0, 17_000.0, 33_000.0, 61_000.0, 66_000.0, 67_000.0, 66_500.0];
    let step = |(index, rate): (usize, &f64)| {
        let slow = f64::from(1 << index);
        let parts = [0.36, 0.34, 0.30 - 0.03 * slow.log2()];
        let clients: Vec<Measured> = parts.iter().map(|part| measured(rate * part, slow)).collect();
        let shares: Vec<f64> = clients.iter().map(|client| client.ops_per_sec).collect();
        Step {
            value: (1 << index).to_string(),
            all: measured(*rate, slow),
            clients,
            fairness: fairness(&shares),
            error: None,
        }
    };
    Sweep {
        tool: "hayase 0.1.0".to_owned(),
        started_unix_ms: 1_796_063_135_000,
        command: vec!["hayase".to_owned(), "bench".to_owned(), "sweep".to_owned()],
        environment: environment(),
        parameter: "iodepth".to_owned(),
        options: vec![("rw".to_owned(), "randread".to_owned())],
        figure: Figure::Operations,
        clients: ["node1", "node2", "node3"].map(str::to_owned).into(),
        steps: rates.iter().enumerate().map(step).collect(),
        knee: Knee::At { index: 3 },
        interrupted: None,
    }
}

/// Two file systems, one of which cannot be reached by NFSv4.1.
pub fn matrix() -> Matrix {
    const MIB: f64 = 1_048_576.0;
    let cell = |way: Way, mib: f64, local: f64, limit: Limit| Cell {
        way,
        rates: vec![mib * MIB],
        median: Some(mib * MIB),
        spread: Some(0.04),
        to_local: Some(mib / local),
        client_cores: vec![0.6],
        busy: vec![0.7],
        limit,
        error: None,
    };
    let row = |name: &str, write: [f64; 3], read: [f64; 3]| Row {
        name: name.to_owned(),
        targets: ["local", "NFSv3", "NFSv4.1"]
            .map(|column| Column {
                target: if column == "local" { "file:///srv" } else { "nfs://host/srv" }.to_owned(),
                name: column.to_owned(),
                environment: Some(environment()),
            })
            .into(),
        cells: (0..3)
            .flat_map(|i| {
                [
                    cell(Way::Write, write[i], write[0], Limit::File),
                    cell(Way::Read, read[i], read[0], Limit::Link),
                ]
            })
            .collect(),
        raw: Raw {
            file_write: vec![700.0 * MIB],
            file_read: vec![3_000.0 * MIB],
            tcp: vec![Vec::new(), vec![2_300.0 * MIB], vec![2_310.0 * MIB]],
            errors: Vec::new(),
        },
    };
    let mut rows = vec![
        row("ext4", [690.0, 610.0, 600.0], [3_100.0, 2_100.0, 2_050.0]),
        row("xfs", [720.0, 650.0, 640.0], [3_200.0, 2_150.0, 2_080.0]),
    ];
    let failed = &mut rows[1].cells[5];
    (failed.median, failed.to_local) = (None, None);
    failed.error = Some("host:2049: connection refused".to_owned());
    Matrix {
        tool: "hayase 0.1.0".to_owned(),
        started_unix_ms: 1_796_063_135_000,
        command: vec!["hayase".to_owned(), "bench".to_owned(), "matrix".to_owned()],
        options: vec![("bs".to_owned(), "1m".to_owned())],
        size: 4 << 30,
        cache: Cache::Warm,
        rows,
        interrupted: None,
    }
}
