//! Every option word of exports(5), and what Hayase does about it: the one table from which
//! parsing, error texts, canonical rendering, documentation and tests follow.

use crate::diagnostic::Problem;
use crate::fsid::Fsid;
use crate::ids::IdRanges;
use crate::io::Io;
use crate::locations::Locations;
use crate::mountpoint::MountPoint;
use crate::options::ExportOptions;
use std::fmt::{self, Write};

/// One option word.
pub(crate) struct OptionWord {
    /// The word, without `=`.
    pub name: &'static str,
    /// What stands after `=`.
    pub value: Value,
    /// What the word is about. Two words about the same thing can contradict each other.
    pub topic: Topic,
    /// Which of the two things the word says about its topic.
    pub on: bool,
    pub effect: Effect,
    /// For the documentation.
    pub help: &'static str,
}

/// Whether a word takes a value, and what it is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    None,
    Needed(&'static str),
    Optional(&'static str),
}

/// What becomes of a word.
pub(crate) enum Effect {
    /// It sets a field of [`ExportOptions`].
    Acts(Action),
    /// It sets a field that is only ever shown, for this reason; accepted.
    Noted(Action, &'static str),
    /// It asks for what Hayase does anyway, for this reason; accepted.
    Already(&'static str),
    /// Hayase does not do what it asks, for this reason; an error.
    Missing(&'static str),
}

/// How a word sets its field.
pub(crate) enum Action {
    Flag(fn(&mut ExportOptions) -> &mut bool, bool),
    /// A flag that the canonical list, like that of exportfs(8), has only if it is not the
    /// default.
    Rare(fn(&mut ExportOptions) -> &mut bool, bool),
    /// Another word for a flag, which no list has.
    Synonym(fn(&mut ExportOptions) -> &mut bool, bool),
    /// A flag without an opposite.
    Switch(fn(&mut ExportOptions) -> &mut bool),
    Id(fn(&mut ExportOptions) -> &mut u32),
    Fsid,
    /// Read by the list, since options that follow it are for its flavors.
    Sec,
    /// Whether the canonical list has this word, of the two that there are.
    MountPoint(bool),
    Ids(fn(&mut ExportOptions) -> &mut IdRanges),
    Places(fn(&mut ExportOptions) -> &mut Option<Locations>),
    Io,
}

impl Topic {
    /// Whether what a word says about it can differ by security flavor.
    pub fn is_by_flavor(self) -> bool {
        matches!(self, Self::Access | Self::Port | Self::RootSquash | Self::AllSquash)
    }
}

/// What a word is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topic {
    Access,
    Stability,
    Gathering,
    Hiding,
    Crossing,
    Port,
    RootSquash,
    AllSquash,
    SubtreeCheck,
    LockAuth,
    Acl,
    Labels,
    Pnfs,
    HandleSigning,
    Fsid,
    Anonuid,
    Anongid,
    Sec,
    Transport,
    Mount,
    Listing,
    Uids,
    Gids,
    Places,
    Caching,
    /// Words that are refused anyway.
    Refused,
}

/// The table. The order of its rows is the order of the canonical list.
#[rustfmt::skip]
pub(crate) const OPTIONS: &[OptionWord] = &[
    flag("ro", Topic::Access, true, |o| &mut o.ro, true,
        "Disallow requests that change the file system."),
    flag("rw", Topic::Access, false, |o| &mut o.ro, false,
        "Allow reading and writing."),
    flag("sync", Topic::Stability, true, |o| &mut o.sync, true,
        "Reply only after changes are on stable storage."),
    flag("async", Topic::Stability, false, |o| &mut o.sync, false,
        "Reply before changes are on stable storage; a crash can lose them."),
    noted("wdelay", Topic::Gathering, true, |o| &mut o.wdelay, true,
        "a hint about speed only"),
    noted("no_wdelay", Topic::Gathering, false, |o| &mut o.wdelay, false,
        "a hint about speed only"),
    flag("hide", Topic::Hiding, false, |o| &mut o.nohide, false,
        "A client must mount this file system itself, even if it lies below another export."),
    flag("nohide", Topic::Hiding, true, |o| &mut o.nohide, true,
        "A client that walks in from the exported parent file system sees this one."),
    flag("nocrossmnt", Topic::Crossing, false, |o| &mut o.crossmnt, false,
        "File systems mounted below this one are not exported with it."),
    flag("crossmnt", Topic::Crossing, true, |o| &mut o.crossmnt, true,
        "File systems mounted below this one are exported with it, with the same options."),
    flag("secure", Topic::Port, true, |o| &mut o.secure, true,
        "Requests must come from a port below 1024."),
    flag("insecure", Topic::Port, false, |o| &mut o.secure, false,
        "Requests may come from any port."),
    flag("root_squash", Topic::RootSquash, true, |o| &mut o.root_squash, true,
        "Map uid and gid 0 to `anonuid` and `anongid`."),
    flag("no_root_squash", Topic::RootSquash, false, |o| &mut o.root_squash, false,
        "Root on the client is root on the export."),
    flag("all_squash", Topic::AllSquash, true, |o| &mut o.all_squash, true,
        "Map every uid and gid to `anonuid` and `anongid`; includes root."),
    flag("no_all_squash", Topic::AllSquash, false, |o| &mut o.all_squash, false,
        "Keep the uids and gids that the client states."),
    flag("subtree_check", Topic::SubtreeCheck, true, |o| &mut o.subtree_check, true,
        "Check that each request lies below the exported directory."),
    flag("no_subtree_check", Topic::SubtreeCheck, false, |o| &mut o.subtree_check, false,
        "Check only that each request lies in the exported file system."),
    synonym("auth_nlm", Topic::LockAuth, true, |o| &mut o.secure_locks, true,
        "The same as `secure_locks`."),
    rare("secure_locks", Topic::LockAuth, true, |o| &mut o.secure_locks, true,
        "Who locks a file over NFSv3 (NLM) has to own it or be permitted to read it."),
    synonym("no_auth_nlm", Topic::LockAuth, false, |o| &mut o.secure_locks, false,
        "The same as `insecure_locks`."),
    rare("insecure_locks", Topic::LockAuth, false, |o| &mut o.secure_locks, false,
        "Anybody on a client may lock files over NFSv3 (NLM)."),
    rare("acl", Topic::Acl, true, |o| &mut o.acl, true,
        "Clients of NFSv3 see and set access control lists (NFSACL)."),
    rare("no_acl", Topic::Acl, false, |o| &mut o.acl, false,
        "Access control lists are not shown to clients of NFSv3; they still decide."),
    OptionWord {
        name: "security_label", value: Value::None, topic: Topic::Labels, on: true,
        effect: Effect::Acts(Action::Switch(|o| &mut o.security_label)),
        help: "Clients of NFSv4.2 see and set the security labels of files, where the file system keeps them.",
    },
    missing("pnfs", Value::None,
        "layouts are not a matter of an export's options"),
    already("no_pnfs", Topic::Pnfs, false,
        "exports of a directory never hand out layouts"),
    already("sign_fh", Topic::HandleSigning, true,
        "every file handle carries a keyed checksum"),
    OptionWord {
        name: "fsid", value: Value::Needed("NUM|root|UUID"), topic: Topic::Fsid, on: true,
        effect: Effect::Acts(Action::Fsid),
        help: "Identify the export by this number or UUID; `root` is 0.",
    },
    OptionWord {
        name: "anonuid", value: Value::Needed("UID"), topic: Topic::Anonuid, on: true,
        effect: Effect::Acts(Action::Id(|o| &mut o.anonuid)),
        help: "The uid of anonymous and squashed requests; 65534 if not given.",
    },
    OptionWord {
        name: "anongid", value: Value::Needed("GID"), topic: Topic::Anongid, on: true,
        effect: Effect::Acts(Action::Id(|o| &mut o.anongid)),
        help: "The gid of anonymous and squashed requests; 65534 if not given.",
    },
    OptionWord {
        name: "sec", value: Value::Needed("FLAVOR[:FLAVOR]"), topic: Topic::Sec, on: true,
        effect: Effect::Acts(Action::Sec),
        help: "The security flavors that are served, `sys` and `none`, preferred first; `sys` if not given. `ro`, `rw`, `secure`, `insecure` and those that squash, where they follow a `sec=`, are for its flavors only.",
    },
    OptionWord {
        name: "refer", value: Value::Needed("PATH@HOST[+HOST][:PATH@HOST[+HOST]]"), topic: Topic::Places,
        on: true, effect: Effect::Acts(Action::Places(|o| &mut o.refer)),
        help: "The export is found there: NFSv4 clients go there by themselves, and NFSv3 clients cannot mount it here. The directory has to exist here all the same.",
    },
    OptionWord {
        name: "replicas", value: Value::Needed("PATH@HOST[+HOST][:PATH@HOST[+HOST]]"), topic: Topic::Places,
        on: false, effect: Effect::Acts(Action::Places(|o| &mut o.replicas)),
        help: "NFSv4 clients that ask are told that the export is found there, too.",
    },
    OptionWord {
        name: "mountpoint", value: Value::Optional("PATH"), topic: Topic::Mount, on: true,
        effect: Effect::Acts(Action::MountPoint(true)),
        help: "Export the directory only while it, or PATH, is the root of a mounted file system.",
    },
    OptionWord {
        name: "mp", value: Value::Optional("PATH"), topic: Topic::Mount, on: true,
        effect: Effect::Acts(Action::MountPoint(false)),
        help: "Short for `mountpoint`.",
    },
    OptionWord {
        name: "nordirplus", value: Value::None, topic: Topic::Listing, on: true,
        effect: Effect::Acts(Action::Switch(|o| &mut o.nordirplus)),
        help: "Refuse READDIRPLUS to clients of NFSv3, which then use READDIR.",
    },
    OptionWord {
        name: "squash_uids", value: Value::Needed("UIDS"), topic: Topic::Uids, on: true,
        effect: Effect::Acts(Action::Ids(|o| &mut o.squash_uids)),
        help: "Map these uids, as in `0-15,20`, to `anonuid`.",
    },
    OptionWord {
        name: "squash_gids", value: Value::Needed("GIDS"), topic: Topic::Gids, on: true,
        effect: Effect::Acts(Action::Ids(|o| &mut o.squash_gids)),
        help: "Map these gids to `anongid`.",
    },
    OptionWord {
        name: "xprtsec", value: Value::Needed("POLICY"), topic: Topic::Transport, on: true,
        effect: Effect::Already("with `none` among the policies; without it an error, since this build does not serve RPC over TLS"),
        help: "",
    },
    OptionWord {
        name: "io", value: Value::Needed("auto|cached|direct"), topic: Topic::Caching, on: true,
        effect: Effect::Acts(Action::Io),
        help: "Hayase's own. Whether data goes through the page cache of the server: `auto`, if not given, passes it by with large transfers of files that are, or are together, larger than memory; `cached` never does, `direct` with all large transfers. Other servers do not know the word.",
    },
    missing("reexport", Value::Needed("WORD"),
        "other servers' exports are not exported again"),
];

const fn flag(
    name: &'static str,
    topic: Topic,
    on: bool,
    field: fn(&mut ExportOptions) -> &mut bool,
    value: bool,
    help: &'static str,
) -> OptionWord {
    OptionWord {
        name,
        value: Value::None,
        topic,
        on,
        effect: Effect::Acts(Action::Flag(field, value)),
        help,
    }
}

const fn rare(
    name: &'static str,
    topic: Topic,
    on: bool,
    field: fn(&mut ExportOptions) -> &mut bool,
    value: bool,
    help: &'static str,
) -> OptionWord {
    let effect = Effect::Acts(Action::Rare(field, value));
    OptionWord { name, value: Value::None, topic, on, effect, help }
}

const fn noted(
    name: &'static str,
    topic: Topic,
    on: bool,
    field: fn(&mut ExportOptions) -> &mut bool,
    value: bool,
    reason: &'static str,
) -> OptionWord {
    let effect = Effect::Noted(Action::Rare(field, value), reason);
    OptionWord { name, value: Value::None, topic, on, effect, help: "" }
}

const fn synonym(
    name: &'static str,
    topic: Topic,
    on: bool,
    field: fn(&mut ExportOptions) -> &mut bool,
    value: bool,
    help: &'static str,
) -> OptionWord {
    let effect = Effect::Acts(Action::Synonym(field, value));
    OptionWord { name, value: Value::None, topic, on, effect, help }
}

const fn already(name: &'static str, topic: Topic, on: bool, reason: &'static str) -> OptionWord {
    OptionWord { name, value: Value::None, topic, on, effect: Effect::Already(reason), help: "" }
}

const fn missing(name: &'static str, value: Value, reason: &'static str) -> OptionWord {
    OptionWord {
        name,
        value,
        topic: Topic::Refused,
        on: true,
        effect: Effect::Missing(reason),
        help: "",
    }
}

impl OptionWord {
    /// The word of this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        OPTIONS.iter().find(|word| word.name == name)
    }

    /// The word as it is written, with a placeholder for its value.
    pub fn usage(&self) -> String {
        match self.value {
            Value::Needed(value) => format!("{}={value}", self.name),
            Value::Optional(value) => format!("{}[={value}]", self.name),
            Value::None => self.name.into(),
        }
    }

    fn is_default(&self) -> bool {
        match &self.effect {
            Effect::Acts(
                Action::Flag(field, value)
                | Action::Rare(field, value)
                | Action::Synonym(field, value),
            ) => *field(&mut ExportOptions::default()) == *value,
            _ => false,
        }
    }
}

impl Action {
    /// Sets the field to what the word says; `value` is what stands after `=`.
    pub fn apply(&self, options: &mut ExportOptions, value: &str) -> Result<(), Problem> {
        match self {
            Self::Flag(field, value) | Self::Rare(field, value) | Self::Synonym(field, value) => {
                *field(options) = *value;
            }
            Self::Switch(field) => *field(options) = true,
            Self::Id(field) => *field(options) = id(value)?,
            Self::Fsid => options.fsid = Some(Fsid::parse(value)?.beside(options.fsid)),
            Self::Sec => {}
            Self::MountPoint(_) => options.mountpoint = Some(MountPoint::parse(value)?),
            Self::Ids(field) => *field(options) = IdRanges::parse(value)?,
            Self::Places(field) => *field(options) = Some(Locations::parse(value)?),
            Self::Io => options.io = Io::parse(value)?,
        }
        Ok(())
    }

    /// Whether the canonical list of these options has the word.
    pub fn is_shown(&self, options: &ExportOptions) -> bool {
        let (mut options, mut default) = (options.clone(), ExportOptions::default());
        match self {
            Self::Flag(field, value) => *field(&mut options) == *value,
            Self::Rare(field, value) => {
                *field(&mut options) == *value && *field(&mut default) != *value
            }
            Self::Synonym(..) => false,
            Self::Switch(field) => *field(&mut options),
            Self::Id(field) => *field(&mut options) != *field(&mut default),
            Self::Fsid => options.fsid.is_some(),
            Self::Sec => true,
            Self::MountPoint(shown) => *shown && options.mountpoint.is_some(),
            Self::Ids(field) => !field(&mut options).is_empty(),
            Self::Places(field) => field(&mut options).is_some(),
            Self::Io => options.io != default.io,
        }
    }

    /// Writes `=` and the value, if the word has one.
    pub fn write_value(&self, options: &ExportOptions, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut options = options.clone();
        match self {
            Self::Flag(..) | Self::Rare(..) | Self::Synonym(..) | Self::Switch(_) => Ok(()),
            Self::Id(field) => write!(f, "={}", field(&mut options)),
            Self::Fsid => options.fsid.map_or(Ok(()), |fsid| write!(f, "={fsid}")),
            Self::Sec => write!(f, "={}", options.sec),
            Self::MountPoint(_) => options.mountpoint.map_or(Ok(()), |mount| write!(f, "{mount}")),
            Self::Ids(field) => write!(f, "={}", field(&mut options)),
            Self::Io => write!(f, "={}", options.io),
            Self::Places(field) => {
                field(&mut options).as_ref().map_or(Ok(()), |places| write!(f, "={places}"))
            }
        }
    }
}

/// A uid or gid. `-2` is the old way to write the last but one, as some files still do.
fn id(text: &str) -> Result<u32, Problem> {
    let clean = text.strip_prefix('-').unwrap_or(text).bytes().all(|b| b.is_ascii_digit());
    let number = text.parse::<i64>().ok().filter(|_| clean);
    // A negative number is the uid with the same 32 bits.
    let id = number.and_then(|number| match number {
        0.. => u32::try_from(number).ok(),
        _ => i32::try_from(number).ok().map(|id| u32::from_ne_bytes(id.to_ne_bytes())),
    });
    match id {
        Some(u32::MAX) => Err(Problem::new(
            format!("`{text}` is the value that means \"no id\""),
            "choose another number; 65534 is the default",
        )),
        Some(id) => Ok(id),
        None => Err(Problem::new(
            format!("`{text}` is not a uid or gid"),
            "write a number from 0 to 4294967294",
        )),
    }
}

/// An option as documentation has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// The word, with the name of its value, such as `fsid=NUM|root|UUID`.
    pub usage: String,
    /// What Hayase does about it: `acts`, `acts; default`, `accepted` or `error`.
    pub state: &'static str,
    /// What it does, or why it does nothing, or why it is an error.
    pub text: &'static str,
}

/// All options, in the order of the documentation.
pub fn described() -> impl Iterator<Item = Described> {
    OPTIONS.iter().map(|word| {
        let (state, text) = match &word.effect {
            Effect::Acts(_) if word.is_default() => ("acts; default", word.help),
            Effect::Acts(_) => ("acts", word.help),
            Effect::Already(reason) | Effect::Noted(_, reason) => ("accepted", *reason),
            Effect::Missing(reason) => ("error", *reason),
        };
        Described { usage: word.usage(), state, text }
    })
}

/// The options as a Markdown table, for the documentation.
///
/// ```
/// assert!(hayase_exports::reference().contains("| `no_root_squash` | acts |"));
/// ```
pub fn reference() -> String {
    let mut page = String::from("| Option | In Hayase | |\n|---|---|---|\n");
    for Described { usage, state, text } in described() {
        let usage = usage.replace('|', "\\|");
        // Writing to a String cannot fail.
        let _ = writeln!(page, "| `{usage}` | {state} | {text} |");
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_unique_and_explained() {
        for (i, word) in OPTIONS.iter().enumerate() {
            assert!(OPTIONS[..i].iter().all(|other| other.name != word.name), "{}", word.name);
            let (Effect::Already(reason) | Effect::Noted(_, reason) | Effect::Missing(reason)) =
                &word.effect
            else {
                assert!(word.help.ends_with('.'), "{}", word.name);
                continue;
            };
            assert!(!reason.is_empty(), "{}", word.name);
        }
    }

    #[test]
    fn each_flag_has_its_opposite_and_one_default() {
        for word in OPTIONS {
            let Effect::Acts(Action::Flag(..) | Action::Rare(..)) = word.effect else { continue };
            let of_topic = OPTIONS.iter().filter(|other| other.topic == word.topic);
            let synonym =
                |other: &&OptionWord| matches!(other.effect, Effect::Acts(Action::Synonym(..)));
            let pair: Vec<_> = of_topic.filter(|other| !synonym(other)).collect();
            assert_eq!(pair.len(), 2, "{}", word.name);
            assert_ne!(pair[0].on, pair[1].on, "{}", word.name);
            assert_ne!(pair[0].is_default(), pair[1].is_default(), "{}", word.name);
        }
    }

    #[test]
    fn ids_are_32_bits_but_never_minus_one() {
        let table = [
            ("0", Some(0)),
            ("65534", Some(65534)),
            ("4294967294", Some(u32::MAX - 1)),
            ("-2", Some(u32::MAX - 1)),
            ("-1", None),
            ("4294967295", None),
            ("4294967296", None),
            ("-2147483649", None),
            ("+5", None),
            ("", None),
            ("-", None),
            ("nobody", None),
        ];
        for (text, expected) in table {
            assert_eq!(id(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn the_reference_has_a_row_for_each_word() {
        let page = reference();
        assert_eq!(page.lines().count(), OPTIONS.len() + 2);
        assert!(page.contains("| `ro` | acts; default |"));
        assert!(page.contains("| `fsid=NUM\\|root\\|UUID` | acts |"));
        assert!(page.contains("| `reexport=WORD` | error |"));
        assert!(page.contains("| `mountpoint[=PATH]` | acts |"));
    }
}
