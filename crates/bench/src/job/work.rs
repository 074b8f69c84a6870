//! Kinds of work.

use std::fmt;
use std::str::FromStr;

/// What a job does, `rw` in fio's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Work {
    /// Reads or writes the data of files.
    Data {
        /// Which way.
        flow: Flow,
        /// Whether blocks are drawn by lot; otherwise one follows the other.
        random: bool,
    },
    /// Works on names and attributes, in the manner of mdtest.
    Meta(Meta),
}

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Flow {
    /// From the files.
    Read,
    /// To them.
    Write,
    /// Both, `rwmixread` of 100 from them.
    Mixed,
}

/// Work on names and attributes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Meta {
    /// Makes empty files; in NFSv4 OPEN and CLOSE, counted once.
    Create,
    /// Looks files up by name, with their attributes.
    Stat,
    /// Asks for the attributes of files that have been looked up before.
    GetAttr,
    /// Lists directories from beginning to end, names only.
    ReadDir,
    /// The same with attributes.
    ReadDirPlus,
    /// Gives files other names in the same directory.
    Rename,
    /// Removes files.
    Remove,
    /// Makes directories.
    MkDir,
    /// Removes empty directories.
    RmDir,
}

const WORDS: [(&str, Work); 15] = {
    const fn data(flow: Flow, random: bool) -> Work {
        Work::Data { flow, random }
    }
    [
        ("read", data(Flow::Read, false)),
        ("write", data(Flow::Write, false)),
        ("rw", data(Flow::Mixed, false)),
        ("randread", data(Flow::Read, true)),
        ("randwrite", data(Flow::Write, true)),
        ("randrw", data(Flow::Mixed, true)),
        ("create", Work::Meta(Meta::Create)),
        ("stat", Work::Meta(Meta::Stat)),
        ("getattr", Work::Meta(Meta::GetAttr)),
        ("readdir", Work::Meta(Meta::ReadDir)),
        ("readdirplus", Work::Meta(Meta::ReadDirPlus)),
        ("rename", Work::Meta(Meta::Rename)),
        ("remove", Work::Meta(Meta::Remove)),
        ("mkdir", Work::Meta(Meta::MkDir)),
        ("rmdir", Work::Meta(Meta::RmDir)),
    ]
};

impl Work {
    /// The word for it.
    pub fn word(self) -> &'static str {
        WORDS.iter().find(|(_, work)| *work == self).map_or("", |(word, _)| word)
    }

    /// Which way data goes; `None` if there is none.
    pub fn flow(self) -> Option<Flow> {
        match self {
            Work::Data { flow, .. } => Some(flow),
            Work::Meta(_) => None,
        }
    }

    /// Whether data is read.
    pub fn reads(self) -> bool {
        matches!(self.flow(), Some(Flow::Read | Flow::Mixed))
    }

    /// Whether data is written.
    pub fn writes(self) -> bool {
        matches!(self.flow(), Some(Flow::Write | Flow::Mixed))
    }

    /// Whether blocks are drawn by lot.
    pub fn is_random(self) -> bool {
        matches!(self, Work::Data { random: true, .. })
    }
}

impl Meta {
    /// Whether it works on names that are there before.
    pub fn needs_entries(self) -> bool {
        !matches!(self, Meta::Create | Meta::MkDir)
    }

    /// Whether it works on directories instead of files.
    pub fn is_of_directories(self) -> bool {
        matches!(self, Meta::MkDir | Meta::RmDir)
    }

    /// Whether it lists whole directories.
    pub fn is_listing(self) -> bool {
        matches!(self, Meta::ReadDir | Meta::ReadDirPlus)
    }

    /// Whether it can be done to the same names over and over. What makes names goes on with new ones.
    pub fn ends(self) -> bool {
        matches!(self, Meta::Remove | Meta::RmDir)
    }
}

impl FromStr for Work {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // fio's other words for the same.
        let word = match text {
            "readwrite" => "rw",
            other => other,
        };
        WORDS.iter().find(|(known, _)| *known == word).map(|(_, work)| *work).ok_or_else(|| {
            let words: Vec<_> = WORDS.iter().map(|(word, _)| *word).collect();
            format!("{text:?} is no kind of work; there are {}", words.join(", "))
        })
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_work_has_a_word() {
        for (word, work) in WORDS {
            assert_eq!(word.parse(), Ok(work));
            assert_eq!(work.word(), word);
        }
        assert_eq!("readwrite".parse(), Ok(Work::Data { flow: Flow::Mixed, random: false }));
        let error = "trim".parse::<Work>().unwrap_err();
        assert!(error.contains("trim") && error.contains("randrw"), "{error}");
    }
}
