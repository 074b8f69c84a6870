//! What has to be there before a job can run, and what is put away after it.

use std::sync::Arc;

use hayase_buf::Buffer;

use super::course::mix;
use super::drive::all;
use super::storage::{EIO, Failure, How, Name, Op, Storage};
use super::unit::{DataFile, Things, name};
use super::verify::{self, Block};
use crate::job::{Job, Meta, Work};
use crate::units::show_bytes;

/// Operations at once in laying out and putting away.
const DEPTH: u32 = 16;
/// Bytes of a write in laying out.
const LAYOUT_BLOCK: u64 = 1 << 20;
/// Directories in each other, when a tree is removed.
const DEEPEST: u32 = 128;

type ThingsOf<S> = Things<<S as Storage>::File, <S as Storage>::Dir>;

/// What was laid out for a job.
pub(crate) struct Laid<S: Storage> {
    /// For each of `numjobs`.
    pub(crate) things: Vec<ThingsOf<S>>,
    dir: S::Dir,
    /// Trees of names.
    trees: Vec<String>,
}

/// Lays out what a job needs.
pub(crate) fn lay_out<S: Storage>(
    storage: &S,
    job: &Job,
    say: &dyn Fn(&str),
) -> Result<Laid<S>, Failure> {
    let mut dir = storage.root()?;
    for part in parts(job.directory.as_deref().unwrap_or_default())? {
        dir = storage.dir(&dir, part)?;
    }
    let mut laid = Laid { things: Vec::new(), dir, trees: Vec::new() };
    for number in 0..job.numjobs {
        let things = match job.work {
            Work::Data { .. } => data(storage, &laid.dir, job, number, say),
            Work::Meta(meta) => {
                let tree = format!("{}.{number}", job.name);
                laid.trees.push(tree.clone());
                names(storage, &laid.dir, job, meta, &tree, say)
            }
        };
        match things {
            Ok(things) => laid.things.push(things),
            Err(failure) => {
                // What there is already is put away; what hindered is told.
                let _ = put_away(storage, job, laid);
                return Err(failure);
            }
        }
    }
    Ok(laid)
}

/// The job with its size, if that is a part of files that are there.
pub(crate) fn measured<S: Storage>(storage: &S, job: &Arc<Job>) -> Result<Arc<Job>, Failure> {
    let Some(percent) = job.size_percent else { return Ok(Arc::clone(job)) };
    let mut shortest = u64::MAX;
    let directory = job.directory.as_deref().unwrap_or_default();
    for path in (0..job.numjobs).flat_map(|number| paths(job, number)) {
        let missing = || {
            let text = format!(
                "size={percent}% is of files that are there, and {path} is not; give a size, as 1g is, or \
                 write it first"
            );
            Failure::new(2, text)
        };
        let whole = format!("{directory}/{path}");
        let mut parts = parts(&whole)?;
        let file = parts.pop().ok_or_else(missing)?;
        let mut dir = storage.root()?;
        for part in parts {
            dir = storage.find_dir(&dir, part)?.ok_or_else(missing)?;
        }
        let (file, bytes) = storage.open(&dir, file, How::default())?.ok_or_else(missing)?;
        storage.close(file)?;
        shortest = shortest.min(bytes);
    }
    job.sized(shortest).map(Arc::new).ok_or_else(|| {
        let (shortest, bs) = (show_bytes(shortest), show_bytes(job.bs.into()));
        let text = format!("size={percent}% of a file of {shortest} is less than a block of {bs}");
        Failure::new(22, text)
    })
}

/// The components of a path below the target.
fn parts(path: &str) -> Result<Vec<&str>, Failure> {
    let parts: Vec<_> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(Failure::new(22, format!("{path} leads out of the target")));
    }
    Ok(parts)
}

/// The files of one of `numjobs`.
fn data<S: Storage>(
    storage: &S,
    dir: &S::Dir,
    job: &Job,
    number: u32,
    say: &dyn Fn(&str),
) -> Result<ThingsOf<S>, Failure> {
    let mut files = Vec::with_capacity(job.nrfiles as usize);
    for path in paths(job, number) {
        let (dir, file) = walk(storage, dir, &path)?;
        let how = How {
            write: job.work.writes(),
            create: job.work.writes(),
            direct: job.direct,
            sync: job.sync,
        };
        let id = verify::file_id(&path);
        if job.work.reads() {
            let there = storage.open(&dir, file, How::default())?;
            let bytes = there.as_ref().map_or(0, |(_, bytes)| *bytes);
            if let Some((file, _)) = there {
                storage.close(file)?;
            }
            if bytes < job.file_bytes() {
                say(&format!("{}: Laying out {path} ({})", job.name, show_bytes(job.file_bytes())));
                fill(storage, &dir, file, id, job)
                    .map_err(|why| why.within(format!("lay out {path}")))?;
            }
        }
        let Some((file, _)) = storage.open(&dir, file, how)? else {
            return Err(Failure::new(2, format!("{path} is not there any more")));
        };
        if job.invalidate && !job.direct {
            storage.forget(&file)?;
        }
        files.push(DataFile { file, path, id });
    }
    Ok(Things::Data(files.into()))
}

/// The files' paths below `directory`: fio's names unless others are given.
fn paths(job: &Job, number: u32) -> Vec<String> {
    match &job.filename {
        Some(given) => given.split(':').map(str::to_owned).collect(),
        None => (0..job.nrfiles).map(|file| job.file_name(number, file)).collect(),
    }
}

/// The directory of a path, with what is missing of it made, and its last component.
fn walk<'a, S: Storage>(
    storage: &S,
    dir: &S::Dir,
    path: &'a str,
) -> Result<(S::Dir, &'a str), Failure> {
    let mut parts = parts(path)?;
    let Some(last) = parts.pop() else {
        return Err(Failure::new(22, format!("{path:?} names no file")));
    };
    let mut dir = dir.clone();
    for part in parts {
        dir = storage.dir(&dir, part)?;
    }
    Ok((dir, last))
}

/// Writes a file from beginning to end.
fn fill<S: Storage>(
    storage: &S,
    dir: &S::Dir,
    name: &str,
    id: u64,
    job: &Job,
) -> Result<(), Failure> {
    let how = How { write: true, create: true, ..How::default() };
    let Some((file, _)) = storage.open(dir, name, how)? else {
        return Err(Failure::new(EIO, "a file that was made is not there"));
    };
    let total = job.file_bytes();
    let block = if job.verify { u64::from(job.bs) } else { LAYOUT_BLOCK.min(storage.write_max()) };
    let mut port = storage.port(1, DEPTH, block as u32)?;
    let mut offset = 0;
    let written = all(&mut port, DEPTH, |buffer| {
        let len = block.min(total - offset);
        if len == 0 {
            return None;
        }
        let mut buffer = buffer.unwrap_or_else(|| {
            let mut buffer = Buffer::unpooled(block as usize);
            verify::noise(&mut buffer, mix(id ^ offset));
            buffer
        });
        if job.verify {
            verify::stamp(&mut buffer, Block { file: id, offset, generation: 0 });
        } else if let Some(head) = buffer.first_chunk_mut() {
            *head = mix(id ^ mix(offset)).to_le_bytes();
        }
        let (at, file) = (offset, file.clone());
        offset += len;
        Some(Op::Write { file, offset: at, len: len as u32, stable: false, buffer })
    });
    written?;
    super::drive::ask(&mut port, Op::Sync { file: file.clone() })?.result?;
    storage.close(file)
}

/// A tree of names for one of `numjobs`.
fn names<S: Storage>(
    storage: &S,
    dir: &S::Dir,
    job: &Job,
    meta: Meta,
    tree: &str,
    say: &dyn Fn(&str),
) -> Result<ThingsOf<S>, Failure> {
    // What another run has left.
    remove_tree(storage, dir, tree)?;
    let mut above = storage.dir(dir, tree)?;
    for level in 0..job.depth {
        above = storage.dir(&above, &format!("level{level}"))?;
    }
    let leaves: Arc<[S::Dir]> = (0..job.leaves())
        .map(|leaf| storage.dir(&above, &format!("dir{leaf}")))
        .collect::<Result<_, _>>()?;
    if meta.needs_entries() {
        say(&format!("{}: Laying out {tree} ({} names)", job.name, job.nrfiles));
        let mut port = storage.port(1, DEPTH, 0)?;
        let mut places = 0..u64::from(job.nrfiles);
        all(&mut port, DEPTH, |_| {
            let place = places.next()?;
            let dir = leaves[(place / u64::from(job.files_per_dir)) as usize].clone();
            let name = name(0, place);
            Some(if meta.is_of_directories() {
                Op::MkDir { dir, name }
            } else {
                Op::Create { dir, name }
            })
        })?;
    }
    let files = if meta == Meta::GetAttr {
        (0..u64::from(job.nrfiles))
            .map(|place| {
                let leaf = (place / u64::from(job.files_per_dir)) as usize;
                storage.find(&leaves[leaf], &name(0, place))
            })
            .collect::<Result<Arc<[_]>, _>>()?
    } else {
        Arc::from([])
    };
    Ok(Things::Names { leaves, files })
}

/// Closes files and removes what is not to stay.
pub(crate) fn put_away<S: Storage>(storage: &S, job: &Job, laid: Laid<S>) -> Result<(), Failure> {
    for (number, things) in laid.things.into_iter().enumerate() {
        match things {
            Things::Data(files) => {
                for one in &*files {
                    storage.close(one.file.clone())?;
                }
                // With a name of its own each has its own file; a name that was given is everyone's.
                if job.unlink && (job.filename.is_none() || number == 0) {
                    for one in &*files {
                        let (dir, file) = walk(storage, &laid.dir, &one.path)?;
                        storage.remove_file(&dir, file)?;
                    }
                }
            }
            // Files to ask the attributes of are not open.
            Things::Names { .. } => {}
        }
    }
    for tree in &laid.trees {
        remove_tree(storage, &laid.dir, tree)?;
    }
    Ok(())
}

/// Removes a directory and all below it; it need not be there.
fn remove_tree<S: Storage>(storage: &S, parent: &S::Dir, tree: &str) -> Result<(), Failure> {
    let Some(dir) = storage.find_dir(parent, tree)? else { return Ok(()) };
    empty(storage, &dir, 0)?;
    storage.remove_dir(parent, tree)
}

fn empty<S: Storage>(storage: &S, dir: &S::Dir, level: u32) -> Result<(), Failure> {
    if level > DEEPEST {
        return Err(Failure::new(EIO, "directories in each other without end"));
    }
    let entries = storage.list(dir)?;
    if entries.is_empty() {
        return Ok(());
    }
    for (name, _) in entries.iter().filter(|(_, is_dir)| *is_dir) {
        let name = std::str::from_utf8(name).unwrap_or_default();
        // Directories that rmdir and mkdir have made are empty, and there are many of them.
        if !name.starts_with('f') {
            empty(storage, &storage.dir(dir, name)?, level + 1)?;
        }
    }
    let mut entries = entries.into_iter();
    let mut port = storage.port(1, DEPTH, 0)?;
    all(&mut port, DEPTH, |_| {
        let (name, is_dir): (Name, bool) = entries.next()?;
        let dir = dir.clone();
        Some(if is_dir { Op::RmDir { dir, name } } else { Op::Remove { dir, name } })
    })
}
