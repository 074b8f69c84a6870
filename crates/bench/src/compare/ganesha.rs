//! NFS-Ganesha with a fair configuration: its defaults for threads and caches, transfers of 1 MiB,
//! enough slots, and nothing beside NFS and MOUNT.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::process::{Process, free_port, loopback};
use super::servers::{Directories, Server};

const PORTMAPPER: u16 = 111;

/// NFS-Ganesha, and the rpcbind that it wants.
pub(super) struct Ganesha;

impl Ganesha {
    /// Serves `directories`; configuration and logs go to `state`.
    pub(super) fn start(directories: Directories, state: &Path) -> Result<Server> {
        let mut rpcbind =
            Process::start(Command::new("rpcbind").args(["-f", "-w"]), &state.join("rpcbind.log"))?;
        rpcbind.wait_for(loopback(PORTMAPPER))?;
        let (port, mountport) = (free_port()?, free_port()?);
        let file = state.join("ganesha.conf");
        let mut text = configuration(state, port, mountport);
        for (directory, number) in directories.all().into_iter().zip(1..) {
            text.push_str(&export(directory, number));
        }
        fs::write(&file, text).with_context(|| format!("write {}", file.display()))?;
        let mut command = Command::new("ganesha.nfsd");
        command.args(["-F", "-f"]).arg(&file);
        command.arg("-L").arg(state.join("ganesha.log"));
        command.arg("-p").arg(state.join("ganesha.pid"));
        let mut process = Process::start(&mut command, &state.join("ganesha.out"))?;
        process.wait_for(loopback(port))?;
        process.wait_for(loopback(mountport))?;
        Ok(Server {
            name: "ganesha",
            process,
            port,
            mountport: Some(mountport),
            directories,
            _others: Some(rpcbind),
        })
    }
}

fn configuration(state: &Path, port: u16, mountport: u16) -> String {
    let state = state.display();
    format!(
        "NFS_CORE_PARAM {{
    NFS_Port = {port};
    MNT_Port = {mountport};
    Protocols = 3, 4;
    Enable_NLM = false;
    Enable_RQUOTA = false;
    Enable_UDP = false;
}}
NFSV4 {{
    Graceless = true;
    Slot_Table_Size = 256;
    RecoveryRoot = \"{state}\";
}}
LOG {{
    Default_Log_Level = WARN;
}}
"
    )
}

fn export(directory: &Path, number: u32) -> String {
    let export = directory.display();
    format!(
        "EXPORT {{
    Export_Id = {number};
    Path = \"{export}\";
    Pseudo = \"{export}\";
    Protocols = 3, 4;
    Transports = TCP;
    Access_Type = RW;
    Squash = No_Root_Squash;
    SecType = sys;
    MaxRead = 1048576;
    MaxWrite = 1048576;
    PrefRead = 1048576;
    PrefWrite = 1048576;
    FSAL {{
        Name = VFS;
    }}
}}
"
    )
}
