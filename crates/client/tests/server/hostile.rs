//! Servers that say what no server may say. Nothing they say may panic, hang or be believed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hayase_client::{
    Buffer, Cursor, Done, Error, Lane, Mount, Name, OpenFile, OpenHow, Options, Request, Version,
    access,
};

use crate::lab::{Lab, Liar, for_each_version, options};
use crate::lanes::{read_blocks, write_blocks};

/// One of each request that leaves things as they are.
fn questions(mount: &Mount, file: &OpenFile) -> Vec<Request> {
    let (root, handle) = (mount.root(), file.handle().clone());
    let read = |len: u32| {
        let buffer = Buffer::unpooled(len as usize);
        Request::Read { file: file.clone(), offset: 0, len, buffer }
    };
    vec![
        Request::Null,
        Request::GetAttr { file: handle.clone() },
        Request::Access { file: handle.clone(), wanted: access::ALL },
        Request::Lookup { dir: root.clone(), name: Name::new("file").unwrap() },
        Request::ReadLink { link: handle },
        Request::Open { dir: root.clone(), name: Name::new("no").unwrap(), how: OpenHow::READ },
        read(100),
        read(20_000),
        Request::Commit { file: file.clone(), offset: 0, len: 0 },
        Request::ReadDir { dir: root.clone(), from: Cursor::START, with_attributes: false },
        Request::ReadDir { dir: root.clone(), from: Cursor::START, with_attributes: true },
        Request::FsStat { file: root },
    ]
}

fn impatient() -> Options {
    Options { timeout: Some(Duration::from_millis(250)), ..Options::default() }
}

/// A mount behind a liar, with a file.
fn mounted(lab: &Lab, liar: &Liar, version: Version) -> (Mount, OpenFile) {
    let mount = Mount::new(&lab.url_at(liar.address, version), &impatient()).unwrap();
    let file = mount.create(&mount.root(), "file", 0o644).unwrap().file;
    mount.write(&file, 0, &vec![7; 20_000], hayase_client::Stable::FileSync).unwrap();
    (mount, file)
}

#[test]
fn replies_in_fragments_are_put_together() {
    let lab = Lab::start();
    for_each_version(|version| {
        let liar = Liar::before(lab.address());
        let number = AtomicUsize::new(1);
        liar.tell(move |truth| {
            // Into pieces of other sizes for each reply, an empty one among them.
            let size = (number.fetch_add(1, Ordering::Relaxed) * 37) % 4_000 + 1;
            let mut told = vec![0; 4];
            for piece in truth[4..].chunks(size) {
                told.extend((piece.len() as u32).to_be_bytes());
                told.extend(piece);
            }
            told.extend((1_u32 << 31).to_be_bytes());
            Some(told)
        });
        let mount = Mount::new(&lab.url_at(liar.address, version), &options()).unwrap();
        let name = format!("fragments-{version}");
        let file = mount.create(&mount.root(), &name, 0o644).unwrap().file;
        let mut lane = mount.lane(2, 8).unwrap();
        for len in [100, 5_000, 100_000] {
            write_blocks(&mut lane, &file, 20, len);
            read_blocks(&mut lane, &file, 20, len);
        }
        assert!(mount.readdir(&mount.root(), true).count() > 0);
        mount.close(file).unwrap();
    });
}

#[test]
fn replies_that_end_early_are_never_believed() {
    let lab = Lab::start();
    for_each_version(|version| {
        let liar = Liar::before(lab.address());
        let (mount, file) = mounted(&lab, &liar, version);
        let mut lane = mount.lane(1, 1).unwrap();
        let length = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&length);
        liar.tell(move |truth| {
            seen.store(truth.len() - 4, Ordering::Relaxed);
            Some(truth)
        });
        let ask = |lane: &mut Lane, number| {
            lane.call(questions(&mount, &file).swap_remove(number)).unwrap().result
        };
        let whole: Vec<_> = (0..questions(&mount, &file).len())
            .map(|number| (ask(&mut lane, number), length.load(Ordering::Relaxed)))
            .collect();
        for (number, (truth, full)) in whole.into_iter().enumerate() {
            let mut len = if number == 0 { 0 } else { 4 };
            while len < full {
                liar.tell(move |mut truth| {
                    // Sessions that are made anew between them are left alone.
                    if truth.len() - 4 == full {
                        truth.truncate(4 + len);
                        truth[..4].copy_from_slice(&(len as u32 | 1 << 31).to_be_bytes());
                    }
                    Some(truth)
                });
                let error = ask(&mut lane, number).expect_err("it was cut");
                assert!(
                    matches!(error, Error::Protocol { .. } | Error::Timeout { .. }),
                    "question {number} cut to {len} bytes: {error}"
                );
                // Word by word where the head is, in larger steps where data is. Without an xid a reply is nobody's,
                // which takes until time is up.
                len += match len {
                    0..4 => 4,
                    4..260 => 8,
                    _ => 1_237,
                };
            }
            liar.tell_the_truth();
            // The lies before have made the client careful: it may not be connected yet.
            let told = (0..20).map(|_| ask(&mut lane, number));
            let told = told.into_iter().find(|told| told.is_ok() == truth.is_ok());
            assert!(told.is_some(), "question {number}, NFSv{version}");
        }
        liar.tell_the_truth();
        let mut buffer = [0; 9];
        let mut tries = 0;
        while mount.read(&file, 0, &mut buffer).is_err() {
            tries += 1;
            assert!(tries < 20);
        }
        assert_eq!(buffer, [7; 9]);
    });
}

#[test]
fn lies_of_all_kinds_end_in_an_error_in_good_time() {
    type Kind = (&'static str, fn(Vec<u8>) -> Option<Vec<u8>>);
    let kinds: [Kind; 7] = [
        ("another xid", |mut truth| {
            truth[7] ^= 1;
            Some(truth)
        }),
        ("an absurd length", |mut truth| {
            truth[..4].copy_from_slice(&[0xff; 4]);
            Some(truth)
        }),
        ("as many fragments as one likes", |_| Some([0, 0, 0, 0].repeat(1000))),
        ("a call", |mut truth| {
            truth[11] = 0;
            Some(truth)
        }),
        ("nothing", |_| None),
        ("something behind it", |mut truth| {
            truth.extend([0; 8]);
            let len = (truth.len() - 4) as u32 | 1 << 31;
            truth[..4].copy_from_slice(&len.to_be_bytes());
            Some(truth)
        }),
        ("ones", |mut truth| {
            truth[8..].fill(0xff);
            Some(truth)
        }),
    ];
    let lab = Lab::start();
    for_each_version(|version| {
        for (what, lie) in kinds {
            let liar = Liar::before(lab.address());
            let (mount, file) = mounted(&lab, &liar, version);
            let mut lane = mount.lane(2, 16).unwrap();
            liar.tell(lie);
            let begun = Instant::now();
            let questions = questions(&mount, &file);
            let count = questions.len();
            for (token, question) in questions.into_iter().enumerate() {
                lane.submit(token as u64, question).unwrap();
            }
            let mut done: Vec<Done> = Vec::new();
            while done.len() < count {
                lane.wait(None, &mut done).unwrap();
            }
            assert!(begun.elapsed() < Duration::from_secs(20), "{what}: {:?}", begun.elapsed());
            for one in done {
                let error = one.result.expect_err(what);
                assert!(
                    // Some ask for what is not there, and a refusal needs nothing behind it.
                    matches!(
                        error,
                        Error::Protocol { .. } | Error::Timeout { .. } | Error::Status { .. }
                    ),
                    "{what}: {error}"
                );
            }
            liar.tell_the_truth();
        }
    });
}

#[test]
fn a_connection_that_is_not_bound_to_its_session_gets_bound() {
    use hayase_proto::nfs4::{Op, Status};

    const FIRST_OP_AT: usize = 40; // mark, RPC header, status, empty tag, count
    let lab = Lab::start();
    for version in [Version::V41, Version::V42] {
        let liar = Liar::before(lab.address());
        let mount = Mount::new(&lab.url_at(liar.address, version), &options()).unwrap();
        let file = mount.create(&mount.root(), "file", 0o644).unwrap().file;
        let mut lane = mount.lane(2, 4).unwrap();
        let left = Arc::new(AtomicUsize::new(3));
        let bound = Arc::new(AtomicUsize::new(0));
        let sessions = Arc::new(AtomicUsize::new(0));
        let (lies, binds, made) = (Arc::clone(&left), Arc::clone(&bound), Arc::clone(&sessions));
        liar.tell(move |mut reply| {
            let word = |at: usize| u32::from_be_bytes(reply[at..at + 4].try_into().unwrap());
            match word(FIRST_OP_AT) {
                op if op == u32::from(Op::BindConnToSession) => {
                    binds.fetch_add(1, Ordering::SeqCst);
                }
                op if op == u32::from(Op::CreateSession) => {
                    made.fetch_add(1, Ordering::SeqCst);
                }
                op if op == u32::from(Op::Sequence)
                    && lies
                        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |n| n.checked_sub(1))
                        .is_ok() =>
                {
                    let status = u32::from(Status::ConnNotBoundToSession).to_be_bytes();
                    reply.truncate(FIRST_OP_AT + 8);
                    reply[28..32].copy_from_slice(&status);
                    reply[36..40].copy_from_slice(&1_u32.to_be_bytes());
                    reply[FIRST_OP_AT + 4..].copy_from_slice(&status);
                    let mark = (reply.len() as u32 - 4) | 1 << 31;
                    reply[..4].copy_from_slice(&mark.to_be_bytes());
                }
                _ => {}
            }
            Some(reply)
        });
        let fits = |request: &Request| {
            // In a session, and there is something to say yes to.
            !matches!(request, Request::Null | Request::ReadLink { .. } | Request::Open { .. })
        };
        for request in questions(&mount, &file).into_iter().filter(fits) {
            let operation = request.operation();
            let done = lane.call(request).unwrap();
            assert!(done.result.is_ok(), "{version} {operation}: {:?}", done.result);
        }
        assert_eq!(left.load(Ordering::SeqCst), 0);
        assert_eq!(bound.load(Ordering::SeqCst), 3, "{version}");
        assert_eq!(sessions.load(Ordering::SeqCst), 0, "{version}");
        liar.tell_the_truth();
    }
}

#[test]
fn noise_is_never_worse_than_an_error() {
    let lab = Lab::start();
    for_each_version(|version| {
        let liar = Liar::before(lab.address());
        let (mount, file) = mounted(&lab, &liar, version);
        let mut lane = mount.lane(1, 1).unwrap();
        for round in 0..10_usize {
            liar.tell(move |mut truth| {
                // One byte behind the xid is another one.
                let at = 8 + (round * 7919 + 13) % (truth.len() - 8).min(300);
                truth[at] ^= 1 << (round % 8);
                Some(truth)
            });
            for question in questions(&mount, &file) {
                // What a flipped bit of data or of a number says, nobody can tell from the truth.
                let _ = lane.call(question).unwrap();
            }
        }
        liar.tell_the_truth();
    });
}
