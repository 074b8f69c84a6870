//! From bytes to lines of words: comments, continuation lines, quotes, octal escapes.
//!
//! A word remembers where each of its bytes came from, so that a fault deep inside an option list
//! that runs over three continued lines still names its own line and column.

use crate::diagnostic::{Fault, Span};
use std::borrow::Cow;

/// The words of one logical line.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub words: Vec<Word>,
    /// The line has a fault of spelling; its words would only give rise to more complaints.
    pub broken: bool,
}

/// A word with quotes and escapes resolved.
#[derive(Debug)]
pub(crate) struct Word {
    bytes: Vec<u8>,
    /// Where each byte came from; an escape is four bytes of the file.
    places: Vec<Span>,
    /// The whole word, with its quotes.
    span: Span,
    /// Quotes or escapes were used: the writer means every character as it is.
    pub literal: bool,
}

impl Word {
    pub fn whole(&self) -> Piece<'_> {
        Piece { bytes: &self.bytes, places: &self.places, word: self.span }
    }

    fn push(&mut self, byte: u8, place: Span) {
        self.bytes.push(byte);
        self.places.push(place);
    }
}

/// A part of a word, with its places in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece<'a> {
    pub bytes: &'a [u8],
    places: &'a [Span],
    word: Span,
}

impl<'a> Piece<'a> {
    /// The place of the part; of the whole word if the part is empty.
    pub fn span(&self) -> Span {
        match self.places {
            [] => self.word,
            [only] => *only,
            [first, .., last] => Span { start: first.start, end: last.end },
        }
    }

    pub fn slice(&self, from: usize, to: usize) -> Piece<'a> {
        Piece { bytes: &self.bytes[from..to], places: &self.places[from..to], ..*self }
    }

    pub fn from(&self, from: usize) -> Piece<'a> {
        self.slice(from, self.bytes.len())
    }

    pub fn find(&self, byte: u8) -> Option<usize> {
        self.bytes.iter().position(|b| *b == byte)
    }

    /// The text before and after the first `byte`.
    pub fn split_once(&self, byte: u8) -> Option<(Piece<'a>, Piece<'a>)> {
        let at = self.find(byte)?;
        Some((self.slice(0, at), self.from(at + 1)))
    }

    pub fn trim(&self) -> Piece<'a> {
        let blank = |b: &u8| matches!(b, b' ' | b'\t');
        let Some(from) = self.bytes.iter().position(|b| !blank(b)) else {
            return self.slice(0, 0);
        };
        let to = self.bytes.iter().rposition(|b| !blank(b)).map_or(0, |last| last + 1);
        self.slice(from, to)
    }

    pub fn text(&self) -> Cow<'a, str> {
        String::from_utf8_lossy(self.bytes)
    }
}

/// Cuts a file into lines of words. Lines without words are left out.
pub(crate) fn lines(text: &[u8]) -> (Vec<Line>, Vec<Fault>) {
    let mut lexer =
        Lexer { text, pos: 0, line: Line::default(), lines: Vec::new(), faults: Vec::new() };
    lexer.run();
    (lexer.lines, lexer.faults)
}

struct Lexer<'a> {
    text: &'a [u8],
    pos: usize,
    line: Line,
    lines: Vec<Line>,
    faults: Vec<Fault>,
}

impl Lexer<'_> {
    fn run(&mut self) {
        while let Some(byte) = self.peek() {
            match byte {
                b'\n' => {
                    self.end_line();
                    self.pos += 1;
                }
                // A comment ends with its line, even if a backslash stands there.
                b'#' => self.pos += self.rest().iter().take_while(|b| **b != b'\n').count(),
                _ if is_blank(byte) => self.pos += 1,
                _ => match self.continuation() {
                    Some(next) => self.pos = next,
                    None => self.word(),
                },
            }
        }
        self.end_line();
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        if !line.words.is_empty() {
            self.lines.push(line);
        }
    }

    fn word(&mut self) {
        let here = Span { start: self.pos, end: self.pos };
        let mut word = Word { bytes: vec![], places: vec![], span: here, literal: false };
        let mut quote = None;
        while let Some(byte) = self.peek() {
            if byte == b'\n' || (quote.is_none() && is_blank(byte)) {
                break;
            }
            if byte == b'"' {
                quote = if quote.is_some() { None } else { Some(self.pos) };
                word.literal = true;
                self.pos += 1;
            } else if let Some(next) = self.continuation() {
                if quote.is_none() {
                    break;
                }
                // Inside quotes, a continued line is one blank.
                word.push(b' ', Span { start: self.pos, end: self.pos + 1 });
                self.pos = next;
            } else if let Some(value) = self.escape() {
                word.literal = true;
                self.byte(&mut word, value, 4);
            } else {
                self.byte(&mut word, u16::from(byte), 1);
            }
        }
        if let Some(start) = quote {
            let place = Span { start, end: start + 1 };
            self.fault(place, "this quote is not closed on its line", "add the closing `\"`");
        }
        word.span.end = self.pos;
        self.line.words.push(word);
    }

    /// Takes one byte of a word that is written with `length` bytes.
    fn byte(&mut self, word: &mut Word, value: u16, length: usize) {
        let place = Span { start: self.pos, end: self.pos + length };
        match u8::try_from(value) {
            Ok(0) => self.fault(place, "no name contains a zero byte", "remove it"),
            Ok(byte) => word.push(byte, place),
            Err(_) => self.fault(
                place,
                "this octal escape is greater than \\377",
                "write a byte as \\001 to \\377, and a backslash before digits as \\134",
            ),
        }
        self.pos = place.end;
    }

    /// The value of a backslash and three octal digits here. Other backslashes stand for themselves.
    fn escape(&self) -> Option<u16> {
        let digits = match self.rest() {
            [b'\\', digits @ ..] => digits.get(..3)?,
            _ => return None,
        };
        digits.iter().try_fold(0, |value, digit| {
            matches!(digit, b'0'..=b'7').then(|| value * 8 + u16::from(digit - b'0'))
        })
    }

    /// Where the text goes on after a backslash at the end of a line, if one stands here.
    fn continuation(&self) -> Option<usize> {
        let newline = match self.rest() {
            [b'\\', b'\n', ..] => 2,
            [b'\\', b'\r', b'\n', ..] => 3,
            _ => return None,
        };
        let next = self.pos + newline;
        let blanks = self.text[next..].iter().take_while(|b| matches!(b, b' ' | b'\t'));
        Some(next + blanks.count())
    }

    fn fault(&mut self, place: Span, message: &str, remedy: &str) {
        self.faults.push(Fault::new(place, message, remedy));
        self.line.broken = true;
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.pos).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.pos..]
    }
}

/// What separates words, besides the end of the line. The carriage return is here so that files
/// from Windows read as they look.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<Vec<String>> {
        let (lines, faults) = lines(text.as_bytes());
        assert!(faults.is_empty(), "{faults:?}");
        lines
            .iter()
            .map(|line| line.words.iter().map(|w| w.whole().text().into_owned()).collect())
            .collect()
    }

    #[test]
    fn reads_what_exports_5_describes() {
        let table: &[(&str, &[&[&str]])] = &[
            ("", &[]),
            ("\n \t\n# nothing\n", &[]),
            ("/a b c\n/d e", &[&["/a", "b", "c"], &["/d", "e"]]),
            ("/a b # c d\n/e", &[&["/a", "b"], &["/e"]]),
            ("/a#b c", &[&["/a#b", "c"]]),
            ("/a \\\n   b\n/c", &[&["/a", "b"], &["/c"]]),
            ("/a\\\nb", &[&["/a", "b"]]),
            ("/a \\\r\n b\r\n/c\r\n", &[&["/a", "b"], &["/c"]]),
            ("# a comment does not continue \\\n/a b", &[&["/a", "b"]]),
            ("\"/a b\" c", &[&["/a b", "c"]]),
            ("/a\" \"b c", &[&["/a b", "c"]]),
            ("\"/a \\\n  b\" c", &[&["/a  b", "c"]]),
            ("/a\\040b\\134040 c", &[&["/a b\\040", "c"]]),
            ("\"/a\\042b\" c", &[&["/a\"b", "c"]]),
            ("/a\\b\\09 c\\", &[&["/a\\b\\09", "c\\"]]),
            ("\"\" a", &[&["", "a"]]),
        ];
        for (text, expected) in table {
            assert_eq!(words(text), *expected, "{text:?}");
        }
    }

    #[test]
    fn remembers_where_each_byte_stood() {
        let (lines, _) = lines(b"/a \\\n  \"x\\040y\"z");
        let word = lines[0].words[1].whole();
        assert_eq!(word.bytes, b"x yz");
        assert_eq!(word.slice(1, 2).span(), Span { start: 9, end: 13 });
        assert_eq!(word.from(3).span(), Span { start: 15, end: 16 });
    }

    #[test]
    fn faults_name_their_place_and_break_only_their_line() {
        for (text, start) in [
            ("/a \"b c\n/d e", 3),
            ("/a \\400\n/d e", 3),
            ("/a b\\000\n/d e", 4),
            ("/a b\0\n/d e", 4),
        ] {
            let (lines, faults) = lines(text.as_bytes());
            assert_eq!(faults.len(), 1, "{text:?}");
            assert_eq!(faults[0].span.start, start, "{text:?}");
            assert!(lines[0].broken && !lines[1].broken, "{text:?}");
        }
    }
}
