//! `hayase check`.

use anyhow::Result;
use hayase_server::check::{Comparison, CutOff, Report};

use crate::cli::Check;
use crate::table::Table;

/// Prints what is to be said about a configuration; false if a server would refuse it.
pub(crate) fn check(args: &Check, log: Option<&str>) -> Result<bool> {
    let report = hayase_server::check::check(&args.serve.written(log));
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(report.is_good())
}

fn print(report: &Report) {
    for finding in &report.findings {
        println!("{finding}");
    }
    let said: Vec<_> = report.settings.iter().filter(|setting| setting.from != "default").collect();
    if !said.is_empty() {
        let mut table = Table::new(&["setting", "value", "from"], 2);
        for setting in said {
            table.row(vec![setting.name.clone(), setting.value.clone(), setting.from.clone()]);
        }
        println!("{}", table.lines().join("\n"));
    }
    match &report.server {
        None => println!("{} exports; no server runs with this state directory", report.exports),
        Some(_) if !report.is_good() => println!("the server that runs would stay as it is"),
        Some(server) => compare(server),
    }
}

fn compare(server: &Comparison) {
    println!(
        "after a reload: {}{}",
        if server.changes.is_empty() { "" } else { "\n" },
        server.changes
    );
    for setting in &server.restart {
        println!("after a restart: {setting}");
    }
    for cut in &server.cut_off {
        let CutOff { address, connections, export, what, open_files } = cut;
        println!(
            "{address} ({connections} connections) uses {export}, which {what}; {open_files} files \
             are open there"
        );
    }
}
