//! Each thread's own copies of answers. What everybody remembers is behind one lock, and an answer
//! counts who holds it: threads that tell owners in every call would meet at both.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use crate::question::{Answer, Question};

/// Answers of one thread. When it has so many, it begins anew.
const ANSWERS: usize = 256;

/// Longer lists of groups are not copied.
const GROUPS: usize = 64;

thread_local! {
    static NEAR: RefCell<Near> = RefCell::default();
}

#[derive(Default)]
struct Near {
    /// Whose answers these are.
    epoch: u64,
    answers: HashMap<Question, (Answer, Instant)>,
}

/// A number that nobody else has: an epoch ends when everything is forgotten.
pub(crate) fn next_epoch() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// What this thread knows, if it is still good.
pub(crate) fn find(epoch: u64, question: &Question, now: Instant) -> Option<Answer> {
    NEAR.with_borrow(|near| {
        let (answer, until) = near.answers.get(question).filter(|_| near.epoch == epoch)?;
        (*until > now).then(|| answer.clone())
    })
}

/// Keeps a copy, and answers it.
pub(crate) fn keep(epoch: u64, question: &Question, answer: &Answer, until: Instant) -> Answer {
    let own = match answer {
        Answer::Name(name) => Answer::Name(Arc::from(&**name)),
        Answer::Groups(groups) if groups.len() > GROUPS => return answer.clone(),
        Answer::Groups(groups) => Answer::Groups(Arc::from(&**groups)),
        other => other.clone(),
    };
    NEAR.with_borrow_mut(|near| {
        if near.epoch != epoch || near.answers.len() >= ANSWERS {
            near.epoch = epoch;
            near.answers.clear();
        }
        near.answers.insert(question.clone(), (own.clone(), until));
    });
    own
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn answers_are_copies_and_end_with_their_time_and_epoch() {
        let (epoch, now) = (next_epoch(), Instant::now());
        let (question, soon) = (Question::UserName(1), now + Duration::from_secs(1));
        let shared: Arc<str> = "alice@example.org".into();
        let answer = Answer::Name(Arc::clone(&shared));
        keep(epoch, &question, &answer, soon);
        assert_eq!(find(epoch, &question, now), Some(answer));
        assert_eq!(Arc::strong_count(&shared), 1, "a copy is kept");
        assert_eq!(find(epoch, &question, soon), None);
        assert_eq!(find(next_epoch(), &question, now), None);
        assert_eq!(find(epoch, &Question::GroupName(1), now), None);
    }

    #[test]
    fn memory_is_bounded() {
        let (epoch, now) = (next_epoch(), Instant::now());
        let soon = now + Duration::from_secs(1);
        for uid in 0..3 * ANSWERS as u32 {
            keep(epoch, &Question::UserName(uid), &Answer::Nobody, soon);
        }
        NEAR.with_borrow(|near| assert!(near.answers.len() <= ANSWERS));
    }
}
