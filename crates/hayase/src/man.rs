//! `hayase man`: manual pages of the commands from the definition of the command line, and those of
//! files from the tables by which they are read. None of them can say anything else.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_mangen::roff::{Inline, Roff, bold, roman};

use crate::cli::Cli;

const SOURCE: &str = concat!("Hayase ", env!("CARGO_PKG_VERSION"));
const MANUAL: &str = "Hayase";

/// Writes all pages below a directory, in `man1` and `man5`.
pub(crate) fn write(dir: &Path, date: &str) -> Result<()> {
    let mut hayase = Cli::command().disable_help_subcommand(true);
    hayase.build();
    commands(&hayase, &[], &dir.join("man1"), date)?;
    let five = dir.join("man5");
    let page = page("hayase.toml", "settings of the Hayase NFS server", date, &SETTINGS_INTRO);
    save(&five.join("hayase.toml.5"), &settings(page).to_roff())?;
    let page =
        self::page("hayase-exports", "what Hayase makes of exports(5)", date, &EXPORTS_INTRO);
    save(&five.join("hayase-exports.5"), &exports(page).to_roff())
}

const SETTINGS_INTRO: [&str; 2] = [
    "`/etc/hayase/hayase.toml` is a file in TOML. What is said on the command line comes before it, and it \
     comes before `nfs.conf`(5). A setting that is not known, or a value that cannot be, keeps the server \
     from starting. `hayase check` says what is in force, and where it comes from.",
    "A name such as `server.port` is the key `port` of the section `[server]`.",
];

const EXPORTS_INTRO: [&str; 2] = [
    "Hayase reads `/etc/exports` and `/etc/exports.d/*.exports` as `exports`(5) describes them. Every error is \
     reported, with its line. `hayase export ls` lists what is in force.",
    "What it does about each option: one that acts does what exports(5) says; one that is accepted asks for \
     what is so anyway, or has no effect, for the reason given; one that is an error would not be kept, for the \
     reason given.",
];

/// The page of a command, and those of the commands below it. `above` are the names before its own.
fn commands(command: &clap::Command, above: &[&str], dir: &Path, date: &str) -> Result<()> {
    let names = [above, &[command.get_name()]].concat();
    let page = clap_mangen::Man::new(command.clone().display_name(names.join("-")))
        .date(date)
        .manual(MANUAL)
        .source(SOURCE);
    let mut text = Vec::new();
    page.render(&mut text)?;
    save(&dir.join(format!("{}.1", names.join("-"))), &String::from_utf8(text)?)?;
    let shown = |below: &&clap::Command| !below.is_hide_set() && below.get_name() != "help";
    command.get_subcommands().filter(shown).try_for_each(|below| commands(below, &names, dir, date))
}

/// A page of a file's format, up to where its table begins.
fn page(name: &str, about: &str, date: &str, intro: &[&str]) -> Roff {
    let mut page = Roff::new();
    page.control("TH", [name, "5", date, SOURCE, MANUAL]);
    page.control("SH", ["NAME"]);
    page.text([roman(format!("{name} - {about}"))]);
    page.control("SH", ["DESCRIPTION"]);
    for (number, paragraph) in intro.iter().enumerate() {
        if number > 0 {
            page.control("PP", []);
        }
        page.text(inlines(paragraph));
    }
    page
}

fn settings(mut page: Roff) -> Roff {
    page.control("SH", ["SETTINGS"]);
    for setting in hayase_server::config::settings() {
        page.control("TP", []);
        page.text([bold(setting.name)]);
        let default = format!("{} Unless given: {}.", setting.help, setting.default);
        page.text(inlines(&default));
    }
    see_also(page, &["hayase-serve(1)", "hayase-check(1)", "hayase-exports(5)", "nfs.conf(5)"])
}

fn exports(mut page: Roff) -> Roff {
    page.control("SH", ["OPTIONS"]);
    for option in hayase_exports::described() {
        page.control("TP", []);
        page.text([bold(option.usage), roman(format!(" ({})", option.state))]);
        page.text(inlines(option.text));
    }
    see_also(page, &["hayase-serve(1)", "hayase-export(1)", "hayase.toml(5)", "exports(5)"])
}

fn see_also(mut page: Roff, pages: &[&str]) -> Roff {
    page.control("SH", ["SEE ALSO"]);
    page.text([roman(pages.join(", "))]);
    page
}

/// What is between backticks is bold.
fn inlines(text: &str) -> Vec<Inline> {
    let parts = text.split('`').enumerate();
    parts.map(|(n, part)| if n % 2 == 0 { roman(part) } else { bold(part) }).collect()
}

fn save(path: &Path, text: &str) -> Result<()> {
    let cannot = || format!("{} cannot be written", path.display());
    fs::create_dir_all(path.parent().unwrap_or(path)).with_context(cannot)?;
    fs::write(path, text).with_context(cannot)
}
