//! Connections that break, and servers that restart.

use std::time::{Duration, Instant};

use hayase_client::{Error, Mount, Name, OpenHow, Options, Reply, Request, Stable, Version};

use crate::lab::{Lab, Proxy, for_each_version, options};
use crate::lanes::{read_blocks, run, write_blocks};

#[test]
fn data_survives_connections_that_break_all_the_time() {
    let lab = Lab::start();
    for_each_version(|version| {
        let proxy = Proxy::before(lab.address());
        let mount = Mount::new(&lab.url_at(proxy.address, version), &options()).unwrap();
        let file = mount.create(&mount.root(), format!("cut-{version}"), 0o644).unwrap().file;
        let mut lane = mount.lane(2, 8).unwrap();
        write_blocks(&mut lane, &file, 30, 200_000);
        // Each connection brings a few blocks and breaks in the midst of one.
        proxy.cut_after(700_000);
        proxy.cut();
        let before = proxy.accepted();
        read_blocks(&mut lane, &file, 30, 200_000);
        assert!(proxy.accepted() > before + 5, "hardly any connection broke");
        proxy.cut_after(2_000);
        proxy.cut();
        write_blocks(&mut lane, &file, 60, 20_000);
        read_blocks(&mut mount.lane(1, 1).unwrap(), &file, 0, 1);
        proxy.cut_after(0);
        proxy.cut();
        read_blocks(&mut lane, &file, 60, 20_000);
        mount.close(file).unwrap();
    });
}

#[test]
fn what_changes_names_is_done_once_however_often_it_is_sent() {
    let lab = Lab::start();
    for_each_version(|version| {
        if !lab.is_own() && !version.has_sessions() {
            return; // It depends on what the server knows a client by.
        }
        let proxy = Proxy::before(lab.address());
        let mount = Mount::new(&lab.url_at(proxy.address, version), &options()).unwrap();
        let dir = mount.mkdir(&mount.root(), format!("once-{version}"), 0o777).unwrap().handle;
        let mut lane = mount.lane(2, 6).unwrap();
        proxy.cut_after(3_000);
        proxy.cut();
        let name = |number: u64| Name::new(format!("{number}")).unwrap();
        // Done twice, each of these would fail the second time.
        let make = |number| Request::MkDir { dir: dir.clone(), name: name(number), mode: 0o755 };
        let mut resent = 0;
        run(&mut lane, 300, make, |done| {
            resent += done.resent;
            assert!(matches!(done.result.unwrap(), Reply::Found(_)));
        });
        let remove = |number| Request::RmDir { dir: dir.clone(), name: name(number) };
        run(&mut lane, 300, remove, |done| {
            resent += done.resent;
            assert_eq!(done.result.unwrap(), Reply::Done);
        });
        assert!(resent > 20, "only {resent} were sent again");
        let open = |number| {
            let how = OpenHow::create_new(0o644);
            Request::Open { dir: dir.clone(), name: name(number), how }
        };
        let mut files = Vec::new();
        run(&mut lane, 60, open, |done| match done.result.unwrap() {
            Reply::Opened(opened) => files.push(opened.file),
            other => panic!("{other:?}"),
        });
        let close = |number: u64| Request::Close { file: files[number as usize].clone() };
        run(&mut lane, 60, close, |done| assert_eq!(done.result.unwrap(), Reply::Done));
        proxy.cut_after(0);
        proxy.cut();
        assert_eq!(mount.readdir(&dir, false).count(), 60);
    });
}

#[test]
fn a_server_that_restarts_finds_its_clients_again() {
    for_each_version(|version| {
        let mut lab = Lab::with(|options| options.lease_secs = 4);
        let mount = lab.mount(version);
        let file = mount.create(&mount.root(), "file", 0o644).unwrap().file;
        let other = mount.create(&mount.root(), "other", 0o644).unwrap().file;
        let mut lane = mount.lane(2, 6).unwrap();
        write_blocks(&mut lane, &file, 30, 100_000);
        for _ in 0..2 {
            lab.restart(Duration::from_millis(100));
            read_blocks(&mut lane, &file, 30, 100_000);
            write_blocks(&mut lane, &other, 30, 100_000);
        }
        // In the grace period a new open has to wait, and then it works.
        let late = mount.create(&mount.root(), "late", 0o644).unwrap().file;
        mount.write(&late, 0, b"late", Stable::FileSync).unwrap();
        for file in [file, other, late] {
            mount.close(file).unwrap();
        }
    });
}

#[test]
fn a_server_that_restarts_under_load_loses_nothing() {
    for_each_version(|version| {
        let mut lab = Lab::with(|options| options.lease_secs = 4);
        let mount = lab.mount(version);
        let file = mount.create(&mount.root(), "file", 0o644).unwrap().file;
        let running = {
            let (mount, file) = (mount.clone(), file.clone());
            std::thread::spawn(move || {
                let mut lane = mount.lane(2, 8).unwrap();
                for _ in 0..6 {
                    write_blocks(&mut lane, &file, 60, 150_000);
                    read_blocks(&mut lane, &file, 60, 150_000);
                }
            })
        };
        let begun = Instant::now();
        while !running.is_finished() && begun.elapsed() < Duration::from_secs(2) {
            std::thread::sleep(Duration::from_millis(150));
            lab.restart(Duration::from_millis(50));
        }
        running.join().unwrap();
        mount.close(file).unwrap();
    });
}

#[test]
fn a_lease_that_ran_out_is_no_loss() {
    for version in [Version::V40, Version::V41] {
        let lab = Lab::with(|options| options.lease_secs = 1);
        let proxy = Proxy::before(lab.address());
        let mount = Mount::new(&lab.url_at(proxy.address, version), &options()).unwrap();
        let file = mount.create(&mount.root(), "file", 0o644).unwrap().file;
        let mut lane = mount.lane(1, 4).unwrap();
        write_blocks(&mut lane, &file, 10, 1000);
        // The renewals keep it while nothing else is asked.
        std::thread::sleep(Duration::from_millis(2500));
        read_blocks(&mut lane, &file, 10, 1000);
        mount.close(file).unwrap();
    }
}

#[test]
fn a_server_that_is_gone_is_named_when_time_is_up() {
    for_each_version(|version| {
        let mut lab = Lab::start();
        let patient = Options { timeout: Some(Duration::from_millis(700)), ..options() };
        let mount = Mount::new(&lab.url(version), &patient).unwrap();
        let mut lane = mount.lane(2, 2).unwrap();
        lab.stop();
        let begun = Instant::now();
        for number in 0..2 {
            lane.submit(number, Request::GetAttr { file: mount.root() }).unwrap();
        }
        let mut done = Vec::new();
        while done.len() < 2 {
            lane.wait(None, &mut done).unwrap();
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
        for one in done {
            let error = one.result.unwrap_err();
            assert!(matches!(error, Error::Timeout { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains(&lab.address().to_string()), "{text}");
            assert!(text.contains("GETATTR") && text.contains("refused"), "{text}");
        }
        // It comes back, and so does the lane.
        lab.start_again();
        let mut tries = 0;
        while lane.call(Request::GetAttr { file: mount.root() }).unwrap().result.is_err() {
            tries += 1;
            assert!(tries < 20);
        }
    });
}
