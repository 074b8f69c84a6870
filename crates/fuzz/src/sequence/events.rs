//! What happens to a server between calls.

use hayase_vfs::Vfs;

use super::model::Body;
use super::{Run, exports};

impl Run<'_> {
    pub(super) fn event(&mut self) {
        let disk = self.choices.below(2);
        match self.choices.below(4) {
            0 => self.crash(disk),
            1 => {
                let before = self.server.disks[disk].write_verifier();
                self.server.disks[disk].restart();
                assert_ne!(self.server.disks[disk].write_verifier(), before);
                self.settle(disk);
            }
            2 => {
                self.exported[disk] = !self.exported[disk];
                self.server.export(&exports(self.exported));
            }
            _ => {
                self.read_only[disk] = !self.read_only[disk];
                self.server.disks[disk].set_read_only(self.read_only[disk]);
            }
        }
    }

    /// Names, attributes and stable data survive; unstable data may not.
    fn crash(&mut self, disk: usize) {
        let before = self.server.disks[disk].write_verifier();
        self.server.disks[disk].crash();
        assert_ne!(self.server.disks[disk].write_verifier(), before, "the loss is not told");
        let was_exported = std::mem::replace(&mut self.exported, [true; 2]);
        self.server.export(&exports(self.exported));
        for id in self.model.ids() {
            let node = self.model.node(id);
            let Body::File(content) = &node.body else { continue };
            if node.disk != disk || node.names == 0 || !content.dirty {
                continue;
            }
            let attr = self.attr_of(&node.handle.clone()).expect("names survive a crash");
            let content = self.model.content(id);
            (content.size, content.unknown, content.dirty) = (attr.size, true, false);
        }
        self.exported = was_exported;
        self.server.export(&exports(self.exported));
    }

    /// Everything on a disk is stable.
    fn settle(&mut self, disk: usize) {
        for id in self.model.ids() {
            let node = self.model.node_mut(id);
            if let (true, Body::File(content)) = (node.disk == disk, &mut node.body) {
                content.dirty = false;
            }
        }
    }
}
