//! The command line.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use hayase_server::config::{Layer, Written};

/// Serves files over NFS as fast as the hardware allows.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// What to log: error, warn, info, debug, trace, or a list such as `info,hayase_nfs=debug`
    /// [default: info, or as hayase.toml says]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub(crate) log: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Serve directories to NFS clients
    Serve(Serve),
    /// Measure an NFS server or a directory, in fio's words
    #[command(subcommand)]
    Bench(hayase_bench::command::Command),
    /// Say what a configuration means, what is wrong with it, and what it would change for a running
    /// server, without changing anything. Takes what `hayase serve` takes
    Check(Check),
    /// Show what a running server does
    Status(Target),
    /// Have a running server read its exports again
    Reload(Target),
    /// List exports as exportfs(8) does, or change those of a running server
    #[command(subcommand)]
    Export(Export),
    /// List every bound on what clients can make a server hold, and how much of it is used
    Limits(Target),
    /// List the NFSv4 clients of a running server, and those of NFSv3 that hold locks
    Clients(Target),
    /// List the sessions of NFSv4 clients
    Sessions(Target),
    /// List what NFSv4 clients have open, and what is lent to them
    Opens(Target),
    /// List what clients have locked
    Locks(Target),
    /// List what clients were refused since the exports last changed, why, and what to do about it
    Denied(Target),
    /// Take everything an NFSv4 client has open and locked; it has to begin anew
    Evict(Evict),
    /// Release locks of NFSv3 clients that are gone without a word, which nothing else ends
    Unlock(Unlock),
    /// Print the completions of this command for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages of this command
    Man {
        /// Below which directory, such as /usr/local/share/man
        dir: PathBuf,
        /// The date they bear
        #[arg(long, value_name = "YYYY-MM-DD", default_value = "undated")]
        date: String,
    },
}

/// Which server, and how its answer is printed.
#[derive(Debug, Args)]
pub(crate) struct Target {
    /// State directory of the server [default: /var/lib/hayase as root, else the user's own]
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// Which configuration.
#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) serve: Serve,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What to do with exports.
#[derive(Debug, Subcommand)]
pub(crate) enum Export {
    /// List what a running server exports, or what files say, as `exportfs -v` does
    Ls(ExportLs),
    /// Export to one client more, or with other options, until the next reload
    Add(ExportAdd),
    /// Export no more: handles become stale, what clients have open is closed, and what is mounted
    /// there can be unmounted. Until the next reload
    Rm(ExportRm),
    /// Have a running server read its exports again, and say what that changes
    Reload(Target),
}

/// Which exports are listed, and how.
#[derive(Debug, Args)]
pub(crate) struct ExportLs {
    /// What this file or directory of files says, without asking a server; can be given several
    /// times
    #[arg(long, value_name = "FILE", conflicts_with = "state_dir")]
    pub(crate) exports: Vec<PathBuf>,
    /// Leave the options out, as `exportfs` does
    #[arg(long, conflicts_with = "table")]
    pub(crate) plain: bool,
    /// As a table of exports that can be read again, as `exportfs -s` does
    #[arg(short = 's', long)]
    pub(crate) table: bool,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// What to export.
#[derive(Debug, Args)]
pub(crate) struct ExportAdd {
    /// The client and the directory, as exportfs(8) takes them: `10.0.0.0/8:/srv/data`,
    /// `*:/srv/data`; an IPv6 address in brackets
    #[arg(value_name = "CLIENT:PATH")]
    pub(crate) place: String,
    /// Options of exports(5), with commas between them
    #[arg(short, long, value_name = "OPTIONS", default_value = "", hide_default_value = true)]
    pub(crate) options: String,
    /// Write it into `hayase.exports` of the directory of exports, too, so that it stays
    #[arg(long)]
    pub(crate) persist: bool,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// What to export no more.
#[derive(Debug, Args)]
pub(crate) struct ExportRm {
    /// The client and the directory; a directory alone is exported to nobody any more
    #[arg(value_name = "[CLIENT:]PATH")]
    pub(crate) place: String,
    /// Take it out of `hayase.exports`, too, so that it stays away
    #[arg(long)]
    pub(crate) persist: bool,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// Whom to evict.
#[derive(Debug, Args)]
pub(crate) struct Evict {
    /// The client's id, as `hayase clients` shows it
    #[arg(value_name = "CLIENT", value_parser = client_id)]
    pub(crate) client: u64,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// What to unlock.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).multiple(true))]
pub(crate) struct Unlock {
    /// The file, as `hayase locks` shows it
    #[arg(value_name = "PATH", group = "what")]
    pub(crate) path: Option<PathBuf>,
    /// Only what this client holds: its address, or its name for itself
    #[arg(long, value_name = "CLIENT", group = "what")]
    pub(crate) client: Option<String>,
    /// Only what this owner holds, as `hayase locks` shows it
    #[arg(long, value_name = "OWNER", group = "what")]
    pub(crate) owner: Option<String>,
    #[command(flatten)]
    pub(crate) target: Target,
}

/// A client's id as it is shown.
fn client_id(text: &str) -> Result<u64, String> {
    u64::from_str_radix(text, 16).map_err(|_| "not an id as `hayase clients` shows them".to_owned())
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Directories to export to everyone, each under its absolute path
    #[arg(value_name = "DIR")]
    dirs: Vec<PathBuf>,
    /// Export what this file says, or what the `*.exports` of this directory say, in the format of
    /// exports(5); can be given several times [default: without DIR, /etc/exports and /etc/exports.d]
    #[arg(long, value_name = "FILE")]
    exports: Vec<PathBuf>,
    /// Listen to this address only; can be given several times [default: all addresses]
    #[arg(long, value_name = "ADDR")]
    listen: Vec<IpAddr>,
    /// Port for NFS and MOUNT [default: 2049]
    #[arg(long)]
    port: Option<u16>,
    /// Where the server keeps what has to outlive it [default: /var/lib/hayase as root, else
    /// the user's own state directory]
    #[arg(long, value_name = "DIR")]
    pub(crate) state_dir: Option<PathBuf>,
    /// Let nobody change the directories named here (exports of a file say ro or rw themselves)
    #[arg(long)]
    read_only: bool,
    /// Threads for calls that may wait for a disk, at most; they are started when they are needed
    /// [default: 32 for each core, from 64 to 512]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=4096))]
    threads: Option<u16>,
    /// Seconds for which NFSv4 clients keep their state without a sign of life [default: 90]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    lease_secs: Option<u32>,
    /// Seconds after a restart in which clients may claim their state and locks [default: a lease]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u32).range(1..=3600))]
    grace_secs: Option<u32>,
    /// Which files NFSv4 clients may keep to themselves until others want them: none; those of
    /// which the kernel tells when a local program wants them; or all, also where a local
    /// program then sees and does what the client does not know of [default: guarded]
    #[arg(long, value_enum, value_name = "WHICH")]
    delegations: Option<Lend>,
    /// How NFSv4 clients are told owners and groups: as numbers, which need no configuration, or as
    /// names, which mean the same where numbers differ. Clients may send either [default: numeric]
    #[arg(long, value_enum, value_name = "HOW")]
    idmap: Option<IdMap>,
    /// The domain of names, `user@DOMAIN` [default: as /etc/idmapd.conf says, else the DNS domain of
    /// this host]
    #[arg(long, value_name = "DOMAIN")]
    nfs4_domain: Option<String>,
    /// Look up here which groups a caller is in, and ignore those that its client states, of which
    /// there can be 16 at most [default: as /etc/nfs.conf says for the exports of files, no for DIR]
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "yes", require_equals = true,
          value_name = "YES|NO")]
    manage_gids: Option<Answer>,
    /// Neither register with this host's rpcbind nor stand in for it on port 111
    #[arg(long)]
    no_portmap: bool,
    /// Read this instead of /etc/hayase/hayase.toml
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Read this, and what lies in the directory of this name with `.d` behind it, instead of
    /// /etc/nfs.conf, which is read for exports of files only
    #[arg(long, value_name = "FILE")]
    nfs_conf: Option<PathBuf>,
}

/// Which delegations there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Lend {
    Never,
    Guarded,
    Always,
}

/// What owners and groups are told as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum IdMap {
    Numeric,
    Names,
}

/// Whether.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Answer {
    Yes,
    No,
}

impl Serve {
    /// What is said here, and where more is written down.
    pub(crate) fn written(&self, log: Option<&str>) -> Written {
        let mut said = Layer::default();
        let paths: Vec<_> = self.exports.iter().map(|path| path.display()).collect();
        said.say_all("exports.files", &paths);
        said.say_all("server.listen", &self.listen);
        let mut say = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                said.say(name, &value);
            }
        };
        say("server.port", self.port.map(|port| port.to_string()));
        say("server.state-dir", self.state_dir.as_ref().map(|dir| dir.display().to_string()));
        say("server.threads", self.threads.map(|threads| threads.to_string()));
        say("server.portmap", self.no_portmap.then(|| "no".to_owned()));
        say("server.manage-gids", self.manage_gids.as_ref().map(word));
        say("server.log", log.map(str::to_owned));
        say("nfs4.lease-time", self.lease_secs.map(|secs| secs.to_string()));
        say("nfs4.grace-time", self.grace_secs.map(|secs| secs.to_string()));
        say("nfs4.delegations", self.delegations.as_ref().map(word));
        say("nfs4.idmap", self.idmap.as_ref().map(word));
        say("nfs4.domain", self.nfs4_domain.clone());
        Written {
            said,
            dirs: self.dirs.clone(),
            read_only: self.read_only,
            nfs_conf: self.nfs_conf.clone(),
            own: self.config.clone(),
        }
    }
}

/// A value as the command line has it.
fn word(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}
