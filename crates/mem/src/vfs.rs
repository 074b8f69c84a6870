//! `MemFs` as a [`Vfs`]: each operation takes its turn.

use std::sync::Arc;

use hayase_vfs::{
    Access, Acl, Advice, Attr, ChangeKind, ConflictListener, Copied, Cx, DirEntry, DirRead,
    EntrySink, Features, FsInfo, FsStat, Handle, LocalLock, LockMode, LockRange, Name, NewNode,
    Node, Open, PathConf, Quota, QuotaOf, Read, Result, Seek, SetAttr, SetXattr, Sought, Stability,
    Time, Vfs, Watch, Wcc, Written, XattrName, XattrSink,
};

use crate::faults::Op;
use crate::fs::{MemFs, PAGE_BYTES};
use crate::ops::xattrs;
use crate::state::{ROOT, Turn};

/// Entries copied at a time by a listing.
const LISTED_AT_ONCE: usize = 64;

impl Vfs for MemFs {
    fn root(&self) -> Handle {
        self.lock().handle(ROOT)
    }

    fn changes_wait(&self) -> bool {
        self.lock().faults.changes_wait
    }

    fn attr(&self, cx: &Cx<'_>, of: &Handle) -> Result<Attr> {
        self.turn(cx, Op::Attr)?.attr(of)
    }

    fn set_attr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        set: &SetAttr,
        guard: Option<Time>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::SetAttr)?.set_attr(of, set, guard, wcc)
    }

    fn lookup(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>) -> Result<Node> {
        self.turn(cx, Op::Lookup)?.lookup(dir, name)
    }

    fn parent(&self, cx: &Cx<'_>, dir: &Handle) -> Result<Node> {
        self.turn(cx, Op::Parent)?.parent(dir)
    }

    fn access(&self, cx: &Cx<'_>, of: &Handle, want: Access) -> Result<(Access, Attr)> {
        self.turn(cx, Op::Access)?.access(of, want)
    }

    fn read_link(&self, cx: &Cx<'_>, of: &Handle) -> Result<(Vec<u8>, Attr)> {
        self.turn(cx, Op::ReadLink)?.read_link(of)
    }

    fn read(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        inline: &mut Vec<u8>,
    ) -> Result<Read> {
        self.turn(cx, Op::Read)?.read(of, offset, count, inline)
    }

    fn write(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Written> {
        self.turn(cx, Op::Write)?.write(of, offset, data, stability, wcc)
    }

    fn commit(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::Commit)?.commit(of, offset, count, wcc)
    }

    fn write_verifier(&self) -> u64 {
        self.lock().verifier
    }

    fn create(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        how: &Open,
        wcc: &mut Wcc,
    ) -> Result<Node> {
        self.turn(cx, Op::Create)?.create(dir, name, how, wcc)
    }

    fn make_node(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        what: &NewNode<'_>,
        set: &SetAttr,
        wcc: &mut Wcc,
    ) -> Result<Node> {
        self.turn(cx, Op::MakeNode)?.make_node(dir, name, what, set, wcc)
    }

    fn remove(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        self.turn(cx, Op::Remove)?.remove(dir, name, wcc)
    }

    fn remove_dir(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        self.turn(cx, Op::RemoveDir)?.remove_dir(dir, name, wcc)
    }

    fn rename(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        from_wcc: &mut Wcc,
        to_wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::Rename)?.rename(from, to, from_wcc, to_wcc)
    }

    fn link(
        &self,
        cx: &Cx<'_>,
        file: &Handle,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<Attr> {
        self.turn(cx, Op::Link)?.link(file, dir, name, wcc)
    }

    fn read_dir(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        mut cookie: u64,
        with_nodes: bool,
        sink: &mut EntrySink<'_>,
    ) -> Result<DirRead> {
        let mut turn = self.turn(cx, Op::ReadDir)?;
        let (cred, durability, now) = (turn.cred, turn.durability, turn.now);
        let mut part = turn.list(dir, cookie, with_nodes, LISTED_AT_ONCE)?;
        loop {
            // The sink is foreign code: it may call back, so it must not find the lock taken.
            drop(turn);
            for entry in &part.entries {
                let taken = sink(&DirEntry {
                    name: &entry.name,
                    fileid: entry.fileid,
                    cookie: entry.cookie,
                    node: entry.node,
                });
                if !taken {
                    return Ok(DirRead { eof: false, attr: part.attr });
                }
                cookie = entry.cookie;
            }
            if part.last {
                return Ok(DirRead { eof: true, attr: part.attr });
            }
            turn = Turn { state: self.lock(), cred, opened: Access::NONE, durability, now };
            match turn.list(dir, cookie, with_nodes, LISTED_AT_ONCE) {
                Ok(more) => part = more,
                // Removed meanwhile, or closed to the caller; the next call will say so.
                Err(_) => return Ok(DirRead { eof: false, attr: part.attr }),
            }
        }
    }

    fn fs_stat(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsStat> {
        let turn = self.turn(cx, Op::FsStat)?;
        turn.attr(of)?;
        let limits = turn.state.limits;
        let free_bytes = turn.state.pages_free() * PAGE_BYTES as u64;
        let free_files = limits.inodes.saturating_sub(turn.state.nodes.len() as u64);
        Ok(FsStat {
            total_bytes: limits.bytes,
            free_bytes,
            avail_bytes: free_bytes,
            total_files: limits.inodes,
            free_files,
            avail_files: free_files,
        })
    }

    fn fs_info(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsInfo> {
        let turn = self.turn(cx, Op::FsInfo)?;
        turn.attr(of)?;
        Ok(FsInfo {
            max_file_bytes: turn.state.limits.file_bytes,
            time_delta: Time { secs: 0, nanos: 1 },
            hard_links: true,
            symlinks: true,
        })
    }

    fn path_conf(&self, cx: &Cx<'_>, of: &Handle) -> Result<PathConf> {
        let turn = self.turn(cx, Op::PathConf)?;
        turn.attr(of)?;
        Ok(PathConf {
            link_max: turn.state.limits.links,
            name_max: Name::MAX as u32,
            chown_restricted: true,
            case_insensitive: false,
        })
    }

    fn sync(&self) -> Result<()> {
        let mut state = self.lock();
        state.call(Op::Sync)?;
        state.settle_all();
        Ok(())
    }

    fn features(&self, cx: &Cx<'_>, of: &Handle) -> Result<Features> {
        self.turn(cx, Op::Features)?.attr(of)?;
        Ok(Features {
            xattrs: true,
            acls: true,
            labels: true,
            birth_times: true,
            clone_bytes: Some(PAGE_BYTES as u32),
            mirrored_locks: true,
            quotas: self.has_quotas(),
            change: ChangeKind::Monotonic,
        })
    }

    fn quota(&self, cx: &Cx<'_>, of: &Handle, whose: QuotaOf) -> Result<Option<Quota>> {
        self.turn(cx, Op::FsStat)?.attr(of)?;
        Ok(self.quota_of(whose))
    }

    fn birth_time(&self, cx: &Cx<'_>, of: &Handle) -> Result<Option<Time>> {
        let turn = self.turn(cx, Op::BirthTime)?;
        let number = turn.state.resolve(of)?;
        Ok(Some(turn.state.node(number).birth))
    }

    fn xattr(&self, cx: &Cx<'_>, of: &Handle, name: XattrName<'_>) -> Result<Vec<u8>> {
        self.turn(cx, Op::Xattr)?.xattr(of, name)
    }

    fn set_xattr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        name: XattrName<'_>,
        value: &[u8],
        how: SetXattr,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::SetXattr)?.set_xattr(of, name, value, how, wcc)
    }

    fn list_xattrs(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        cookie: u64,
        sink: &mut XattrSink<'_>,
    ) -> Result<bool> {
        // The sink must not find the lock taken.
        let names = self.turn(cx, Op::ListXattrs)?.xattr_names(of)?;
        Ok(xattrs::list(&names, cookie, sink))
    }

    fn remove_xattr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        name: XattrName<'_>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::RemoveXattr)?.remove_xattr(of, name, wcc)
    }

    fn label(&self, cx: &Cx<'_>, of: &Handle) -> Result<Option<Vec<u8>>> {
        self.turn(cx, Op::Label)?.label(of)
    }

    fn set_label(&self, cx: &Cx<'_>, of: &Handle, label: &[u8], wcc: &mut Wcc) -> Result<()> {
        self.turn(cx, Op::SetLabel)?.set_label(of, label, wcc)
    }

    fn acl(&self, cx: &Cx<'_>, of: &Handle) -> Result<Acl> {
        self.turn(cx, Op::Acl)?.acl(of)
    }

    fn set_acl(&self, cx: &Cx<'_>, of: &Handle, acl: &Acl, wcc: &mut Wcc) -> Result<()> {
        self.turn(cx, Op::SetAcl)?.set_acl(of, acl, wcc)
    }

    fn seek(&self, cx: &Cx<'_>, of: &Handle, offset: u64, what: Seek) -> Result<Sought> {
        self.turn(cx, Op::Seek)?.seek(of, offset, what)
    }

    fn allocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::Allocate)?.allocate(of, offset, len, wcc)
    }

    fn deallocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::Deallocate)?.deallocate(of, offset, len, wcc)
    }

    fn copy_range(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Copied> {
        self.turn(cx, Op::CopyRange)?.copy_range(from, to, len, stability, wcc)
    }

    fn clone_range(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.turn(cx, Op::CloneRange)?.clone_range(from, to, len, wcc)
    }

    fn mirror_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: Option<LockMode>,
    ) -> Result<Option<LocalLock>> {
        self.turn(cx, Op::MirrorLock)?.mirror_lock(of, range, mode)
    }

    fn test_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: LockMode,
    ) -> Result<Option<LocalLock>> {
        self.turn(cx, Op::TestLock)?.test_lock(of, range, mode)
    }

    fn set_conflict_listener(&self, listener: ConflictListener) {
        let before = self.listener().replace(Arc::new(listener));
        assert!(before.is_none(), "there is a listener already");
    }

    fn watch(&self, cx: &Cx<'_>, of: &Handle, _against: Watch) -> Result<()> {
        let mut turn = self.turn(cx, Op::Watch)?;
        turn.test_lock(of, LockRange::ALL, LockMode::Read)?;
        turn.state.watched.insert(*of);
        Ok(())
    }

    fn unwatch(&self, of: &Handle) {
        self.lock().watched.remove(of);
    }

    fn advise(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        _offset: u64,
        _len: u64,
        _advice: Advice,
    ) -> Result<bool> {
        self.turn(cx, Op::Advise)?.readable(of).map(|_| false)
    }
}
