//! `LocalFs` as a [`Vfs`].

use std::sync::atomic::Ordering;

use hayase_vfs::{
    Access, Acl, Advice, Attr, ConflictListener, Copied, Cx, DirRead, EntrySink, Features, FsInfo,
    FsStat, Handle, LocalLock, LockMode, LockRange, Name, NewNode, Node as Found, Open, PathConf,
    Quota, QuotaOf, Read, Result, Seek, SetAttr, SetXattr, Sought, Source, Stability, Time, Vfs,
    Watch, Wcc, Written, XattrName, XattrSink,
};

use crate::LocalFs;

impl Vfs for LocalFs {
    fn root(&self) -> Handle {
        self.core.root
    }

    fn attr(&self, cx: &Cx<'_>, of: &Handle) -> Result<Attr> {
        self.core.attr(&self.core.without_disk(cx), of)
    }

    fn set_attr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        set: &SetAttr,
        guard: Option<Time>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.set_attr(cx, of, set, guard, wcc)
    }

    fn lookup(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>) -> Result<Found> {
        self.core.lookup(&self.core.without_disk(cx), dir, name)
    }

    fn parent(&self, cx: &Cx<'_>, dir: &Handle) -> Result<Found> {
        self.core.parent(&self.core.without_disk(cx), dir)
    }

    fn access(&self, cx: &Cx<'_>, of: &Handle, want: Access) -> Result<(Access, Attr)> {
        self.core.access(&self.core.without_disk(cx), of, want)
    }

    fn read_link(&self, cx: &Cx<'_>, of: &Handle) -> Result<(Vec<u8>, Attr)> {
        self.core.read_link(cx, of)
    }

    fn read(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        inline: &mut Vec<u8>,
    ) -> Result<Read> {
        self.core.read(cx, of, offset, count, inline)
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
        self.core.write(cx, of, offset, data, stability, wcc)
    }

    fn commit(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        count: u32,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.commit(cx, of, offset, count, wcc)
    }

    fn changes_wait(&self) -> bool {
        !self.core.in_memory
    }

    fn write_verifier(&self) -> u64 {
        self.core.verifier.load(Ordering::Acquire)
    }

    fn create(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        how: &Open,
        wcc: &mut Wcc,
    ) -> Result<Found> {
        self.core.create(cx, dir, name, how, wcc)
    }

    fn make_node(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        name: Name<'_>,
        what: &NewNode<'_>,
        set: &SetAttr,
        wcc: &mut Wcc,
    ) -> Result<Found> {
        self.core.make_node(&self.core.without_disk(cx), dir, name, what, set, wcc)
    }

    fn remove(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        self.core.remove(cx, dir, name, wcc)
    }

    fn remove_dir(&self, cx: &Cx<'_>, dir: &Handle, name: Name<'_>, wcc: &mut Wcc) -> Result<()> {
        self.core.remove_dir(cx, dir, name, wcc)
    }

    fn rename(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, Name<'_>),
        to: (&Handle, Name<'_>),
        from_wcc: &mut Wcc,
        to_wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.rename(cx, from, to, from_wcc, to_wcc)
    }

    fn link(
        &self,
        cx: &Cx<'_>,
        file: &Handle,
        dir: &Handle,
        name: Name<'_>,
        wcc: &mut Wcc,
    ) -> Result<Attr> {
        self.core.link(cx, file, dir, name, wcc)
    }

    fn read_dir(
        &self,
        cx: &Cx<'_>,
        dir: &Handle,
        cookie: u64,
        with_nodes: bool,
        sink: &mut EntrySink<'_>,
    ) -> Result<DirRead> {
        self.core.read_dir(cx, dir, cookie, with_nodes, sink)
    }

    fn fs_stat(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsStat> {
        self.core.fs_stat(cx, of)
    }

    fn fs_info(&self, cx: &Cx<'_>, of: &Handle) -> Result<FsInfo> {
        self.core.fs_info(cx, of)
    }

    fn path_conf(&self, cx: &Cx<'_>, of: &Handle) -> Result<PathConf> {
        self.core.path_conf(cx, of)
    }

    fn sync(&self) -> Result<()> {
        self.core.sync()
    }

    fn path(&self, cx: &Cx<'_>, of: &Handle) -> Result<Vec<u8>> {
        self.core.path(cx, of)
    }

    fn keep(&self, cx: &Cx<'_>, of: &Handle) {
        self.core.keep_open(cx, of);
    }

    fn let_go(&self, of: &Handle, is_used: &dyn Fn() -> bool) {
        self.core.in_use.let_go(of, is_used);
    }

    fn features(&self, cx: &Cx<'_>, of: &Handle) -> Result<Features> {
        self.core.features(cx, of)
    }

    fn birth_time(&self, cx: &Cx<'_>, of: &Handle) -> Result<Option<Time>> {
        self.core.birth_time(cx, of)
    }

    fn mounted_on(&self, cx: &Cx<'_>, of: &Handle, attr: &Attr) -> Result<u64> {
        self.core.mounted_on(cx, of, attr)
    }

    fn quota(&self, cx: &Cx<'_>, of: &Handle, whose: QuotaOf) -> Result<Option<Quota>> {
        self.core.quota(cx, of, whose)
    }

    fn label(&self, cx: &Cx<'_>, of: &Handle) -> Result<Option<Vec<u8>>> {
        self.core.label(cx, of)
    }

    fn set_label(&self, cx: &Cx<'_>, of: &Handle, label: &[u8], wcc: &mut Wcc) -> Result<()> {
        self.core.set_label(cx, of, label, wcc)
    }

    fn xattr(&self, cx: &Cx<'_>, of: &Handle, name: XattrName<'_>) -> Result<Vec<u8>> {
        self.core.xattr(cx, of, name)
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
        self.core.set_xattr(cx, of, name, value, how, wcc)
    }

    fn list_xattrs(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        cookie: u64,
        sink: &mut XattrSink<'_>,
    ) -> Result<bool> {
        self.core.list_xattrs(cx, of, cookie, sink)
    }

    fn remove_xattr(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        name: XattrName<'_>,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.remove_xattr(cx, of, name, wcc)
    }

    fn acl(&self, cx: &Cx<'_>, of: &Handle) -> Result<Acl> {
        self.core.acl(cx, of)
    }

    fn set_acl(&self, cx: &Cx<'_>, of: &Handle, acl: &Acl, wcc: &mut Wcc) -> Result<()> {
        self.core.set_acl(cx, of, acl, wcc)
    }

    fn seek(&self, cx: &Cx<'_>, of: &Handle, offset: u64, what: Seek) -> Result<Sought> {
        self.core.seek(cx, of, offset, what)
    }

    fn allocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.allocate(cx, of, offset, len, wcc)
    }

    fn deallocate(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.deallocate(cx, of, offset, len, wcc)
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
        self.core.copy_range(cx, from, to, len, stability, wcc)
    }

    fn source(&self, cx: &Cx<'_>, of: &Handle) -> Result<Source> {
        self.core.source(cx, of)
    }

    fn copy_from(
        &self,
        cx: &Cx<'_>,
        from: (&Source, u64),
        to: (&Handle, u64),
        len: u64,
        stability: Stability,
        wcc: &mut Wcc,
    ) -> Result<Copied> {
        self.core.copy_from(cx, from, to, len, stability, wcc)
    }

    fn clone_range(
        &self,
        cx: &Cx<'_>,
        from: (&Handle, u64),
        to: (&Handle, u64),
        len: u64,
        wcc: &mut Wcc,
    ) -> Result<()> {
        self.core.clone_range(cx, from, to, len, wcc)
    }

    fn mirror_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: Option<LockMode>,
    ) -> Result<Option<LocalLock>> {
        self.core.mirror_lock(cx, of, range, mode)
    }

    fn test_lock(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        range: LockRange,
        mode: LockMode,
    ) -> Result<Option<LocalLock>> {
        self.core.test_lock(cx, of, range, mode)
    }

    fn set_conflict_listener(&self, listener: ConflictListener) {
        self.core.set_conflict_listener(listener);
    }

    fn watch(&self, cx: &Cx<'_>, of: &Handle, against: Watch) -> Result<()> {
        self.core.watch(cx, of, against)
    }

    fn unwatch(&self, of: &Handle) {
        self.core.unwatch(of);
    }

    fn advise(
        &self,
        cx: &Cx<'_>,
        of: &Handle,
        offset: u64,
        len: u64,
        advice: Advice,
    ) -> Result<bool> {
        self.core.advise(cx, of, offset, len, advice)
    }
}
