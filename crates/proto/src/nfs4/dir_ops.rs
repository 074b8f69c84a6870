//! CREATE, LINK, REMOVE, RENAME and OPENATTR: names and objects that are no
//! regular files (RFC 8881 §18.4, §18.9, §18.17, §18.25, §18.26).

use hayase_xdr::{Decode, Encode, Reader, Result, Xdr};

use super::{Bitmap, ChangeInfo, Component, FType, Fattr, LinkText, Res4, SpecData};

/// What kind of object to make (RFC 8881 §18.4, `createtype4`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateType<'a> {
    /// A directory.
    Dir,
    /// A symbolic link with this text.
    Lnk(LinkText<'a>),
    /// A block device.
    Blk(SpecData),
    /// A character device.
    Chr(SpecData),
    /// A socket.
    Sock,
    /// A FIFO.
    Fifo,
    /// Anything else, which is answered with [`Status::BadType`](super::Status::BadType).
    Other(u32),
}

impl<'a> Decode<'a> for CreateType<'a> {
    fn decode(from: &mut Reader<'a>) -> Result<Self> {
        let number = from.word()?;
        Ok(match FType::try_from(number) {
            Ok(FType::Dir) => CreateType::Dir,
            Ok(FType::Lnk) => CreateType::Lnk(LinkText::decode(from)?),
            Ok(FType::Blk) => CreateType::Blk(SpecData::decode(from)?),
            Ok(FType::Chr) => CreateType::Chr(SpecData::decode(from)?),
            Ok(FType::Sock) => CreateType::Sock,
            Ok(FType::Fifo) => CreateType::Fifo,
            _ => CreateType::Other(number),
        })
    }
}

impl Encode for CreateType<'_> {
    fn encode(&self, to: &mut Vec<u8>) {
        match self {
            CreateType::Dir => FType::Dir.encode(to),
            CreateType::Lnk(text) => {
                FType::Lnk.encode(to);
                text.encode(to);
            }
            CreateType::Blk(device) => {
                FType::Blk.encode(to);
                device.encode(to);
            }
            CreateType::Chr(device) => {
                FType::Chr.encode(to);
                device.encode(to);
            }
            CreateType::Sock => FType::Sock.encode(to),
            CreateType::Fifo => FType::Fifo.encode(to),
            CreateType::Other(number) => number.encode(to),
        }
    }
}

/// CREATE (RFC 8881 §18.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CreateArgs<'a> {
    /// What to make.
    pub objtype: CreateType<'a>,
    /// Its name in the current directory.
    pub objname: Component<'a>,
    /// Attributes to set.
    pub createattrs: Fattr<'a>,
}

/// What CREATE answers; the object becomes the current file handle (RFC 8881 §18.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct CreateResOk {
    /// The directory before and after.
    pub cinfo: ChangeInfo,
    /// Attributes that were set.
    pub attrset: Bitmap,
}

/// What CREATE answers (RFC 8881 §18.4).
pub type CreateRes = Res4<CreateResOk>;

/// LINK, of the saved file handle into the current directory (RFC 8881 §18.9).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct LinkArgs<'a> {
    /// The further name.
    pub newname: Component<'a>,
}

/// What LINK answers: the directory before and after (RFC 8881 §18.9).
pub type LinkRes = Res4<ChangeInfo>;

/// REMOVE (RFC 8881 §18.25).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RemoveArgs<'a> {
    /// The name in the current directory.
    pub target: Component<'a>,
}

/// What REMOVE answers: the directory before and after (RFC 8881 §18.25).
pub type RemoveRes = Res4<ChangeInfo>;

/// RENAME, from the saved directory to the current one (RFC 8881 §18.26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RenameArgs<'a> {
    /// The name as it is.
    pub oldname: Component<'a>,
    /// The name as it shall be.
    pub newname: Component<'a>,
}

/// What RENAME answers (RFC 8881 §18.26).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct RenameResOk {
    /// The directory the name left, before and after.
    pub source_cinfo: ChangeInfo,
    /// The directory the name came to, before and after.
    pub target_cinfo: ChangeInfo,
}

/// What RENAME answers (RFC 8881 §18.26).
pub type RenameRes = Res4<RenameResOk>;

/// OPENATTR (RFC 8881 §18.17).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Xdr)]
pub struct OpenAttrArgs {
    /// Whether to make the directory of named attributes if there is none.
    pub createdir: bool,
}

/// What OPENATTR answers; the directory of named attributes becomes the current
/// file handle (RFC 8881 §18.17).
pub type OpenAttrRes = Res4<()>;
