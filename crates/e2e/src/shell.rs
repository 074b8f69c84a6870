//! Quick tries by hand: one server, one client, some mounts, one command.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::prerequisites;
use crate::run::frozen;
use crate::scene::{Backing, MOUNT, Scale, Scene};
use crate::server::{Program, Setup};
use crate::stage::{self, End, Scratch, Spec, Task};

/// The limit of the whole stage ends the wait.
const FOR_EVER: Duration = Duration::from_secs(1 << 32);

/// A mount as it is given on the command line: `OPTIONS [EXPORT [DIRECTORY]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount<'a> {
    options: &'a str,
    export: &'a str,
    directory: String,
}

impl<'a> Mount<'a> {
    fn parse(text: &'a str, number: usize, whole: &'a str) -> Result<Self> {
        let mut words = text.split_whitespace();
        let options = words.next().context("--mount has no options; try 'vers=3'")?;
        let export = words.next().unwrap_or(whole);
        let directory = words.next().map_or_else(
            || if number == 0 { MOUNT.to_owned() } else { format!("{MOUNT}{}", number + 1) },
            ToOwned::to_owned,
        );
        if let Some(more) = words.next() {
            bail!("--mount '{text}': {more:?} is one word too many");
        }
        Ok(Self { options, export, directory })
    }
}

/// Runs `command` in a guest; its exit status.
pub fn run(
    server: &Program,
    mounts: Vec<String>,
    command: String,
    limit: Duration,
) -> Result<ExitCode> {
    let missing = prerequisites::missing();
    if !missing.is_empty() {
        bail!("{}\nAll that is needed: {}", missing.join("\n"), prerequisites::install_line());
    }
    let scratch = Scratch::new(false)?;
    let (program, server) = frozen(server, scratch.path())?;
    let spec = Spec {
        task: Task::Shell { mounts, command },
        scale: Scale::Full,
        version: None,
        mount_options: None,
        capture: false,
        server,
        program,
        scratch: scratch.path().to_owned(),
    };
    match stage::play(&spec, limit, None)? {
        End::Status(status) => Ok(exit_code(status.code())),
        End::TimedOut => {
            eprintln!("no end after {limit:?}");
            Ok(ExitCode::from(124))
        }
    }
}

fn exit_code(status: Option<i32>) -> ExitCode {
    ExitCode::from(status.and_then(|status| u8::try_from(status).ok()).unwrap_or(125))
}

/// The part in the namespaces.
pub(crate) fn inside(spec: Spec, mounts: &[String], command: &str) -> Result<ExitCode> {
    let mut scene = Scene::new(spec)?;
    scene.export(Backing::Memory)?;
    scene.start_server(Setup::default())?;
    let client = scene.boot_client()?;
    let whole = scene.path();
    for (number, text) in mounts.iter().enumerate() {
        let Mount { options, export, directory } = Mount::parse(text, number, &whole)?;
        client.mount(options, export, &directory)?;
    }
    let command = if mounts.is_empty() {
        command.to_owned()
    } else {
        let Mount { directory, .. } = Mount::parse(&mounts[0], 0, &whole)?;
        format!("cd {directory} && {command}")
    };
    let status = client.start(&command)?.echo().wait(FOR_EVER)?.status;
    scene.check_server()?;
    Ok(exit_code(Some(status)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mount_names_only_what_it_must() {
        let mount = Mount::parse("vers=3", 0, "/all").unwrap();
        assert_eq!(
            (mount.options, mount.export, &*mount.directory),
            ("vers=3", "/all", "/mnt/nfs")
        );
        let mount = Mount::parse("vers=3 /part", 1, "/all").unwrap();
        assert_eq!((mount.export, &*mount.directory), ("/part", "/mnt/nfs2"));
        let mount = Mount::parse("ro /part /mnt/x", 0, "/all").unwrap();
        assert_eq!((mount.options, mount.export, &*mount.directory), ("ro", "/part", "/mnt/x"));
        assert!(Mount::parse("", 0, "/all").is_err());
        assert!(Mount::parse("a b c d", 0, "/all").is_err());
    }
}
