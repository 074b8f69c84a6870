//! Operations through the whole server, beside a model of what they should do.
//!
//! Bytes become a list of operations on the files that were made so far. Each goes as a
//! call through the dispatcher; its reply has to be whole and to agree with the model, with
//! the attributes before and after, and with what came of the same call sent again.

mod call;
mod content;
mod data;
mod events;
mod listing;
mod made;
mod model;
mod moved;
mod names;
mod object;
mod values;

use hayase_mem::{Limits, MemFs, PAGE_BYTES};
use hayase_proto::nfs3::Proc;

use crate::choices::Choices;
use crate::nfs3::root;
use crate::server::Server;
use model::{Model, ROOTS};

/// Operations of one input.
const STEPS: usize = 64;

/// Little room, so that it runs out.
const LIMITS: Limits =
    Limits { bytes: 48 * PAGE_BYTES as u64, inodes: 24, links: 5, file_bytes: i64::MAX as u64 };

/// A sequence that is being run.
pub(super) struct Run<'a> {
    choices: Choices<'a>,
    server: Server,
    model: Model,
    last_xid: u32,
    /// Whether each file system is exported, and whether it may be written.
    exported: [bool; 2],
    read_only: [bool; 2],
}

/// Runs the operations that the bytes describe.
pub(crate) fn check(bytes: &[u8]) {
    let mut run = Run::new(bytes);
    for _ in 0..STEPS {
        if run.choices.is_empty() {
            break;
        }
        run.step();
    }
    run.finish();
}

impl<'a> Run<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let disk = || {
            let disk = MemFs::with_limits(LIMITS);
            disk.set_root(0, 0, 0o777);
            disk
        };
        let server = Server::new(&exports([true; 2]), vec![disk(), disk()]);
        let roots = ["/a", "/b"].map(|path| root(&server, path));
        let mut run = Run {
            choices: Choices::new(bytes),
            server,
            model: Model::new(roots),
            last_xid: 1,
            exported: [true; 2],
            read_only: [false; 2],
        };
        for root in ROOTS {
            let attr = run.attr_of(&run.model.node(root).handle.clone());
            run.model.node_mut(root).fileid = attr.map_or(0, |attr| attr.fileid);
        }
        run
    }

    fn step(&mut self) {
        match self.choices.below(32) {
            0 => self.null(),
            1 => self.getattr(),
            2 | 3 => self.setattr(),
            4 | 5 => self.lookup(),
            6 => self.access(),
            7 => self.readlink(),
            8 | 9 => self.read(),
            10..=12 => self.write(),
            13 | 14 => self.create(),
            15 | 16 => self.mkdir(),
            17 => self.symlink(),
            18 => self.mknod(),
            19 | 20 => self.remove(),
            21 => self.rmdir(),
            22..=24 => self.rename(),
            25 => self.link(),
            26 => self.list(Proc::Readdir),
            27 => self.list(Proc::Readdirplus),
            28 => self.about_file_system(),
            29 => self.commit(),
            30 => self.mount(),
            _ => self.event(),
        }
    }

    /// Everything is as the model says.
    fn finish(&mut self) {
        self.exported = [true; 2];
        self.server.export(&exports(self.exported));
        for disk in 0..2 {
            self.server.disks[disk].set_read_only(false);
        }
        self.read_only = [false; 2];
        self.choices = Choices::new(&[]); // from here on plain calls of the superuser
        for id in self.model.ids() {
            self.check_node(id);
        }
    }
}

/// The exports of those file systems that are exported.
fn exports(exported: [bool; 2]) -> String {
    // A file system that is not exported keeps its place, under another name.
    let line = |path: &str, on: bool| {
        format!("/{}{path} *(rw,insecure,no_root_squash)\n", if on { "" } else { "not-" })
    };
    line("a", exported[0]) + &line("b", exported[1])
}
