//! `hayase completions` and `hayase man`: what is made of the definition of the command line, so
//! that neither can say anything else.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;

use crate::cli::Cli;

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "hayase", &mut script);
    // Not written in one go by the generator: a closed pipe would be a panic there.
    io::stdout().write_all(&script).context("the completions cannot be printed")
}

/// Writes a page for each command into a directory.
pub(crate) fn man(dir: &Path, date: &str) -> Result<()> {
    fs::create_dir_all(dir).with_context(|| format!("{} cannot be made", dir.display()))?;
    let mut hayase = Cli::command().disable_help_subcommand(true);
    hayase.build();
    pages(&hayase, &[], dir, date)
}

/// The page of a command, and those of the commands below it. `above` are the names before its own.
fn pages(command: &clap::Command, above: &[&str], dir: &Path, date: &str) -> Result<()> {
    let names = [above, &[command.get_name()]].concat();
    let page = clap_mangen::Man::new(command.clone().display_name(names.join("-")))
        .date(date)
        .manual("Hayase")
        .source(concat!("Hayase ", env!("CARGO_PKG_VERSION")));
    let path = dir.join(format!("{}.1", names.join("-")));
    let cannot = || format!("{} cannot be written", path.display());
    let mut text = Vec::new();
    page.render(&mut text).with_context(cannot)?;
    fs::write(&path, text).with_context(cannot)?;
    let shown = |below: &&clap::Command| !below.is_hide_set() && below.get_name() != "help";
    command.get_subcommands().filter(shown).try_for_each(|below| pages(below, &names, dir, date))
}
