//! The comparison itself.

use std::collections::HashMap;
use std::thread;

use super::choices::Plan;
use super::step::{Answer, Step, callers, comparable};
use crate::testing::Client;
use crate::{Attr, Cred, Error, Features, FileType, Handle, Vfs};

/// Most files to name; later ones take the places of earlier ones.
const KNOWN: usize = 40;

struct World<'a> {
    sides: [&'a dyn Vfs; 2],
    /// The same file on both sides has the same place. Files may be gone.
    known: [Vec<Handle>; 2],
    /// Every handle seen on a side, and the other side's.
    partners: [HashMap<Handle, Handle>; 2],
}

/// Prints what was done when the comparison fails.
struct Trail {
    origin: String,
    done: Vec<String>,
}

impl Drop for Trail {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("comparison of {} failed after these steps:", self.origin);
            for (n, step) in self.done.iter().enumerate() {
                eprintln!("{n:5} {step}");
            }
        }
    }
}

impl Plan<'_> {
    /// Compares two file systems that are alike, empty ones for example; see [`compare`](super::compare).
    pub fn run(mut self, a: &dyn Vfs, b: &dyn Vfs) {
        let mut world = World {
            sides: [a, b],
            known: [vec![a.root()], vec![b.root()]],
            partners: [(a.root(), b.root()), (b.root(), a.root())].map(|pair| [pair].into()),
        };
        let mut trail = Trail { origin: String::new(), done: Vec::new() };
        for fs in world.sides {
            Client::new(fs, self.user.clone()).chmod(&fs.root(), 0o777).unwrap();
        }
        let [a, b] = world.sides.map(|fs| Client::new(fs, self.user.clone()).features(&fs.root()));
        let features = Features {
            xattrs: a.xattrs && b.xattrs,
            acls: a.acls && b.acls,
            ..Features::default()
        };
        while self.choices.another() {
            let step = Step::choose(&mut self, world.known[0].len(), &features);
            let cred = world.caller(&mut self, &step);
            trail.done.push(format!("{} {step:?}", cred.uid));
            trail.origin = self.choices.describe(trail.done.len());
            world.take(&step, &cred, &mut self);
        }
        trail.done.push("the final walk".into());
        let roots = world.sides.map(Vfs::root);
        world.walk(&self.user, roots, 0);
    }
}

impl World<'_> {
    /// On whose behalf a step is taken.
    fn caller(&self, plan: &mut Plan<'_>, step: &Step) -> Cred {
        if !plan.identities {
            return plan.user.clone();
        }
        let callers = callers();
        let cred = callers[plan.choices.below(callers.len())].clone();
        match step.is_for_owners() {
            Some(file) if cred.uid != 0 => {
                let root = Client::new(self.sides[0], Cred::root());
                let owner = root.attr(&self.known[0][file]).map(|attr| attr.uid);
                if owner == Ok(cred.uid) { cred } else { Cred::root() }
            }
            _ => cred,
        }
    }

    /// Takes one step on both sides.
    fn take(&mut self, step: &Step, cred: &Cred, plan: &mut Plan<'_>) {
        let [a, b] = [0, 1].map(|side| {
            let client = Client {
                durability: plan.durability,
                ..Client::new(self.sides[side], cred.clone())
            };
            step.perform(&client, &self.known[side])
        });
        match (a, b) {
            (Ok(a), Ok(b)) => self.agree([a, b], plan),
            (Err(a), Err(b)) if alike(step, a, b) => {}
            (a, b) => panic!("results differ: {a:?} and {b:?}"),
        }
    }

    fn agree(&mut self, answers: [Answer; 2], plan: &mut Plan<'_>) {
        match answers {
            [Answer::Nothing, Answer::Nothing] => {}
            [Answer::Number(a), Answer::Number(b)] => assert_eq!(a, b),
            [Answer::Names(a), Answer::Names(b)] => assert_eq!(a, b),
            [Answer::Acl(a), Answer::Acl(b)] => assert_eq!(a, b),
            [Answer::Attr(a), Answer::Attr(b)] => same_attr([a, b]),
            [Answer::Bytes(a, a_eof), Answer::Bytes(b, b_eof)] => {
                assert!(a == b, "data differs: {:?} and {:?}", brief(&a), brief(&b));
                assert_eq!(a_eof, b_eof);
            }
            [Answer::List(a), Answer::List(b)] => {
                assert!(a.keys().eq(b.keys()), "listings differ: {a:?} and {b:?}");
            }
            [Answer::Node(a), Answer::Node(b)] => {
                same_attr([a.attr, b.attr]);
                self.learn([a.handle, b.handle], plan);
            }
            other => unreachable!("one step has one kind of answer: {other:?}"),
        }
    }

    /// Two handles mean the same file; they must have done so before.
    fn learn(&mut self, [a, b]: [Handle; 2], plan: &mut Plan<'_>) {
        let new = !self.partners[0].contains_key(&a);
        self.match_up([a, b]);
        if new {
            let place = match self.known[0].len() {
                len if len < KNOWN => len,
                len => 1 + plan.choices.below(len - 1),
            };
            for (known, handle) in self.known.iter_mut().zip([a, b]) {
                if place == known.len() {
                    known.push(handle);
                } else {
                    known[place] = handle;
                }
            }
        }
    }

    fn match_up(&mut self, [a, b]: [Handle; 2]) {
        let expected =
            (*self.partners[0].entry(a).or_insert(b), *self.partners[1].entry(b).or_insert(a));
        assert_eq!(expected, (b, a), "one file here is two files there");
    }

    /// Compares everything below two directories.
    fn walk(&mut self, cred: &Cred, dirs: [Handle; 2], depth: usize) {
        assert!(depth < 1000, "a loop of directories");
        let clients = self.sides.map(|fs| Client::new(fs, cred.clone()));
        let names = [0, 1].map(|side| clients[side].names(&dirs[side]).unwrap());
        assert_eq!(names[0], names[1], "what is in a directory differs");
        for name in &names[0] {
            let nodes = [0, 1].map(|side| clients[side].lookup(&dirs[side], name).unwrap());
            let handles = nodes.map(|node| node.handle);
            same_attr(nodes.map(|node| node.attr));
            self.match_up(handles);
            match nodes[0].attr.kind {
                FileType::Directory => self.walk(cred, handles, depth + 1),
                FileType::Regular => same_data(&clients, handles, nodes[0].attr.size),
                FileType::Symlink => {
                    let [a, b] = [0, 1].map(|side| clients[side].read_link(&handles[side]));
                    assert_eq!(a, b);
                }
                _ => {}
            }
        }
    }
}

#[track_caller]
fn same_attr([a, b]: [Attr; 2]) {
    assert_eq!(comparable(&a), comparable(&b), "attributes differ");
    if a.kind == FileType::Directory && a.nlink > 1 && b.nlink > 1 {
        assert_eq!(a.nlink, b.nlink, "links of a directory differ");
    }
}

/// Compares data around every place where steps write.
fn same_data(clients: &[Client<'_>; 2], handles: [Handle; 2], size: u64) {
    const WINDOW: u32 = 256 << 10;
    for offset in [0, 1 << 20, 1 << 32, size.saturating_sub(u64::from(WINDOW))] {
        let [(a, a_eof), (b, b_eof)] =
            [0, 1].map(|side| clients[side].read(&handles[side], offset, WINDOW).unwrap());
        assert!(a == b && a_eof == b_eof, "data differs behind {offset}");
    }
}

/// Whether two errors say the same. Where an operation is wrong in more than one way, the
/// order of the tests is left open.
fn alike(step: &Step, a: Error, b: Error) -> bool {
    let both = |set: &[Error]| set.contains(&a) && set.contains(&b);
    a == b
        || both(&[Error::WrongType, Error::Invalid, Error::NotSupported])
        || match step {
            // The mode of a symbolic link is nobody's.
            Step::SetAttr(..) => both(&[Error::Invalid, Error::NotSupported, Error::NotOwner]),
            Step::Link { .. } => {
                both(&[Error::IsDirectory, Error::NotOwner, Error::Exists, Error::Access])
            }
            Step::Create(..) => both(&[Error::Exists, Error::IsDirectory, Error::WrongType]),
            _ => false,
        }
}

fn brief(data: &[u8]) -> (usize, &[u8]) {
    (data.len(), &data[..data.len().min(32)])
}
