//! `hayase.toml`: what is ours.

use std::path::Path;

use hayase_conf::Place;
use hayase_exports::nearest;
use toml::de::{DeTable, DeValue};

use super::finding::{Finding, Severity};
use super::layer::{Given, Layer};
use super::setting::{LIST, SETTINGS, Setting};

/// Reads the file, if it is there or has to be.
pub(super) fn read(file: &Path, required: bool, findings: &mut Vec<Finding>) -> Layer {
    match std::fs::read_to_string(file) {
        Ok(text) => parse(&text, file, findings),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && !required => Layer::default(),
        Err(error) => {
            let remedy = "let the server read it, or name another with --config";
            findings.push(Finding::of(Severity::Error, file, error.to_string(), remedy));
            Layer::default()
        }
    }
}

/// Reads text.
pub(super) fn parse(text: &str, file: &Path, findings: &mut Vec<Finding>) -> Layer {
    let mut layer = Layer::default();
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let place = place(text, file, error.span().map_or(0, |span| span.start));
        let remedy = "write TOML: `[section]`, and below it `key = value`, with text in quotes";
        findings.push(Finding::at(Severity::Error, &place, error.message(), remedy));
    }
    if !errors.is_empty() {
        return layer;
    }
    for (section, value) in table.get_ref() {
        let at = place(text, file, section.span().start);
        let DeValue::Table(keys) = value.get_ref() else {
            let message = format!("`{}` stands before the first [section]", section.get_ref());
            findings.push(Finding::at(Severity::Error, &at, message, "put it below its section"));
            continue;
        };
        let sections = SETTINGS.iter().filter_map(|setting| setting.name.split_once('.'));
        let sections: Vec<&str> = sections.map(|(section, _)| section).collect();
        let section = &**section.get_ref();
        if !sections.contains(&section) {
            let message = format!("unknown section [{section}]");
            findings.push(Finding::at(Severity::Error, &at, message, meant(section, &sections)));
            continue;
        }
        for (key, value) in keys {
            let at = place(text, file, key.span().start);
            let name = format!("{section}.{}", key.get_ref());
            let Some(setting) = Setting::named(&name) else {
                let keys = SETTINGS.iter().filter_map(|setting| setting.name.split_once('.'));
                let keys: Vec<&str> =
                    keys.filter(|(its, _)| *its == section).map(|(_, key)| key).collect();
                let message = format!("unknown key `{}` in [{section}]", key.get_ref());
                findings.push(Finding::at(
                    Severity::Error,
                    &at,
                    message,
                    meant(key.get_ref(), &keys),
                ));
                continue;
            };
            let fits = setting.is_list() || !value.get_ref().is_array();
            match plain(value.get_ref()).filter(|_| fits) {
                Some(value) => layer.add(setting.name, Given::written(value, at)),
                None => findings.push(Finding::at(
                    Severity::Error,
                    &at,
                    format!("`{name}` takes no value of this kind"),
                    format!("write it as `{} = {}`", key.get_ref(), setting.example),
                )),
            }
        }
    }
    layer
}

fn meant(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", known.join(", ")),
    }
}

/// A value as text; a list has a line for each.
fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().replace('_', "")),
        DeValue::Boolean(answer) => Some(answer.to_string()),
        DeValue::Array(values) if !values.is_empty() => {
            let texts = values.iter().map(|value| match value.get_ref() {
                DeValue::String(text) => Some(text.to_string()),
                _ => None,
            });
            Some(texts.collect::<Option<Vec<_>>>()?.join(&LIST.to_string()))
        }
        _ => None,
    }
}

/// The place of a byte.
fn place(text: &str, file: &Path, offset: usize) -> Place {
    let boundary = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let before = &text[..boundary.unwrap_or(0)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Place {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[start..].chars().count() + 1,
        text: text[start..].lines().next().unwrap_or_default().to_owned(),
    }
}

/// A file with every setting in it, explained and commented out.
pub(super) fn example() -> String {
    use std::fmt::Write;
    let mut page = String::from(
        "# Hayase's own configuration: /etc/hayase/hayase.toml, or what --config names.\n\
         # The command line comes before this file, and this file before nfs.conf(5).\n\
         # `hayase check` says what is in force, and where it comes from.\n",
    );
    let mut current = "";
    for setting in SETTINGS {
        let (section, key) = setting.name.split_once('.').unwrap_or(("", setting.name));
        // Writing to a String does not fail.
        if section != current {
            let _ = write!(page, "\n[{section}]\n");
            current = section;
        }
        for line in wrapped(setting.help) {
            let _ = writeln!(page, "# {line}");
        }
        let _ = writeln!(page, "# Unless given: {}.", setting.default.replace('`', ""));
        let _ = writeln!(page, "# {key} = {}", setting.example);
    }
    page
}

/// Text in lines of at most 90 characters.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + word.len() < 90 => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// Every setting, as a table in Markdown.
pub(super) fn reference() -> String {
    use std::fmt::Write;
    let mut page = String::from(
        "| hayase.toml | Command line | nfs.conf | Unless given | |\n|---|---|---|---|---|\n",
    );
    for setting in SETTINGS {
        let flag = setting.flag.map(|flag| format!("`{flag}`")).unwrap_or_default();
        let conf = setting.nfs_conf.map(|(section, key)| format!("`[{section}] {key}`"));
        let (conf, Setting { name, default, help, .. }) = (conf.unwrap_or_default(), setting);
        // Writing to a String does not fail.
        let _ = writeln!(page, "| `{name}` | {flag} | {conf} | {default} | {help} |");
    }
    page
}
