//! `hayase-e2e`: runs the end-to-end tests, and is the first process of the systems they make.

#![forbid(unsafe_code)]

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Args, Parser, Subcommand};
use hayase_e2e::scene::Scale;
use hayase_e2e::server::Program;
use hayase_e2e::{guest, inside, knfsd, run, shell, work};

/// End-to-end tests with the real Linux NFS client, in User Mode Linux.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the tests one after another.
    Run(RunArgs),
    /// Run one command on a client, for quick tries: a server on an empty directory in memory,
    /// mounted, the command runs in the mount as root.
    Shell {
        #[command(flatten)]
        server: ServerChoice,
        /// Mount with these options; EXPORT is the whole directory and DIR is /mnt/nfs, /mnt/nfs2
        /// and so on, unless given. May be repeated.
        #[arg(long = "mount", value_name = "OPTS [EXPORT [DIR]]", default_value = "vers=3,nolock")]
        mounts: Vec<String>,
        /// Give up after this long.
        #[arg(long, value_name = "SECS", default_value_t = 600)]
        limit: u64,
        /// For the guest's shell.
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Measure the Linux kernel's server and ours, both in one guest, in turn. Needs Debian's
    /// nfs-kernel-server, whose programs run in the guest only.
    Knfsd {
        #[command(flatten)]
        server: ServerChoice,
        /// The table has the medians of so many rounds.
        #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=1000))]
        rounds: u16,
        /// How long each measurement takes.
        #[arg(long, value_name = "SECS", default_value_t = 1,
            value_parser = clap::value_parser!(u64).range(1..=3600))]
        runtime: u64,
        /// Where exportfs, rpc.nfsd and rpc.mountd are.
        #[arg(long, value_name = "DIR", default_value = "/usr/sbin")]
        tools: PathBuf,
    },
    /// Process 1 of a test's namespaces.
    #[command(hide = true)]
    Inside { spec: PathBuf },
    /// Process 1 of a guest.
    #[command(hide = true)]
    Guest {
        setup: PathBuf,
        /// The kernel adds words of its own at the end of its command line.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        kernel_words: Vec<String>,
    },
    /// Makes system calls in a guest.
    #[command(hide = true)]
    Session,
    /// Does bulk work, in a guest or here.
    #[command(hide = true)]
    Work {
        #[command(subcommand)]
        work: work::Work,
    },
}

#[derive(Args, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
struct RunArgs {
    #[command(flatten)]
    server: ServerChoice,
    /// Only tests whose name contains this.
    #[arg(long)]
    filter: Option<String>,
    /// Print the tests' names and do nothing.
    #[arg(long)]
    list: bool,
    /// Small sizes, for every commit.
    #[arg(long)]
    quick: bool,
    /// Add these options to each mount that a test makes.
    #[arg(long, value_name = "OPTS", env = "HAYASE_E2E_MOUNT_OPTIONS")]
    mount_options: Option<String>,
    /// Record what goes over the links between client and server, with tcpdump; see --keep.
    #[arg(long, requires = "keep")]
    capture: bool,
    /// Leave the scratch directories of the tests, with all logs and recordings.
    #[arg(long)]
    keep: bool,
    /// Show what the tests say while they run.
    #[arg(long, short)]
    verbose: bool,
    /// The longest a test may take; without it, what each asks for (300 mostly).
    #[arg(long, value_name = "SECS")]
    limit: Option<u64>,
}

#[derive(Args, Debug)]
#[group(multiple = false)]
struct ServerChoice {
    /// The hayase binary to test; without it, the one beside this program.
    #[arg(long, value_name = "PATH", env = "HAYASE_E2E_SERVER")]
    server: Option<PathBuf>,
    /// Test another server: a shell command that execs it in the foreground, exporting what the
    /// exports(5) file `$E2E_EXPORTS` says on port `$E2E_PORT`, with its state in `$E2E_STATE`.
    #[arg(long, visible_alias = "serve", value_name = "CMD", env = "HAYASE_E2E_SERVE_COMMAND")]
    serve_command: Option<String>,
}

impl ServerChoice {
    fn program(self) -> Result<Program> {
        if let Some(command) = self.serve_command {
            return Ok(Program::Shell(command));
        }
        let path = match self.server {
            Some(path) => path,
            None => std::env::current_exe()?.with_file_name("hayase"),
        };
        let path = path.canonicalize().with_context(|| {
            format!("no server {}; build it, or name one with --server", path.display())
        })?;
        Ok(Program::Hayase(path))
    }
}

impl RunArgs {
    fn options(self) -> Result<run::Options> {
        Ok(run::Options {
            filter: self.filter,
            server: self.server.program()?,
            scale: if self.quick { Scale::Quick } else { Scale::Full },
            mount_options: self.mount_options,
            capture: self.capture,
            keep: self.keep,
            verbose: self.verbose,
            limit: self.limit.map(Duration::from_secs),
        })
    }
}

fn main() -> ExitCode {
    command(Cli::parse().command).unwrap_or_else(|error| {
        eprintln!("hayase-e2e: {error:#}");
        // Not what a command in a guest or a failed test would give.
        ExitCode::from(125)
    })
}

fn command(command: Command) -> Result<ExitCode> {
    match command {
        Command::Run(arguments) if arguments.list => {
            run::list(arguments.filter.as_deref());
            Ok(ExitCode::SUCCESS)
        }
        Command::Run(arguments) => run::run(&arguments.options()?),
        Command::Shell { server, mounts, limit, command } => {
            let command = command.join(" ");
            shell::run(&server.program()?, mounts, command, Duration::from_secs(limit))
        }
        Command::Knfsd { server, rounds, runtime, tools } => {
            let plan = knfsd::Plan { rounds: rounds.into(), secs: runtime, tools };
            knfsd::run(&server.program()?, plan)
        }
        Command::Inside { spec } => inside::run(&spec),
        Command::Guest { setup, kernel_words: _ } => {
            guest::init(&setup).map(|()| ExitCode::FAILURE)
        }
        Command::Session => guest::session::serve().map(|()| ExitCode::SUCCESS),
        Command::Work { work } => work.run().map(|()| ExitCode::SUCCESS),
    }
}
