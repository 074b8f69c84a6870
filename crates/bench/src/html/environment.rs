//! On and against what a run was made. What is not known is shown as unknown: a page that leaves it out
//! looks complete when it is not.

use maud::{Markup, html};

use super::unit::Unit;
use crate::report::{Environment, Nic, Server};
use crate::units::show_bytes;

/// Everything known, and what is not.
pub(super) fn list(environment: &Environment) -> Markup {
    let memory = environment.memory_bytes.map(|bytes| Unit::Bytes.show(crate::units::float(bytes)));
    let cores = environment.cores.map(|cores| cores.to_string());
    let remote = environment.server.is_some();
    html! {
        dl {
            (row("Target", Some(&environment.target)))
            @if let Some(server) = &environment.server { (server_rows(server)) }
            @if !remote {
                (row("File system", environment.file_system.as_deref()))
                (row("Mounted from", environment.mounted_from.as_deref()))
                (row("Mount options", environment.mount_options.as_deref()))
            }
            (row("Host", environment.host.as_deref()))
            (row("Kernel", environment.kernel.as_deref()))
            (row("Processor", environment.cpu.as_deref()))
            (row("Cores", cores.as_deref()))
            (row("Memory", memory.as_deref()))
            (row("Network", nics(&environment.nics).as_deref()))
        }
    }
}

fn server_rows(server: &Server) -> Markup {
    let transfer = |most: Option<u64>| most.map(show_bytes);
    html! {
        (row("Server", Some(&server.address)))
        (row("Version of NFS", Some(&server.version)))
        (row("Connections", Some(&server.connections.to_string())))
        (row("Server calls itself", server.implementation.as_deref()))
        (row("Server owner", server.owner.as_deref()))
        (row("Largest READ", transfer(server.read_max).as_deref()))
        (row("Largest WRITE", transfer(server.write_max).as_deref()))
    }
}

fn row(name: &str, value: Option<&str>) -> Markup {
    html! {
        dt { (name) }
        @match value {
            Some(value) => dd { (value) },
            None => dd.unknown { "unknown" },
        }
    }
}

fn nics(nics: &[Nic]) -> Option<String> {
    let nic = |nic: &Nic| {
        let speed = match nic.speed_mbits {
            Some(mbits) if mbits % 1000 == 0 => format!("{} Gbit/s", mbits / 1000),
            Some(mbits) => format!("{mbits} Mbit/s"),
            None => "speed unknown".to_owned(),
        };
        let mtu = nic.mtu.map_or_else(String::new, |mtu| format!(", MTU {mtu}"));
        format!("{} ({speed}{mtu})", nic.name)
    };
    (!nics.is_empty()).then(|| nics.iter().map(nic).collect::<Vec<_>>().join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_said_to_be_unknown() {
        let environment = Environment {
            target: "file:///srv".to_owned(),
            nics: vec![Nic { name: "eth0".to_owned(), speed_mbits: Some(100_000), mtu: None }],
            ..Environment::default()
        };
        let html = list(&environment).into_string();
        assert!(html.contains("eth0 (100 Gbit/s)"), "{html}");
        assert!(html.contains("<dt>Kernel</dt><dd class=\"unknown\">unknown</dd>"), "{html}");
    }
}
