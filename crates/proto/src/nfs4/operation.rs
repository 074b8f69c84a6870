//! Which arguments and results belong to which operation (RFC 8881 §16.2).

use std::fmt;

use hayase_xdr::{Decode, Encode, Error, Reader, Result};

#[allow(clippy::wildcard_imports)] // the table names every operation's types
use super::*;

/// The operations of one compound procedure: COMPOUND's or `CB_COMPOUND`'s.
pub trait OpSet: Copy + fmt::Debug + PartialEq + Into<u32> + TryFrom<u32, Error = Error> {
    /// Reads over the operation's arguments.
    fn skip_args(self, from: &mut Reader<'_>) -> Result<()>;

    /// Reads over the operation's result.
    fn skip_res(self, from: &mut Reader<'_>) -> Result<()>;
}

/// The arguments of an operation, which know its number and result.
pub trait Operation: Encode {
    /// The numbers this operation's is one of.
    type Ops: OpSet;
    /// The operation's number.
    const OP: Self::Ops;
    /// The operation's result, with its status.
    type Res<'r>: Decode<'r> + Encode;
}

/// The table of operations: `Number: Args => Res`.
macro_rules! operations {
    ($ops:ident { $($op:ident: $args:ident $(<$lifetime:lifetime>)? => $res:ident $(<$res_lifetime:lifetime>)?,)* }) => {
        $(impl Operation for $args $(<$lifetime>)? {
            type Ops = $ops;
            const OP: $ops = $ops::$op;
            type Res<'r> = $res $(<$res_lifetime>)?;
        })*

        impl OpSet for $ops {
            fn skip_args(self, from: &mut Reader<'_>) -> Result<()> {
                match self {
                    $($ops::$op => $args::decode(from).map(drop),)*
                    _ => Err(Error::UnknownValue(self.into())),
                }
            }

            fn skip_res(self, from: &mut Reader<'_>) -> Result<()> {
                match self {
                    $($ops::$op => $res::decode(from).map(drop),)*
                    _ => Err(Error::UnknownValue(self.into())),
                }
            }
        }
    };
}

operations! {
    Op {
        Access: AccessArgs => AccessRes,
        Create: CreateArgs<'_> => CreateRes,
        GetAttr: GetAttrArgs => GetAttrRes<'r>,
        GetFh: GetFhArgs => GetFhRes<'r>,
        Link: LinkArgs<'_> => LinkRes,
        Lookup: LookupArgs<'_> => LookupRes,
        LookupP: LookupPArgs => LookupPRes,
        NVerify: NVerifyArgs<'_> => NVerifyRes,
        OpenAttr: OpenAttrArgs => OpenAttrRes,
        PutFh: PutFhArgs<'_> => PutFhRes,
        PutPubFh: PutPubFhArgs => PutPubFhRes,
        PutRootFh: PutRootFhArgs => PutRootFhRes,
        Readlink: ReadlinkArgs => ReadlinkRes<'r>,
        Remove: RemoveArgs<'_> => RemoveRes,
        Rename: RenameArgs<'_> => RenameRes,
        RestoreFh: RestoreFhArgs => RestoreFhRes,
        SaveFh: SaveFhArgs => SaveFhRes,
        SetAttr: SetAttrArgs<'_> => SetAttrRes,
        Verify: VerifyArgs<'_> => VerifyRes,
        Illegal: IllegalArgs => IllegalRes,
    }
}
