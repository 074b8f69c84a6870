//! `/etc/nfs.conf` and `/etc/nfs.conf.d`: what of nfs.conf(5) has a meaning here.

use std::collections::HashMap;
use std::path::Path;

use hayase_conf::{Conf, Place, Wrong};
use hayase_exports::nearest;

use super::finding::{Finding, Severity};
use super::layer::{Given, Layer};
use super::setting::{SETTINGS, Setting, flag};

/// A key of nfs.conf(5) that is no setting of ours.
struct Other {
    section: &'static str,
    key: &'static str,
    meaning: Meaning,
}

enum Meaning {
    /// It does no harm that it has no effect, for this reason.
    Idle(&'static str),
    /// Only this answer is what happens here; the other one is an error, for this reason.
    Fixed(bool, &'static str),
    /// To ignore it would mislead, for this reason.
    Missing(&'static str),
}

use Meaning::{Fixed, Idle, Missing};

const ONE_PORT: &str = "NFS and all that goes with it are answered on the port of NFS";
const NO_SUCH_PROCESS: &str = "no process of its own does this here";
const TELLS_ITSELF: &str = "this server itself tells clients of a restart, from any port";
const LOGGING: &str = "`server.log` of hayase.toml, or --log, says what is logged";

const fn other(section: &'static str, key: &'static str, meaning: Meaning) -> Other {
    Other { section, key, meaning }
}

#[rustfmt::skip]
const OTHERS: &[Other] = &[
    other("nfsd", "tcp", Fixed(true, "NFS is served over TCP, and over nothing else")),
    other("nfsd", "udp", Fixed(false, "NFS is not served over UDP")),
    other("nfsd", "rdma", Fixed(false, "NFS is not served over RDMA")),
    other("nfsd", "rdma-port", Idle("NFS is not served over RDMA")),
    other("nfsd", "vers2", Fixed(false, "NFSv2 is not served")),
    other("nfsd", "debug", Idle(LOGGING)),
    other("nfsd", "scope", Missing("the scope of this server follows from its state directory")),
    other("nfsd", "min-threads", Idle("threads wait for work without cost")),
    other("mountd", "port", Idle(ONE_PORT)),
    other("mountd", "debug", Idle(LOGGING)),
    other("mountd", "descriptors", Idle("`limits.connections` of hayase.toml bounds connections")),
    other("mountd", "threads", Idle(NO_SUCH_PROCESS)),
    other("mountd", "reverse-lookup", Idle("names of clients are looked up where a rule needs them")),
    other("mountd", "cache-use-ipaddr", Idle("what was decided is kept for each connection")),
    other("mountd", "ttl", Idle("what was decided is kept until the exports change")),
    other("mountd", "state-directory-path", Idle("`server.state-dir` of hayase.toml says where state is kept")),
    other("mountd", "ha-callout", Missing("no program is called")),
    other("mountd", "apply-root-cred", Idle(NO_SUCH_PROCESS)),
    other("lockd", "port", Idle(ONE_PORT)),
    other("lockd", "udp-port", Idle(ONE_PORT)),
    other("statd", "port", Idle(ONE_PORT)),
    other("statd", "outgoing-port", Idle(TELLS_ITSELF)),
    other("statd", "name", Missing("clients of NFSv3 that hold locks are told of a restart under this host's own name")),
    other("statd", "state-directory-path", Idle("`server.state-dir` of hayase.toml says where state is kept")),
    other("statd", "ha-callout", Missing("no program is called")),
    other("statd", "no-notify", Fixed(false, "clients of NFSv3 that hold locks are told of a restart")),
    other("statd", "debug", Idle(LOGGING)),
    other("sm-notify", "debug", Idle(LOGGING)),
    other("sm-notify", "retry-time", Idle("clients of NFSv3 are told of a restart for an hour, or until they answer")),
    other("sm-notify", "outgoing-port", Idle(TELLS_ITSELF)),
    other("sm-notify", "outgoing-addr", Idle("clients are told from the address of `server.listen` of hayase.toml, if it is one")),
    other("sm-notify", "lift-grace", Idle("the time of grace ends when all clients that held locks are back")),
    other("sm-notify", "update-state", Idle("the state number is higher after every start")),
    other("sm-notify", "force", Idle("clients are told after every start")),
    other("exportfs", "debug", Idle(LOGGING)),
    other("exports", "rootdir", Missing("exports are served under the paths that are written")),
];

/// Sections of programs that have nothing to do with a server like this.
const FOREIGN: &[&str] = &[
    "environment",
    "exportd",
    "general",
    "gssd",
    "idmapd",
    "nfsdcld",
    "nfsdcltrack",
    "nfsrahead",
    "nfsmount",
    "svcgssd",
];

/// Reads the file, with what lies in the directory beside it.
pub(super) fn read(file: &Path, required: bool, findings: &mut Vec<Finding>) -> Layer {
    let mut layer = Layer::default();
    if required && !file.exists() {
        let message = "there is no such file";
        findings.push(Finding::of(Severity::Error, file, message, "name one that is there"));
        return layer;
    }
    let conf = match Conf::read_with_directory(file) {
        Ok(conf) => conf,
        Err(error) => {
            let remedy = "let the server read it, or name another with --nfs-conf";
            findings.push(Finding::of(Severity::Error, file, error.to_string(), remedy));
            return layer;
        }
    };
    for Wrong { message, place } in conf.wrong() {
        let remedy = "write `[section]`, and below it `key = value`";
        findings.push(Finding::at(Severity::Error, place, message, remedy));
    }
    let mut seen: HashMap<(String, String), Place> = HashMap::new();
    for hayase_conf::Setting { section, key, value, place } in conf.settings() {
        if FOREIGN.iter().any(|known| known.eq_ignore_ascii_case(section)) {
            continue;
        }
        let name = (section.to_lowercase(), key.to_lowercase());
        if let Some(first) = seen.get(&name) {
            findings.push(again(first, place, section, key));
            continue;
        }
        seen.insert(name, place.clone());
        if let Some(setting) = Setting::of_nfs_conf(section, key) {
            layer.add(setting.name, Given::written(value.clone(), place.clone()));
        } else {
            findings.extend(other_key(section, key, value, place));
        }
    }
    layer
}

/// A key for the second time: the first counts, which is that of a file in the directory, of
/// which the last counts.
fn again(first: &Place, place: &Place, section: &str, key: &str) -> Finding {
    let where_else = format!("{}:{}", first.file.display(), first.line);
    if first.file != place.file {
        let message = format!("[{section}] {key} has no effect: {where_else} says it, too");
        return Finding::at(Severity::Note, place, message, "keep one of them");
    }
    let message = format!("[{section}] {key} is given twice, first at {where_else}");
    Finding::at(Severity::Error, place, message, "keep one of them")
}

fn other_key(section: &str, key: &str, value: &str, place: &Place) -> Option<Finding> {
    let is = |other: &&Other| {
        other.section.eq_ignore_ascii_case(section) && other.key.eq_ignore_ascii_case(key)
    };
    let remove = format!("remove `{key}`");
    let Some(other) = OTHERS.iter().find(is) else { return Some(unknown(section, key, place)) };
    match other.meaning {
        Idle(why) => {
            let message = format!("[{section}] {key} has no effect: {why}");
            Some(Finding::at(Severity::Note, place, message, remove))
        }
        Missing(why) => {
            let message = format!("[{section}] {key} has no effect: {why}");
            Some(Finding::at(Severity::Error, place, message, remove))
        }
        Fixed(fixed, why) => match flag(value) {
            Ok(answer) if answer == fixed => None,
            Ok(_) => Some(Finding::at(Severity::Error, place, why, remove)),
            Err(wrong) => Some(Finding::at(Severity::Error, place, wrong, "write yes or no")),
        },
    }
}

fn unknown(section: &str, key: &str, place: &Place) -> Finding {
    let ours = SETTINGS.iter().filter_map(|setting| setting.nfs_conf);
    let known: Vec<(&str, &str)> =
        ours.chain(OTHERS.iter().map(|other| (other.section, other.key))).collect();
    let keys: Vec<&str> = known
        .iter()
        .filter(|(its, _)| its.eq_ignore_ascii_case(section))
        .map(|(_, key)| *key)
        .collect();
    let (message, meant) = if keys.is_empty() {
        let sections = known.iter().map(|(section, _)| *section).chain(FOREIGN.iter().copied());
        (format!("unknown section [{section}]"), nearest(section, sections))
    } else {
        (format!("unknown key `{key}` in [{section}]"), nearest(key, keys))
    };
    let remedy = meant.map_or_else(
        || "remove it; nfs.conf(5) lists what there is".to_owned(),
        |meant| format!("did you mean `{meant}`?"),
    );
    Finding::at(Severity::Error, place, message, remedy)
}

/// What becomes of the keys of nfs.conf(5), as a table in Markdown.
pub(super) fn reference() -> String {
    use std::fmt::Write;
    let mut page = String::from("| Section and key | In Hayase | |\n|---|---|---|\n");
    for setting in SETTINGS {
        if let Some((section, key)) = setting.nfs_conf {
            let name = setting.name;
            // Writing to a String does not fail.
            let _ = writeln!(page, "| `[{section}] {key}` | acts | as `{name}` of hayase.toml |");
        }
    }
    for Other { section, key, meaning } in OTHERS {
        let (state, why) = match meaning {
            Idle(why) => ("accepted".to_owned(), why),
            Missing(why) => ("error".to_owned(), why),
            Fixed(fixed, why) => (format!("only `{}`", if *fixed { "yes" } else { "no" }), why),
        };
        let _ = writeln!(page, "| `[{section}] {key}` | {state} | {why} |");
    }
    let _ = writeln!(page, "| `[{}]` | accepted | of other programs |", FOREIGN.join("]`, `["));
    page
}
