//! A comma-separated list of options, as it stands in parentheses or after a dash.

use crate::diagnostic::{Fault, Problem};
use crate::lexer::Piece;
use crate::nearest::nearest;
use crate::options::ExportOptions;
use crate::words::{Effect, OPTIONS, OptionWord, Topic};

/// Reads a list on top of `options`, and says everything that is wrong with it.
pub(crate) fn apply(list: Piece<'_>, options: &mut ExportOptions, faults: &mut Vec<Fault>) {
    let mut seen: Vec<&'static OptionWord> = Vec::new();
    let mut rest = Some(list);
    while let Some(piece) = rest {
        let (item, after) = match piece.split_once(b',') {
            Some((item, after)) => (item, Some(after)),
            None => (piece, None),
        };
        rest = after;
        let comma = item.bytes.len();
        let item = item.trim();
        if !item.bytes.is_empty() {
            match one(item, options, &seen) {
                Ok(word) => seen.push(word),
                Err(fault) => faults.push(fault),
            }
        } else if after.is_some() {
            // An empty list and a comma at the end are harmless; a hole is a slip of the pen.
            faults.push(Fault::new(
                piece.slice(comma, comma + 1).span(),
                "no option stands before this comma",
                "remove the comma, or write the missing option",
            ));
        }
    }
}

fn one(
    item: Piece<'_>,
    options: &mut ExportOptions,
    seen: &[&'static OptionWord],
) -> Result<&'static OptionWord, Fault> {
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
        (None, None) => None,
        (Some(_), Some(value)) if !value.bytes.is_empty() => Some(value),
        (None, Some(_)) => {
            let message = format!("`{name}` takes no value");
            return Err(fault(Problem::new(message, format!("write `{name}`"))));
        }
        (Some(_), _) => {
            let message = format!("`{name}` needs a value");
            return Err(fault(Problem::new(message, format!("write `{}`", word.usage()))));
        }
    };

    let before = options.clone();
    if let Effect::Acts(action) = &word.effect {
        let text = value.map(|value| value.text()).unwrap_or_default();
        action
            .apply(options, &text)
            .map_err(|problem| Fault { span: value.unwrap_or(item).span(), problem })?;
    }
    let rival = seen.iter().find(|other| other.topic == word.topic);
    match rival {
        Some(other) if other.on != word.on || (value.is_some() && *options != before) => {
            Err(fault(contradiction(other, word)))
        }
        _ => Ok(word),
    }
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
    match second.topic {
        Topic::Sec => Problem::new(
            "options that differ by security flavor are not available",
            "write one `sec=` with all flavors, as in `sec=sys:none`",
        ),
        _ if first.name == second.name => Problem::new(
            format!("`{}` is given twice with different values", first.name),
            "keep one of them",
        ),
        _ => Problem::new(
            format!("`{}` contradicts `{}` in the same list", second.name, first.name),
            "keep one of them",
        ),
    }
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
                "sec" => "=none",
                "refer" | "replicas" => "=/a@b",
                _ if word.value.is_some() => "=7",
                _ => "",
            };
            let (options, faults) = read(&format!("{}{value}", word.name));
            match &word.effect {
                Effect::Acts(action) => {
                    assert!(faults.is_empty(), "{}: {faults:?}", word.name);
                    let set = match action {
                        Action::Rare(field, value) => *field(&mut options.clone()) == *value,
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
                if first.topic == refused || first.topic != second.topic || first.value.is_some() {
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
            ("sec=sys,rw,sec=none", "sec=none", "differ by security flavor", "one `sec=`"),
            ("sec=krb5", "krb5", "no Kerberos", "`sec=sys`"),
            ("rw,,sync", ",", "before this comma", "remove"),
            ("sync, async", "async", "contradicts `sync`", "keep one"),
            ("pnfs", "pnfs", "no effect", "remove `pnfs`"),
            ("mp=/srv", "mp=/srv", "no effect", "remove `mp=/srv`"),
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
            "no_root_squash,all_squash",
            "anonuid=-2",
        ] {
            assert!(read(list).1.is_empty(), "{list}");
        }
    }

    #[test]
    fn all_mistakes_of_a_list_are_reported() {
        assert_eq!(read("rx,ro=1,fsid=,sync,async,pnfs").1.len(), 5);
    }
}
