//! From the words of exports files to entries: clients, default options, merging, cross checks.

use crate::client::Client;
use crate::diagnostic::{Diagnostic, Fault, Problem, Source, Span};
use crate::entry::{Entry, Grant};
use crate::fsid::Fsid;
use crate::lexer::{Line, Piece, Word, lines};
use crate::option_list;
use crate::options::ExportOptions;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads one exports file. `file` is its name for diagnostics and for [`Grant::file`].
///
/// All mistakes of the file are reported, in the order of its lines.
pub fn parse(text: &[u8], file: &Path) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    parse_tables([(file, text)])
}

/// Reads `/etc/exports` and the extra export tables of `/etc/exports.d` as one table.
///
/// Lines with the same path add up, whichever file they stand in; the same client may stand only
/// once per path.
pub fn parse_tables<'a>(
    tables: impl IntoIterator<Item = (&'a Path, &'a [u8])>,
) -> Result<Vec<Entry>, Vec<Diagnostic>> {
    let mut table = Table::default();
    let mut diagnostics = Vec::new();
    for (file, text) in tables {
        let source = Source::new(file, text);
        let name: Arc<Path> = file.into();
        let (lines, mut faults) = lines(text);
        for line in lines.iter().filter(|line| !line.broken) {
            let Some((path, clients)) = read_line(line, &mut faults) else { continue };
            for Named { span, client, written, options } in clients {
                let (line, column) = source.place(span.start);
                let file = Arc::clone(&name);
                let grant = Grant { client, written, options, file, line, column };
                table.add(&path, grant, span, &mut faults);
            }
        }
        faults.sort_by_key(|fault| fault.span.start);
        diagnostics.extend(faults.iter().map(|fault| source.diagnostic(fault)));
    }
    if diagnostics.is_empty() { Ok(table.entries) } else { Err(diagnostics) }
}

/// Whether a file of this name in `/etc/exports.d` is an extra export table: it ends in
/// `.exports` and does not begin with a dot.
pub fn is_extra_table(name: &OsStr) -> bool {
    let name = name.as_bytes();
    !name.starts_with(b".") && name.ends_with(b".exports")
}

/// A client of a line, with the place of its name.
struct Named {
    span: Span,
    client: Client,
    written: String,
    options: ExportOptions,
}

/// Reads a line; `None` if its path is unusable. Mistakes of its clients are reported even then.
fn read_line(line: &Line, faults: &mut Vec<Fault>) -> Option<(PathBuf, Vec<Named>)> {
    let (first, rest) = line.words.split_first()?;
    let path = absolute(first, rest.is_empty()).map_err(|fault| faults.push(fault)).ok();
    let mut reader = Reader {
        defaults: ExportOptions::default(),
        unused_defaults: None,
        last: None,
        clients: Vec::new(),
        faults,
    };
    reader.run(rest);
    let Reader { defaults, unused_defaults, last, mut clients, faults } = reader;
    if last.is_none() {
        // A path without clients is exported to the world.
        let (span, written) = (first.whole().span(), Client::Any.to_string());
        clients.push(Named { span, client: Client::Any, written, options: defaults });
    } else if let Some(span) = unused_defaults {
        faults.push(Fault::new(
            span,
            "these default options stand after the last client; exports(5) reads this as an \
             export to every host",
            "write them before the clients they are for, or write `*` after them if every host \
             is meant",
        ));
    }
    path.map(|path| (path, clients))
}

fn absolute(word: &Word, alone: bool) -> Result<PathBuf, Fault> {
    let path = word.whole();
    let fault = |message: String, remedy: &str| Fault::new(path.span(), message, remedy);
    let text = path.text();
    if !path.bytes.starts_with(b"/") {
        return Err(fault(
            format!("`{text}` is not an absolute path"),
            "a line begins with the exported path, which begins with `/`; quote a path that \
             has blanks in it",
        ));
    }
    if alone && !word.literal && path.bytes.ends_with(b")") && path.find(b'(').is_some() {
        return Err(fault(
            format!("`{text}` has no blank between the path and its options"),
            "write `path client(options)`, or put the path in quotes if this is its name",
        ));
    }
    let mut clean = PathBuf::from("/");
    for name in path.bytes.split(|b| *b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                return Err(fault(
                    format!("`{text}` goes up with `..`"),
                    "write the path that is meant",
                ));
            }
            _ => clean.push(OsStr::from_bytes(name)),
        }
    }
    Ok(clean)
}

/// Reads the words after the path.
struct Reader<'f> {
    /// The default options so far; each `-` list changes them for the clients that follow.
    defaults: ExportOptions,
    /// A list of defaults that no client has followed yet.
    unused_defaults: Option<Span>,
    /// The last word about a client, right or wrong, as it is written.
    last: Option<String>,
    clients: Vec<Named>,
    faults: &'f mut Vec<Fault>,
}

impl Reader<'_> {
    fn run(&mut self, mut words: &[Word]) {
        while let Some((word, after)) = words.split_first() {
            words = after;
            let whole = word.whole();
            if whole.bytes.starts_with(b"-") {
                self.default_options(whole);
                continue;
            }
            match whole.find(b'(') {
                None => self.bare(whole),
                Some(open) => {
                    if open == 0 {
                        self.nameless(whole);
                    }
                    words = self.with_options(whole, open, words);
                }
            }
            self.last = Some(whole.text().into_owned());
            self.unused_defaults = None;
        }
    }

    /// Default options, which begin with a dash.
    fn default_options(&mut self, whole: Piece<'_>) {
        option_list::apply(whole.from(1), &mut self.defaults, self.faults);
        self.unused_defaults = Some(whole.span());
        if whole.bytes.ends_with(b",") {
            // Whatever follows the blank would be taken for a client.
            self.faults.push(Fault::new(
                whole.from(whole.bytes.len() - 1).span(),
                "default options end with a comma",
                "write them without blanks, as in `-rw,sync`, or remove the comma",
            ));
        }
    }

    /// A client without options.
    fn bare(&mut self, whole: Piece<'_>) {
        match whole.find(b')') {
            None => self.client(whole, self.defaults.clone()),
            Some(close) => self.faults.push(Fault::new(
                whole.slice(close, close + 1).span(),
                "this `)` has no `(`",
                "write `client(options)` without blanks inside",
            )),
        }
    }

    /// The well-known trap: a blank before the parenthesis gives the options to everyone.
    fn nameless(&mut self, whole: Piece<'_>) {
        let list = whole.text();
        let problem = match &self.last {
            Some(client) => Problem::new(
                format!(
                    "there is a blank before `(`: exports(5) reads this as `{client}` without \
                     these options, and every host in the world with `{list}`"
                ),
                if client.contains('(') {
                    format!("remove it, or write `*{list}` if every host is meant")
                } else {
                    format!(
                        "write `{client}{list}` without the blank, or `*{list}` if every host is \
                         meant"
                    )
                },
            ),
            None => Problem::new(
                "these options have no client: exports(5) reads this as every host in the world",
                format!("write `client{list}`, or `*{list}` if every host is meant"),
            ),
        };
        self.faults.push(Fault { span: whole.span(), problem });
    }

    /// A client with options that begin at `open`. Returns the words that are left.
    fn with_options<'w>(&mut self, whole: Piece<'_>, open: usize, rest: &'w [Word]) -> &'w [Word] {
        let mut options = self.defaults.clone();
        let list = whole.from(open + 1);
        let mut left = rest;
        match list.find(b')') {
            Some(close) => {
                option_list::apply(list.slice(0, close), &mut options, self.faults);
                if close + 1 < list.bytes.len() {
                    self.faults.push(Fault::new(
                        list.from(close + 1).span(),
                        "text follows the `)`",
                        "write a blank between one client and the next",
                    ));
                }
            }
            None => left = self.unclosed(whole.from(open), &mut options, rest),
        }
        if open > 0 {
            self.client(whole.slice(0, open), options);
        }
        left
    }

    /// An option list without its `)`: either blanks cut it up, or it is really missing.
    fn unclosed<'w>(
        &mut self,
        list: Piece<'_>,
        options: &mut ExportOptions,
        rest: &'w [Word],
    ) -> &'w [Word] {
        let closing = rest.iter().position(|word| word.whole().find(b')').is_some());
        let opening = rest.iter().position(|word| word.whole().find(b'(').is_some());
        option_list::apply(list.from(1), options, self.faults);
        match closing {
            Some(last) if opening.is_none_or(|opening| opening > last) => {
                self.faults.push(Fault::new(
                    list.span(),
                    "there is a blank within these options",
                    "write the options without blanks, as in `(rw,sync)`",
                ));
                for word in &rest[..=last] {
                    let whole = word.whole();
                    let end = whole.find(b')').unwrap_or(whole.bytes.len());
                    // Each word is its own list here: a contradiction across them can wait.
                    option_list::apply(whole.slice(0, end), options, self.faults);
                }
                &rest[last + 1..]
            }
            _ => {
                self.faults.push(Fault::new(
                    list.slice(0, 1).span(),
                    "this `(` is not closed",
                    "add the `)` right after the last option",
                ));
                rest
            }
        }
    }

    fn client(&mut self, name: Piece<'_>, options: ExportOptions) {
        match name.text().parse() {
            Ok(client) => {
                let written = name.text().into_owned();
                self.clients.push(Named { span: name.span(), client, written, options });
            }
            Err(problem) => self.faults.push(Fault { span: name.span(), problem }),
        }
    }
}

/// The entries of all files so far, and what must not happen twice among them.
#[derive(Default)]
struct Table {
    entries: Vec<Entry>,
    by_path: HashMap<PathBuf, usize>,
    /// Where each client of each entry was named first.
    named: HashMap<(usize, Client), String>,
    /// The entry that has each fsid, and where it got it.
    by_fsid: HashMap<Fsid, (usize, String)>,
    /// Entries whose fsid has been complained about: once is enough.
    disputed: HashSet<usize>,
}

impl Table {
    fn add(&mut self, path: &Path, grant: Grant, span: Span, faults: &mut Vec<Fault>) {
        let entries = &mut self.entries;
        let index = *self.by_path.entry(path.to_path_buf()).or_insert_with(|| {
            entries.push(Entry { path: path.to_path_buf(), grants: Vec::new() });
            entries.len() - 1
        });
        let place = format!("{}:{}", grant.file.display(), grant.line);
        if let Some(first) = self.named.get(&(index, grant.client.clone())) {
            faults.push(Fault::new(
                span,
                format!("{} is already exported to `{}` at {first}", path.display(), grant.client),
                "keep one of them",
            ));
            return;
        }
        if let Some(fsid) = grant.options.fsid {
            self.check_fsid(index, fsid, &place, span, faults);
        }
        self.named.insert((index, grant.client.clone()), place);
        self.entries[index].grants.push(grant);
    }

    /// An fsid names one export, and an export has one fsid, whoever the client is.
    fn check_fsid(
        &mut self,
        index: usize,
        fsid: Fsid,
        place: &str,
        span: Span,
        faults: &mut Vec<Fault>,
    ) {
        let problem = match (self.by_fsid.get(&fsid), self.entries[index].fsid()) {
            (Some((other, first)), _) if *other != index => Problem::new(
                format!(
                    "fsid={fsid} already belongs to {} at {first}",
                    self.entries[*other].path.display()
                ),
                "give each exported path its own fsid",
            ),
            (_, Some(other)) if other != fsid => Problem::new(
                format!("fsid={fsid}, but this path has fsid={other} for another client"),
                "give all clients of a path the same fsid",
            ),
            _ => {
                self.by_fsid.entry(fsid).or_insert_with(|| (index, place.to_string()));
                return;
            }
        };
        if self.disputed.insert(index) {
            faults.push(Fault { span, problem });
        }
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
