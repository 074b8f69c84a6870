//! Sets of numbers with RFC names: closed ones, like procedures and statuses, and such as
//! registries extend.

/// Declares an enum of wire numbers: its codec, `ALL`, the RFC's name of each
/// value, and the conversion from a number.
macro_rules! numbered {
    (
        $(#[$meta:meta])*
        pub enum $name:ident {
            $( $(#[$doc:meta])* $variant:ident = $number:literal $rfc_name:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, hayase_xdr::Xdr)]
        #[repr(u32)]
        pub enum $name {
            $( $(#[$doc])* $variant = $number, )*
        }

        impl $name {
            /// Every value, in the order of their numbers.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The RFC's name.
            pub const fn name(self) -> &'static str {
                match self {
                    $($name::$variant => $rfc_name,)*
                }
            }
        }

        impl TryFrom<u32> for $name {
            type Error = hayase_xdr::Error;

            fn try_from(number: u32) -> hayase_xdr::Result<Self> {
                match number {
                    $($number => Ok($name::$variant),)*
                    other => Err(hayase_xdr::Error::UnknownValue(other)),
                }
            }
        }

        impl From<$name> for u32 {
            fn from(value: $name) -> u32 {
                value as u32
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

/// Declares a wire number that others may extend: a newtype with the known values
/// as constants, and the RFC's name of each.
macro_rules! extensible {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $( $(#[$doc:meta])* $constant:ident = $number:literal $rfc_name:literal, )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, hayase_xdr::Xdr)]
        pub struct $name(pub u32);

        impl $name {
            $( $(#[$doc])* pub const $constant: $name = $name($number); )*

            /// The values known here, in the order of their numbers.
            pub const ALL: &'static [$name] = &[$($name::$constant),*];

            /// The RFC's name of a value known here.
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($rfc_name),)*
                    _ => None,
                }
            }
        }

        impl From<$name> for u32 {
            fn from(value: $name) -> u32 {
                value.0
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, "{}({})", stringify!($name), self.0),
                }
            }
        }
    };
}

pub(crate) use {extensible, numbered};
