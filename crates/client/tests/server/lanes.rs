//! Many requests at once.

use std::collections::HashSet;
use std::time::Duration;

use hayase_client::{Buffer, Done, Error, Full, Lane, OpenFile, Reply, Request, Stable};

use crate::lab::{Lab, for_each_version};

/// The bytes of a block, other ones for each.
pub fn block(number: u64, len: usize) -> Vec<u8> {
    (0..len as u64).map(|at| (at * 31 + number * 7 + at / 256) as u8).collect()
}

/// Makes requests 0 to `count`, as many at once as the lane takes, and hands over what comes of them.
pub fn run(
    lane: &mut Lane,
    count: u64,
    mut request: impl FnMut(u64) -> Request,
    mut done: impl FnMut(Done),
) {
    let (mut next, mut finished) = (0, Vec::new());
    let mut seen = HashSet::new();
    while seen.len() < count as usize {
        while next < count && lane.in_flight() < lane.depth() {
            lane.submit(next, request(next)).unwrap();
            next += 1;
        }
        lane.wait(Some(Duration::from_secs(60)), &mut finished).unwrap();
        for one in finished.drain(..) {
            assert!(seen.insert(one.token), "{} twice", one.token);
            assert!(one.submitted <= one.sent && one.sent <= one.received, "{one:?}");
            done(one);
        }
    }
    assert_eq!(lane.in_flight(), 0);
}

/// Writes `count` blocks of `len` bytes.
pub fn write_blocks(lane: &mut Lane, file: &OpenFile, count: u64, len: u32) {
    let request = |number: u64| {
        let mut buffer = Buffer::unpooled(len as usize);
        buffer.copy_from_slice(&block(number, len as usize));
        let (file, offset) = (file.clone(), number * u64::from(len));
        Request::Write { file, offset, len, stable: Stable::Unstable, buffer }
    };
    run(lane, count, request, |done| {
        let reply = done.result.unwrap();
        assert!(matches!(reply, Reply::Written { count, .. } if count == len), "{reply:?}");
        assert_eq!(done.buffer.unwrap().len(), len as usize);
    });
}

/// Reads them again, and compares.
pub fn read_blocks(lane: &mut Lane, file: &OpenFile, count: u64, len: u32) {
    let request = |number: u64| {
        let (file, offset) = (file.clone(), number * u64::from(len));
        Request::Read { file, offset, len, buffer: Buffer::unpooled(len as usize) }
    };
    run(lane, count, request, |done| {
        let reply = done.result.unwrap();
        assert!(matches!(reply, Reply::Read { count, .. } if count == len), "{reply:?}");
        let data = done.buffer.unwrap();
        assert!(data[..] == block(done.token, len as usize), "block {} is another", done.token);
    });
}

#[test]
fn blocks_of_all_sizes_come_back_as_they_were_written() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mount = lab.mount(version);
        let file = mount.create(&mount.root(), format!("blocks-{version}"), 0o644).unwrap().file;
        for (connections, depth, len) in
            [(1, 1, 1), (1, 16, 4095), (3, 16, 16_385), (2, 8, 262_143), (4, 7, 1 << 20)]
        {
            let mut lane = mount.lane(connections, depth).unwrap();
            let len = len.min(mount.limits().read_max).min(mount.limits().write_max);
            assert!(lane.slots() >= 1 && lane.slots() <= depth);
            write_blocks(&mut lane, &file, 40, len);
            read_blocks(&mut lane, &file, 40, len);
        }
        mount.close(file).unwrap();
    });
}

#[test]
fn small_and_large_requests_go_together() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mount = lab.mount(version);
        let file = mount.create(&mount.root(), format!("mixed-{version}"), 0o644).unwrap().file;
        let mut lane = mount.lane(2, 24).unwrap();
        let large = mount.limits().read_max.min(mount.limits().write_max).min(1 << 20);
        write_blocks(&mut lane, &file, 8, large);
        let request = |number: u64| match number % 5 {
            0 => Request::GetAttr { file: file.handle().clone() },
            1 => Request::Null,
            2 => Request::ReadDir {
                dir: mount.root(),
                from: hayase_client::Cursor::START,
                with_attributes: true,
            },
            3 => {
                let (file, offset, len) = (file.clone(), number * 64, 64);
                Request::Read { file, offset, len, buffer: Buffer::unpooled(64) }
            }
            _ => {
                let (file, offset, len) = (file.clone(), (number % 8) * u64::from(large), large);
                Request::Read { file, offset, len, buffer: Buffer::unpooled(large as usize) }
            }
        };
        run(&mut lane, 500, request, |done| {
            let reply = done.result.unwrap();
            let right = match done.token % 5 {
                0 => matches!(reply, Reply::Attributes(told) if told.size == 8 * u64::from(large)),
                1 => reply == Reply::Done,
                2 => matches!(&reply, Reply::Listing(listing) if !listing.entries.is_empty()),
                3 => reply == Reply::Read { count: 64, eof: false },
                _ => done.buffer.unwrap()[..] == block(done.token % 8, large as usize),
            };
            assert!(right, "{} is answered {reply:?}", done.token);
        });
        mount.close(file).unwrap();
    });
}

#[test]
fn a_lane_takes_what_fits_and_no_more() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mount = lab.mount(version);
        let mut lane = mount.lane(1, 2).unwrap();
        let mut done = Vec::new();
        lane.wait(None, &mut done).unwrap();
        assert!(done.is_empty(), "nothing is under way");
        lane.submit(1, Request::Null).unwrap();
        lane.submit(2, Request::Null).unwrap();
        let Err(Full(back)) = lane.submit(3, Request::Null) else { panic!("there is room") };
        assert!(matches!(*back, Request::Null));
        assert_eq!(lane.in_flight(), 2);
        assert_eq!(lane.call(Request::Null).unwrap().result.unwrap(), Reply::Done);
        while done.len() < 2 {
            lane.wait(None, &mut done).unwrap();
        }
        assert_eq!(done.iter().map(|done| done.token).sum::<u64>(), 3);

        let file = OpenFile::anonymous(mount.root());
        let max = mount.limits().read_max;
        for (len, room) in [(11, 10), (max + 1, max + 1)] {
            let buffer = Buffer::unpooled(room as usize);
            let request = Request::Read { file: file.clone(), offset: 0, len, buffer };
            let done = lane.call(request).unwrap();
            assert!(matches!(done.result, Err(Error::TooLong { .. })), "{:?}", done.result);
            assert_eq!(done.buffer.unwrap().len(), room as usize);
        }
    });
}

#[test]
fn lanes_of_one_mount_run_on_threads_of_their_own() {
    let lab = Lab::start();
    for_each_version(|version| {
        let mount = lab.mount(version);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let mount = mount.clone();
                scope.spawn(move || {
                    let name = format!("thread-{thread}-{version}");
                    let file = mount.create(&mount.root(), &name, 0o644).unwrap().file;
                    let mut lane = mount.lane(1, 4).unwrap();
                    write_blocks(&mut lane, &file, 20, 100_000);
                    read_blocks(&mut lane, &file, 20, 100_000);
                    let closed = lane.call(Request::Close { file }).unwrap();
                    assert_eq!(closed.result.unwrap(), Reply::Done);
                });
            }
        });
    });
}
