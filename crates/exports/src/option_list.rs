//! A comma-separated list of options, as it stands in parentheses or after a dash.

use crate::diagnostic::{Fault, Problem};
use crate::fsid::Fsid;
use crate::ids::IdRanges;
use crate::lexer::Piece;
use crate::nearest::nearest;
use crate::options::ExportOptions;
use crate::sec::{Flavor, Flavors, Treatment};
use crate::words::{Effect, OPTIONS, OptionWord, Topic, Value};

/// Reads a list on top of `options`, and says everything that is wrong with it.
pub(crate) fn apply(list: Piece<'_>, options: &mut ExportOptions, faults: &mut Vec<Fault>) {
    let mut reader = Reader { options, seen: Vec::new(), treated: Vec::new(), active: 0 };
    let mut rest = Some(list);
    while let Some(piece) = rest {
        let (end, after) = item_end(piece);
        rest = after.then(|| piece.from(end + 1));
        let item = piece.slice(0, end).trim();
        if !item.bytes.is_empty() {
            if let Err(fault) = reader.item(item) {
                faults.push(fault);
            }
        } else if after {
            // An empty list and a comma at the end are harmless; a hole is a slip of the pen.
            faults.push(Fault::new(
                piece.slice(end, end + 1).span(),
                "no option stands before this comma",
                "remove the comma, or write the missing option",
            ));
        }
    }
    reader.finish();
}

/// Where the first option of a list ends, and whether a comma stands there. The value of
/// `squash_uids=` has commas itself.
fn item_end(list: Piece<'_>) -> (usize, bool) {
    let bytes = list.bytes;
    let comma = |from: usize| bytes[from..].iter().position(|b| *b == b',').map(|at| from + at);
    let Some(mut end) = comma(0) else { return (bytes.len(), false) };
    let name = bytes[..end].trim_ascii_start();
    if name.starts_with(b"squash_uids=") || name.starts_with(b"squash_gids=") {
        while IdRanges::goes_on(&bytes[end + 1..]) {
            match comma(end + 1) {
                Some(next) => end = next,
                None => return (bytes.len(), false),
            }
        }
    }
    (end, true)
}

struct Reader<'o> {
    options: &'o mut ExportOptions,
    /// The words so far; those that can differ by flavor only since the last `sec=`.
    seen: Vec<&'static OptionWord>,
    /// The flavors so far, with the options of each.
    treated: Vec<(Flavor, Treatment)>,
    /// Those from here on are of the last `sec=`: options that follow are for them.
    active: usize,
}

impl Reader<'_> {
    fn item(&mut self, item: Piece<'_>) -> Result<(), Fault> {
        let (name, value) = match item.split_once(b'=') {
            Some((name, value)) => (name, Some(value)),
            None => (item, None),
        };
        let fault = |problem: Problem| Fault { span: item.span(), problem };
        let name = name.text();
        let word = OptionWord::find(&name).ok_or_else(|| fault(unknown(&name)))?;
        if let Effect::Missing(reason) = word.effect {
            return Err(fault(Problem::new(
                format!("`{name}` has no effect in Hayase: {reason}"),
                format!("remove `{}`", item.text()),
            )));
        }
        let value = match (word.value, value) {
            (Value::None | Value::Optional(_), None) => None,
            (Value::Needed(_) | Value::Optional(_), Some(value)) if !value.bytes.is_empty() => {
                Some(value)
            }
            (Value::None, Some(_)) => {
                let message = format!("`{name}` takes no value");
                return Err(fault(Problem::new(message, format!("write `{name}`"))));
            }
            (Value::Needed(_) | Value::Optional(_), _) => {
                let message = format!("`{name}` needs a value");
                return Err(fault(Problem::new(message, format!("write `{}`", word.usage()))));
            }
        };
        let text = value.map(|value| value.text()).unwrap_or_default();
        let of_value = |problem| Fault { span: value.unwrap_or(item).span(), problem };
        match word.topic {
            Topic::Sec => return self.sec(word, &text).map_err(of_value),
            Topic::Transport => allows_plain(&text).map_err(of_value)?,
            _ => {}
        }
        let before = self.options.clone();
        if let Effect::Acts(action) | Effect::Noted(action, _) = &word.effect {
            action.apply(self.options, &text).map_err(of_value)?;
        }
        let rival = self.seen.iter().find(|other| other.topic == word.topic);
        match rival {
            Some(_) if fsids_go_together(before.fsid, word, &text) => {}
            Some(other) if other.on != word.on || (value.is_some() && *self.options != before) => {
                return Err(fault(contradiction(other, word)));
            }
            _ => {}
        }
        self.seen.push(word);
        if word.topic.is_by_flavor() {
            self.treat(word, &text).map_err(of_value)?;
        }
        Ok(())
    }

    /// `sec=`: what follows is for these flavors only.
    fn sec(&mut self, word: &'static OptionWord, text: &str) -> Result<(), Problem> {
        let flavors = Flavors::parse(text)?;
        if let Some(flavor) =
            flavors.iter().find(|flavor| self.treated.iter().any(|(known, _)| known == *flavor))
        {
            return Err(Problem::new(
                format!("the flavor `{}` is given twice", flavor.word()),
                "name each flavor once; options that differ by flavor follow its `sec=`",
            ));
        }
        self.active = self.treated.len();
        let own = self.options.treatment();
        self.treated.extend(flavors.into_iter().map(|flavor| (flavor, own)));
        self.seen.retain(|other| !other.topic.is_by_flavor());
        self.seen.push(word);
        Ok(())
    }

    /// What a word has just changed holds for the flavors of the last `sec=`; without any, for all
    /// that default options have named, of which each keeps the rest of its own.
    fn treat(&mut self, word: &OptionWord, text: &str) -> Result<(), Problem> {
        let own = self.options.treatment();
        for (_, treatment) in &mut self.treated[self.active..] {
            *treatment = own;
        }
        let Effect::Acts(action) = &word.effect else { return Ok(()) };
        let second = self.options.sec.second().filter(|_| self.treated.is_empty());
        let second = second.and_then(|flavor| self.options.with_flavor(flavor));
        let Some(mut second) = second else { return Ok(()) };
        action.apply(&mut second, text)?;
        self.options.sec.treat_second(own, second.treatment());
        Ok(())
    }

    fn finish(self) {
        if let Some((flavors, own)) = Flavors::treated(&self.treated) {
            self.options.sec = flavors;
            self.options.treat(own);
        }
    }
}

/// Whether a policy lets clients come without TLS, which is how they come here.
fn allows_plain(policy: &str) -> Result<(), Problem> {
    let mut plain = false;
    for word in policy.split(':') {
        match word {
            "none" => plain = true,
            "tls" | "mtls" => {}
            _ => {
                return Err(Problem::new(
                    format!("`{word}` is no policy of `xprtsec`"),
                    "write `none`, `tls` or `mtls`, with `:` between them",
                ));
            }
        }
    }
    if plain {
        return Ok(());
    }
    Err(Problem::new(
        format!("`xprtsec={policy}` demands TLS, which this build does not serve"),
        "write `xprtsec=none`, or leave it out, and protect the network by other means",
    ))
}

/// Whether a second `fsid=` is the number to a UUID, or the other way round.
fn fsids_go_together(before: Option<Fsid>, word: &OptionWord, text: &str) -> bool {
    let second = (word.topic == Topic::Fsid).then(|| Fsid::parse(text).ok()).flatten();
    before.zip(second).is_some_and(|(first, second)| first.goes_with(second))
}

fn unknown(name: &str) -> Problem {
    Problem::new(
        format!("unknown option `{name}`"),
        match nearest(name, OPTIONS.iter().map(|word| word.name)) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => "remove it; exports(5) lists the options".into(),
        },
    )
}

fn contradiction(first: &OptionWord, second: &OptionWord) -> Problem {
    let message = if first.name == second.name {
        format!("`{}` is given twice with different values", first.name)
    } else {
        format!("`{}` contradicts `{}` in the same list", second.name, first.name)
    };
    Problem::new(message, "keep one of them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::lines;
    use crate::words::Action;

    /// The list read on top of the defaults, and the faults as (place, message, remedy).
    fn read(list: &str) -> (ExportOptions, Vec<(String, Problem)>) {
        let text = format!("\"{list}\"");
        let (lines, lexical) = lines(text.as_bytes());
        assert!(lexical.is_empty());
        let (mut options, mut faults) = (ExportOptions::default(), Vec::new());
        apply(lines[0].words[0].whole(), &mut options, &mut faults);
        let faults = faults.into_iter();
        let place = |f: Fault| (text[f.span.start..f.span.end].to_string(), f.problem);
        (options, faults.map(place).collect())
    }

    #[test]
    fn every_word_does_what_the_table_says() {
        for word in OPTIONS {
            let value = match word.name {
                "sec" | "xprtsec" => "=none",
                "refer" | "replicas" => "=/a@b",
                "io" => "=direct",
                _ if matches!(word.value, Value::Needed(_)) => "=7",
                _ => "",
            };
            let (options, faults) = read(&format!("{}{value}", word.name));
            match &word.effect {
                Effect::Acts(action) | Effect::Noted(action, _) => {
                    assert!(faults.is_empty(), "{}: {faults:?}", word.name);
                    let set = match action {
                        Action::Rare(field, value) | Action::Synonym(field, value) => {
                            *field(&mut options.clone()) == *value
                        }
                        Action::MountPoint(_) => options.mountpoint.is_some(),
                        _ => action.is_shown(&options),
                    };
                    assert!(set, "{}", word.name);
                }
                Effect::Already(_) => {
                    assert!(faults.is_empty(), "{}: {faults:?}", word.name);
                    assert_eq!(options, ExportOptions::default(), "{}", word.name);
                }
                Effect::Missing(reason) => {
                    assert_eq!(faults.len(), 1, "{}", word.name);
                    assert!(faults[0].1.message.contains("has no effect in Hayase"));
                    assert!(faults[0].1.message.ends_with(reason));
                }
            }
        }
    }

    #[test]
    fn opposites_contradict_whichever_comes_first() {
        for first in OPTIONS {
            for second in OPTIONS {
                let refused = Topic::Refused;
                if first.topic == refused
                    || first.topic != second.topic
                    || first.value != Value::None
                {
                    continue;
                }
                let (_, faults) = read(&format!("{},{}", first.name, second.name));
                let expected = usize::from(first.on != second.on);
                assert_eq!(faults.len(), expected, "{},{}", first.name, second.name);
            }
        }
    }

    #[test]
    fn mistakes_are_named_with_a_remedy() {
        let table = [
            ("rw,no_rootsquash", "no_rootsquash", "unknown option", "`no_root_squash`"),
            ("quota", "quota", "unknown option", "exports(5)"),
            ("ro=1", "ro=1", "takes no value", "`ro`"),
            ("anonuid", "anonuid", "needs a value", "`anonuid=UID`"),
            ("anonuid=", "anonuid=", "needs a value", "`anonuid=UID`"),
            ("anonuid=joe", "joe", "not a uid", "number"),
            ("anonuid=1,anonuid=2", "anonuid=2", "given twice", "keep one"),
            ("fsid=1,fsid=root", "fsid=root", "given twice", "keep one"),
            ("sec=sys,rw,sec=none:sys", "none:sys", "given twice", "each flavor once"),
            ("sec=sys,rw,sec=none,ro,rw", "rw", "contradicts `ro`", "keep one"),
            ("xprtsec=tls:mtls", "tls:mtls", "demands TLS", "`xprtsec=none`"),
            ("xprtsec=ssl", "ssl", "no policy", "`none`"),
            ("squash_uids=5,x", "x", "unknown option", "exports(5)"),
            ("squash_uids=9-5,ro", "9-5", "no range", "`0-15"),
            ("mp=", "mp=", "needs a value", "`mp[=PATH]`"),
            ("mp=srv", "srv", "not an absolute path", "beginning with `/`"),
            ("fsid=5,fsid=6", "fsid=6", "given twice", "keep one"),
            ("sec=krb5", "krb5", "no Kerberos", "`sec=sys`"),
            ("rw,,sync", ",", "before this comma", "remove"),
            ("sync, async", "async", "contradicts `sync`", "keep one"),
            ("pnfs", "pnfs", "no effect", "remove `pnfs`"),
        ];
        for (list, place, message, remedy) in table {
            let (_, faults) = read(list);
            assert_eq!(faults.len(), 1, "{list}: {faults:?}");
            assert_eq!(faults[0].0, place, "{list}");
            assert!(faults[0].1.message.contains(message), "{list}: {}", faults[0].1);
            assert!(faults[0].1.remedy.contains(remedy), "{list}: {}", faults[0].1);
        }
    }

    #[test]
    fn harmless_lists_are_accepted() {
        for list in [
            "",
            "rw,",
            " rw , sync ",
            "rw,rw",
            "fsid=0,fsid=root",
            "auth_nlm,secure_locks",
            "no_auth_nlm,insecure_locks",
            "no_root_squash,all_squash",
            "anonuid=-2",
            "sec=sys,rw,sec=none,ro",
            "xprtsec=none:tls",
            "squash_uids=0-15,20,ro",
            "squash_gids=5,7-9",
            "mp,mountpoint",
            "fsid=5,fsid=9F1A0D2E:77AA4CE38DDA4B5B5F0C9E11",
        ] {
            assert!(read(list).1.is_empty(), "{list}");
        }
    }

    #[test]
    fn options_after_sec_are_for_its_flavors() {
        // As nfs-utils shows the same lists: what was said before a `sec=` holds for its flavors.
        let table = [
            ("ro,sec=sys,rw", "sec=sys,rw,secure,root_squash,no_all_squash"),
            (
                "sec=sys,rw,no_root_squash,sec=none,ro,all_squash,insecure",
                "sec=sys,rw,secure,no_root_squash,no_all_squash,\
                 sec=none,ro,insecure,no_root_squash,all_squash",
            ),
            (
                "rw,no_root_squash,sec=sys,secure,sec=none,insecure,ro",
                "sec=sys,rw,secure,no_root_squash,no_all_squash,\
                 sec=none,ro,insecure,no_root_squash,no_all_squash",
            ),
            ("sec=none:sys,rw", "sec=none:sys,rw,secure,root_squash,no_all_squash"),
        ];
        for (list, shown) in table {
            let (options, faults) = read(list);
            assert!(faults.is_empty(), "{list}: {faults:?}");
            assert_eq!(crate::listing::flavors(&options), shown, "{list}");
            let again = read(&options.to_string());
            assert_eq!(again, (options, Vec::new()), "{list}");
        }
        // Default options have named two flavors: one word more changes nothing else of the second.
        let defaults = read("sec=sys,rw,sec=none,ro").0;
        let mut options = defaults.clone();
        let (text, faults) = (b"insecure", &mut Vec::new());
        apply(lines(text).0[0].words[0].whole(), &mut options, faults);
        assert_eq!(
            crate::listing::flavors(&options),
            "sec=sys,rw,insecure,root_squash,no_all_squash,\
             sec=none,ro,insecure,root_squash,no_all_squash"
        );
        let (options, _) = read("sec=sys,rw,sec=none,ro");
        assert!(options.with_flavor(Flavor::None).unwrap().ro && !options.ro);
        assert_eq!(options.with_flavor(Flavor::Sys), None);
    }

    #[test]
    fn all_mistakes_of_a_list_are_reported() {
        assert_eq!(read("rx,ro=1,fsid=,sync,async,pnfs").1.len(), 5);
    }
}
