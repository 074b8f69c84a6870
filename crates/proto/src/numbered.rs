//! Closed sets of numbers with RFC names: procedures and statuses.

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

pub(crate) use numbered;
