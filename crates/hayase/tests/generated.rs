//! Manual pages and completions: of every command, and so that the shells and man(1) take them.
#![allow(missing_docs, clippy::unwrap_used)]

use std::fs;
use std::process::{Command, Output};

fn hayase(args: &[&str]) -> Output {
    let output = Command::new(env!("CARGO_BIN_EXE_hayase")).args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}

/// The names of commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let commands = help.split("\nCommands:\n").nth(1).unwrap_or_default();
    let lines = commands.lines().take_while(|line| !line.is_empty());
    // Further lines of a description are indented deeper.
    let names = lines.filter(|line| !line.starts_with("   ")).map(str::trim);
    names.map(|line| line.split(' ').next().unwrap().to_owned()).filter(|n| n != "help").collect()
}

#[test]
fn every_command_has_its_page() {
    let dir = tempfile::tempdir().unwrap();
    hayase(&["man", dir.path().to_str().unwrap(), "--date", "2026-01-31"]);
    let help = String::from_utf8(hayase(&["--help"]).stdout).unwrap();
    let commands = listed(&help);
    assert!(commands.len() > 10, "{commands:?}");
    for command in &commands {
        let page = fs::read_to_string(dir.path().join(format!("man1/hayase-{command}.1"))).unwrap();
        let title = format!(".TH hayase-{command} 1 2026-01-31 ");
        assert!(page.contains(&title), "{page}");
    }
    let page = fs::read_to_string(dir.path().join("man1/hayase.1")).unwrap();
    for command in &commands {
        assert!(page.contains(&format!("hayase\\-{command}(1)")), "{command} is missing in {page}");
    }
    assert!(dir.path().join("man1/hayase-bench-run.1").exists());
    for (page, word) in [("hayase.toml.5", "server.port"), ("hayase-exports.5", "no_root_squash")] {
        let page = fs::read_to_string(dir.path().join("man5").join(page)).unwrap();
        let title = page.lines().find(|line| line.starts_with(".TH ")).unwrap();
        assert!(title.contains(" 5 2026-01-31 "), "{title}");
        assert!(page.lines().any(|line| line.starts_with(&format!("\\fB{word}"))), "{page}");
    }
}

#[test]
fn shells_can_read_their_completions() {
    let dir = tempfile::tempdir().unwrap();
    for (shell, check) in [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")] {
        let script = hayase(&["completions", shell]).stdout;
        assert!(String::from_utf8_lossy(&script).contains("state-dir"), "{shell}");
        let path = dir.path().join(shell);
        fs::write(&path, script).unwrap();
        match Command::new(shell).arg(check).arg(&path).output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) => println!("left out: {shell}: {error}"),
        }
    }
}
