//! The shape of every NFSv4 result.

use hayase_xdr::{Decode, Encode, Reader, Result};

use super::Status;

/// The status word of an operation that succeeded.
const OK: u32 = 0;

/// A result: the status, then the body of its arm. Few operations say more than
/// the status when they fail; for those, `F` says what (RFC 8881 §16.2.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Res4<T, F = Status> {
    /// `NFS4_OK` and the result (`resok4`).
    Ok(T),
    /// Why not.
    Fail(F),
}

/// What an operation that failed says: its status and, for some, a body.
pub trait Failure<'a>: Sized {
    /// The status.
    fn status(&self) -> Status;

    /// Reads the body that goes with `status`.
    fn decode_body(status: Status, from: &mut Reader<'a>) -> Result<Self>;

    /// Appends the body, which follows the status.
    fn encode_body(&self, to: &mut Vec<u8>);
}

impl Failure<'_> for Status {
    fn status(&self) -> Status {
        *self
    }

    fn decode_body(status: Status, _: &mut Reader<'_>) -> Result<Self> {
        Ok(status)
    }

    fn encode_body(&self, _: &mut Vec<u8>) {}
}

impl<'a, T, F: Failure<'a>> Res4<T, F> {
    /// The status, if the operation failed.
    pub fn status(&self) -> Option<Status> {
        match self {
            Res4::Ok(_) => None,
            Res4::Fail(failure) => Some(failure.status()),
        }
    }
}

impl<T, F> Res4<T, F> {
    /// As a [`std::result::Result`], for `?`.
    pub fn ok(self) -> std::result::Result<T, F> {
        self.into()
    }
}

impl<T, F> From<std::result::Result<T, F>> for Res4<T, F> {
    fn from(result: std::result::Result<T, F>) -> Self {
        match result {
            Ok(body) => Res4::Ok(body),
            Err(failure) => Res4::Fail(failure),
        }
    }
}

impl<T, F> From<Res4<T, F>> for std::result::Result<T, F> {
    fn from(res: Res4<T, F>) -> Self {
        match res {
            Res4::Ok(body) => Ok(body),
            Res4::Fail(failure) => Err(failure),
        }
    }
}

impl<'a, T: Decode<'a>, F: Failure<'a>> Decode<'a> for Res4<T, F> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        Ok(match from.word()? {
            OK => Res4::Ok(T::decode(from)?),
            status => Res4::Fail(F::decode_body(Status::try_from(status)?, from)?),
        })
    }
}

impl<'a, T: Encode, F: Failure<'a>> Encode for Res4<T, F> {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            Res4::Ok(body) => {
                OK.encode(to);
                body.encode(to);
            }
            Res4::Fail(failure) => {
                failure.status().encode(to);
                failure.encode_body(to);
            }
        }
    }
}

/// Declares what an operation says when it fails with one certain status; with
/// any other it says nothing more.
macro_rules! failure_with_body {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $(#[$doc:meta])*
            $variant:ident($body:ty),
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $(#[$doc])*
            $variant($body),
            /// Any other failure, which says nothing more.
            Other($crate::nfs4::Status),
        }
        $crate::nfs4::res::failure_with_body!(@impl [] '_ [$name] $name $variant);
    };
    (
        $(#[$meta:meta])*
        pub enum $name:ident<$lifetime:lifetime> {
            $(#[$doc:meta])*
            $variant:ident($body:ty),
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name<$lifetime> {
            $(#[$doc])*
            $variant($body),
            /// Any other failure, which says nothing more.
            Other($crate::nfs4::Status),
        }
        $crate::nfs4::res::failure_with_body!(
            @impl [<$lifetime>] $lifetime [$name<$lifetime>] $name $variant
        );
    };
    (@impl [$($generics:tt)*] $wire:lifetime [$($type:tt)*] $name:ident $variant:ident) => {
        impl $($generics)* From<$crate::nfs4::Status> for $($type)* {
            fn from(status: $crate::nfs4::Status) -> Self {
                $name::Other(status)
            }
        }

        impl $($generics)* $crate::nfs4::Failure<$wire> for $($type)* {
            fn status(&self) -> $crate::nfs4::Status {
                match self {
                    $name::$variant(_) => $crate::nfs4::Status::$variant,
                    $name::Other(status) => *status,
                }
            }

            fn decode_body(
                status: $crate::nfs4::Status,
                from: &mut hayase_xdr::Reader<$wire>,
            ) -> hayase_xdr::Result<Self> {
                Ok(match status {
                    $crate::nfs4::Status::$variant => {
                        $name::$variant(hayase_xdr::Decode::decode(from)?)
                    }
                    other => $name::Other(other),
                })
            }

            fn encode_body(&self, to: &mut Vec<u8>) {
                if let $name::$variant(body) = self {
                    hayase_xdr::Encode::encode(body, to);
                }
            }
        }
    };
}

pub(crate) use failure_with_body;
