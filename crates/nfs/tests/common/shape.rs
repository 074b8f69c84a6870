//! The shape of every result of NFSv3, in both arms (RFC 1813 §3.3).

use super::{Reply, proc, stat};

/// What a result says besides its data.
#[derive(Debug)]
pub struct Body {
    pub status: u32,
    /// Whether each optional part is there: attributes before, attributes after, handles.
    pub parts: Vec<bool>,
}

impl Body {
    /// Whether nothing is left out.
    pub fn is_full(&self) -> bool {
        self.parts.iter().all(|there| *there)
    }

    /// Whether everything is left out that can be.
    pub fn is_empty(&self) -> bool {
        !self.parts.iter().any(|there| *there)
    }
}

/// Reads the result of a procedure.
pub fn read_body(proc: u32, reply: &mut Reply) -> Body {
    let mut body =
        Body { status: if proc == proc::NULL { 0 } else { reply.word() }, parts: vec![] };
    if body.status == stat::OK {
        body.ok(proc, reply);
    } else {
        body.fail(proc, reply);
    }
    body
}

impl Body {
    fn attr(&mut self, reply: &mut Reply) {
        self.optional(reply, |reply| {
            reply.fattr();
        });
    }

    fn wcc(&mut self, reply: &mut Reply) {
        self.optional(reply, |reply| {
            reply.take(24);
        });
        self.attr(reply);
    }

    fn optional(&mut self, reply: &mut Reply, read: impl Fn(&mut Reply)) {
        let there = reply.bool();
        self.parts.push(there);
        if there {
            read(reply);
        }
    }

    fn ok(&mut self, proc: u32, reply: &mut Reply) {
        match proc {
            proc::NULL => {}
            proc::GETATTR => {
                reply.fattr();
            }
            proc::SETATTR | proc::REMOVE | proc::RMDIR => self.wcc(reply),
            proc::LOOKUP => {
                reply.opaque();
                self.attr(reply);
                self.attr(reply);
            }
            proc::ACCESS => {
                self.attr(reply);
                reply.word();
            }
            proc::READLINK => {
                self.attr(reply);
                reply.opaque();
            }
            proc::READ => {
                self.attr(reply);
                let count = reply.word();
                reply.bool();
                assert_eq!(reply.opaque().len(), count as usize);
            }
            proc::WRITE => {
                self.wcc(reply);
                reply.word();
                assert!(reply.word() <= 2, "stable_how");
                reply.long();
            }
            proc::CREATE | proc::MKDIR | proc::SYMLINK | proc::MKNOD => {
                self.optional(reply, |reply| {
                    reply.opaque();
                });
                self.attr(reply);
                self.wcc(reply);
            }
            proc::RENAME => {
                self.wcc(reply);
                self.wcc(reply);
            }
            proc::LINK => {
                self.attr(reply);
                self.wcc(reply);
            }
            proc::READDIR | proc::READDIRPLUS => {
                self.attr(reply);
                reply.long();
                while reply.bool() {
                    reply.long();
                    reply.opaque();
                    reply.long();
                    if proc == proc::READDIRPLUS {
                        self.attr(reply);
                        self.optional(reply, |reply| {
                            reply.opaque();
                        });
                    }
                }
                reply.bool();
            }
            proc::FSSTAT => {
                self.attr(reply);
                reply.take(6 * 8 + 4);
            }
            proc::FSINFO => {
                self.attr(reply);
                reply.take(7 * 4 + 8 + 8 + 4);
            }
            proc::PATHCONF => {
                self.attr(reply);
                reply.take(2 * 4);
                for _ in 0..4 {
                    reply.bool();
                }
            }
            proc::COMMIT => {
                self.wcc(reply);
                reply.long();
            }
            other => panic!("there is no procedure {other}"),
        }
    }

    fn fail(&mut self, proc: u32, reply: &mut Reply) {
        match proc {
            proc::GETATTR => {}
            proc::SETATTR
            | proc::WRITE
            | proc::CREATE
            | proc::MKDIR
            | proc::SYMLINK
            | proc::MKNOD
            | proc::REMOVE
            | proc::RMDIR
            | proc::COMMIT => self.wcc(reply),
            proc::RENAME => {
                self.wcc(reply);
                self.wcc(reply);
            }
            proc::LINK => {
                self.attr(reply);
                self.wcc(reply);
            }
            _ => self.attr(reply),
        }
    }
}
