//! `io=`: whether data goes through the page cache.

use crate::diagnostic::Problem;
use crate::nearest::nearest;
use std::fmt;

/// How an export's data gets to the disk and back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Io {
    /// Through the page cache, but past it where it cannot hold what is read or written at a time.
    #[default]
    Auto,
    /// Always through the page cache.
    Cached,
    /// Past the page cache wherever data is aligned and large.
    Direct,
}

impl Io {
    const ALL: [Self; 3] = [Self::Auto, Self::Cached, Self::Direct];

    /// The word for it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cached => "cached",
            Self::Direct => "direct",
        }
    }

    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|io| io.word() == text);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Self::word);
            let help = match nearest(text, words) {
                Some(word) => format!("did you mean `{word}`?"),
                None => format!("write one of {}", words.join(", ")),
            };
            Problem::new(format!("`{text}` is no way to read and write"), help)
        })
    }
}

impl fmt::Display for Io {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_they_are_written() {
        for io in Io::ALL {
            assert_eq!(Io::parse(&io.to_string()).unwrap(), io);
        }
        assert!(format!("{:?}", Io::parse("drect").unwrap_err()).contains("direct"));
        assert!(format!("{:?}", Io::parse("").unwrap_err()).contains("auto, cached, direct"));
    }
}
