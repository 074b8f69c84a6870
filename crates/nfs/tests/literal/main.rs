//! A conversation with the server, byte for byte: `conversation.txt` holds one call and one
//! reply of every procedure, each word beside what RFC 5531 and RFC 1813 call it.

#[path = "../common/mod.rs"]
#[allow(dead_code, unused_imports)] // shared with the wire tests, which use all of it
mod common;

use std::sync::atomic::{AtomicU32, Ordering};

use common::Lab;
use hayase_mem::{Limits, MemFs};
use hayase_nfs::Answered;
use hayase_vfs::{Time, Wait};

/// What the file system takes for the time: a second for each exchange, however it is made.
static CLOCK: AtomicU32 = AtomicU32::new(0);

fn lab() -> Lab {
    let now = || Time { secs: 1_000_000_000 + i64::from(CLOCK.load(Ordering::Relaxed)), nanos: 0 };
    Lab::over("/srv *(rw,insecure,no_root_squash)", || MemFs::with_clock(Limits::default(), now))
}

/// An exchange of the conversation.
struct Exchange {
    title: &'static str,
    call: Vec<u8>,
    reply: Vec<u8>,
}

/// Reads the conversation: `== title`, lines of the call after `>`, of the reply after `<`;
/// words in hexadecimal, and comments after `#`.
fn conversation() -> Vec<Exchange> {
    let mut all: Vec<Exchange> = Vec::new();
    for line in include_str!("conversation.txt").lines() {
        if let Some(title) = line.strip_prefix("== ") {
            all.push(Exchange { title, call: Vec::new(), reply: Vec::new() });
            continue;
        }
        let (words, _comment) = line.split_once('#').unwrap_or((line, ""));
        let mut words = words.split_whitespace();
        let Some(side) = words.next() else { continue };
        let exchange = all.last_mut().expect("a title comes first");
        let to = if side == ">" { &mut exchange.call } else { &mut exchange.reply };
        for word in words {
            to.extend(u32::from_str_radix(word, 16).expect("a word").to_be_bytes());
        }
    }
    all
}

fn hex(bytes: &[u8]) -> String {
    bytes.chunks(4).fold(String::new(), |text, word| {
        word.iter().fold(text + " ", |text, byte| format!("{text}{byte:02x}"))
    })
}

/// The only test of this program, so that its file system is the first one made: the file
/// system's number and its write verifier are among the bytes.
#[test]
fn every_call_is_answered_with_these_bytes() {
    let lab = lab();
    let client = lab.root();
    let conversation = conversation();
    assert_eq!(conversation.len(), 22 + 6 + 5);
    for Exchange { title, call, reply } in conversation {
        CLOCK.fetch_add(1, Ordering::Relaxed);
        let (answered, actual) = client.offer(&call, Wait::Allowed);
        assert_eq!(answered, Answered::Reply, "{title}");
        assert_eq!(hex(&actual), hex(&reply), "{title}");
    }
}
