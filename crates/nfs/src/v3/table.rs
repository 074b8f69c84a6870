//! The table of all procedures: how each is run, and whether its reply must be remembered.

use hayase_buf::ReplyBuf;
use hayase_proto::nfs3::Proc;
use hayase_xdr::Encode;

use super::ops;
use crate::call::{Abort, Call, decode};

/// Runs a procedure: decodes its arguments, does it, encodes its result.
type Run = fn(&Call<'_>, &[u8], &mut ReplyBuf) -> Result<(), Abort>;

pub(super) struct Entry {
    pub(super) run: Run,
    /// A second run of the same call would not answer the same (RFC 1813 §4.5).
    pub(super) cached: bool,
}

/// An entry for a procedure that takes `Args` and makes a result that fits the reply's bytes.
macro_rules! procedure {
    ($run:path, cached: $cached:literal) => {
        Entry {
            run: |call, args, reply| {
                let result = $run(call, decode(args)?)?;
                result.encode(reply.bytes_mut());
                Ok(())
            },
            cached: $cached,
        }
    };
}

/// The entry of a procedure.
pub(super) fn entry(procedure: Proc) -> &'static Entry {
    &TABLE[procedure as usize]
}

/// In the order of their numbers.
static TABLE: [Entry; 22] = [
    procedure!(null, cached: false),
    procedure!(ops::getattr::getattr, cached: false),
    procedure!(ops::setattr::setattr, cached: true),
    Entry { run: ops::lookup::lookup, cached: false },
    procedure!(ops::access::access, cached: false),
    Entry { run: ops::readlink::readlink, cached: false },
    Entry { run: ops::read::read, cached: false },
    procedure!(ops::write::write, cached: false),
    Entry { run: ops::create::create, cached: true },
    Entry { run: ops::mkdir::mkdir, cached: true },
    Entry { run: ops::symlink::symlink, cached: true },
    Entry { run: ops::mknod::mknod, cached: true },
    procedure!(ops::remove::remove, cached: true),
    procedure!(ops::rmdir::rmdir, cached: true),
    procedure!(ops::rename::rename, cached: true),
    procedure!(ops::link::link, cached: true),
    Entry { run: ops::readdir::readdir, cached: false },
    Entry { run: ops::readdirplus::readdirplus, cached: false },
    procedure!(ops::fsstat::fsstat, cached: false),
    procedure!(ops::fsinfo::fsinfo, cached: false),
    procedure!(ops::pathconf::pathconf, cached: false),
    procedure!(ops::commit::commit, cached: false),
];

/// NULL (RFC 1813 §3.3.0).
#[allow(clippy::unnecessary_wraps)] // the shape of every procedure
fn null(_: &Call<'_>, (): ()) -> Result<(), Abort> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_procedure_has_its_line() {
        assert_eq!(TABLE.len(), Proc::ALL.len());
        // RFC 1813 §4.5 and issue of re-sent calls: what changes names or attributes is remembered.
        let cached: Vec<_> =
            Proc::ALL.iter().filter(|p| entry(**p).cached).map(|p| p.name()).collect();
        let expected =
            ["SETATTR", "CREATE", "MKDIR", "SYMLINK", "MKNOD", "REMOVE", "RMDIR", "RENAME", "LINK"];
        assert_eq!(cached, expected);
    }
}
