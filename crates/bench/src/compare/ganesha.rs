//! NFS-Ganesha with a fair configuration: its defaults for threads and caches, transfers of 1 MiB,
//! enough slots, and nothing beside NFS and MOUNT.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::process::{Process, free_port, loopback};
use hayase_client::{Url, Version};

const PORTMAPPER: u16 = 111;

/// A running NFS-Ganesha and the rpcbind that it wants.
#[derive(Debug)]
pub(super) struct Ganesha {
    pub(super) server: Process,
    pub(super) url: Url,
    pub(super) rpcbind: Process,
}

impl Ganesha {
    /// Serves `export`; configuration and logs go to `state`.
    pub(super) fn start(export: &Path, state: &Path) -> Result<Self> {
        let mut rpcbind =
            Process::start(Command::new("rpcbind").args(["-f", "-w"]), &state.join("rpcbind.log"))?;
        rpcbind.wait_for(loopback(PORTMAPPER))?;
        let (port, mountport) = (free_port()?, free_port()?);
        let file = state.join("ganesha.conf");
        fs::write(&file, configuration(export, state, port, mountport))
            .with_context(|| format!("write {}", file.display()))?;
        let mut command = Command::new("ganesha.nfsd");
        command.args(["-F", "-f"]).arg(&file);
        command.arg("-L").arg(state.join("ganesha.log"));
        command.arg("-p").arg(state.join("ganesha.pid"));
        let mut server = Process::start(&mut command, &state.join("ganesha.out"))?;
        server.wait_for(loopback(port))?;
        server.wait_for(loopback(mountport))?;
        let url = Url {
            host: "127.0.0.1".to_owned(),
            port: Some(port),
            path: export.to_string_lossy().into_owned(),
            version: Version::V3,
            mountport: Some(mountport),
        };
        Ok(Ganesha { server, url, rpcbind })
    }
}

fn configuration(export: &Path, state: &Path, port: u16, mountport: u16) -> String {
    let (export, state) = (export.display(), state.display());
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
EXPORT {{
    Export_Id = 1;
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
