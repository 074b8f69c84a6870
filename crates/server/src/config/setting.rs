//! Every setting that can be written down: the one table from which the files, the command line's
//! precedence, the documentation and the example follow.

use std::net::IpAddr;
use std::path::PathBuf;

use hayase_nfs::Delegations;

use crate::Options;
use crate::options::Names;

/// A setting.
pub(crate) struct Setting {
    /// The section and the key in `hayase.toml`, with a dot between them.
    pub(crate) name: &'static str,
    /// The option of the command line.
    pub(crate) flag: Option<&'static str>,
    /// The section and the key in nfs.conf(5).
    pub(crate) nfs_conf: Option<(&'static str, &'static str)>,
    /// What holds if nobody says anything, in words.
    pub(crate) default: &'static str,
    /// A value as `hayase.toml` has it.
    pub(crate) example: &'static str,
    /// What it is, as a sentence.
    pub(crate) help: &'static str,
    /// Takes the text of a value; or says what it should be.
    pub(crate) apply: fn(&mut Options, &str) -> Result<(), String>,
}

/// Between the values of a list.
pub(crate) const LIST: char = '\n';

impl Setting {
    /// The setting of this name.
    pub(crate) fn named(name: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| setting.name == name)
    }

    /// Whether it can have several values.
    pub(crate) fn is_list(&self) -> bool {
        self.example.starts_with('[')
    }

    /// The setting that a key of nfs.conf(5) is.
    pub(crate) fn of_nfs_conf(section: &str, key: &str) -> Option<&'static Self> {
        SETTINGS.iter().find(|setting| {
            setting.nfs_conf.is_some_and(|(its_section, its_key)| {
                its_section.eq_ignore_ascii_case(section) && its_key.eq_ignore_ascii_case(key)
            })
        })
    }
}

/// The table. Settings take effect in the order of their lines.
#[rustfmt::skip]
pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "exports.files", flag: Some("--exports"), nfs_conf: None,
        default: "`/etc/exports` and `/etc/exports.d`, unless directories are named", example: "[\"/etc/exports\", \"/etc/exports.d\"]",
        help: "Files in the format of exports(5), and directories of `*.exports`.",
        apply: |o, text| { o.exports = text.split(LIST).map(PathBuf::from).collect(); Ok(()) },
    },
    Setting {
        name: "server.listen", flag: Some("--listen"), nfs_conf: Some(("nfsd", "host")),
        default: "all addresses", example: "[\"192.0.2.7\", \"2001:db8::7\"]",
        help: "Listen to these addresses only.",
        apply: |o, text| {
            let address = |text: &str| text.trim().parse::<IpAddr>().map_err(|_| format!("`{}` is not an IP address", text.trim()));
            o.listen = text.split([LIST, ',']).map(address).collect::<Result<_, _>>()?;
            Ok(())
        },
    },
    Setting {
        name: "server.port", flag: Some("--port"), nfs_conf: Some(("nfsd", "port")),
        default: "2049", example: "2049",
        help: "Port for NFS and MOUNT.",
        apply: |o, text| number(text, 0, 65535).map(|port| o.port = port as u16),
    },
    Setting {
        name: "server.state-dir", flag: Some("--state-dir"), nfs_conf: None,
        default: "`/var/lib/hayase` as root, else the user's own", example: "\"/var/lib/hayase\"",
        help: "Where the server keeps what has to outlive it. Commands that ask the server then need `--state-dir`, too.",
        apply: |o, text| { o.state_dir = Some(text.into()); Ok(()) },
    },
    Setting {
        name: "server.threads", flag: Some("--threads"), nfs_conf: Some(("nfsd", "threads")),
        default: "32 for each core, from 64 to 512", example: "64",
        help: "Threads for calls that may wait for a disk, at most.",
        apply: |o, text| number(text, 1, 4096).map(|threads| o.threads = Some(threads as usize)),
    },
    Setting {
        name: "server.portmap", flag: Some("--no-portmap"), nfs_conf: None,
        default: "true", example: "true",
        help: "Register with this host's rpcbind, or stand in for it on port 111.",
        apply: |o, text| flag(text).map(|portmap| o.portmap = portmap),
    },
    Setting {
        name: "server.manage-gids", flag: Some("--manage-gids"), nfs_conf: Some(("mountd", "manage-gids")),
        default: "false", example: "true",
        help: "Look up here which groups a caller is in, and ignore those that its client states, of which there can be 16 at most.",
        apply: |o, text| flag(text).map(|manages| o.manage_gids = manages),
    },
    Setting {
        name: "server.log", flag: Some("--log"), nfs_conf: None,
        default: "info", example: "\"info\"",
        help: "What is logged: error, warn, info, debug, trace, or a list such as `info,hayase_nfs=debug`.",
        apply: |o, text| { o.log = Some(text.into()); Ok(()) },
    },
    Setting {
        name: "nfs.v3", flag: None, nfs_conf: Some(("nfsd", "vers3")),
        default: "true", example: "true",
        help: "Serve NFSv3, and what goes with it.",
        apply: |o, text| flag(text).map(|serves| o.versions.v3 = serves),
    },
    Setting {
        name: "nfs.v4-0", flag: None, nfs_conf: Some(("nfsd", "vers4.0")),
        default: "true", example: "true",
        help: "Serve NFSv4.0.",
        apply: |o, text| flag(text).map(|serves| o.versions.v4[0] = serves),
    },
    Setting {
        name: "nfs.v4-1", flag: None, nfs_conf: Some(("nfsd", "vers4.1")),
        default: "true", example: "true",
        help: "Serve NFSv4.1.",
        apply: |o, text| flag(text).map(|serves| o.versions.v4[1] = serves),
    },
    Setting {
        name: "nfs.v4-2", flag: None, nfs_conf: Some(("nfsd", "vers4.2")),
        default: "true", example: "true",
        help: "Serve NFSv4.2.",
        apply: |o, text| flag(text).map(|serves| o.versions.v4[2] = serves),
    },
    Setting {
        name: "nfs.v4", flag: None, nfs_conf: Some(("nfsd", "vers4")),
        default: "true", example: "true",
        help: "If false, no minor version of NFSv4 is served, whatever is said of it.",
        apply: |o, text| flag(text).map(|serves| if !serves { o.versions.v4 = [false; 3] }),
    },
    Setting {
        name: "nfs4.lease-time", flag: Some("--lease-secs"), nfs_conf: Some(("nfsd", "lease-time")),
        default: "90", example: "90",
        help: "Seconds for which NFSv4 clients keep their state without a sign of life.",
        apply: |o, text| number(text, 1, 3600).map(|secs| o.lease_secs = secs as u32),
    },
    Setting {
        name: "nfs4.grace-time", flag: Some("--grace-secs"), nfs_conf: Some(("nfsd", "grace-time")),
        default: "a lease", example: "90",
        help: "Seconds after a restart in which clients may claim their state and locks, at most.",
        apply: |o, text| number(text, 1, 3600).map(|secs| o.grace_secs = Some(secs as u32)),
    },
    Setting {
        name: "nfs4.delegations", flag: Some("--delegations"), nfs_conf: None,
        default: "guarded", example: "\"guarded\"",
        help: "Which files NFSv4 clients may keep to themselves until others want them: never, guarded (those of which the kernel tells when a local program wants them), always.",
        apply: |o, text| {
            o.delegations = match text {
                "never" => Delegations::Never,
                "guarded" => Delegations::Guarded,
                "always" => Delegations::Always,
                _ => return Err(format!("`{text}` is none of never, guarded, always")),
            };
            Ok(())
        },
    },
    Setting {
        name: "nfs4.idmap", flag: Some("--idmap"), nfs_conf: None,
        default: "numeric", example: "\"numeric\"",
        help: "How NFSv4 clients are told owners and groups: numeric or names.",
        apply: |o, text| {
            o.names = match text {
                "numeric" => Names::Numbers,
                "names" => Names::Sent,
                _ => return Err(format!("`{text}` is neither numeric nor names")),
            };
            Ok(())
        },
    },
    Setting {
        name: "nfs4.domain", flag: Some("--nfs4-domain"), nfs_conf: None,
        default: "as `/etc/idmapd.conf` says, else the DNS domain of this host", example: "\"example.org\"",
        help: "The domain of names, `user@DOMAIN`.",
        apply: |o, text| { o.nfs4_domain = Some(text.into()); Ok(()) },
    },
    Setting {
        name: "limits.connections", flag: None, nfs_conf: None,
        default: "three fifths of the open-file limit, at most 16384", example: "4096",
        help: "Connections in all; what the open-file limit allows is not exceeded.",
        apply: |o, text| number(text, 1, 1 << 20).map(|most| o.connections = Some(most as usize)),
    },
    Setting {
        name: "limits.clients", flag: None, nfs_conf: None,
        default: "as `hayase limits` shows", example: "4096",
        help: "NFSv4 clients.",
        apply: |o, text| number(text, 1, 1 << 20).map(|most| o.state_limits.clients = most as usize),
    },
    Setting {
        name: "limits.states-per-client", flag: None, nfs_conf: None,
        default: "as `hayase limits` shows", example: "65536",
        help: "Opens, locks and delegations of one NFSv4 client, each.",
        apply: |o, text| number(text, 1, 1 << 24).map(|most| o.state_limits.states_per_client = most as usize),
    },
    Setting {
        name: "limits.delegations", flag: None, nfs_conf: None,
        default: "as `hayase limits` shows", example: "65536",
        help: "Files lent to NFSv4 clients.",
        apply: |o, text| number(text, 1, 1 << 24).map(|most| o.state_limits.delegations = most as usize),
    },
    Setting {
        name: "limits.mount-list", flag: None, nfs_conf: None,
        default: "as `hayase limits` shows", example: "4096",
        help: "Mounts that `showmount -a` lists.",
        apply: |o, text| number(text, 1, 1 << 20).map(|most| o.nfs_limits.mount_list = most as usize),
    },
];

fn number(text: &str, least: u64, most: u64) -> Result<u64, String> {
    let number = text.trim().parse::<u64>().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| format!("`{text}` is not a number from {least} to {most}"))
}

/// Yes or no, in the words of nfs-utils.
pub(super) fn flag(text: &str) -> Result<bool, String> {
    let is = |words: [&str; 6]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is(["1", "t", "true", "y", "yes", "on"]) {
        Ok(true)
    } else if is(["0", "f", "false", "n", "no", "off"]) {
        Ok(false)
    } else {
        Err(format!("`{text}` is neither yes nor no"))
    }
}
