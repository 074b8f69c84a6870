//! Runs one operation many times: for counting system calls and nanoseconds.
//!
//! `cargo run --release -p hayase-local --example ops -- getattr /tmp 100000 [UID [INDEX]]`
//! With a directory for it, handles are by index.
#![allow(clippy::unwrap_used)] // a measurement that cannot be made is a panic

use std::time::Instant;

use hayase_local::{HandlesBy, LocalFs, Options};
use hayase_vfs::{Access, Cred, Cx, Durability, Name, Open, SetAttr, Stability, Vfs, Wait, Wcc};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, op, dir, count, rest @ ..] = &args[..] else {
        eprintln!("usage: ops OPERATION DIRECTORY COUNT [UID [INDEX]]");
        std::process::exit(2);
    };
    let count: usize = count.parse().unwrap();
    let uid = rest.first().map_or(0, |uid| uid.parse().unwrap());
    let mut options = Options::default();
    if let Some(state) = rest.get(1) {
        options.handles = HandlesBy::Index;
        options.state_dir = Some(state.into());
    }
    let fs = LocalFs::open(dir.as_ref(), options).unwrap();
    let cred = Cred { uid, gid: uid, ..Cred::root() };
    let cx = Cx {
        cred: &cred,
        wait: Wait::Allowed,
        durability: Durability::Async,
        opened: Access::NONE,
    };
    let never = Cx { wait: Wait::Never, ..cx };
    let root = fs.root();
    let wcc = &mut Wcc::default();
    let how = Open::Unchecked(SetAttr { mode: Some(0o644), ..SetAttr::default() });
    let name = Name::new(b"hayase-ops").unwrap();
    let file = fs.create(&cx, &root, name, &how, wcc).unwrap().handle;
    fs.write(&cx, &file, 0, &vec![7; 1 << 20], Stability::Unstable, wcc).unwrap();
    let mut inline = Vec::new();
    fs.read(&cx, &file, 0, 1, &mut inline).unwrap();
    let begun = Instant::now();
    let mut done = 0;
    while done < count {
        done += 1;
        match &op[..] {
            "getattr" => drop(fs.attr(&never, &file).unwrap()),
            "access" => drop(fs.access(&never, &file, Access::ALL).unwrap()),
            "read4k" => {
                inline.clear();
                fs.read(&never, &file, (done as u64 % 256) << 12, 4096, &mut inline).unwrap();
            }
            "read1m" => drop(fs.read(&never, &file, 0, 1 << 20, &mut inline).unwrap()),
            "write4k" => {
                let at = (done as u64 % 256) << 12;
                fs.write(&cx, &file, at, &[1; 4096], Stability::Unstable, wcc).unwrap();
            }
            // The kernel may refuse to go without waiting when others change its tables.
            "lookup" => drop(
                fs.lookup(&never, &root, name).or_else(|_| fs.lookup(&cx, &root, name)).unwrap(),
            ),
            "missing" => {
                let missing = Name::new(b"hayase-missing").unwrap();
                fs.lookup(&cx, &root, missing).unwrap_err();
            }
            "create" => {
                let name = format!("hayase-ops-{done}");
                fs.create(&cx, &root, Name::new(name.as_bytes()).unwrap(), &how, wcc).unwrap();
            }
            "remove" => {
                let name = format!("hayase-ops-{done}");
                fs.remove(&cx, &root, Name::new(name.as_bytes()).unwrap(), wcc).unwrap();
            }
            "readdir" | "readdirplus" => {
                let (mut cookie, mut eof) = (0, false);
                let mut entries = 0;
                while !eof {
                    let mut room = 2000;
                    let plus = op == "readdirplus";
                    let page = fs.read_dir(&cx, &root, cookie, plus, &mut |entry| {
                        room -= 1;
                        if room > 0 {
                            cookie = entry.cookie;
                            entries += 1;
                        }
                        room > 0
                    });
                    eof = page.unwrap().eof;
                }
                done += entries;
            }
            other => panic!("no operation {other}"),
        }
    }
    let nanos = begun.elapsed().as_nanos() / done as u128;
    println!("{op}: {nanos} ns each, {done} times");
}
